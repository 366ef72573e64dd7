"""What compared searches judge lineups by: their lines, and how strong a lineup must be. Both may differ from search to
search: “strong” means stronger than the median baseline team, whose strength moves with the game data.

A count says which search found more only where all are judged alike, so all are judged by the first search's.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import hypot
from typing import Any, NamedTuple

import numpy as np

from engine.arrays import unpack
from engine.verdicts import baseline_reach
from webapp.lib.figures import in_unit, least_digits, telling, with_unit
from webapp.lib.storage import store
from webapp.lib.words import number
from webapp.studies import front
from webapp.studies.explore_source import median
from webapp.studies.models import Job


class Reference(NamedTuple):
    """``lines``: of each objective, or None. ``baseline``: the median baseline team's strength with its standard
    ``error`` and ``samples``, as artifacts have it; None where the search measured none. ``job``: whose it is."""

    lines: tuple[float | None, ...]
    baseline: Mapping[str, Any] | None
    job: int

    @property
    def median(self) -> float | None:
        """What a strong lineup is stronger than."""
        return None if self.baseline is None else float(self.baseline["value"])

    @property
    def half(self) -> float | None:
        """Half of the median's 95 % range; None where it is not known."""
        half = median({"median_baseline": self.baseline}).half
        return half if self.baseline and np.isfinite(half) else None

    @property
    def reach(self) -> float | None:
        """How far the bounds lie on either side of the median by which fresh battles are judged, as pages tell them;
        None where they are not known."""
        if self.baseline is None:
            return None
        reach = baseline_reach(self.baseline.get("error"), int(self.baseline.get("samples", 0)))
        return reach if np.isfinite(reach) else None

    def alike(self, other: Reference) -> bool:
        """Whether both judge every lineup the same."""
        return (self.lines, self.median) == (other.lines, other.median)


def reference_of(job: Job, digest: str) -> Reference:
    """What a search judges its own lineups by. Raises StoreError."""
    objectives = front.of_job(job).objectives
    baseline = unpack(store().get(digest)).meta.get("median_baseline")
    counts = any(o.strength for o in objectives)
    return Reference(tuple(o.threshold for o in objectives), baseline if counts else None, job.pk)


def line_words(job: Job, lines: tuple[float | None, ...]) -> str:
    """ "Resource advantage 2.0×"; "none" without a line."""
    objectives = front.of_job(job).objectives
    found = [
        f"{o.title} {with_unit(line, o.unit)}" for o, line in zip(objectives, lines, strict=True) if line is not None
    ]
    return ", ".join(found) or "none"


def strong_words(job: Job, reference: Reference) -> str:
    """ "14.0 % (13.1 to 14.9 %)": what the median baseline team of a search has, with the bounds that a lineup is
    judged by on fresh battles; a strong lineup has more."""
    if reference.median is None:
        return "not measured"
    unit, reach = _unit(job), reference.reach
    digits = _digits(reference.median, reach, unit)
    value = in_unit(number(reference.median, digits), unit)
    if reach is None:
        return value
    low, high = (number(reference.median + end, digits) for end in (-reach, reach))
    return f"{value} ({low} to {in_unit(high, unit)})"


def moved_words(job: Job, reference: Reference, first: Reference) -> str:
    """How much stronger a search's median baseline team is than the first search's; "the same" where it is."""
    if reference.median is None or first.median is None or reference.median == first.median:
        return "the same"
    by = reference.median - first.median
    unit = _unit(job)
    known = reference.half is not None and first.half is not None
    half = hypot(reference.half or 0.0, first.half or 0.0) if known else None
    digits = _digits(by, half, unit)
    words = f"{in_unit(number(abs(by), digits), _points(unit))} {'stronger' if by > 0 else 'weaker'}"
    if half is None:
        return words
    if abs(by) <= half:
        return f"{words}, which may be luck"
    low, high = (number(abs(by) + end, digits) for end in (-half, half))
    return f"{words} ({low} to {high})"


def _digits(value: float, half: float | None, unit: str) -> int:
    """Digits after the point that a value is told with: one, and more where its unit is small or its range narrow."""
    ends = None if half is None else (value - half, value + half)
    return telling(value, ends, max(1, least_digits(value, unit)))


def _unit(job: Job) -> str:
    return next((o.unit for o in front.of_job(job).objectives if o.strength), "")


def _points(unit: str) -> str:
    return "points" if unit == "%" else unit

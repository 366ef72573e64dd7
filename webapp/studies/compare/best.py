"""The measure of searches with one goal: the best that each found, on fresh seeds where it was measured there.

The best is the one that the search itself chose. It stays chosen on fresh seeds, so that luck is not chosen again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import comb, hypot
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.errors import StoreError
from webapp.studies.compare import measures
from webapp.studies.explore_source import half_of
from webapp.studies.models import Job

BEST, WORSE, UNSURE = "the best", "clearly behind", "may be as good"
_LEVEL = 0.05


class Best(NamedTuple):
    """A value and half of its 95 % range (None: not known), and whose it is."""

    value: float
    half: float | None
    id: int


def best_of(job: Job, digest: str) -> Best | None:
    """The best of an edge by its own estimates; None where nothing could be played. Raises StoreError."""
    return _best(digest, measures.signs(job)[0])


@lru_cache(maxsize=4096)
def _best(digest: str, sign: float) -> Best | None:
    arrays = measures.usable(digest)
    if not len(arrays["id"]):
        return None
    return _at(arrays, int(np.argmax(sign * arrays["objective"][:, 0])))


def again(digest: str, chosen: Best) -> Best | None:
    """The same one as another artifact has it; None where that has not. Raises StoreError."""
    arrays = measures.usable(digest)
    rows = np.flatnonzero(arrays["id"] == chosen.id)
    return _at(arrays, int(rows[0])) if len(rows) else None


def best_at(job: Job, digest: str) -> tuple[float, float | None] | None:
    """The best value after a round with half of its range; None where its artifact is lost."""
    try:
        found = best_of(job, digest)
    except StoreError:
        return None
    return found and (found.value, found.half)


def _at(arrays: Mapping[str, NDArray[Any]], row: int) -> Best:
    half = float(half_of(arrays)[row, 0])
    return Best(float(arrays["objective"][row, 0]), half if np.isfinite(half) else None, int(arrays["id"][row]))


def standing(found: Sequence[Best | None], sign: float) -> list[str]:
    """Of each whether it is the best, clearly behind that, or may be as good; nothing where fewer than two are known.
    Several are the best where their values are equal, as with games whose returns have an end.

    Clearly: the 95 % range of the difference, made of both ranges (Zou & Donner 2008) and wider by how many pairs there
    are (Bonferroni), leaves out zero.
    """
    known = [best for best in found if best is not None]
    if len(known) < 2:
        return [""] * len(found)
    first = max(known, key=lambda best: sign * best.value)
    wider = _normal(_LEVEL / comb(len(known), 2)) / _normal(_LEVEL)
    return [_stands(best, first, sign, wider) for best in found]


def _normal(level: float) -> float:
    return NormalDist().inv_cdf(1 - level / 2)


def _stands(best: Best | None, first: Best, sign: float, wider: float) -> str:
    if best is None:
        return ""
    if best.value == first.value:
        return BEST
    if best.half is None or first.half is None:
        return UNSURE
    return WORSE if sign * (first.value - best.value) > wider * hypot(best.half, first.half) else UNSURE


def verdict(names: Sequence[str], stands: Sequence[str]) -> str:
    """Which are clearly better, in a sentence; nothing where nothing is told."""
    by = {each: [name for name, stand in zip(names, stands, strict=True) if stand == each] for each in set(stands)}
    if BEST not in by:
        return ""
    first, behind, close = (_listed(by.get(each, [])) for each in (BEST, WORSE, UNSURE))
    alone = len(by[BEST]) == 1
    did = f"Search {first} did best" if alone else f"Searches {first} did equally well"
    clearly = f" and {'is' if alone else 'are'} clearly better than {behind}" if behind else ""
    luck = f"; that {'it is' if alone else 'they are'} ahead of {close} may be luck" if close else ""
    return f"{did}{clearly}{luck}."


def _listed(names: Sequence[str]) -> str:
    return " and ".join(part for part in (", ".join(names[:-1]), *names[-1:]) if part)

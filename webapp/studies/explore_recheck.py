"""Lineups played again on fresh battles, and what that says about the search's verdict on them.

A search picks what looks extreme, so its own numbers flatter. Fresh numbers come from the end of the search (its
front, replayed) and from re-check jobs; those of one lineup are pooled by their replicates.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.arrays import Bundle, unpack
from engine.config.lineups import ObjectiveConfig
from engine.errors import StoreError
from engine.indicators import half_width
from webapp.lib.storage import store
from webapp.lib.words import number
from webapp.studies import explore_source as source
from webapp.studies.explore_source import signs, strength_index
from webapp.studies.models import Job, Status

HOPELESS = 200
"""A lineup that would need this many times its battles is too close to the line to tell."""

Floats = NDArray[np.float64]
Finding = Literal["confirmed", "weak", "refuted", "more", "close", "measured"]


class Searched(NamedTuple):
    """What a search had said of a lineup before it was played again; a half that is not known is None."""

    mean: tuple[float, ...]
    half: tuple[float | None, ...]
    samples: int
    verdict: int


class Fresh(NamedTuple):
    """One lineup on fresh battles: ``mean`` and ``half`` (of the 95 % interval) of each objective, replicates, battles,
    what they say, how many more battles would tell where they do not, and whether a mean is ``beyond`` a line, or
    its whole interval (``over``)."""

    mean: tuple[float, ...]
    half: tuple[float, ...]
    samples: int
    battles: int
    finding: Finding
    needs: int
    beyond: bool
    over: bool

    @property
    def words(self) -> str:
        """The finding as the pages say it."""
        battles = f"{number(self.battles)} fresh battles"
        return {
            "confirmed": f"Confirmed on {battles}",
            "weak": f"{'Over' if self.over else 'Near'} the line but weak, on {battles}",
            "refuted": f"Under the line on {battles}",
            "more": f"Needs {number(self.needs)} more battles",
            "close": f"Too close to the line to tell after {battles}",
            "measured": f"Measured on {battles}",
        }[self.finding]

    @property
    def short(self) -> str:
        """The same where there is little room."""
        return {
            "confirmed": "Confirmed",
            "weak": "Over, weak" if self.over else "Near, weak",
            "refuted": "Under the line",
            "more": "Needs more",
            "close": "Close call",
            "measured": "Measured",
        }[self.finding]


class _Pool(NamedTuple):
    weighted: Floats
    spread: Floats
    samples: int


def fresh_numbers(job: Job, genome: NDArray[Any], each: float) -> dict[int, Fresh]:
    """By row of ``genome`` [n, teams, slots], everything that was replayed of it. ``each`` battles are one replicate
    of a lineup."""
    pools: dict[bytes, _Pool] = {}
    median: dict[str, Any] | None = None
    for bundle in _results(job):
        median = bundle.meta.get("median_baseline") or median
        _pool(bundle, pools)
    if not pools:
        return {}
    objectives = source.objectives(job).objectives
    line = None if median is None else float(median["value"])
    return {row: judge(pool.weighted / pool.samples, _half(pool), pool.samples, each, objectives, line)
            for row, key in enumerate(_keys(genome)) if (pool := pools.get(key)) is not None}  # fmt: skip


def genome_key(genome: Any) -> bytes:
    """A lineup's genome as a dictionary key."""
    return np.asarray(genome, dtype=np.int32).tobytes()


def _keys(genome: NDArray[Any]) -> Iterable[bytes]:
    """``genome_key`` of each row."""
    everything = genome_key(genome)
    width = len(everything) // max(1, len(genome))
    return (everything[at : at + width] for at in range(0, len(everything), width))


def _results(job: Job) -> Iterable[Bundle]:
    for digest in source.replayed(job):
        try:
            yield unpack(store().get(digest))
        except StoreError:
            continue  # a lost re-check is one that was not made; the list then asks for it again


def _pool(bundle: Bundle, pools: dict[bytes, _Pool]) -> None:
    columns = bundle.arrays
    for row, key in enumerate(_keys(columns["genome"])):
        n = int(columns["samples"][row])
        if n < 2 or not np.isfinite(columns["objective"][row]).all():
            continue
        weighted, spread = n * columns["objective"][row], (n * columns["error"][row]) ** 2
        before = pools.get(key)
        pools[key] = (
            _Pool(weighted, spread, n)
            if before is None
            else _Pool(before.weighted + weighted, before.spread + spread, before.samples + n)
        )


def _half(pool: _Pool) -> Floats:
    return half_width(np.sqrt(pool.spread) / pool.samples, pool.samples)


def judge(
    mean: Floats,
    half: Floats,
    samples: int,
    battles_each: float,
    objectives: tuple[ObjectiveConfig, ...],
    median: float | None,
) -> Fresh:
    """What fresh numbers say. Confirmed: the whole interval is over a line, and above the median baseline team where
    strength counts. Refuted: the whole interval misses every line. Weak: it does not, but the whole interval of its
    strength is below the median baseline team. Measured: there is no line."""
    sign = signs(objectives)
    gaps = [(sign[j] * (float(mean[j]) - o.threshold), float(half[j]))
            for j, o in enumerate(objectives) if o.threshold is not None]  # fmt: skip
    strong = strength_index(objectives)
    strength = None
    if strong is not None and median is not None:
        strength = (sign[strong] * (float(mean[strong]) - median), float(half[strong]))
    finding, factor = _finding(gaps, strength)
    needs = _round_up((math.ceil(samples * factor) - samples) * battles_each) if finding == "more" else 0
    beyond, over = any(gap >= 0 for gap, _ in gaps), any(gap >= h for gap, h in gaps)
    numbers = tuple(map(float, mean)), tuple(map(float, half)), samples, round(samples * battles_each)
    return Fresh(*numbers, finding, needs, beyond, over)


def _finding(gaps: list[tuple[float, float]], strength: tuple[float, float] | None) -> tuple[Finding, float]:
    """What (distance beyond, half interval) of each line and of the median baseline team say, and how many times the
    samples would tell where these do not."""
    if not gaps:
        return "measured", 1.0
    over = any(gap >= h for gap, h in gaps)
    if over and (strength is None or strength[0] > strength[1]):
        return "confirmed", 1.0
    if all(gap < -h for gap, h in gaps):
        return "refuted", 1.0
    if strength is not None and strength[0] < -strength[1]:
        return "weak", 1.0
    open_ends = ([] if over else [max(gaps)]) + ([strength] if strength and abs(strength[0]) <= strength[1] else [])
    factor = max((h / abs(gap)) ** 2 if gap else math.inf for gap, h in open_ends)
    return ("close", factor) if factor > HOPELESS else ("more", factor)


def _round_up(battles: float) -> int:
    """To two leading digits: an estimate should not look like a count."""
    if battles < 1:
        return 10
    step = 10 ** max(1, math.floor(math.log10(battles)) - 1)
    return int(math.ceil(battles / step) * step)


def checking(job: Job) -> set[bytes]:
    """Genomes that a re-check still plays or waits to play."""
    running = job.children.filter(kind=Job.Kind.RECHECK).exclude(
        status__in=[Status.FINISHED, Status.STOPPED, Status.FAILED]
    )
    return {genome_key(genome) for child in running for genome in child.config["genomes"]}

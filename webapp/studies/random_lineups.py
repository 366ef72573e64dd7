"""Where the line falls: 200 random valid lineups, played before a search starts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.arrays import unpack
from engine.config import ObjectiveConfig
from engine.errors import ConfigError, StoreError
from engine.indicators import wilson
from webapp.lib.figures import ShareText, share_text, with_unit
from webapp.lib.first import first
from webapp.lib.storage import store
from webapp.lib.words import percent, plural
from webapp.studies import explore_source as source
from webapp.studies.explore_source import Ends
from webapp.studies.models import Job

TOO_MANY = 0.25
TYPICAL = 0.05
"""Share of random lineups over a line that leaves a search something to find, and something to climb."""
FEW = 30
"""Random lineups below which a share of them says too little to judge a line by."""
BINS = 22
FLAT = 1e-9
"""Relative differences up to here are rounding."""

Floats = NDArray[np.float64]
Axis = tuple[float, float]


@dataclass(frozen=True)
class RandomLineups:
    """Values of every objective, by its short name, for the lineups that could be played, and how far each can go; and
    how many could not."""

    values: dict[str, Floats]
    ends: dict[str, Ends]
    failed: int
    median: source.Median
    battles_each: int
    whole: bool = False
    """Whether they are all lineups that there are, so that shares of them have no range."""

    @property
    def count(self) -> int:
        return len(first(self.values.values()))

    @property
    def noun(self) -> str:
        """ "200 random lineups"; "175 lineups" where those are all."""
        return plural(self.count, "lineup" if self.whole else "random lineup")


def read(job: Job, there_are: int | None = None) -> RandomLineups | None:
    """What a sample job found, or has found so far; None before any lineup is played. ``there_are``: how many lineups,
    where they were counted. Raises StoreError."""
    digest = job.artifacts.get("sample") or job.artifacts.get("front")
    if not digest:
        return None
    bundle = unpack(store().get(digest))
    good = (bundle.arrays["status"] == 0) & np.isfinite(bundle.arrays["objective"]).all(axis=1)
    if not good.any():
        return None
    columns = bundle.arrays["objective"][good]
    try:
        ends = source.ends(job, {name: column[good] for name, column in bundle.arrays.items()})
    except (StoreError, ConfigError):  # the game is described in another way by now
        ends = [(None, None)] * columns.shape[1]
    return RandomLineups(
        values={name: columns[:, i] for i, name in enumerate(bundle.meta["objectives"])},
        ends=dict(zip(bundle.meta["objectives"], ends, strict=True)),
        failed=int((~good).sum()),
        median=source.median(bundle.meta),
        battles_each=int(bundle.meta.get("battles_each", 0)),
        whole=len(columns) == there_are,
    )


def flat(values: Floats) -> bool:
    """Whether all values are one, so that no line parts the lineups."""
    low, high = float(values.min()), float(values.max())
    return high - low <= FLAT * max(abs(low), abs(high))


def over(values: Floats, objective: ObjectiveConfig, line: float) -> int:
    """How many values are at or beyond the line."""
    return int((values >= line).sum() if objective.direction == "max" else (values <= line).sum())


def beyond(objective: ObjectiveConfig) -> str:
    """On which side of the line lineups count: ``over`` it or, where it is the most they may have, ``under``."""
    return "over" if objective.direction == "max" else "under"


def suggestion(values: Floats, objective: ObjectiveConfig) -> float:
    """A line that about ``TYPICAL`` of the random lineups are over, in two digits, or more where two move it far."""
    share = 1 - TYPICAL if objective.direction == "max" else TYPICAL
    value = _nearest(values, objective, float(np.quantile(values, share)))
    if value == 0 or not math.isfinite(value):
        return value
    ends = math.ceil if objective.direction == "max" else math.floor
    for digits in (1, 2, 3):
        step = 10.0 ** (math.floor(math.log10(abs(value))) - digits)
        line = round(ends(value / step) * step, 10)
        if over(values, objective, line) >= min(0.6 * TYPICAL * len(values), over(values, objective, value)):
            return line
    return value


def typical(values: Floats, objective: ObjectiveConfig, line: float) -> bool:
    """Whether about ``TYPICAL`` of the lineups are over the line; where many are alike none may have that."""
    return abs(over(values, objective, line) / len(values) - TYPICAL) <= TYPICAL / 2


def _nearest(values: Floats, objective: ObjectiveConfig, value: float) -> float:
    """A value that so many lineups have that a line there says little gives way to the next one further out, where the
    share of those over it is nearer to ``TYPICAL`` (and above 0)."""
    shares = [over(values, objective, value) / len(values)]
    further = values[values > value] if objective.direction == "max" else values[values < value]
    if not len(further) or typical(values, objective, value):
        return value
    beyond_it = float(further.min() if objective.direction == "max" else further.max())
    shares.append(over(values, objective, beyond_it) / len(values))
    return beyond_it if abs(shares[1] - TYPICAL) < abs(shares[0] - TYPICAL) else value


def histogram(values: Floats, objective: ObjectiveConfig, line: float | None, ends: Ends) -> dict[str, Any]:
    """Bars for the chart: ``edges`` [n + 1], of which one is the line if it is near, and ``counts`` [n]. They begin at
    the least value and end at the largest one, or at the cap where it is near: none reaches beyond ``ends``."""
    low, high = float(values.min()), float(values.max())
    if flat(values):
        (low, high), bar = _single(low, ends)
        found = {"edges": [float(f"{e:.12g}") for e in bar], "counts": [len(values)]}
        return {**found, "span": [low, high]}
    if objective.high is not None and high < objective.high <= low + 2 * (high - low):
        high = objective.high
    edges = _edges(low, high, line)
    counts, _ = np.histogram(np.clip(values, edges[0], edges[-1]), edges)
    return {"edges": [float(f"{e:.12g}") for e in edges], "counts": counts.tolist()}


def _edges(low: float, high: float, line: float | None) -> Floats:
    """Of bars of one width; the first and the last may be narrower, or as much as a third wider."""
    width = _nice((high - low) / BINS)
    start = line if line is not None and low - width <= line <= high + width else low
    first = start + math.floor((low - start) / width + 1e-9) * width
    edges = first + width * np.arange(max(1, math.ceil((high - first) / width - 1e-9)) + 1)
    kept = np.nan if line is None else line
    inner = [e for e in edges[1:-1] if abs(e - kept) < 1e-6 * width or (width / 3 < e - low and width / 3 < high - e)]
    return np.array([low, *inner, high])


def _single(value: float, ends: Ends) -> tuple[Axis, Axis]:
    """The axis around one value alone, as far as what is measured can go, and its thin bar."""
    room = max(abs(value), 1.0) / 10
    low, high = (math.inf * sign if end is None else end for sign, end in zip((-1, 1), ends, strict=True))
    axis = max(value - room, low), min(value + room, high)
    thin = room / BINS
    return axis, (max(value - thin, low), min(value + thin, high))


def _nice(width: float) -> float:
    power = 10 ** math.floor(math.log10(width))
    return float(first(m * power for m in (1, 2, 2.5, 5, 10) if m * power >= width * 0.999))


def advice(sample: RandomLineups, objective: ObjectiveConfig, line: float | None) -> dict[str, Any]:
    """What the sample says about a line: ``level`` good, many or none, a heading, a sentence, and a better line."""
    values = sample.values[objective.name]
    better = suggestion(values, objective)
    few_lineups = len(values) < FEW and not sample.whole
    if flat(values) and not few_lineups:
        return {"level": "none", "head": "No line parts these.", "text": _all_alike(sample, objective), "better": None}
    if line is None and few_lineups:
        few = plural(len(values), "random lineup")
        text = f"{few} cannot say where it should be. Type the value you would call too far."
        return {"level": "few", "head": "There is no line yet.", "text": text, "better": None}
    if line is None:
        text = "Without a line the search still finds the most extreme lineups; nothing is marked."
        return {"level": "none", "head": "There is no line yet.", "text": text, "better": better}
    count, total = over(values, objective, line), len(values)
    if few_lineups:
        text = _counted(count, sample, objective)
        return {"level": "few", "head": "These are too few to say.", "text": text, "better": None}
    counted = _counted(count, sample, objective)
    if count == 0:
        text = f"The search has little to start from; a line at {with_unit(better, objective.unit)} gives it more."
        return {"level": "none", "head": "This line is far out.", "text": f"{counted} {text}", "better": better}
    near = f"Above {percent(TOO_MANY)} nearly everything looks {_looks(objective)}"
    if count > TOO_MANY * total:
        if over(values, objective, better) > TOO_MANY * total / 2:  # they pile up: no line parts them
            text = f"{counted} {near}, {_piled_up(values, objective)}"
            return {"level": "many", "head": "This line marks too many lineups.", "text": text, "better": None}
        text = f"{counted} {near}; try {with_unit(better, objective.unit)}."
        return {"level": "many", "head": "This line marks too many lineups.", "text": text, "better": better}
    text = f"{counted} {near}, at {percent(0)} the search has little to start from."
    return {"level": "good", "head": "This line is sensible.", "text": text, "better": None}


def _all_alike(sample: RandomLineups, objective: ObjectiveConfig) -> str:
    """That no line can be proposed, because the measure is the same for all."""
    values = sample.values[objective.name]
    value, alike = float(values[0]), with_unit(round(float(values[0]), 6), objective.unit)
    end = objective.high if objective.direction == "max" else objective.low
    at = f"at the {_end(objective)} of {alike}" if value == end else f"at {alike}"
    which = f"All {sample.count:,} possible lineups" if sample.whole else f"All {sample.noun}"
    other = (
        f"Choose another measure, or a {_end(objective)} further out." if value == end else "Choose another measure."
    )
    return f"{which} are {at}: this measure is the same for all, so no line parts them. {other}"


def _piled_up(values: Floats, objective: ObjectiveConfig) -> str:
    """That many are as far as lineups go, and what would part them."""
    furthest = float(values.max() if objective.direction == "max" else values.min())
    if furthest == (objective.high if objective.direction == "max" else objective.low):
        end = _end(objective)
        return f"and many are at the {end}. Another measure, or a {end} further out, parts them."
    return f"and many are {with_unit(furthest, objective.unit)}, the furthest. Another measure parts them."


def _looks(objective: ObjectiveConfig) -> str:
    word = objective.toward.removeprefix("more ")
    return word if word != objective.toward else f"{beyond(objective)} the line"


def _end(objective: ObjectiveConfig) -> str:
    return "cap" if objective.direction == "max" else "floor"


def _counted(count: int, sample: RandomLineups, objective: ObjectiveConfig) -> str:
    """ "Of 200 random lineups, 13 are over it: 6.5 % (4 to 11 %)." """
    are = "is" if count == 1 else "are"
    return f"Of {sample.noun}, {count} {are} {beyond(objective)} it: {_share(count, sample)}."


def _share(count: int, sample: RandomLineups) -> str:
    """With its range, unless they are all that there are."""
    return percent(count / sample.count) if sample.whole else f"{_text(count, sample).value} {_range(count, sample)}"


def _range(count: int, sample: RandomLineups) -> str:
    return f"({_text(count, sample).range})"


def _text(count: int, sample: RandomLineups) -> ShareText:
    return share_text(count / sample.count, *wilson(count, sample.count))


def at_the_cap(sample: RandomLineups, objective: ObjectiveConfig) -> str:
    """How many random lineups hit the cap of an objective; empty when it has none, or where all lineups are alike."""
    cap = objective.high if objective.direction == "max" else objective.low
    values = sample.values[objective.name]
    if cap is None or flat(values):
        return ""
    count = int((values >= cap).sum() if objective.direction == "max" else (values <= cap).sum())
    many = " Beyond it lineups cannot be told apart, so move it further out." if count > TOO_MANY * len(values) else ""
    shares = "" if sample.whole else f" {_range(count, sample)}"
    return f"At the {_end(objective)} of {with_unit(cap, objective.unit)}: {count} of {len(values)}{shares}.{many}"


def speed(job: Job) -> float | None:
    """Battles a second while the job played; None before it has played enough to say. What came before the first
    lineups of an attempt is left out where there is more: the simulator was starting."""
    events = job.events.exclude(kind__in=("status", "incident")).order_by("sequence").values_list("kind", "body")
    counters = [(kind, body["counters"]) for kind, body in events if "counters" in body]
    spans = [
        (earlier == "started", now["battles"] - before["battles"], now["seconds"] - before["seconds"])
        for (earlier, before), (kind, now) in pairwise(counters)
        if kind != "started"
    ]
    if not spans and counters:  # the beginning was not told: the only figures there are count from it
        spans = [(True, counters[-1][1]["battles"], counters[-1][1]["seconds"])]
    warm = [span for span in spans if not span[0]]
    chosen = warm if sum(battles for _, battles, _ in warm) > 0 else spans
    battles, seconds = (sum(span[i] for span in chosen) for i in (1, 2))
    return battles / seconds if battles > 0 and seconds > 0 else None

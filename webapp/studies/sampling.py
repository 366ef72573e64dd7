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
from engine.indicators import wilson
from webapp.lib.storage import store
from webapp.lib.words import NBSP, number, percent, plural
from webapp.studies.models import Job

TOO_MANY = 0.25
TYPICAL = 0.05
"""Share of random lineups over a line that leaves a search something to find, and something to climb."""
FEW = 30
"""Random lineups below which a share of them says too little to judge a line by."""
BINS = 22

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Sample:
    """Values of every objective, by its short name, for the lineups that could be played; and how many could not."""

    values: dict[str, Floats]
    failed: int
    median_baseline: float | None
    battles_each: int

    @property
    def count(self) -> int:
        return len(next(iter(self.values.values())))


def read(job: Job) -> Sample | None:
    """What a sample job found, or has found so far; None before any lineup is played. Raises StoreError."""
    digest = job.artifacts.get("sample") or job.artifacts.get("front")
    if not digest:
        return None
    bundle = unpack(store().get(digest))
    good = (bundle.arrays["status"] == 0) & np.isfinite(bundle.arrays["objective"]).all(axis=1)
    if not good.any():
        return None
    columns = bundle.arrays["objective"][good]
    median = bundle.meta.get("median_baseline")
    return Sample(
        values={name: columns[:, i] for i, name in enumerate(bundle.meta["objectives"])},
        failed=int((~good).sum()),
        median_baseline=None if median is None else float(median["value"]),
        battles_each=int(bundle.meta.get("battles_each", 0)),
    )


def over(values: Floats, objective: ObjectiveConfig, line: float) -> int:
    """How many values are at or beyond the line."""
    return int((values >= line).sum() if objective.direction == "max" else (values <= line).sum())


def suggestion(values: Floats, objective: ObjectiveConfig) -> float:
    """A line that about ``TYPICAL`` of the random lineups are over, in two digits."""
    share = 1 - TYPICAL if objective.direction == "max" else TYPICAL
    value = float(np.quantile(values, share))
    if value == 0 or not math.isfinite(value):
        return value
    step = 10 ** (math.floor(math.log10(abs(value))) - 1)
    ends = math.ceil if objective.direction == "max" else math.floor
    return round(ends(value / step) * step, 10)


def histogram(values: Floats, objective: ObjectiveConfig, line: float | None) -> dict[str, Any]:
    """Bars for the chart: ``edges`` [n + 1], of which one is the line if it is near, and ``counts`` [n]."""
    low, high = float(values.min()), float(values.max())
    if objective.high is not None and high < objective.high <= low + 2 * (high - low):
        high = objective.high
    width = _nice((high - low) / BINS) if high > low else max(abs(low), 1.0) / 10
    start = line if line is not None and low - width <= line <= high + width else low
    first = start + math.floor((low - start) / width + 1e-9) * width
    edges = first + width * np.arange(max(1, math.ceil((high - first) / width - 1e-9)) + 1)
    counts, _ = np.histogram(np.clip(values, edges[0], edges[-1]), edges)
    return {"edges": [float(f"{e:.12g}") for e in edges], "counts": counts.tolist()}


def _nice(width: float) -> float:
    power = 10 ** math.floor(math.log10(width))
    return float(next(m * power for m in (1, 2, 2.5, 5, 10) if m * power >= width * 0.999))


def with_unit(value: float, unit: str) -> str:
    """A value as the pages write it: 2.0×, 20 points, 31 %."""
    text = number(round(value, 2), 1 if unit == "×" else None)
    return f"{text}{unit}" if unit in {"×", "°"} else f"{text}{NBSP}{unit}" if unit else text


def advice(sample: Sample, objective: ObjectiveConfig, line: float | None) -> dict[str, Any]:
    """What the sample says about a line: ``level`` good, many or none, a heading, a sentence, and a better line."""
    values = sample.values[objective.name]
    better = suggestion(values, objective)
    if line is None and len(values) < FEW:
        few = plural(len(values), "random lineup")
        text = f"{few} cannot say where it should be. Type the value you would call too far."
        return {"level": "few", "head": "No line yet.", "text": text, "better": None}
    if line is None:
        text = "Without a line the search still finds the most extreme lineups; nothing is marked as over it."
        return {"level": "none", "head": "No line yet.", "text": text, "better": better}
    count, total = over(values, objective, line), len(values)
    if total < FEW:
        are = "is" if count == 1 else "are"
        text = f"{count} of {plural(total, 'random lineup')} {are} over it: {_share(count, total)}."
        return {"level": "few", "head": "Too few to say.", "text": text, "better": None}
    counted = f"{count} of {total} random lineups {'is' if count == 1 else 'are'} over it: {_share(count, total)}."
    if count == 0:
        text = f"The search has little to climb; a line at {with_unit(better, objective.unit)} gives it more."
        return {"level": "none", "head": "A far line.", "text": f"{counted} {text}", "better": better}
    near = f"Above {percent(TOO_MANY)} nearly everything looks {_looks(objective)}"
    if count > TOO_MANY * total:
        if over(values, objective, better) > TOO_MANY * total / 2:  # they pile up at the cap: no line parts them
            text = f"{counted} {near}, and many are at the cap. Another measure, or a higher cap, tells them apart."
            return {"level": "many", "head": "A near line.", "text": text, "better": None}
        text = f"{counted} {near}; try {with_unit(better, objective.unit)}."
        return {"level": "many", "head": "A near line.", "text": text, "better": better}
    text = f"{counted} {near}, at {percent(0)} the search has little to climb."
    return {"level": "good", "head": "A sensible line.", "text": text, "better": None}


def _looks(objective: ObjectiveConfig) -> str:
    word = objective.toward.removeprefix("more ")
    return word if word != objective.toward else "over the line"


def _share(count: int, total: int) -> str:
    low, high = wilson(count, total)
    return f"{percent(count / total)} ({_whole(low)} to {_whole(high)}{NBSP}%)"


def _whole(share: float) -> str:
    return f"{100 * share:.0f}"


def at_the_cap(sample: Sample, objective: ObjectiveConfig) -> str:
    """How many random lineups hit the cap of an objective; empty when it has none."""
    cap = objective.high if objective.direction == "max" else objective.low
    if cap is None:
        return ""
    values = sample.values[objective.name]
    count = int((values >= cap).sum() if objective.direction == "max" else (values <= cap).sum())
    low, high = wilson(count, len(values))
    many = " Beyond it lineups cannot be told apart, so move it further out." if count > TOO_MANY * len(values) else ""
    word = "cap" if objective.direction == "max" else "floor"
    shares = f"({_whole(low)} to {_whole(high)}{NBSP}%)"
    return f"At the {word} of {with_unit(cap, objective.unit)}: {count} of {len(values)} {shares}.{many}"


def speed(job: Job) -> float | None:
    """Battles a second while the job played; None before it has played enough to say. What came before the first
    lineups of an attempt is left out where there is more: the simulator was starting."""
    told = job.events.exclude(kind__in=("status", "incident")).order_by("sequence").values_list("kind", "body")
    counters = [(kind, body["counters"]) for kind, body in told if "counters" in body]
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

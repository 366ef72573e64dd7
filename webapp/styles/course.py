"""How a search for styles went, round by round: the best and the typical score of those that stayed, and how far apart
they lay."""

from __future__ import annotations

from statistics import median
from typing import Any, NamedTuple

import numpy as np

from webapp.studies.models import Job
from webapp.studies.rounds import evenly
from webapp.styles import evidence

MOST = 40
"""Rounds that are drawn."""


class Round(NamedTuple):
    """One round's population: ``low`` and ``high``: the ends of its first behaviour (None: none is measured)."""

    tick: int
    best: float
    typical: float
    low: float | None
    high: float | None


def rounds(job: Job) -> list[Round]:
    """Rounds, evenly spread; one whose agents are lost is left out."""
    wanted = sorted(evenly(job, MOST))
    events = job.events.filter(kind="progressed", tick__in=wanted).order_by("tick")
    found = []
    for tick, digest in events.values_list("tick", "body__artifacts__population"):
        agents = evidence.read(digest or "")
        if agents is not None:
            spread = agents.spreads[0] if agents.spreads else None
            ends = (spread.low, spread.high) if spread else (None, None)
            found.append(Round(tick, agents.best, median(agents.score.tolist()), *ends))
    return found


def chart(found: list[Round], *columns: str) -> dict[str, Any] | None:
    """Lines through rounds, in per cent of a picture, and the ends of both axes; None before there are two rounds."""
    values = [float(value) for each in found for name in columns if (value := getattr(each, name)) is not None]
    if len(found) < 2 or not values:
        return None
    low, high = evidence.padded(np.array(values))
    first, last = found[0].tick, found[-1].tick
    lines = {
        name: [
            (round(100 * (each.tick - first) / (last - first), 2), round(100 * (high - value) / (high - low), 2))
            for each in found
            if (value := getattr(each, name)) is not None
        ]
        for name in columns
    }
    return {"lines": lines, "low": low, "high": high, "first": first, "last": last,
            "band": _band([lines[name] for name in columns])}  # fmt: skip


def _band(lines: list[list[tuple[float, float]]]) -> str:
    """The area between two lines, as the points of a polygon."""
    points = [*lines[0], *reversed(lines[-1])]
    return " ".join(f"{x},{y}" for x, y in points)


class Now(NamedTuple):
    """Where a running search is: agents of the present round that are ``trained`` and measured, ``training`` and all of
    it; ``left``: seconds until the rest of them are, None before the first one is."""

    trained: int
    training: int
    agents: int
    left: float | None


def now(job: Job) -> Now | None:
    """Who is in training; None while nobody is. All agents of a round can be in training that workers are free for."""
    config = job.config
    agents, workers = int(config["algorithm"]["population"]), int(config["pool"].get("workers") or 1)
    if job.status != "running" or job.tick >= job.ticks:
        return None
    trained = max(0, min(agents, int(job.counters.get("evaluations", 0)) - job.tick * agents))
    return Now(trained, min(workers, agents - trained), agents, _left(job, trained, agents))


def _left(job: Job, trained: int, agents: int) -> float | None:
    """By how long those took that are trained and measured in this round."""
    if not trained:
        return None
    before = job.events.filter(kind="progressed", tick=job.tick).values_list("body__counters__seconds", flat=True)
    spent = float(job.counters.get("seconds", 0.0)) - float(next(iter(before), None) or 0.0)
    return max(0.0, spent) / trained * (agents - trained)

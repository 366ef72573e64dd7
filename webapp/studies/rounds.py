"""What the rounds of a job told, as columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from webapp.studies.models import Job

Columns = dict[str, list[float | None]]


def evenly(job: Job, most: int) -> set[int]:
    """Of the rounds that were told at most about ``most``, evenly spread; the last is one of them. Of a training
    several rounds may be told together, with the number of the last."""
    if job.tick <= most:
        return {*range(1, job.tick + 1)}
    ticks = [*job.events.filter(kind="progressed", tick__lte=job.tick).order_by("tick").values_list("tick", flat=True)]
    step = max(1, -(-len(ticks) // most))
    return {*ticks[step - 1 :: step], *ticks[-1:]}


def columns(job: Job, ticks: set[int], counters: Sequence[str], metrics: Sequence[str] | None = None) -> Columns:
    """Columns ``tick``, the counters (totals so far) and the metrics, or every metric that any of these rounds told;
    None where a round did not."""
    progressed = job.events.filter(kind="progressed", tick__in=sorted(ticks)).order_by("tick")
    rows: list[tuple[int, dict[str, Any]]] = list(progressed.values_list("tick", "body"))
    found: Columns = {"tick": [tick for tick, _ in rows]}
    found |= {name: [body.get("counters", {}).get(name) for _, body in rows] for name in counters}
    by_round = [body.get("metrics", {}) for _, body in rows]
    names = dict.fromkeys(name for each in by_round for name in each) if metrics is None else metrics
    return found | {name: [each.get(name) for each in by_round] for name in names if name not in found}

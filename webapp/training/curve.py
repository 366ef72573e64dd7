"""The curve of a training: what each round said, as columns for the page and as a file."""

from __future__ import annotations

import csv
import io
from typing import Any

from webapp.studies.explore_export import safe
from webapp.studies.models import Job

COUNTERS = ("steps", "seconds")
EVALUATED = "evaluation_return"
Columns = dict[str, list[float | None]]


def columns(job: Job, most: int) -> Columns:
    """Columns ``tick``, the counters (totals so far) and every metric any round told, None where a round did not. Of
    more than ``most`` rounds an even share, and those with an evaluation."""
    step = max(1, -(-job.tick // most))
    progressed = job.events.filter(kind="progressed", tick__lte=job.tick)
    wanted = {*range(step, job.tick + 1, step), job.tick}
    if step > 1:
        examined = progressed.filter(body__metrics__has_key=EVALUATED).values_list("tick", flat=True)
        wanted |= set(examined[:: max(1, -(-len(examined) // most))])
        progressed = progressed.filter(tick__in=sorted(wanted))
    return _columns(list(progressed.order_by("tick").values_list("tick", "body")))


def _columns(told: list[tuple[int, dict[str, Any]]]) -> Columns:
    metrics = [body.get("metrics", {}) for _, body in told]
    names = dict.fromkeys(name for found in metrics for name in found)
    found: Columns = {"tick": [tick for tick, _ in told]}
    found |= {name: [body.get("counters", {}).get(name) for _, body in told] for name in COUNTERS}
    return found | {name: [each.get(name) for each in metrics] for name in names if name not in found}


def to_csv(job: Job) -> str:
    """Every round a line, every number a column; a number that a round did not tell is left empty."""
    found = columns(job, most=max(1, job.tick))
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["round", *map(safe, list(found)[1:])])
    writer.writerows(zip(*found.values(), strict=True))
    return out.getvalue()

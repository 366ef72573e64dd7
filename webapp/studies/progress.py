"""How a job went, round by round: what its charts draw and its remaining time is estimated from."""

from __future__ import annotations

import csv
import io
from typing import Any

from webapp.studies import kinds, wire
from webapp.studies.explore_export import safe
from webapp.studies.models import Job
from webapp.studies.rounds import Columns

MOST_POINTS = 400


def rounds(job: Job, most: int = MOST_POINTS) -> Columns:
    """Columns ``tick``, the counters (totals so far) and the metrics of at most about ``most`` rounds, evenly spread;
    None where a round did not report one."""
    return kinds.of(job).rounds(job, most)


def to_csv(job: Job) -> str:
    """Every round a line, every number a column; a number that a round did not tell is left empty."""
    found = rounds(job, most=max(1, job.tick))
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["round", *map(safe, list(found)[1:])])
    writer.writerows(zip(*found.values(), strict=True))
    return out.getvalue()


def history(job: Job, most: int = 100) -> list[dict[str, Any]]:
    """The latest events worth a line, newest first, as messages. None is newer than ``job`` as it was read: the page
    asks for the events after that, and would tell this one twice."""
    so_far = job.events.filter(sequence__lte=job.sequence)
    worded = so_far.exclude(kind="progressed").exclude(kind="logged", body__message="")
    told = (wire.message(event) for event in wire.readable(worded).order_by("-sequence")[: 4 * most])
    lines = [line for line in told if line["words"]]
    if more := kinds.of(job).moments(job):
        lines = sorted([*lines, *more], key=lambda line: -line["sequence"])
    return lines[:most]

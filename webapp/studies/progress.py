"""How a job went, round by round: what its charts draw and its remaining time is estimated from."""

from __future__ import annotations

from typing import Any

from webapp.lib.words import number
from webapp.studies import wire
from webapp.studies.models import Job
from webapp.training import curve

MOST_POINTS = 400

COUNTERS = ("seconds", "battles", "cached", "evaluations")
METRICS = ("over", "strong", "worst", "worst_low", "worst_high", "hypervolume")


def rounds(job: Job, most: int = MOST_POINTS) -> dict[str, list[float | None]]:
    """Columns ``tick``, the counters (totals so far) and the metrics of at most about ``most`` rounds, evenly spread.

    A metric a round did not report is None there.
    """
    if job.teaches:
        return curve.columns(job, most)
    step = max(1, -(-job.tick // most))
    wanted = sorted({*range(step, job.tick + 1, step), job.tick} - {0})
    told = job.events.filter(kind="progressed", tick__in=wanted).order_by("tick").values_list("tick", "body")
    columns: dict[str, list[float | None]] = {name: [] for name in ("tick", *COUNTERS, *METRICS)}
    for tick, body in told:
        columns["tick"].append(tick)
        for name in COUNTERS:
            columns[name].append(body.get("counters", {}).get(name))
        for name in METRICS:
            columns[name].append(body.get("metrics", {}).get(name))
    return columns


def history(job: Job, most: int = 100) -> list[dict[str, Any]]:
    """The latest events worth a line, newest first, as messages."""
    worded = job.events.exclude(kind="progressed").exclude(kind="logged", body__message="")
    told = (wire.message(event) for event in worded.order_by("-sequence")[: 4 * most])
    lines = [line for line in told if line["words"]]
    any_strong = (
        job.events.filter(kind="progressed", body__metrics__strong__gt=0) if job.metrics.get("strong") else None
    )
    found = any_strong.order_by("tick").first() if any_strong is not None else None
    if found is not None:
        strong = any(o["strength"] for o in job.config["objectives"]["objectives"])
        what = "over the line and strong" if strong else "over the line"
        lines.append({**wire.message(found), "words": f"First lineup {what}, in round {number(found.tick)}."})
        lines.sort(key=lambda line: -line["sequence"])
    return lines[:most]

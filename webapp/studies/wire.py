"""What browsers are told about a job: its state in one message, each event in another, both in plain words."""

from __future__ import annotations

from typing import Any

from django.db.models import CharField, QuerySet
from django.db.models.fields.json import KT
from django.db.models.functions import Coalesce
from django.urls import reverse

from engine.catalog import STUDIES
from webapp.lib.words import number, plural
from webapp.studies import kinds
from webapp.studies.journal import STATUS
from webapp.studies.models import Job, JobEvent, Status
from webapp.studies.took import took

ENDS = {
    "started": Status.RUNNING,
    "paused": Status.PAUSED,
    "stopped": Status.STOPPED,
    "finished": Status.FINISHED,
    "failed": Status.FAILED,
}
"""Events of a study that put its job in a new state."""

COMMANDS = {"stop": "Stop was asked for.", "pause": "Pause was asked for.", "": "The pause was taken back."}
OVER = frozenset({"stopped", "finished", "failed"})
SERIOUS = frozenset({"incident", "failed"})
SHORT = "waiting-for-capacity"
"""What an incident is called that is none: nothing went wrong, a processor has to come free first."""


def state(job: Job) -> dict[str, Any]:
    """The whole present state of a job."""
    return {
        "job": job.pk,
        "kind": job.kind,
        "title": job.title,
        "link": reverse("studies:job", args=[job.project.slug, job.pk]),
        "status": job.status,
        "command": job.command,
        "message": job.message,
        "sequence": job.sequence,
        "tick": job.tick,
        "ticks": job.ticks,
        "attempt": job.attempt,
        "counters": job.counters,
        "metrics": job.metrics,
        "started": _seconds(job.started_at),
        "ended": _seconds(job.finished_at),
        "took": took(job),
    }


def _seconds(at: Any) -> float | None:
    return None if at is None else at.timestamp()


def readable(events: QuerySet[JobEvent]) -> QuerySet[JobEvent]:
    """Events with what ``message`` needs to know of their jobs."""
    return events.annotate(study_kind=Coalesce(KT("job__config__kind"), "job__kind", output_field=CharField()))


def message(event: JobEvent) -> dict[str, Any]:
    """One ``readable`` event: ``words`` for the job's history (empty: nothing worth a line), and what changed by it."""
    body = event.body
    fields: dict[str, Any] = {
        "job": event.job_id,
        "sequence": event.sequence,
        "kind": event.kind,
        "tick": event.tick,
        "at": event.at.timestamp(),
        "words": words(event),
        "serious": event.kind in SERIOUS and body.get("what") != SHORT,
        "waits": body.get("what") == SHORT or body.get("status") == Status.WAITING,
    }
    fields |= {key: body[key] for key in ("counters", "metrics", "ticks", "command", "attempt", "note") if key in body}
    if event.kind == "started":
        fields["planned"] = body.get("battles", 0)
    if event.kind == "finished":
        artifacts = body.get("artifacts", {})
        fields |= {"fresh": bool(artifacts.get("fresh")), "fresh_map": "fresh_grid" in artifacts}
        fields["fresh_coverage"] = body.get("summary", {}).get("fresh_coverage")
    status = body.get("status") if event.kind == STATUS else ENDS.get(event.kind)
    if status:
        fields |= {"status": str(status), "message": str(body.get("message") or body.get("reason") or "")}
    if event.kind in OVER:
        fields["took"] = took(event.job)
        if counts := kinds.of(event.job).counts(event.job):
            fields["found"] = counts
    return fields


def words(event: JobEvent) -> str:
    """An event as a sentence for the job's history; empty for what the page shows in another way."""
    body = event.body
    kind = STUDIES.get(getattr(event, "study_kind", "") or "")
    step = kind.tick if kind else "round"
    tick = f"{step} {number(event.tick)}"
    match event.kind:
        case "status":
            return _status_words(event)
        case "started":
            workers = plural(int(body.get("workers", 1)), "worker")
            return f"Went on from {tick} on {workers}." if body.get("resumed") else f"Started on {workers}."
        case "paused":
            return f"Paused at {tick}." if event.tick else "Paused."
        case "stopped":
            return f"Stopped after {tick}. What was found stays." if event.tick else "Stopped."
        case "finished":
            return f"Finished after {plural(event.tick, step)}." if event.tick and step != "part" else "Finished."
        case "logged" | "incident" | "failed":
            return str(body.get("message", ""))
    return ""


def _status_words(event: JobEvent) -> str:
    body = event.body
    if body.get("status") == Status.WAITING:
        return str(body.get("message", ""))
    if body.get("status") == Status.RUNNING and "command" in body:
        return COMMANDS.get(body["command"], "")
    if body.get("status") == Status.RUNNING:
        return "Starting."
    return "Put in the queue." if event.sequence == 1 else ""

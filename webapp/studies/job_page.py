"""What the live page of a job of any kind starts from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.urls import reverse

from webapp.studies import journal, overview, wire
from webapp.studies.models import Job


def links(job: Job, *names: str) -> dict[str, str]:
    """Addresses of pages about the job, by their names."""
    return {name: reverse(f"studies:{name}", args=[job.project.slug, job.pk]) for name in names}


def live(job: Job, *pictures: str) -> dict[str, Any]:
    """What the script of any job's page starts from; ``pictures`` names what else of the job it fetches."""
    return {
        "state": wire.state(job),
        "moving": _moving(job),
        "unfinished": bool(job.asked),
        "links": links(job, "rounds", *pictures) | {"events": reverse("studies:events")},
        "project": job.project.slug,
        "minutes": overview.minutes_of(job),
        "early": any(rule["kind"] != "minutes" for rule in job.config.get("stop", ())),
        "fresh_map": "fresh_grid" in job.artifacts,
    }


def _moving(job: Job) -> bool:
    """Whether the present attempt has played something; before that its workers are starting."""
    claimed = (
        job.events.filter(kind=journal.STATUS, body__attempt=job.attempt).values_list("sequence", flat=True).last()
    )
    return job.events.filter(kind__in=("progressed", "logged"), sequence__gt=claimed or 0).exists()


def worker_words(pool: Mapping[str, Any]) -> str:
    """How many workers play, as the job's history counts them: what plays in the job's own process is one."""
    return "1, in the job’s own process" if pool["kind"] == "local" else str(pool["workers"])


def closing(job: Job) -> list[tuple[str, Any]]:
    """What the technical words of every job end with."""
    pool = job.config.get("pool", {})
    workers = [("Workers", worker_words(pool))] if "workers" in pool else []
    return [
        ("Seed", job.config["seed"]),
        *workers,
        ("Attempt", job.attempt),
        ("Settings", job.config_hash[:12]),
    ]

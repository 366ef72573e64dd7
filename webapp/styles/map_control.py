"""The control of a search for styles: the same loop with selection switched off, as a job of its own."""

from __future__ import annotations

from typing import Any

from django.db import transaction

from engine.config import StylesConfig, parse
from webapp.accounts.models import User
from webapp.agents.keeping import unplayable
from webapp.projects.models import Project
from webapp.studies import actions
from webapp.studies.models import Job, Status

BESIDE = frozenset({"name", "selection", "pool", "kept", "fresh"})
"""Settings on which what a search breeds does not depend."""
USELESS = (Status.FAILED, Status.STOPPED)


def of(job: Job) -> Job | None:
    """The control of a search: a job of the project with the same settings and seed, and without selection."""
    if not job.config["selection"]:
        return None
    others = job.project.jobs.filter(kind=job.kind, config__selection=False, config__seed=job.config["seed"])
    same = [other for other in others.order_by("-pk") if _kept_alike(other.config) == _kept_alike(job.config)]
    return next((other for other in same if other.status not in USELESS), same[0] if same else None)


def _kept_alike(config: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in config.items() if name not in BESIDE}


def start(job: Job, user: User) -> Job:
    """The control of a search, begun now; the one that is there. Raises Refused where its game cannot be played."""
    if why := unplayable(job.config["task"]["game"]["name"], job.project):
        raise actions.Refused(why)
    title = f"Control: {job.title}"[:120]
    config = parse(StylesConfig, {**job.config, "name": title, "selection": False})
    with transaction.atomic():
        # Of two clicks at once, the second finds what the first began.
        Project.objects.select_for_update(no_key=True).get(pk=job.project_id)
        found = of(job)
        if found is not None and found.status not in USELESS:
            return found
        return actions.submit(job.project, user, config, title=title, template=job.template, parent=job)

"""Steps of the loop that come after explaining. The app that has the page of one puts it here when the site starts
(``AppConfig.ready``)."""

from __future__ import annotations

from typing import NamedTuple

from django.urls import reverse

from webapp.studies.models import Job


class Step(NamedTuple):
    """The kind of job that has it, and the name of its address."""

    kind: str
    page: str


STEPS: dict[str, Step] = {}


def register(step: str, kind: str, page: str) -> None:
    """Jobs of this kind have this step of the loop, on this page."""
    STEPS[step] = Step(kind, page)


def onward(job: Job, step: str) -> str:
    """The address of a step for a job that has ended and found something; empty for any other."""
    found = STEPS.get(step)
    if found is None or job.kind != found.kind or not (job.terminal and job.tick):
        return ""
    return reverse(found.page, args=[job.project.slug, job.pk])

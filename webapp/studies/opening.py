"""The page that a finished job of a kind opens on. An app that has one puts it here when the site starts
(``AppConfig.ready``); without one a job opens where its lineups are explored, or on its own page."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from django.urls import reverse

from webapp.studies.models import Job


class Opening(NamedTuple):
    """The name of its address, whether a job can ever have something to see there, and whether it has by now."""

    page: str
    possible: Callable[[Job], bool]
    ready: Callable[[Job], bool]


OPENINGS: dict[str, Opening] = {}


def register(kind: str, page: str, possible: Callable[[Job], bool], ready: Callable[[Job], bool]) -> None:
    """Jobs of this kind open on this page once it is ``ready``; nothing leads there where that is not ``possible``."""
    OPENINGS[kind] = Opening(page, possible, ready)


def explained(job: Job) -> str:
    """The address where a job says why, whether or not there is something to see by now; empty where there never will
    be."""
    found = OPENINGS.get(job.kind)
    return reverse(found.page, args=[job.project.slug, job.pk]) if found and found.possible(job) else ""


def opening(job: Job) -> str:
    """The same, once there is something to see."""
    found = OPENINGS.get(job.kind)
    return explained(job) if found is not None and found.ready(job) else ""

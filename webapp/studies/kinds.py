"""What the site's pages have for each kind of study.

``engine.catalog.STUDIES`` says what a kind is. The app that has pages for it puts its ``Parts`` here when the site
starts (``AppConfig.ready``); a kind that brings none has those of ``Parts`` itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Protocol

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from engine.catalog import STUDIES
from engine.config import ObjectiveSetConfig
from webapp.accounts.models import User
from webapp.studies.intake import Intake
from webapp.studies.methods import LINEUPS, Menu
from webapp.studies.models import Job
from webapp.studies.rounds import Columns, columns, evenly
from webapp.studies.setting_fields import Setting

LATEST = 20
"""Rounds that a page without a chart shows."""
PUSHED = {"max": "High values", "min": "Low values"}


class Rows(Protocol):
    """Rows that can be paged through, or taken away whole."""

    count: int

    def page(self, offset: int, limit: int) -> list[dict[str, Any]]:
        """Some of the rows."""
        ...

    def csv(self) -> bytes:
        """All of them, a line each."""
        ...


class Parts:
    """Those of a kind that brings none of its own.

    - ``start`` makes a job of its filled-in form (``webapp.studies.pending.Start``).
    - ``intake`` makes a study of a body of the API; None: it is made from another job only.
    - ``clone``: the name of the address of "Ask again with changes".
    - ``explored``: it has lineups to explore. ``compared``: two of them can be compared.
    - ``results``: tables of what it found, the usual one first.
    - ``files``: what else can be taken away, by the role of its artifact; ``gives``: what its policy is to people.
    - ``menu``: its methods. ``settings``: what its form asks for beside those. ``directions``: ways to push a number.
    """

    start: ClassVar[Any] = None
    intake: ClassVar[Intake | None] = Intake()
    results: ClassVar[tuple[str, ...]] = ()
    files: ClassVar[Mapping[str, str]] = {}
    gives: ClassVar[str] = ""
    clone: ClassVar[str] = ""
    explored: ClassVar[bool] = False
    compared: ClassVar[bool] = False
    menu: ClassVar[Menu] = LINEUPS
    settings: ClassVar[tuple[Setting, ...]] = ()
    directions: ClassVar[Mapping[str, str]] = PUSHED

    def page(self, request: HttpRequest, job: Job, context: dict[str, Any]) -> HttpResponse:
        """The live page of a job; ``context`` has what every job's page has."""
        done = job.counters.get(job.study.unit, 0)
        return render(request, "studies/plain.html", context | {"done": done, "rounds": self.rounds(job, LATEST)})

    def rounds(self, job: Job, most: int) -> Columns:
        """Columns of at most about ``most`` rounds: ``tick``, the counters, and what rounds told."""
        return columns(job, evenly(job, most), ("seconds", job.study.unit))

    def table(self, job: Job, of: str, user: User) -> Rows:
        """One of ``results``, as far as the job is. Raises StoreError and ConfigError."""
        raise LookupError(of)

    def objectives(self, job: Job) -> ObjectiveSetConfig:
        """What its candidates are drawn along; none where it has no candidates."""
        return ObjectiveSetConfig.model_construct(objectives=())

    def way(self, name: str) -> dict[str, Any]:
        """A measure that a map is drawn along, by its name: title, unit, and which way is better."""
        return {"title": name, "unit": "", "toward": ""}

    def named(self, place: str, text: str) -> str:
        """The value of a setting in words, where it is the name of something."""
        return text


PARTS: dict[str, Parts] = {}


def register(kind: str, parts: Parts) -> None:
    """Give a kind of study its parts."""
    PARTS[kind] = parts


def parts_of(kind: str) -> Parts:
    """The parts of a kind."""
    return PARTS.get(kind) or Parts()


def begun() -> list[str]:
    """The kinds of study that the API starts."""
    return [kind for kind in STUDIES if parts_of(kind).intake is not None]


def of(job: Job) -> Parts:
    """The parts of a job's study; a trial of a training has those of trainings."""
    return parts_of(str(job.config.get("kind", "search")))

"""The pages of removal tests, and what is taken away from them."""

from __future__ import annotations

from typing import Any, ClassVar

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from webapp.accounts.models import User
from webapp.removal.asking import RemovalIntake
from webapp.removal.reading import Tests, every, found
from webapp.studies.kinds import Found, Parts, Rows
from webapp.studies.models import Job
from webapp.studies.table_rows import TableRows

HEADS = (
    "suspect", "test", "value", "low", "high", "before", "change", "change_low", "change_high", "lineups", "confirmed",
)  # fmt: skip
"""Columns for programs."""


class Removing(Parts):
    """Removal tests: what is left without a suspect."""

    intake = RemovalIntake()
    own_page = True
    results: ClassVar[tuple[str, ...]] = ("table",)

    def page(self, request: HttpRequest, job: Job, context: dict[str, Any]) -> HttpResponse:
        """Every suspect, as far as its tests are."""
        return render(request, "removal/job.html", context | {"tests": every(job)})

    def found(self, job: Job) -> Found | None:
        """How many were tested."""
        return Found(found(every(job)))

    def table(self, job: Job, of: str, user: User) -> Rows:
        """A line for each exchange and each ban."""
        return TableRows(HEADS, [row for each in every(job) for row in (*_exchanges(each), *_bans(each))])


def _line(suspect: str, test: str, ends: tuple[float, float, float] | None, **more: Any) -> dict[str, Any]:
    value, low, high = ends or (None, None, None)
    row = {"suspect": suspect, "test": test, "value": value, "low": low, "high": high}
    return {**dict.fromkeys(HEADS), **row, **more}


def _exchanges(tests: Tests) -> list[dict[str, Any]]:
    names = ("change", "change_low", "change_high")
    return [
        _line(tests.name, row.name, (row.value, row.low, row.high), before=row.before, lineups=row.lineups,
              **dict(zip(names, row.change, strict=True)))
        for row in tests.rows
    ]  # fmt: skip


def _bans(tests: Tests) -> list[dict[str, Any]]:
    return [
        _line(tests.name, name, left.furthest, lineups=left.replayed, confirmed=left.confirmed)
        for name, left in tests.both
    ]

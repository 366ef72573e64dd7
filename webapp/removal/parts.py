"""The pages of removal tests, and what is taken away from them."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from typing import Any, ClassVar

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from webapp.accounts.models import User
from webapp.removal.asking import RemovalIntake
from webapp.removal.reading import Tests, every, found
from webapp.studies.explore_export import safe
from webapp.studies.kinds import Found, Parts, Rows
from webapp.studies.models import Job


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
        return Lines(every(job))


class Lines:
    """Exchanges and bans as rows for programs."""

    HEADS: ClassVar[Mapping[str, str]] = {
        "suspect": "Suspect",
        "test": "Test",
        "value": "Value",
        "low": "95 % from",
        "high": "95 % to",
        "before": "Before",
        "change": "Change",
        "change_low": "Change, 95 % from",
        "change_high": "Change, 95 % to",
        "lineups": "Lineups",
        "confirmed": "Confirmed",
    }

    def __init__(self, tests: list[Tests]) -> None:
        self.rows = [row for each in tests for row in (*_exchanges(each), *_bans(each))]
        self.count = len(self.rows)

    def page(self, offset: int, limit: int) -> list[dict[str, Any]]:
        """Some of the rows."""
        return self.rows[offset : offset + limit]

    def csv(self) -> bytes:
        """A line for each."""
        out = io.StringIO(newline="")
        writer = csv.writer(out)
        writer.writerow(self.HEADS.values())
        writer.writerows(
            [safe(v) if isinstance(v := row[head], str) else v for head in self.HEADS] for row in self.rows
        )
        return out.getvalue().encode()


def _line(suspect: str, test: str, ends: tuple[float, float, float] | None, **more: Any) -> dict[str, Any]:
    value, low, high = ends or (None, None, None)
    told = {"suspect": suspect, "test": test, "value": value, "low": low, "high": high}
    return {**dict.fromkeys(Lines.HEADS), **told, **more}


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

"""The pages of replays, and what is taken away from them."""

from __future__ import annotations

from typing import Any, ClassVar

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from webapp.accounts.models import User
from webapp.changes.asking import ChangeIntake
from webapp.changes.card import shown
from webapp.changes.reading import read
from webapp.changes.sentences import fixed, head
from webapp.studies.kinds import Found, Parts, Rows
from webapp.studies.models import Job
from webapp.studies.table_rows import TableRows

HEADS = (
    "lineup", "before", "before_low", "before_high", "after", "after_low", "after_high", "difference", "difference_low",
    "difference_high", "verdict", "refitted", "battles",
    "before_led_by", "after_led_by",
)  # fmt: skip
"""Columns for programs."""


class Trying(Parts):
    """Replays: what a change does to lineups."""

    intake = ChangeIntake()
    own_page = True
    results: ClassVar[tuple[str, ...]] = ("table",)

    def page(self, request: HttpRequest, job: Job, context: dict[str, Any]) -> HttpResponse:
        """Bars that fill in, and the table."""
        return render(request, "changes/job.html", context | {"trial": shown(job)})

    def work(self, job: Job) -> float:
        """By battles: where verdicts come early it ends before all are played."""
        found = read(job)
        return min(found.battles / found.planned, 1.0) if found is not None and found.planned else 0.0

    def found(self, job: Job) -> Found | None:
        """Its sentence."""
        found = read(job)
        if found is None:
            return None
        mark = "strong" if any(each.finding == "confirmed" for each in found.lineups) else ""
        return Found((fixed(found) if job.accompanies_id else head(found)).rstrip("."), mark)

    def table(self, job: Job, of: str, user: User) -> Rows:
        """A line for each lineup."""
        found = read(job)
        return TableRows(HEADS, list(found.rows()) if found is not None else [])

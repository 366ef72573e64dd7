"""The pages of round robins, and what is taken away from them."""

from __future__ import annotations

from typing import Any, ClassVar

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from webapp.accounts.models import User
from webapp.metagame.asking import MetagameForm, MetagameIntake
from webapp.metagame.reading import RoundRobinResult
from webapp.studies.kinds import Found, Parts, Rows
from webapp.studies.models import Job
from webapp.studies.table_rows import TableRows, latest

HEADS = ("first", "second", "verdict", "share", "low", "high", "battles")
"""Columns of the pairs for programs."""


class Meeting(Parts):
    """Round robins: who beats whom."""

    intake = MetagameIntake()
    form = MetagameForm
    question = "Who beats whom?", "Shortlisted and baseline teams play each other, all against all."
    about = (
        "Shortlisted teams and the baseline teams play each other, all against all. A map shows who beats whom; a "
        "sentence says how much of it is strength, and how much goes round like rock, paper and scissors."
    )
    results: ClassVar[tuple[str, ...]] = ("table",)

    def page(self, request: HttpRequest, job: Job, context: dict[str, Any]) -> HttpResponse:
        """The table as it grows surer."""
        bundle = latest(job)
        many = len(job.config["teams"])
        own = {
            "reading": RoundRobinResult(bundle) if bundle else None,
            "lost": bundle is None and bool(job.artifacts.get("table")),
            "many": many,
            "planned": many * (many - 1) // 2 * (int(job.config["battles"]) // 2 * 2),
        }
        return render(request, "metagame/job.html", context | own)

    def found(self, job: Job) -> Found | None:
        """Ladder or rings."""
        bundle = latest(job)
        return None if bundle is None else Found(RoundRobinResult(bundle).sentence.partition(":")[0].rstrip("."))

    def table(self, job: Job, of: str, user: User) -> Rows:
        """A line for each pair."""
        bundle = latest(job)
        return TableRows(HEADS, RoundRobinResult(bundle).rows() if bundle is not None else [])

"""The pages of searches for changes, and what is taken away from them."""

from __future__ import annotations

from typing import Any, ClassVar

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from webapp.accounts.models import User
from webapp.lib.words import plural
from webapp.patches.asking import PatchForm, PatchIntake
from webapp.patches.chart import chart
from webapp.patches.reading import PatchesResult, PatchRow
from webapp.studies.kinds import Found, Parts, Rows
from webapp.studies.models import Job
from webapp.studies.table_rows import TableRows, latest

HEADS = ("change", "way", "verdict", "changes", "size", "worst", "low", "high", "battles")
"""Columns for programs."""


class Patching(Parts):
    """Searches for the smallest change that works."""

    intake = PatchIntake()
    form = PatchForm
    clone = "studies:again"
    question = "What is the smallest change?", "Looks for the price, number or rule that makes the game fair."
    about = (
        "What is unfair is measured, and then the smallest change is looked for that makes it fair: a price, a number, "
        "or two pieces that may not be in one team. An adversary searches again under every change, and the best are "
        "proved on fresh battles."
    )
    results: ClassVar[tuple[str, ...]] = ("table",)

    def page(self, request: HttpRequest, job: Job, context: dict[str, Any]) -> HttpResponse:
        """The patches as they are found."""
        bundle = latest(job)
        ended_after = int(job.counters.get("battles", 0)) if job.terminal else None
        reading = (
            PatchesResult(bundle, ended_after, intended=bool(job.config["intended"]), most=job.config["most"])
            if bundle
            else None
        )
        front = chart(reading) if reading and len(reading.rows) > 1 else None
        own = {"reading": reading, "front": front, "lost": bundle is None and bool(job.artifacts)}
        return render(request, "patches/job.html", context | own)

    def found(self, job: Job) -> Found | None:
        """What works."""
        bundle = latest(job)
        if bundle is None:
            return None
        reading = PatchesResult(bundle)
        if reading.best:
            return Found(f"{plural(reading.best.changes, 'change')} {'works' if reading.best.changes == 1 else 'work'}")
        return Found("No change is proved" if len(reading.rows) > 1 else "Nothing to change")

    def table(self, job: Job, of: str, user: User) -> Rows:
        """A line for each patch."""
        bundle = latest(job)
        return TableRows(HEADS, [_row(row) for row in PatchesResult(bundle).rows] if bundle is not None else [])


def _row(row: PatchRow) -> dict[str, Any]:
    """A patch for programs."""
    return {
        "change": row.title, "way": row.called, "verdict": row.said, "changes": row.changes, "size": row.size,
        "worst": row.worst, "low": row.low, "high": row.high, "battles": row.battles,
        "patch": {each["path"]: each["after"] for each in row.table["changes"]}, "apart": row.table["apart"],
    }  # fmt: skip

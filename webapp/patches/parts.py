"""The pages of searches for changes, and what is taken away from them."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from typing import Any, ClassVar

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from engine.arrays import Bundle, unpack
from engine.errors import StoreError
from webapp.accounts.models import User
from webapp.lib.storage import store
from webapp.lib.words import plural
from webapp.patches.asking import PatchForm, PatchIntake
from webapp.patches.reading import Reading
from webapp.studies.explore_export import safe
from webapp.studies.kinds import Found, Parts, Rows
from webapp.studies.models import Job


class Patching(Parts):
    """Searches for the smallest change that works."""

    intake = PatchIntake()
    form = PatchForm
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
        own = {"reading": Reading(bundle) if bundle else None, "lost": bundle is None and bool(job.artifacts)}
        return render(request, "patches/job.html", context | own)

    def found(self, job: Job) -> Found | None:
        """What works."""
        bundle = latest(job)
        if bundle is None:
            return None
        reading = Reading(bundle)
        if reading.best:
            return Found(f"{plural(reading.best.changes, 'change')} {'works' if reading.best.changes == 1 else 'work'}")
        return Found("No change is proved" if len(reading.rows) > 1 else "Nothing to change")

    def table(self, job: Job, of: str, user: User) -> Rows:
        """A line for each patch."""
        return Lines(latest(job))


def latest(job: Job) -> Bundle | None:
    """The table as far as it is; None before there is one, and where it was lost."""
    digest = job.artifacts.get("table", "")
    if not digest:
        bodies = job.events.filter(kind="progressed").order_by("-tick").values_list("body", flat=True)
        digest = (bodies.first() or {}).get("artifacts", {}).get("table", "")
    try:
        return unpack(store().get(digest)) if digest else None
    except StoreError:
        return None


class Lines:
    """The patches as rows for programs."""

    HEADS: ClassVar[Mapping[str, str]] = {
        "change": "Change",
        "way": "Way",
        "verdict": "Verdict",
        "changes": "Changes",
        "size": "Size (% of ranges)",
        "worst": "Farthest from fair (points)",
        "low": "95 % from",
        "high": "95 % to",
        "battles": "Battles",
    }

    def __init__(self, bundle: Bundle | None) -> None:
        rows = Reading(bundle).rows if bundle is not None else []
        self.rows = [
            {
                "change": row.title, "way": row.called, "verdict": row.said, "changes": row.changes, "size": row.size,
                "worst": row.worst, "low": row.low, "high": row.high, "battles": row.battles,
                "patch": {each["path"]: each["after"] for each in row.table["changes"]}, "apart": row.table["apart"],
            }
            for row in rows
        ]  # fmt: skip
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

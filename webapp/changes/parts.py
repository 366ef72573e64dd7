"""The pages of replays, and what is taken away from them."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from typing import Any, ClassVar

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from webapp.accounts.models import User
from webapp.changes.asking import ChangeIntake
from webapp.changes.card import shown
from webapp.changes.reading import Replayed, read
from webapp.changes.telling import fixed, head
from webapp.studies.explore_export import safe
from webapp.studies.kinds import Found, Parts, Rows
from webapp.studies.models import Job


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
        return Lines(read(job))


class Lines:
    """The lineups as rows for programs."""

    HEADS: ClassVar[Mapping[str, str]] = {
        "lineup": "Lineup",
        **{
            f"{name}{end}": f"{title}{words}"
            for name, title in (("before", "Before"), ("after", "After"), ("difference", "Difference"))
            for end, words in (("", ""), ("_low", ", 95 % from"), ("_high", ", 95 % to"))
        },
        "verdict": "Verdict",
        "refitted": "Refitted",
        "battles": "Fresh battles",
    }

    def __init__(self, found: Replayed | None) -> None:
        self.rows = list(found.rows()) if found is not None else []
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

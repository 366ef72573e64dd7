"""Reports for tests: of a search whose battles nobody played."""

from __future__ import annotations

from typing import Any

from tests.webapp.test_explore_shortlist import finished_recheck
from webapp.accounts.models import User
from webapp.reports import links
from webapp.reports.content import ReportText
from webapp.reports.models import Link, Report
from webapp.reports.publishing import publish
from webapp.studies.models import Job

OVER, UNDER, UNSURE = [2.6, 50.0, 28.0], [1.7, 30.0, 28.0], [2.2, 50.0, 28.0]
"""Means of the three objectives on fresh battles: over the line and strong, under it, and near it."""


def played_again(search: Job, rows: list[int], mean: list[float], error: float = 0.05) -> Job:
    """These lineups of a search of 200 came out like this on fresh battles."""
    return finished_recheck(search, rows, mean, [error, 1.0, 1.0])


def report(search: Job, user: User, title: str = "Spring balance", **more: Any) -> Report:
    """A published report."""
    return publish(
        search, user, ReportText(title, "spring release", more.pop("words", "")), more.pop("replaces", None), **more
    )


def link_to(made: Report, user: User, days: int = 14) -> tuple[Link, str]:
    """A link to a report, and its address."""
    link, text = links.make(made, user, days)
    return link, f"/r/{text}/"

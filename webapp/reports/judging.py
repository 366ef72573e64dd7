"""Judging reports and remarking on them. Both are added, never changed."""

from __future__ import annotations

from collections.abc import Iterable

from django.db import transaction

from engine.text import is_seen
from webapp.accounts.models import User
from webapp.lib.words import day
from webapp.reports.models import Comment, Report, Verdict

Choice = Verdict.Choice
LONGEST_REASON, LONGEST_COMMENT = 2000, 4000


class Unwritable(ValueError):
    """It cannot be written down; the message says why and what to do."""


def judge(report: Report, user: User, choice: str, reason: str = "") -> Verdict:
    """Write a verdict down. The same one sent twice is one. Raises Unwritable."""
    reason = reason.strip()
    if choice not in Choice.values:
        raise Unwritable("A report is accepted or sent back.")
    if choice == Choice.BACK and not reason:
        raise Unwritable("Write a few words on what is missing, so that the next edition can have it.")
    _check(reason, LONGEST_REASON)
    with transaction.atomic():
        Report.objects.select_for_update().get(pk=report.pk)  # one at a time, so that each knows the one before
        if newer := report.newer:
            raise Unwritable(f"Edition {newer.edition} took the place of this one. Judge that.")
        last = report.verdicts.last()
        if last is not None and (last.choice, last.reason, last.created_by) == (choice, reason, user):
            return last
        return Verdict.objects.create(report=report, choice=choice, reason=reason, created_by=user)


def comment(report: Report, user: User, text: str) -> Comment:
    """Write a remark down. The same one sent twice is one. Raises Unwritable."""
    text = text.strip()
    if not text:
        raise Unwritable("Write a few words first.")
    _check(text, LONGEST_COMMENT)
    with transaction.atomic():
        Report.objects.select_for_update().get(pk=report.pk)
        last = report.comments.last()
        if last is not None and (last.text, last.created_by) == (text, user):
            return last
        return Comment.objects.create(report=report, text=text, created_by=user)


def _check(text: str, longest: int) -> None:
    if text and not is_seen(text):
        raise Unwritable("Write words that one can see.")
    if len(text) > longest:
        raise Unwritable(f"Keep it under {longest:,} characters; this has {len(text):,}.")


def standing(report: Report) -> str:
    """How a report stands, for whoever reads it away from its page: nobody's name, and none of their words. Empty
    where it is the newest edition and nobody has judged it."""
    verdict, newer = report.verdicts.last(), report.newer
    judged = {Choice.ACCEPT: "was accepted on {}.", Choice.BACK: "was sent back on {}. Something in it must change."}
    said = [f"This report {judged[Choice(verdict.choice)].format(day(verdict.created_at))}"] if verdict else []
    if newer:
        said.append(f"Edition {newer.edition} took its place on {day(newer.created_at)}; ask for that one.")
    return " ".join(said)


def last_verdicts(reports: Iterable[Report]) -> dict[int, Verdict]:
    """The verdict that counts of each report, by the report's number."""
    found = Verdict.objects.filter(report__in=list(reports)).select_related("created_by").order_by("pk")
    return {verdict.report_id: verdict for verdict in found}

"""What Home shows of reports: those that wait for a person's verdict, and those of theirs that came back."""

from __future__ import annotations

from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet

from webapp.accounts.models import User
from webapp.projects.models import Membership, Role
from webapp.reports.judging import last_verdicts
from webapp.reports.models import Report, Verdict

ON_HOME = 8
"""Reports that Home lists of each kind."""


def home(person: User) -> dict[str, Any]:
    """Both, the newest first."""
    judged = Exists(Verdict.objects.filter(report=OuterRef("pk")))
    mine = list(_newest().filter(judged, created_by=person, project__members=person))
    said = last_verdicts(mine)
    back = [(each, said[each.pk]) for each in mine if said[each.pk].choice == Verdict.Choice.BACK]
    return {"reports_to_judge": to_judge(person)[:ON_HOME], "reports_sent_back": back[:ON_HOME]}


def to_judge(person: User) -> QuerySet[Report]:
    """Reports without a verdict in projects where this person is producer, or owner where there is no producer."""
    produced = Membership.objects.filter(project=OuterRef("project"), role=Role.PRODUCER)
    owned = Membership.objects.filter(project=OuterRef("project"), role=Role.OWNER, user=person)
    mine = Q(Exists(produced.filter(user=person))) | Q(Exists(owned), ~Exists(produced))
    return _newest().filter(mine, verdicts=None)


def _newest() -> QuerySet[Report]:
    return Report.objects.filter(replaced_by=None).select_related("project", "created_by").defer("content")

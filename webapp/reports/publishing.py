"""Publishing a report: its content is pinned, and a newer edition takes the place of the one before."""

from __future__ import annotations

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils import timezone

from webapp.accounts.models import User
from webapp.projects.models import Project
from webapp.reports import paper
from webapp.reports.content import ReportText, content, hash_of, published
from webapp.reports.models import Report, ReportDraft
from webapp.reports.proposals import Proposal
from webapp.studies.models import Job


class Replaced(Exception):
    """Another edition took the place of the report that this one was to replace; the message says so."""


def current(project: Project) -> QuerySet[Report]:
    """The newest edition of every report of a project, the newest first."""
    return project.reports.filter(replaced_by=None).select_related("project", "created_by", "search")


def proposed(search: Job) -> Report | None:
    """The report that a new one on this search most likely replaces: the last on it, else on the search it was asked
    again from."""
    for each in (search, search.parent):
        if each is not None and (found := current(search.project).filter(search=each).first()):
            return found
    return None


def publish(
    search: Job, user: User, typed: ReportText, replaces: Report | None, key: str = "", change: Proposal | None = None
) -> Report:
    """A new edition, or the one that the same form made before; with the ``change`` that it proposes. Raises
    Replaced."""
    if found := made_by(search.project, user, key):
        return found
    found_out, at = content(search, change), timezone.now()
    edition = replaces.edition + 1 if replaces else 1
    whole = published(found_out, typed, user, at, edition)
    try:
        with transaction.atomic():
            made = Report.objects.create(
                project=search.project,
                search=search,
                replaces=replaces,
                edition=edition,
                title=typed.title,
                release=typed.release,
                kind=whole["verdict"]["kind"],
                sentence=whole["verdict"]["words"],
                content=whole,
                content_hash=hash_of(whole),
                request_key=key,
                created_by=user,
                created_at=at,
            )
            ReportDraft.objects.filter(search=search, person=user).delete()
            paper.want(made)
    except IntegrityError:
        if found := made_by(search.project, user, key):
            return found
        raise Replaced("Somebody published a newer edition of that report meanwhile. Look at it, then publish yours in "
                       "its place.") from None  # fmt: skip
    return made


def made_by(project: Project, user: User, key: str) -> Report | None:
    """The report that a person made by the form of this key, if they did."""
    return project.reports.filter(created_by=user, request_key=key).first() if key else None

"""Drafts of the pages that train: what is typed is kept, thrown away, or makes room for the settings of a job."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils import timezone

from webapp.accounts.models import User
from webapp.projects.models import Project
from webapp.training.models import TrainDraft

BEFORE = "before"
"""Where a draft keeps the one that a clone took the place of."""


def of(project: Project, user: User, page: str) -> TrainDraft | None:
    """What somebody has typed into a page."""
    return TrainDraft.objects.filter(project=project, user=user, page=page).first()


def keep(project: Project, user: User, page: str, typed: Mapping[str, Any]) -> str:
    """Keep what is typed now; when, as people's clocks say."""
    draft, _ = TrainDraft.objects.get_or_create(project=project, user=user, page=page)
    before = draft.form.get(BEFORE)
    draft.form = {**typed, **({BEFORE: before} if before else {})}
    draft.save()
    return timezone.localtime(draft.kept_at).isoformat()


def forget(project: Project, user: User, page: str) -> None:
    """Throw the draft away; where a clone had taken the place of an earlier one, that comes back."""
    draft = of(project, user, page)
    if draft is not None and draft.form.get(BEFORE):
        draft.form = draft.form[BEFORE]
        draft.save()
    elif draft is not None:
        draft.delete()


def begin_with(project: Project, user: User, page: str, values: Mapping[str, Any]) -> None:
    """Let the page begin with these values; a draft that was there is kept beside them."""
    draft, _ = TrainDraft.objects.get_or_create(project=project, user=user, page=page)
    earlier = draft.form.get(BEFORE) or {k: v for k, v in draft.form.items() if k != BEFORE}
    draft.form = {**values, **({BEFORE: earlier} if earlier else {})}
    draft.save()


def home(person: User) -> dict[str, Any]:
    """What Home shows of trainings."""
    kept = TrainDraft.objects.filter(user=person, project__members=person)
    return {"train_drafts": kept.select_related("project").order_by("-kept_at")}

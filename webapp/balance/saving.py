"""Lineup rules and objectives never change once written: a saved change is a new row, and the old one points to it."""

from __future__ import annotations

from typing import Any, TypeVar

from django.db import transaction

from engine.config import FAIRNESS, LineupConfig, ObjectiveSetConfig
from engine.simulators.contract import content_hash
from webapp.accounts.models import User
from webapp.balance.models import LineupRules, ObjectiveSet
from webapp.projects.models import Project

Row = TypeVar("Row", LineupRules, ObjectiveSet)


class Replaced(Exception):
    """Somebody saved another version of this row in the meantime."""

    def __init__(self, newer: LineupRules | ObjectiveSet) -> None:
        self.pk = newer.pk
        super().__init__(
            f"{newer.created_by or 'Somebody'} saved “{newer.name}” in the meantime. "
            "What you typed is still here; save again to put it in place of theirs."
        )


def save(
    model: type[Row], project: Project, name: str, config: dict[str, Any], user: User | None, old: Row | None = None
) -> Row:
    """A new row, in place of ``old`` where there is one; the row that is there already where nothing differs from it,
    so that a form that is sent twice makes one. Raises Replaced."""
    digest = content_hash(config)
    with transaction.atomic():
        Project.objects.select_for_update(no_key=True).get(pk=project.pk)
        same = model.objects.filter(project=project, name=name, content_hash=digest, replaced_by=None)
        if old is not None:
            # The row alone: what was joined to it would be as it was before somebody else let go of it.
            stands = newest(model.objects.get(pk=old.pk))
            same = same.filter(pk=stands.pk)
        if there := same.first():
            return there
        if old is not None and stands.pk != old.pk:
            raise Replaced(stands)
        new = model.objects.create(project=project, name=name, config=config, content_hash=digest, created_by=user)
        if old is not None:
            model.objects.filter(pk=old.pk).update(replaced_by=new)
    return new


def newest(row: Row) -> Row:
    """The row that stands in the place of ``row`` now."""
    while row.replaced_by is not None:
        row = row.replaced_by
    return row


def history(row: Row) -> list[Row]:
    """The rows that ``row`` replaced, newest first."""
    found: list[Row] = []
    at: Row | None = row
    while at is not None:
        at = type(row).objects.filter(replaced_by=at).select_related("created_by").first()
        if at is not None:
            found.append(at)
    return found


def ensure_defaults(project: Project, user: User | None) -> tuple[LineupRules, ObjectiveSet]:
    """The project's first lineup rules and objectives, made where it has none: the game's rules, and fairness."""
    rules = project.lineup_rules.filter(replaced_by=None).first()
    objectives = project.objective_sets.filter(replaced_by=None).first()
    if rules is None:
        rules = save(LineupRules, project, "The game’s own rules", LineupConfig().model_dump(mode="json"), user)
    if objectives is None:
        objectives = save(ObjectiveSet, project, "Fairness", FAIRNESS.model_dump(mode="json"), user)
    return rules, objectives


def lineup_config(row: LineupRules) -> LineupConfig:
    """The row's rules as the engine reads them."""
    return LineupConfig.model_validate(row.config)


def objective_config(row: ObjectiveSet) -> ObjectiveSetConfig:
    """The row's objectives as the engine reads them."""
    return ObjectiveSetConfig.model_validate(row.config)

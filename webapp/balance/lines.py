"""The line that a project keeps for a question: later searches begin with it, earlier ones keep their own."""

from __future__ import annotations

from webapp.accounts.models import User
from webapp.balance import saving
from webapp.balance.models import KeptLine, ObjectiveSet
from webapp.projects.models import Project


def kept(project: Project, question: str) -> KeptLine | None:
    """The line that was kept last for ``question``."""
    return project.kept_lines.filter(question=question).order_by("-kept_at").first()


def keep(project: Project, user: User, question: str, objective: str, line: float) -> None:
    """Let later searches that ask ``question`` begin with ``line`` on ``objective``."""
    made = {"line": line, "kept_by": user}
    KeptLine.objects.update_or_create(project=project, question=question, objective=objective, defaults=made)


def keep_in_set(row: ObjectiveSet, user: User, objective: str, line: float) -> None:
    """The same for a project's own objectives: the line is part of them. Raises saving.Replaced when somebody saved
    them meanwhile, and ValueError when they no longer have this objective."""
    newest = saving.newest(row)
    config = saving.objective_config(newest)
    if objective not in [o.name for o in config.objectives]:
        raise ValueError(f"“{newest.name}” has no objective {objective} any more. Change its line on the page Lineups.")
    changed = [o.model_copy(update={"threshold": line}) if o.name == objective else o for o in config.objectives]
    plain = config.model_copy(update={"objectives": tuple(changed)}).model_dump(mode="json")
    saving.save(ObjectiveSet, newest.project, newest.name, plain, user, newest)

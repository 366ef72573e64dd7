"""Edits of saved agents by several people at once: names, notes and tags, deleted and put back.

Agents of a project that nobody has deleted have names of their own, whatever the case and the width of their letters;
those that shared one before this was so keep it until somebody writes another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, count, zip_longest
from typing import Any, NamedTuple

from django.db import transaction
from django.utils import timezone

from engine.simulators.contract import content_hash
from engine.text import folded
from webapp.agents.models import NAME, Agent
from webapp.lib.first import first
from webapp.lib.text import as_one_line
from webapp.projects.models import Project
from webapp.studies.actions import Refused

DELETED = "“{}” was deleted. Put it back, then try again."
Texts = Mapping[str, Any]


class Edit(NamedTuple):
    """What an agent's texts are after an edit; whether somebody ``clashes``: two changed the same one differently."""

    texts: dict[str, Any]
    clashes: bool


def as_typed(texts: Texts) -> dict[str, Any]:
    """Texts as their form has them."""
    return {**texts, "tags": ", ".join(texts["tags"])}


def merged(saved: Texts, typed: Texts, opened: str) -> Edit:
    """What was ``typed``, and of what was left as it was when the form was opened (``Agent.text_hashes``), what is
    ``saved`` by now. Without these hashes all count as changed, by both."""
    texts, clashes = dict(saved), False
    for name, before in zip_longest(saved, opened.split(",")[: len(saved)]):
        if content_hash(typed[name]) != before and typed[name] != saved[name]:
            texts[name] = typed[name]
            clashes |= content_hash(saved[name]) != before
    return Edit(texts, clashes)


class NameTaken(Refused):
    """Another agent has this name."""

    def __init__(self, name: str) -> None:
        super().__init__(f"Another agent of this project is called “{name}”. Choose another name.")


def lock(project: Project) -> None:
    """Of two who change agents of a project at once, the second finds what the first did."""
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)


def judge_name(project: Project, name: str, but: int | None = None) -> None:
    """Raises NameTaken where an agent other than ``but`` has it."""
    if folded(name) in _taken(project, but):
        raise NameTaken(name)


def free_name(project: Project, wanted: Iterable[str]) -> str:
    """The first of these names that no agent has."""
    taken = _taken(project)
    return first(name for name in wanted if folded(name) not in taken)


def numbered(name: str) -> Iterator[str]:
    """A name, and then the same with numbers from 2 on."""
    return chain([name], (f"{name[: NAME - len(end)]}{end}" for end in (f", {i}" for i in count(2))))


def _taken(project: Project, but: int | None = None) -> set[str]:
    named = project.agents.kept().values_list("pk", "name")
    return {folded(name) for pk, name in named if pk != but}


def write(agent: Agent, typed: Texts) -> bool:
    """Write what differs from the agent's texts; False, and nothing is written, where they have changed meanwhile.
    Raises Refused where the agent was deleted, or another one has its new name."""
    texts = agent.texts
    changed = {name: each for name, each in typed.items() if each != texts[name]}
    with transaction.atomic():
        lock(agent.project)
        _judge_kept(agent)
        if "name" in changed:
            judge_name(agent.project, changed["name"], agent.pk)
        return bool(Agent.objects.filter(pk=agent.pk, **texts).update(before=texts, **changed))


def undo(agent: Agent) -> bool:
    """Bring back its texts as they were before the last edit, as an edit of its own; False where there was none. Raises
    Refused as ``write``."""
    return bool(agent.before) and write(agent, agent.before)


def delete(agent: Agent) -> None:
    """Take it off the pages."""
    Agent.objects.filter(pk=agent.pk, deleted_at=None).update(deleted_at=timezone.now())


def put_back(agent: Agent) -> str:
    """Put a deleted one back; gives its name, with a number behind it where another agent has taken that meanwhile."""
    with transaction.atomic():
        lock(agent.project)
        agent.refresh_from_db()
        if agent.deleted_at is not None:
            name = free_name(agent.project, numbered(agent.name))
            Agent.objects.filter(pk=agent.pk).update(deleted_at=None, name=name)
            return name
    return agent.name


def _judge_kept(agent: Agent) -> None:
    if Agent.objects.filter(pk=agent.pk).exclude(deleted_at=None).exists():
        raise Refused(DELETED.format(agent.name))


def kept_before(agent: Agent, typed: str) -> str:
    """What a page says where somebody typed a name for an agent that was kept before under another; empty otherwise."""
    name = as_one_line(typed).strip()
    return f"It was kept before, as “{agent.name}”." if name and name != agent.name else ""

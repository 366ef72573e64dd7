"""Who is there: the rows of a course's form for its players."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from django import forms

from engine.catalog import LEARNERS, PLAYERS
from webapp.projects.models import Project

ROWS = 6
"""Players that the form has room for; a file or a program may name more."""
LEARN, SCRIPT, SAVED, PAST, HARDEST = "learn:", "script:", "agent:", "past", "hardest"
PLAYS = [
    ("", "Nobody"),
    *((f"{LEARN}{kind}", f"Learns by {entry.label}") for kind, entry in LEARNERS.items()),
    (PAST, "Earlier selves of all who learn, equally often"),
    (HARDEST, "Earlier selves of all who learn, the hardest most often"),
    *((f"{SCRIPT}{key}", f"Script: {entry.label}") for key, entry in PLAYERS.items()),
]
NAMES = tuple(f"{name}{i}" for i in range(1, ROWS + 1) for name in ("name", "plays"))


def fields(project: Project) -> dict[str, Any]:
    """The fields of all rows; the project's saved agents play, too."""
    saved = [(f"{SAVED}{agent.pk}", f"Saved agent, which stays as it is: {agent.name}") for agent in _kept(project)]
    found: dict[str, Any] = {}
    for i in range(1, ROWS + 1):
        found[f"name{i}"] = forms.CharField(label=f"Name of player {i}", max_length=24, required=False)
        found[f"plays{i}"] = forms.ChoiceField(label=f"What player {i} does", choices=[*PLAYS, *saved], required=False)
    return found


def _kept(project: Project) -> Any:
    return project.agents.kept()


def rows(found: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """(name, what it does) of each row."""
    return ((found.get(f"name{i}") or f"player-{i}", found.get(f"plays{i}", "")) for i in range(1, ROWS + 1))


def learning(found: Mapping[str, Any]) -> list[str]:
    """The names of all who learn."""
    return [name for name, plays in rows(found) if plays.startswith(LEARN)]


def roster(
    found: Mapping[str, Any], project: Project, learner: Callable[[str], Mapping[str, Any]]
) -> Iterator[tuple[str, Any]]:
    """The roster, from what was typed; ``learner``: one of a kind."""
    agents = {str(agent.pk): agent for agent in _kept(project)}
    for name, plays in rows(found):
        kind, _, which = plays.partition(":")
        if plays in (PAST, HARDEST):
            choice = "uniform" if plays == PAST else HARDEST
            yield name, {"kind": "pool", "of": learning(found), "choice": choice}
        elif plays.startswith(SAVED):
            yield name, agents[which].config.model_dump(mode="json", exclude={"title"})
        elif plays:
            yield name, {"learner": learner(which)} if f"{kind}:" == LEARN else which


def typed(config: Mapping[str, Any], project: Project) -> dict[str, str]:
    """What would have to be typed for the roster of a study, as far as there is room; empty for who has no word."""
    numbers = {(agent.policy, agent.sampled): str(agent.pk) for agent in _kept(project)}
    found: dict[str, str] = {}
    for i, (name, member) in enumerate([*config["roster"].items()][:ROWS], 1):
        found |= {f"name{i}": name, f"plays{i}": _plays(member, config["learner"]["kind"], numbers)}
    return found


def _plays(member: Mapping[str, Any], usual: str, numbers: Mapping[tuple[str, bool], str]) -> str:
    kind = member["kind"]
    if kind == "learning":
        return f"{LEARN}{(member['learner'] or {'kind': usual})['kind']}"
    if kind == "pool":
        return HARDEST if member.get("choice") == HARDEST else PAST
    if kind == "frozen":
        alike = (numbers.get((member["policy"], way)) for way in (member.get("sampled", False), False, True))
        return f"{SAVED}{number}" if (number := next(filter(None, alike), "")) else ""
    return f"{SCRIPT}{member['player']}" if kind == "scripted" else ""

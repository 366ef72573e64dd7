"""Who is there: the rows of a course's form for its players."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from django import forms

from engine.catalog import LEARNERS, PLAYERS
from webapp.arena.typed import name_of
from webapp.games.fields import NumberField
from webapp.lib.names import NameField
from webapp.projects.models import Project
from webapp.training.methods import ALGORITHMS

ROWS, LEAST = 12, 2
"""Players that the form has room for; a file or a program may name more."""
LEARN, SCRIPT, SAVED, PAST, HARDEST = "learn:", "script:", "agent:", "past", "hardest"
OFTEN = {PAST: "equally often", HARDEST: "the hardest most often"}
PLAYS = [
    ("", "Nobody"),
    *((f"{LEARN}{kind}", f"Learns by {entry.label}") for kind, entry in LEARNERS.items()),
    *((way, f"Earlier selves of all who learn, {often}") for way, often in OFTEN.items()),
    *(
        (f"{way}:{i}", f"Earlier selves of player {i}, {often}")
        for i in range(1, ROWS + 1)
        for way, often in OFTEN.items()
    ),
    *((f"{SCRIPT}{key}", f"Script: {entry.label}") for key, entry in PLAYERS.items()),
]
PPO = "ppo"
STEPS: dict[str, Any] = {
    "rate": {"label": "PPO: learning rate", "low": 0},
    "reuse": {"label": "PPO: passes over a batch", "whole": True, "low": 1, "high": 1000},
    "minibatch": {"label": "PPO: minibatch", "whole": True, "low": 0, "help_text": "Decisions; 0: the whole batch."},
    "entropy_weight": {"label": "PPO: weight of the entropy", "low": 0},
    "max_gradient": {"label": "PPO: largest norm of a gradient", "low": 0, "help_text": "0: any."},
}
"""How PPO takes its steps, by names of its settings: these differ between the settings that fit games best."""
NAME_RULE = "A player’s name has letters from a to z, digits, spaces and dashes, such as Red Wolf"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 -]*")


class PlayerNameField(NameField):
    """A name that a player of a course may have, as the engine has it: without capitals and spaces."""

    def clean(self, value: Any) -> str:
        """Raises ValidationError with what a name may hold."""
        text: str = super().clean(value)
        if text and not _NAME.fullmatch(text):
            raise forms.ValidationError(f"{NAME_RULE}.")
        return name_of(text)


def fields(project: Project, many: int) -> dict[str, Any]:
    """The fields of so many rows; the project's saved agents play, too."""
    saved = [(f"{SAVED}{agent.pk}", f"Saved agent, which stays as it is: {agent.name}") for agent in kept(project)]
    found: dict[str, Any] = {}
    for i in range(1, many + 1):
        found[f"name{i}"] = PlayerNameField(24, label=f"Name of player {i}", required=False)
        found[f"name{i}"].widget.attrs["placeholder"] = name_of_row(i)
        found[f"plays{i}"] = forms.ChoiceField(label=f"What player {i} does", choices=[*PLAYS, *saved], required=False)
    return found


def rows_sent(sent: Mapping[str, Any]) -> int:
    """Players that were sent, or that a form begins with, also those who are nobody."""
    rows = (i for i in range(1, ROWS + 1) if f"name{i}" in sent or f"plays{i}" in sent)
    return max(LEAST, max(rows, default=0))


def rows_filled(sent: Mapping[str, Any]) -> int:
    """The same without those at the end who are nobody."""
    rows = (i for i in range(1, ROWS + 1) if sent.get(f"name{i}") or sent.get(f"plays{i}"))
    return max(LEAST, max(rows, default=0))


def grown(sent: Mapping[str, str]) -> dict[str, str]:
    """What was sent with one more player, as long as there is room."""
    return {**sent, f"plays{min(ROWS, rows_sent(sent) + 1)}": sent.get(f"plays{ROWS}", "")}


def name_of_row(i: int) -> str:
    """What a player is called that nobody named."""
    return f"player-{i}"


def step_fields() -> dict[str, Any]:
    """The fields of PPO's steps."""
    found = {name: NumberField(required=False, **how) for name, how in STEPS.items()}
    for field in found.values():
        field.widget.attrs["placeholder"] = "as fits the game"
    return found


def steps_of(config: Mapping[str, Any]) -> dict[str, float]:
    """The steps of the PPO of a study: of the first player that learns by it."""
    pupils = [one["learner"] or config["learner"] for one in config["roster"].values() if one["kind"] == "learning"]
    found: Mapping[str, Any] = next((learner for learner in pupils if learner["kind"] == PPO), {})
    return {name: found[name] for name in STEPS if name in found}


def kept(project: Project) -> Any:
    """The project's saved agents."""
    return project.agents.kept()


def rows(found: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """(name, what it does) of each row."""
    return ((found.get(f"name{i}") or name_of_row(i), found.get(f"plays{i}", "")) for i in range(1, ROWS + 1))


def learning(found: Mapping[str, Any]) -> list[str]:
    """The names of all who learn."""
    return [name for name, plays in rows(found) if plays.startswith(LEARN)]


def _recalled(found: Mapping[str, Any], which: str) -> list[str]:
    """Whose earlier selves a player is: those of the player with this number, or of all who learn."""
    return [[name for name, _ in rows(found)][int(which) - 1]] if which else learning(found)


def as_one(found: Mapping[str, Any]) -> set[str]:
    """The names of those who steer whole sides as one: who learns as a team, and earlier selves of such."""
    teams = {
        name for name, plays in rows(found)
        if plays.startswith(LEARN) and ALGORITHMS[plays.removeprefix(LEARN)].settings.together
    }  # fmt: skip
    for name, plays in rows(found):
        kind, _, which = plays.partition(":")
        of = _recalled(found, which) if kind in OFTEN else []
        teams |= {name} if of and set(of) <= teams else set()
    return teams


def as_one_in(config: Mapping[str, Any]) -> set[str]:
    """The same of a study's roster."""
    roster: Mapping[str, Any] = config["roster"]
    pupils = {name: one["learner"] or config["learner"] for name, one in roster.items() if one["kind"] == "learning"}
    teams = {name for name, learner in pupils.items() if ALGORITHMS[learner["kind"]].settings.together}
    return teams | {
        name for name, one in roster.items() if one["kind"] == "pool" and one["of"] and teams.issuperset(one["of"])
    }


def roster(
    found: Mapping[str, Any], project: Project, learner: Callable[[str], Mapping[str, Any]]
) -> Iterator[tuple[str, Any]]:
    """The roster, from what was typed; ``learner``: one of a kind."""
    agents = {str(agent.pk): agent for agent in kept(project)}
    for name, plays in rows(found):
        kind, _, which = plays.partition(":")
        if kind in OFTEN:
            choice = "uniform" if kind == PAST else HARDEST
            yield name, {"kind": "pool", "of": _recalled(found, which), "choice": choice}
        elif plays.startswith(SAVED):
            yield name, agents[which].config.model_dump(mode="json", exclude={"title"})
        elif plays:
            yield name, {"learner": learner(which)} if f"{kind}:" == LEARN else which


def typed(config: Mapping[str, Any], project: Project) -> dict[str, str]:
    """What would have to be typed for the roster of a study, as far as there is room; empty for who has no word."""
    numbers = {(agent.policy, agent.sampled): str(agent.pk) for agent in kept(project)}
    found: dict[str, str] = {}
    names = [*config["roster"]]
    pupils = [name for name in names if config["roster"][name]["kind"] == "learning"]
    for i, (name, member) in enumerate([*config["roster"].items()][:ROWS], 1):
        plays = _plays(member, config["learner"]["kind"], numbers)
        if plays in OFTEN and len(pupils) > 1 and len(member["of"]) == 1:
            plays = f"{plays}:{1 + names.index(member['of'][0])}"
        found |= {f"name{i}": name, f"plays{i}": plays}
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

"""What makes a player good, and what tells kinds of play apart: fields that offer what episodes of the game tell."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from django import forms

from engine.catalog import built_in
from engine.config.evolve import AimConfig, measure_names
from engine.errors import StoreError
from webapp.games.fields import NumberField
from webapp.games.numbers import field_text
from webapp.lib.storage import store
from webapp.projects.models import Project
from webapp.studies.models import Job

MOST, MOST_WAYS = 8, 6
"""Goals and kinds of play that a search may have."""
USUAL, USUAL_WAY = "return", "length"
ALWAYS = measure_names((), ())
"""What is offered while nobody has played the game here: a game need not tell whether an episode was won."""
_TITLES = {
    "return": "Return (sum of rewards)",
    "score": "Score",
    "win": "Episodes won (share)",
    "length": "Length of an episode (decisions)",
}
WAYS = (("max", "More is better"), ("min", "Less is better"))
ENDS = ("low", "high")
LOOKED_AT = 20


def title_of(measure: str) -> str:
    """A measure as people read it."""
    kind, _, name = measure.partition(".")
    plain = (name or kind).replace("_", " ")
    return _TITLES.get(measure) or (f"Reward: {plain}" if kind == "reward" else plain[:1].upper() + plain[1:])


def choices(measures: Sequence[str]) -> list[tuple[str, str]]:
    """(name, title) of measures."""
    return [(name, title_of(name)) for name in measures]


def signals_of(project: Project, game: Mapping[str, Any]) -> tuple[str, ...]:
    """What episodes of a game (as JSON) tell, by the latest training or trial of it; nothing while there was none."""
    trained = Job.objects.filter(project=project, config__kind="train", config__game__name=game["name"])
    for job in trained.filter(artifacts__has_key="policy_description").order_by("-pk")[:LOOKED_AT]:
        if job.config["game"] == game and (found := _signals_of_agent(job)):
            return found
    return ()


def measures_of(game: Mapping[str, Any]) -> tuple[str, ...]:
    """What episodes of a built-in game (as JSON) tell, by its row of the catalogue; nothing where no row says so."""
    row = built_in(game["name"])
    return () if row is None or not row.captions else measure_names(rewards_of(game), (*row.captions,))


def rewards_of(game: Mapping[str, Any]) -> tuple[str, ...]:
    """What a built-in game (as JSON) pays with its settings; nothing of any other."""
    row = built_in(game["name"])
    return () if row is None else (*(game.get("settings", {}).get("rewards") or row.rewards),)


def _signals_of_agent(job: Job) -> tuple[str, ...]:
    try:
        seat = json.loads(store().get(job.artifacts["policy_description"])).get("seat", {})
    except StoreError:
        return ()
    if not seat:
        return ()
    played = {**job.metrics, **job.summary}
    never = {"win", "score"} - played.keys() if "length" in played else set()
    return tuple(name for name in measure_names(seat["rewards"], seat["signals"]) if name not in never)


def _fields() -> dict[str, forms.Field]:
    fields: dict[str, forms.Field] = {}
    for i in range(1, MOST + 1):
        fields[f"goal-{i}"] = forms.CharField(
            label="Goal" if i == 1 else f"Goal {i}", max_length=80, required=False,
            help_text="The mean over the episodes that measure a player.",
        )  # fmt: skip
        fields[f"goal-{i}-way"] = forms.ChoiceField(choices=WAYS, required=False, label="Which way")
        fields[f"goal-{i}-epsilon"] = NumberField(
            label=f"Goal {i}: difference that does not matter", low=0, high=1e12, required=False,
            help_text="In the goal’s own unit; for the short list of the edge. 0: a fiftieth of what the first round "
            "spans.",
        )  # fmt: skip
        fields[f"goal-{i}-low"] = NumberField(
            label=f"Goal {i}: floor", low=-1e12, high=1e12, required=False,
            help_text="An episode below counts as this. With a floor and a cap, racing by bounds is possible.",
        )  # fmt: skip
        fields[f"goal-{i}-high"] = NumberField(
            label=f"Goal {i}: cap", low=-1e12, high=1e12, required=False,
            help_text="An episode above counts as this.",
        )  # fmt: skip
    for i in range(1, MOST_WAYS + 1):
        fields[f"behaviour-{i}"] = forms.CharField(label=f"Kind of play {i}", max_length=80, required=False)
    return fields


# The fields' names hold hyphens, so they cannot be written as attributes of a class.
_Fields: Any = type("_Fields", (forms.Form,), _fields())


class GoalsForm(_Fields):
    """``goals`` and ``ways`` of a valid form, by their fields."""

    @property
    def goals(self) -> dict[str, AimConfig]:
        """What makes a player good, the first goal being the usual one where nothing was chosen."""
        found = {}
        for name in (f"goal-{i}" for i in range(1, MOST + 1)):
            measure = self.cleaned_data.get(name) or (USUAL if name == "goal-1" else "")
            if measure:
                way, epsilon = (self.cleaned_data.get(f"{name}-{more}") for more in ("way", "epsilon"))
                low, high = self._ends(name)
                found[name] = AimConfig(
                    measure=measure, direction=way or "max", epsilon=epsilon or 0.0, low=low, high=high
                )
        return found

    @property
    def unbounded(self) -> str:
        """Why players cannot be raced by bounds, as a sentence; empty where they can."""
        titles = [title_of(aim.measure) for aim in self.goals.values() if aim.limits is None]
        return (
            f"Bounds need limits: type a floor and a cap of the goal {titles[0]}, or choose no racing."
            if titles
            else ""
        )

    def _ends(self, name: str) -> tuple[float | None, float | None]:
        """A goal's floor and cap; none where they are the wrong way round."""
        low, high = (self.cleaned_data.get(f"{name}-{end}") for end in ENDS)
        return (None, None) if low is not None and high is not None and low >= high else (low, high)

    @property
    def ways(self) -> dict[str, str]:
        """What tells kinds of play apart; nothing where the other goals do, as they do unless somebody chose."""
        chosen = {name: self.cleaned_data.get(name) for name in (f"behaviour-{i}" for i in range(1, MOST_WAYS + 1))}
        return {name: measure for name, measure in chosen.items() if measure} or (
            {} if len(self.goals) > 1 else {"behaviour-1": USUAL_WAY}
        )

    def check_goals(self, signals: Sequence[str], game: str, *, ways: bool) -> None:
        """Say at its field what was chosen twice, and what the game does not tell; ``signals``: all that it does, or
        nothing while that is not known."""
        aims = {name: aim.measure for name, aim in self.goals.items()}
        for name in aims:
            ends = [self.cleaned_data.get(f"{name}-{end}") for end in ENDS]
            if None not in ends and ends[0] >= ends[1]:
                self.add_error(f"{name}-high", "The cap must be above the floor.")
        self._check_measures(aims, signals, game)
        if ways:
            self._check_measures(self.ways, signals, game)

    def _check_measures(self, chosen: Mapping[str, str], signals: Sequence[str], game: str) -> None:
        seen: set[str] = set()
        for name, measure in chosen.items():
            if measure in seen:
                self.add_error(name, f"{title_of(measure)} was chosen already. Choose another, or none.")
            elif signals and measure not in signals:
                self.add_error(name, f"{game} does not tell “{measure}”. It tells {', '.join(signals)}.")
            seen.add(measure)


def values_of(config: Mapping[str, Any]) -> dict[str, str]:
    """The fields' texts that would give a study's (JSON) goals and kinds of play."""
    found: dict[str, str] = {}
    for i, goal in enumerate(config["objectives"], 1):
        found |= {f"goal-{i}": goal["measure"], f"goal-{i}-way": goal["direction"]}
        found |= {f"goal-{i}-epsilon": field_text(goal["epsilon"])} if goal.get("epsilon") else {}
        found |= {f"goal-{i}-{end}": field_text(goal[end]) for end in ENDS if goal.get(end) is not None}
    return found | {f"behaviour-{i}": name for i, name in enumerate(config["behaviour"], 1)}

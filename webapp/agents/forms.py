"""What people type about agents, and what they want to watch."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from django import forms
from django.utils.functional import cached_property

from engine.catalog import GAMES, built_in
from engine.config import parse
from engine.config.agents import RecordConfig
from engine.errors import ConfigError
from webapp.agents.captions import by_itself
from webapp.agents.edits import as_typed
from webapp.agents.keeping import opponents, unplayable
from webapp.agents.models import NAME, NOTES, TAG, TAGS, Agent
from webapp.agents.tags import one_of_each
from webapp.games.fields import NumberField
from webapp.lib.names import NameField
from webapp.lib.text import seen
from webapp.projects.models import Project
from webapp.training import games
from webapp.training.entrants import maker
from webapp.training.start_field import by_game

MOST = 4
"""Agents side by side."""
OWN_PLAYER, NOBODY = "", "nobody"
_UNNAMED = {
    OWN_PLAYER: "has no player of its own: choose somebody", NOBODY: "has somebody to play against: choose whom",
}  # fmt: skip
"""Choices that are nobody’s name, and what is wrong with each where it does not fit."""
OTHER = "They play different games, or this opponent is not known. Choose one that stands below their own game."
USUAL_SEED = 1


CHANGED = (
    "Somebody has changed this agent since you opened the page, so nothing was saved. Below is what you typed, and "
    "what is saved by now. Save again to put yours in its place."
)


class OpponentSelect(forms.Select):
    """Opponents, of which only those that are ``able`` can be chosen; the others are out of sight."""

    able: Collection[str] | None = None
    """None: all."""

    def create_option(self, name: str, value: Any, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """An option, disabled where it does not fit."""
        option: dict[str, Any] = super().create_option(name, value, *args, **kwargs)
        if self.able is not None and str(value) not in self.able:
            option["attrs"] |= {"disabled": True, "hidden": True}
        return option


class KeepForm(forms.Form):
    """What an agent that somebody keeps is called; empty: as usual."""

    name = NameField(NAME, label="Name", required=False)


class TextForm(forms.Form):
    """Name, notes and tags of an agent."""

    name = NameField(NAME, label="Name")
    notes = forms.CharField(label="Notes", max_length=NOTES, required=False, widget=forms.Textarea(attrs={"rows": 3}))
    tags = forms.CharField(
        label="Tags",
        required=False,
        help_text="Separated by commas, such as “calm, level 3”.",
    )

    def clean_tags(self) -> list[str]:
        """Each once, whatever the case of its letters, in the order in which they were typed."""
        found = one_of_each(filter(None, (tag.strip() for tag in self.cleaned_data["tags"].split(","))))
        if len(found) > TAGS:
            raise forms.ValidationError(f"There are {len(found)} tags; {TAGS} are the most.")
        if long := next((tag for tag in found if len(tag) > TAG), None):
            raise forms.ValidationError(f"“{long[:TAG]}…” has {len(long):,} characters; a tag has {TAG} at most.")
        for tag in found:
            seen(tag)
        return found

    def say_saved(self, texts: Mapping[str, Any]) -> None:
        """Say that somebody has changed the agent meanwhile, and at each field that says something else what stands
        there now."""
        self.add_error(None, CHANGED)
        for name, shown in as_typed(texts).items():
            if self[name].value() != shown:
                self.add_error(name, f"Saved by now: “{shown}”" if shown else "By now this is empty.")


class WatchForm(forms.Form):
    """Which agents to watch, against whom, and on which seed."""

    agents = forms.MultipleChoiceField(
        label="Who plays", error_messages={"required": "Choose one agent at least."},
        widget=forms.CheckboxSelectMultiple,
        help_text="One to four, side by side on the same seed. Where a game has two sides, each plays on the left. "
        "If they learned with different settings of the game, those of the first one are played.",
    )  # fmt: skip
    opponent = forms.ChoiceField(label="Against", required=False, error_messages={"invalid_choice": OTHER},
                                 widget=OpponentSelect)  # fmt: skip
    seed: Any = NumberField(
        label="Seed", whole=True, low=0, high=2**31, required=False,
        help_text="Decides what is up to chance, such as where a ball or a player begins. Same seed, same battle.",
    )  # fmt: skip

    def __init__(self, data: Any = None, *, project: Project, initial: dict[str, Any] | None = None) -> None:
        super().__init__(data, initial={"seed": USUAL_SEED, **(initial or {})})
        self.project = project
        self.saved = {str(agent.pk): agent for agent in project.agents.kept()}
        choices: Any = self.fields["agents"]
        choices.choices = by_game(self.saved, self.project)
        against: Any = self.fields["opponent"]
        against.choices = [*self._of_game(), *self._others()]
        self._narrow(against.widget)

    def _narrow(self, select: OpponentSelect) -> None:
        """Offer those alone that can play the game of whoever is chosen, and choose one of them."""
        ticked = [pk for pk in map(str, self["agents"].value() or []) if pk in self.saved]
        if not ticked:
            return
        select.able = self.rivals[_played(self.saved[ticked[0]])]
        if not self.is_bound and self.initial.get("opponent", OWN_PLAYER) not in select.able:
            self.initial["opponent"] = next(iter(select.able), OWN_PLAYER)

    def _of_game(self) -> list[tuple[str, str]]:
        """Whom games bring themselves, or nobody, as far as any of them does."""
        usual = {OWN_PLAYER: "The game’s own player", NOBODY: "Nobody: it is alone in its game"}
        offered = {key for able in self.rivals.values() for key in able}
        return [(key, label) for key, label in usual.items() if key in offered]

    @cached_property
    def rivals(self) -> dict[str, list[str]]:
        """By game, the values of those that can play it."""
        found: dict[str, list[str]] = {}
        for pk, agent in self.saved.items():
            name = agent.game["name"]
            alone = by_itself(name)
            able = found.setdefault(_played(agent), [NOBODY] if alone else [OWN_PLAYER] if _of_one(name) else [])
            for game in _of_two(name):
                scripts = [f"script:{key}" for key in opponents(game)]
                able += [key for key in (*scripts, f"agent:{pk}") if key not in able]
        return found

    @property
    def narrowing(self) -> dict[str, Any]:
        """For the page: the game of each agent, and who can play it."""
        return {"games": {pk: _played(agent) for pk, agent in self.saved.items()}, "rivals": self.rivals}

    def _others(self) -> list[tuple[str, Any]]:
        """Who plays several games, and then by game, for nobody plays against somebody of another one; games without
        other seats have no group."""
        groups: dict[str, dict[str, str]] = {}
        for pk, agent in self.saved.items():
            for game in _of_two(agent.game["name"]):
                rivals = groups.setdefault(games.title_of(game, self.project), {})
                rivals |= {f"script:{key}": label for key, label in opponents(game).items()}
                rivals[f"agent:{pk}"] = agent.name
        keys = [key for rivals in groups.values() for key in rivals]
        anywhere = {key: label for rivals in groups.values() for key, label in rivals.items() if keys.count(key) > 1}
        own = [
            (title, [pair for pair in rivals.items() if pair[0] not in anywhere]) for title, rivals in groups.items()
        ]
        return [*anywhere.items(), *(group for group in own if group[1])]

    def clean_agents(self) -> list[str]:
        """Four at most, that play the same game."""
        chosen: list[str] = self.cleaned_data["agents"]
        if len(chosen) > MOST:
            raise forms.ValidationError(f"You chose {len(chosen)}; {MOST} are shown side by side at most.")
        first, *others = (self.saved[pk] for pk in chosen)
        _same_game(first, others)
        return chosen

    def clean_seed(self) -> int:
        """The usual one where nothing is typed."""
        typed = self.cleaned_data["seed"]
        return USUAL_SEED if typed is None else int(typed)

    def clean(self) -> dict[str, Any]:
        """The study, as ``study``."""
        typed: dict[str, Any] = super().clean() or self.cleaned_data
        if not self.errors:
            self.study = self._study([self.saved[pk] for pk in typed["agents"]], typed["opponent"], typed["seed"])
        return typed

    def _study(self, agents: Sequence[Agent], opponent: str, seed: int) -> RecordConfig | None:
        game = agents[0].played
        kind, _, which = opponent.partition(":")
        name = _of_one(game["name"]) if opponent in _UNNAMED else next(iter(_of_two(game["name"])), "")
        if not name or (opponent == NOBODY and not by_itself(name)):
            own = _UNNAMED.get(opponent, "has nobody to play against: choose nobody, or the game’s own player")
            self.add_error("opponent", f"The game of “{agents[0].name}” {own}.")
            return None
        if kind == "agent":
            _same_game_at(self, agents[0], self.saved[which])
        elif kind == "script" and which not in opponents(name):
            self.add_error("opponent", "This script plays another game.")
        if why := unplayable(name, self.project):
            self.add_error("agents", why)
        if self.errors:
            return None
        config = {
            "name": "Battles to watch",
            "game": {**game, "name": name},
            "seed": seed,
            "agents": [agent.config.model_dump() for agent in agents],
            "opponent": self._opponent(kind, which, name),
        }
        try:
            return parse(RecordConfig, config)
        except ConfigError as error:
            self.add_error("agents", str(error))
            return None

    def _opponent(self, kind: str, which: str, game: str) -> dict[str, Any] | None:
        if kind == "agent":
            return self.saved[which].config.model_dump()
        return {"kind": "scripted", "player": which, "title": opponents(game)[which]} if which else None


def _same_game(first: Agent, others: Sequence[Agent]) -> None:
    for other in others:
        if not _together(first, other):
            raise forms.ValidationError(f"“{first.name}” and “{other.name}” play different games.")


def _same_game_at(form: forms.Form, first: Agent, other: Agent) -> None:
    if not _together(first, other):
        form.add_error("opponent", f"“{first.name}” and “{other.name}” play different games.")


def _together(one: Agent, other: Agent) -> bool:
    return _played(one) == _played(other)


def _played(agent: Agent) -> str:
    """Which game it plays, in whatever form: agents of one can play each other."""
    name = str(agent.game["name"])
    return maker(name) or name


def _of_one(game: str) -> str:
    """The form of a game in which it brings its own player; empty where it has none."""
    known = built_in(game)
    if known is None:
        return game
    return next((name for name, each in GAMES.items() if each.path == known.path and not each.for_two), "")


def _of_two(game: str) -> list[str]:
    """The forms of a game in which all seats are played from outside."""
    known = built_in(game)
    if known is None:
        return [game] if opponents(game) else []
    return [name for name, each in GAMES.items() if each.path == known.path and each.for_two]

"""With whose settings battles to watch are played, where those who play learned with different ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.config.agent_games import SETTINGS
from engine.text import written
from webapp.agents.models import Agent
from webapp.agents.watched import kept_agents, kept_players
from webapp.lib.words import plural
from webapp.studies.models import Job
from webapp.training.games import DATA

PAID = "rewards"
"""The setting that says what is learned from; a battle is the same with any."""


def house_rules(job: Job) -> str:
    """Sentences on a recording's settings, and on those of each kept agent in it that learned with others; empty where
    all learned with these."""
    game = job.config["game"]
    known = [*kept_agents(job), *kept_players(job, _others(job.config))]
    found = {agent.pk: agent for agent in known if agent is not None}
    others = {agent: settings for agent in found.values() if (settings := _other(agent, game))}
    if not others:
        return ""
    names = dict.fromkeys(name for settings in others.values() for name in settings)
    here = _words({name: _all(game).get(name) for name in names})
    learned = [f"{agent.name} learned with {_words(settings)}." for agent, settings in others.items()]
    return " ".join([f"All battles here are played with {here}.", *learned])


def _others(recording: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The opponent, and those who play beside the two."""
    return [*filter(None, [recording.get("opponent")]), *(each["player"] for each in recording.get("beside", ()))]


def _other(agent: Agent, game: Mapping[str, Any]) -> dict[str, Any]:
    """Settings that an agent learned with and that are not those of this game."""
    here, there = _all(game), _all(agent.game)
    return {name: there.get(name) for name in {**here, **there} if there.get(name) != here.get(name)}


def _all(game: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a game that a battle depends on, usual ones included where they are known."""
    model, given = SETTINGS.get(game["name"].removeprefix("builtin:")), game.get("settings") or {}
    usual = {name: field.get_default() for name, field in model.model_fields.items()} if model else {}
    each = {**usual, **given}
    return {name: list(v) if isinstance(v, tuple) else v for name, v in each.items() if name != PAID}


def _words(settings: Mapping[str, Any]) -> str:
    """ "points 11, mirror no"."""
    return ", ".join(_said(name, value) for name, value in settings.items())


def _said(name: str, value: Any) -> str:
    if name == DATA:
        return f"{plural(len(value or ()), 'changed number')} of the game’s data"
    if value is None or isinstance(value, bool):
        text = "as usual" if value is None else "yes" if value else "no"
    else:
        text = written(value, ",.9g") if isinstance(value, int | float) else str(value)
    return f"{name.replace('_', ' ')} {text}"

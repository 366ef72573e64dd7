"""Courses of the list as studies in a game: who learns by what, and which course a study is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.catalog import GAMES, PLAYERS
from engine.config.arena import ArenaConfig
from engine.config.courses import PRESETS, Arena, battles_together
from webapp.arena import lesson_fields, player_fields
from webapp.projects.models import Project
from webapp.training import games, methods
from webapp.training.entrants import script_plays
from webapp.training.games import NUMBERS

ROUNDING, BATTLES = 25, 8
"""Decisions by which the lessons of a course may be fewer than were asked for; and battles of a match that a copy plays
together, where lessons are long enough."""
NOTHING: Mapping[str, float] = {}


def learner_for(kind: str, offer: games.Offer, steps: Mapping[str, float] = NOTHING) -> dict[str, Any]:
    """A learner with the settings that fit a game best; with its own where none are known to. ``steps``: those that
    PPO is to have instead (of ``player_fields.STEPS``)."""
    found = methods.presets_for(kind, offer.key, offer.sees)
    learner = found[0].learner.model_dump(mode="json") if found else {"kind": kind}
    return {**learner, **steps} if kind == player_fields.PPO else learner


def as_held(config: Mapping[str, Any]) -> dict[str, Any]:
    """A study without what it does not use: learners' own fragments, in place of which it has one for all."""
    roster = {name: {**one, "learner": _unfragmented(one.get("learner"))} for name, one in config["roster"].items()}
    return {**config, "learner": _unfragmented(config["learner"]), "roster": roster}


def _unfragmented(learner: Mapping[str, Any] | None) -> dict[str, Any]:
    return {name: value for name, value in (learner or {}).items() if name != "fragment"}


def script_for(game: str) -> str:
    """A script that plays a game well, or by chance."""
    known = GAMES[game]
    own = [key for key in PLAYERS if key != "random" and script_plays(key, game) and known.sees == NUMBERS]
    return known.scripted or (own[-1] if own else "random")


def preset_in(offer: games.Offer, key: str, learner: Any, steps: int, copies: int) -> dict[str, Any]:
    """A course of the list in a game, with as many battles together as let each last."""
    course = PRESETS[key].made(_arena(offer, learner, steps))
    return {**course, "environments": battles_together(course, copies, offer.longest, BATTLES)}


def _arena(offer: games.Offer, learner: Mapping[str, Any], steps: int) -> Arena:
    together = methods.ALGORITHMS[learner["kind"]].settings.together
    return Arena(len(offer.sides), offer.squad, learner, script_for(offer.key), steps, together)


def preset_of(config: Mapping[str, Any], offer: games.Offer) -> tuple[str, int] | None:
    """The course of the list that a study is, and its decisions; None where it is none."""
    lengths = [(lesson["steps"], lesson["times"]) for lesson in config["lessons"]]
    least = sum(times * (steps or 0) for steps, times in lengths)
    for key, preset in PRESETS.items():
        wholes = range(least, least + ROUNDING) if preset.sides <= len(offer.sides) else range(0)
        for whole in sorted(wholes, key=_zeros, reverse=True):  # the roundest of them is what was asked for
            chosen = learner_for(config["learner"]["kind"], offer, player_fields.steps_of(config))
            made = preset.made(_arena(offer, chosen, whole))
            if [(lesson["steps"], lesson.get("times", 1)) for lesson in made["lessons"]] == lengths:
                same = ArenaConfig.model_validate({**config, **made}).model_dump(mode="json")
                if as_held(same) == as_held({**config, "tournament": same["tournament"]}):
                    return key, whole
    return None


def _zeros(whole: int) -> int:
    """Zeros that a number ends with."""
    return len(str(whole)) - len(str(whole).rstrip("0"))


def own_typed(config: Mapping[str, Any], offer: games.Offer, project: Project) -> dict[str, Any]:
    """What would have to be typed for a study as a course of one's own."""
    players = player_fields.typed(config, project)
    lessons = lesson_fields.typed_of(config, offer, player_fields.as_one_in(config))
    return {**players, **lessons, "meetings": _meetings(config["tournament"])}


def _meetings(tournament: Mapping[str, Any] | None) -> str:
    return "" if tournament is None else f"{tournament['kind']}{'+rungs' if tournament['rungs'] else ''}"

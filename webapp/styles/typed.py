"""A search for styles as it would be typed into its form: what "Run again with changes" starts from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.catalog import built_in
from engine.config.style_templates import TEMPLATES
from webapp.agents import data
from webapp.projects.models import Project
from webapp.studies.models import Job
from webapp.styles.forms import EPISODES, FRESH, POPULATION, ROUNDS
from webapp.styles.scales import FURTHEST, MIDDLE, OWN, weights
from webapp.training import beginnings, games, hands, methods, settings
from webapp.training.games import OFFERS
from webapp.training.methods import PRESET_LIST
from webapp.training.ranges import number_text

Table = Mapping[str, Any]


def values_of(job: Job, project: Project) -> dict[str, str]:
    """The form that would have made ``job``; numbers that are as usual stay empty."""
    config, task = job.config, job.config["task"]
    offer, beside = games.named(task["game"]["name"], project)
    kind = task["learner"]["kind"]
    preset = PRESET_LIST.get(job.template)
    preset = preset if preset is not None and preset.kind == kind else PRESET_LIST[f"{kind}-{methods.USUAL}"]
    begun = beginnings.agent_of(config, project)
    chosen = beginnings.going_on(preset, begun if begun is not None and begun.deleted_at is None else None)
    groups = settings.groups(OFFERS[offer], chosen, 1)[1:]
    usual = {"population": POPULATION, "ticks": ROUNDS, "episodes": EPISODES, "fresh": FRESH}
    current, names = {**config, "population": config["algorithm"]["population"]}, {"ticks": "rounds"}
    found = {
        "game": offer,
        offer: beside,
        "algorithm": kind,
        "preset": chosen.key,
        **settings.texts(groups, {"learner": task["learner"], "game": data.on(task["game"], None)}),
        **{names.get(name, name): current[name] for name, value in usual.items() if current[name] != value},
        "steps": number_text(task["steps"]),
        "seed": config["seed"],
        "start": beginnings.number_of(begun),
        "control": "" if config["selection"] else "on",
        **hands.typed(task["game"]),
        **_reward(config),
        "title": job.title,
    }
    return {name: str(value) for name, value in found.items() if str(value)}


def values_of_game(game: Table, project: Project) -> dict[str, str]:
    """The form with this game chosen, and with the limits that its player has."""
    offer, beside = games.named(game["name"], project)
    found = {"game": offer, offer: beside, **hands.typed(game)}
    return {name: value for name, value in found.items() if value}


def _reward(config: Table) -> dict[str, Any]:
    """The scale, or formulas of one's own; the slider where it says the weights, else the weights."""
    style = config["task"]["style"]
    row = built_in(config["task"]["game"]["name"])
    names, heavy = (row.names, row.weights) if row else ({}, {})
    for key, template in TEMPLATES.items():
        scale = template.settings(names, heavy)
        same = all(style[name] == scale["task"]["style"][name] for name in ("winning", "style"))
        aims = [(goal["measure"], goal["formula"]) for goal in scale["objectives"]]
        if same and aims == _goals(config) and list(config["behaviour"]) == scale["behaviour"]:
            return {"scale": key, **_weights(style, tuple(scale["task"]["style"]["w2"]))}
    goals = {f"goal-{i}": formula or name for i, (name, formula) in enumerate(_goals(config), 1)}
    called = {f"goal-{i}-called": name for i, (name, formula) in enumerate(_goals(config), 1) if formula}
    own = {
        "scale": OWN,
        "winning": style["winning"],
        "style": style["style"],
        "behaviour": " ".join(config["behaviour"]),
    }
    # What the slider means for formulas of one's own follows sample episodes, so it may change: numbers do not.
    return own | goals | called | _numbers(style)


def _goals(config: Table) -> list[tuple[str, str]]:
    return [(goal["measure"], goal.get("formula", "")) for goal in config["objectives"]]


def _weights(style: Table, base: tuple[float, float]) -> dict[str, Any]:
    for place in range(FURTHEST + 1):
        if style["w1"] == 1 and list(weights(place, base)) == style["w2"]:
            return {"matters": place} if place != MIDDLE else {}
    return _numbers(style)


def _numbers(style: Table) -> dict[str, str]:
    return {name: number_text(style[name]) for name in ("w1", "w2") if name == "w2" or style[name] != 1}

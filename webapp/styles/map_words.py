"""What the axes of a style map are called, and what its figures are worth as evidence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from engine.catalog import Signal, built_in
from engine.config.style_reward import formula_of, identifier
from engine.config.style_templates import TEMPLATES, Template
from engine.errors import ConfigError
from webapp.styles.map_agents import SCORE, Agents
from webapp.training.goals import title_of

TRIES = 64
"""Points at which goals are compared."""
SAME = 1e-9


class Axis(NamedTuple):
    """A measure along which the map can be drawn: its title with its unit, what its low and high end are called, and
    whether values are shares, told in percent."""

    name: str
    title: str
    low: str
    high: str
    share: bool

    @property
    def along(self) -> str:
        """The title of an axis in words: which way is which."""
        return f"{self.title}: {self.low} … {self.high}"

    def text(self, value: float) -> str:
        """ "62" for a share, "1.48" else."""
        return f"{100 * value:.0f}" if self.share else f"{value:.3g}"


def axes(config: dict[str, Any]) -> dict[str, Axis]:
    """Those of a job by the names of their measures: goals, score, behaviour."""
    template, game = template_of(config), built_in(config["task"]["game"]["name"])
    told = game.captions if game else {}
    found = {}
    for aim in config["objectives"]:
        name, more = aim["measure"], aim["direction"] == "max"
        formula = f" = {_in_words(aim['formula'])}" if aim["formula"] else ""
        title = f"Goal “{title_of(name)}”{formula} (points)"
        found[name] = Axis(name, title, "less good" if more else "better", "better" if more else "less good", False)
    whole = game is not None and game.ends.get(SCORE) == (0.0, 1.0)
    found[SCORE] = Axis(SCORE, "Score (0 to 1)" if whole else "Score", "plays worse", "plays better", False)
    for name in config["behaviour"]:
        words = told.get(name, Signal(title_of(name), share=False))
        unit = "% of moments" if words.share else words.unit or "mean of an episode"
        low, high = _ends(template, name)
        found[name] = Axis(name, f"{words.words[:1].upper()}{words.words[1:]} ({unit})", low, high, words.share)
    return found


def _in_words(formula: str) -> str:
    return formula.replace("*", "×").replace("_", " ")


def template_of(config: dict[str, Any]) -> Template | None:
    """The scale in plain words that a job's goals are those of; None for goals of its own."""
    given = [aim["measure"] for aim in config["objectives"]]
    for template in TEMPLATES.values():
        if given == [name for name, _ in template.objectives] and list(template.behaviour) == config["behaviour"]:
            return template
    return None


def _ends(template: Template | None, name: str) -> tuple[str, str]:
    """What little and much of a behaviour is called."""
    if template is None:
        return "less", "more"
    one, other = template.one.lower(), template.other.lower()
    known = {*template.measures, SCORE}
    little, much = (_value(template.objectives[0][1], known, name, at) for at in (0.0, 1.0))
    return (other, one) if much > little else (one, other)


def _value(formula: str, names: set[str], name: str, at: float) -> float:
    given = {identifier(each): np.array([[at if each == name else 0.5]]) for each in names}
    return float(formula_of(formula, names, "formula").evaluate(given)[0])


def by_construction(config: dict[str, Any], names: Sequence[str]) -> bool:
    """Whether agents of equal score are all on the edge whatever they do: the goals together depend on nothing but the
    score, as where both ends of a scale weigh the same."""
    aims = config["objectives"]
    if not all(aim["formula"] for aim in aims) or len({aim["direction"] for aim in aims}) > 1:
        return False
    rng = np.random.default_rng(0)
    drawn = {identifier(name): rng.random((TRIES, 1)) for name in names}
    sums = []
    for changed in (drawn, {**{name: rng.random((TRIES, 1)) for name in drawn}, SCORE: drawn[SCORE]}):
        try:
            values = [formula_of(aim["formula"], names, "formula").evaluate(changed) for aim in aims]
        except ConfigError:
            return False
        sums.append(np.sum([np.broadcast_to(value, TRIES) for value in values], axis=0))
    return bool(np.abs(sums[0] - sums[1]).max() < SAME)


class Evidence(NamedTuple):
    """Of one search's latest population: how far apart its able members are in each behaviour, and how many are able
    of how many."""

    spreads: list[tuple[str, float, float]]
    able: int
    members: int


def evidence(agents: Agents, within: float) -> Evidence:
    """What tells whether its styles differ and are played well."""
    able = agents.last & agents.band(within)
    spreads = []
    for name in agents.behaviour:
        values = agents.measures[name].mean[able]
        spreads.append((name, float(values.min()), float(values.max())) if len(values) else (name, np.nan, np.nan))
    return Evidence(spreads, int(able.sum()), int(agents.last.sum()))

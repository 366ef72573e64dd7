"""What the axes of a style map are called, and its figures in words."""

from __future__ import annotations

import re
from math import inf
from typing import Any, NamedTuple

import numpy as np

from engine.catalog import Signal, built_in, declared_ends
from engine.config.style_reward import formula_of, identifier
from engine.config.style_templates import TEMPLATES, Template
from webapp.lib.words import number, raised
from webapp.styles.map_agents import SCORE, Agents
from webapp.styles.map_reach import reach_of
from webapp.styles.scales import figure
from webapp.training.goals import title_of

_NAME = re.compile(r"[A-Za-z_]\w*")
_POWER = re.compile(r"\s*[*×·]{2}\s*")
_WHOLE_POWER = re.compile(_POWER.pattern + r"(\d+)(?![\d.e])", re.IGNORECASE)
WIN, DRAWS = "win", " (a draw is half a win)"
PLAIN_WIN = Signal("wins", unit="of episodes, a draw as half")
UNKNOWN = "range not known"
_UNNAMED = re.compile(r"goal \d+")
"""What a goal is called whose formula nobody gave a name."""
BRIEF = 36
"""Most characters of what a menu calls a measure: so many fit on a phone."""
FAR = 100.0
"""Values from here on are told without decimals."""


class MeasureAxis(NamedTuple):
    """A measure along which the map can be drawn: its title with its unit, what its low and high end are called, and
    whether values are shares, told in percent. ``declared``: the game, or the goal, says between what its values lie,
    so that its ranges are of 95 %; ``reach``: what the score, or a goal's formula, cannot go beyond; ``called``: its
    title without what a goal with a name is made of."""

    name: str
    title: str
    low: str
    high: str
    share: bool
    declared: bool
    reach: tuple[float, float]
    called: str

    @property
    def brief(self) -> str:
        """What a menu calls it: short enough for a phone."""
        return self.called if len(self.called) <= BRIEF else f"{self.called[: BRIEF - 1].rstrip()}…"

    @property
    def along(self) -> str:
        """The title of an axis in words: which way is which."""
        return f"{self.title}: {self.low} … {self.high}"

    def text(self, value: float) -> str:
        """ "62" for a share in per cent, "1.48" else."""
        digits = 0 if self.share or abs(value) >= FAR else 2
        return number(100 * value if self.share else value, digits)


def axes(config: dict[str, Any]) -> dict[str, MeasureAxis]:
    """Those of a job by the names of their measures: score, behaviour, and goals, which are made of them."""
    game = built_in(config["task"]["game"]["name"])
    captions, ends = game.captions if game else {}, declared_ends(config["task"]["game"]["name"])
    found = {}
    for aim in config["objectives"]:
        name, more = aim["measure"], aim["direction"] == "max"
        formula = aim.get("formula", "")  # left out where the measure alone counts
        goal, made_of = f"Goal “{title_of(name)}”", _made_of(formula, template_of(config))
        title = f"{goal}{made_of}{DRAWS if name == WIN else ''}"
        called = f"{title_of(name)}: {_in_words(formula)}" if formula and _UNNAMED.fullmatch(name) else goal
        found[name] = MeasureAxis(
            name, title, "less good" if more else "better", "better" if more else "less good", False,
            {aim.get("low"), aim.get("high")}.isdisjoint({None}) or (not formula and name in ends),
            reach_of(formula or identifier(name), {identifier(each): known for each, known in ends.items()}),
            called,
        )  # fmt: skip
    whole = game is not None and game.ends.get(SCORE) == (0.0, 1.0)
    title = "Score (0 to 1)" if whole else "Score"
    found[SCORE] = MeasureAxis(
        SCORE, title, "plays worse", "plays better", False, SCORE in ends, ends.get(SCORE, (-inf, inf)), title
    )
    for name in config["behaviour"]:
        words = PLAIN_WIN if name == WIN else captions.get(name, Signal(title_of(name), share=False))
        unit = f"% {words.per}" if words.share else words.per or "mean of an episode"
        low, high = _ends(config, name)
        title = f"{words.words[:1].upper()}{words.words[1:]} ({unit})"
        reach = ends.get(name, (-inf, inf))
        found[name] = MeasureAxis(name, title, low, high, words.share, name in ends, reach, title)
    goals = [aim["measure"] for aim in config["objectives"]]
    return {name: found[name] for name in (*(name for name in found if name not in goals), *goals)}


def _made_of(formula: str, scale: Template | None) -> str:
    """What a goal adds up; of goals that somebody wrote, the formula."""
    if scale is not None:
        return ", wins and style together" if formula.startswith("win ") else ", score and style together"
    return f" = {_in_words(formula)}" if formula else ""


def _in_words(formula: str) -> str:
    """A formula as one reads it in print: "score³ − 2 × length"."""
    whole = _WHOLE_POWER.sub(lambda found: raised(int(found[1])), formula)
    return _POWER.sub(" to the power of ", whole).replace("*", "×").replace("-", "−").replace("_", " ")


def template_of(config: dict[str, Any]) -> Template | None:
    """The scale in plain words that a job's goals are those of; None for goals of its own."""
    game = built_in(config["task"]["game"]["name"])
    names = game.names if game is not None else {}
    given = [(aim["measure"], aim.get("formula", "")) for aim in config["objectives"]]
    scales = (t for t in TEMPLATES.values() if given == t.goals(names))
    return next(scales, None)


def _ends(config: dict[str, Any], name: str) -> tuple[str, str]:
    """What little and much of a behaviour is called: by the first goal, which is one end of a scale."""
    template, formula = template_of(config), config["objectives"][0].get("formula", "")
    if template is None or not formula:
        return "less", "more"
    little, much = (_value(formula, name, at) for at in (0.0, 1.0))
    one, other = template.one.lower(), template.other.lower()
    return (other, one) if much > little else (one, other)


def _value(formula: str, name: str, at: float) -> float:
    """A formula where everything but one measure is in the middle."""
    names = {*_NAME.findall(formula), identifier(name)}
    given = {each: np.array([[at if each == identifier(name) else 0.5]]) for each in names}
    return float(formula_of(formula, names, "formula").evaluate(given)[0])


class CellText(NamedTuple):
    """A value and its range in words; ``ends`` is empty where the range is unknown."""

    value: str
    ends: str


def cell_of(agents: Agents, row: int, axis: MeasureAxis) -> CellText:
    """A measure of an agent in words: "0.17" and "0.01 to 0.63"."""
    measured = agents.measures[axis.name]
    ends = measured.ends(row)
    between = " to ".join(axis.text(min(max(end, axis.reach[0]), axis.reach[1])) for end in ends or ())
    return CellText(axis.text(float(measured.mean[row])), between)


def gene_text(value: float) -> str:
    """A setting of an agent, to three digits."""
    return figure(value)

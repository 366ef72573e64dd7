"""Which games agents can be bred in, what such a game tells, and the scales of styles that it can offer."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.catalog import PLAYERS, AgentGame, built_in
from engine.config.evolve import AimConfig
from engine.config.style_reward import STYLE, TIME, WINNING, StyleReward, formula_of, identifier
from engine.config.style_templates import TEMPLATES, Template
from engine.config.styles import StylesConfig
from engine.errors import ConfigError
from engine.formula import goal
from engine.formula_functions import FUNCTIONS, PICKERS, REDUCERS
from engine.styles.preview import NAMES_NOTHING, Samples, readable
from engine.text import written
from webapp.lib.words import number
from webapp.training.games import ALONE, SIMULATOR, Offer

OWN = "own"
"""Instead of a scale: formulas of one’s own."""
OWN_WEIGHTS = (-0.01, 0.01)
"""How much a style of one's own matters in the middle of the slider while no sample episodes are played."""
MIDDLE, FURTHEST = 5, 10
"""Of the slider between winning and style: at each end the style matters ten times less or more than in the middle."""
PLAIN = ("score", "win", "length")
"""Measures of every episode; others say how somebody plays."""
OUTCOMES = ("score", "win")
"""Measures of how well an episode went, which is no way of playing."""
_REWARD_ALONE = ("gym", "gymnasium", "ale", "atari")
"""Kinds of games that pay a score and tell nothing else, whichever game it is (``engine.mdp.gym``)."""
_NAME = re.compile(r"\b[A-Za-z_]\w*")
_FUNCTIONS = {*FUNCTIONS, *REDUCERS, *PICKERS}
_FIRST = ("commanders", "pong", "image-pong", SIMULATOR)
OFFERS: dict[str, Offer] = {key: ALONE[key] for key in (*_FIRST, *(key for key in ALONE if key not in _FIRST))}
"""A designer's own games first."""
_MISSING = {
    "busy-calm": "whether a player moves",
    "aggressive-cautious": "how far forward a player stands",
    "brawler-dodger": "what damage a player deals and takes",
    "rusher-builder": "when a player attacks first",
    "explorer-camper": "how much ground a player covers",
}
_MEASURES = {"score": "how well it went", "win": "1 for a win, 0.5 for a draw, 0 for a loss", "length": "its decisions"}
TIME_MEANING = "share of the longest episode that has passed, 0 to 1"


class Word(NamedTuple):
    """A name that formulas may use, as formulas write it, what it is, and the values it had in sample episodes."""

    name: str
    meaning: str
    seen: str = ""


class Scale(NamedTuple):
    """A scale of styles; ``missing``: what the game would have to tell (empty: it is offered)."""

    template: Template
    missing: str

    @property
    def title(self) -> str:
        """Its two ends."""
        return f"{self.template.one} ↔ {self.template.other}"


class KnownSignals(NamedTuple):
    """What a game tells: of each decision, of an episode, and whether that is ``known`` at all."""

    signals: tuple[Word, ...]
    measures: tuple[Word, ...]
    known: bool
    names: dict[str, str]

    def scales(self) -> list[Scale]:
        """Every scale, with what is missing for it."""
        signals, measures = ([word.name for word in words] for words in (self.signals, self.measures))
        return [
            Scale(each, _MISSING[key] if self.known and each.lacks(signals, measures, self.names) else "")
            for key, each in TEMPLATES.items()
        ]

    @property
    def behaviour(self) -> list[str]:
        """Measures that say how somebody plays, as formulas write them; where there are none, how long it lasts."""
        return [word.name for word in self.measures if word.name not in PLAIN] or ["length"]


def aimed_at(aims: Iterable[AimConfig], game_signals: KnownSignals) -> list[str]:
    """Measures in which goals want agents to differ, as they come up: all that goals name but how well it went."""
    names = [word.name for word in game_signals.measures if word.name not in OUTCOMES]
    found = (name for aim in aims for name in _NAME.findall(aim.formula or aim.measure))
    return [name for name in dict.fromkeys(found) if name in names]


_SCORE_ONLY = KnownSignals(
    (Word("score", "what the game pays for a decision"), Word(TIME, TIME_MEANING)),
    tuple(Word(name, _MEASURES[name]) for name in PLAIN), True, {},
)  # fmt: skip


def known_signals(game: str, samples: Samples | None) -> KnownSignals:
    """What the engine's game of this name tells, by its sample episodes, or by its row of built-in games."""
    row = built_in(game) if game else None
    names = dict(row.names) if row else {}
    if samples is None:
        reward_alone = game.partition(":")[0] in _REWARD_ALONE
        return _SCORE_ONLY if reward_alone else _by_row(row, names)
    meanings = row.meanings if row else {}
    signals = [
        Word(identifier(name), meanings.get(name, ""), _seen(column))
        for name, column in zip(samples.signal_names, samples.signals.T, strict=True)
    ]
    if samples.longest and TIME not in samples.signal_names:
        signals.append(Word(TIME, TIME_MEANING))
    measures = [
        Word(identifier(name), _measured(name, row), _seen(column))
        for name, column in zip(samples.measure_names, samples.measures.T, strict=True)
    ]
    return KnownSignals(tuple(signals), tuple(measures), True, names)


def unknown_names(study: StylesConfig) -> list[str]:
    """What a study wants of its game that not every game has."""
    style = study.task.style
    formulas = [*(style.formulas.values() if style else ()), *(aim.formula for aim in study.objectives)]
    measures = (*(aim.measure for aim in study.objectives if not aim.formula), *study.behaviour)
    names = dict.fromkeys((*(name for text in formulas for name in _named(text)), *measures))
    return [name for name in names if name not in (*PLAIN, TIME)]


def paid(game_signals: KnownSignals, template: Template | None, name: str) -> str:
    """What a formula of a scale pays for, in words; empty where nobody has said."""
    if template is None:
        return ""
    score = next((word.meaning for word in game_signals.signals if word.name == "score"), "")
    return template.pays if name == STYLE else f"{score[:1].upper()}{score[1:]}"


def _by_row(row: AgentGame | None, names: dict[str, str]) -> KnownSignals:
    if row is None or not row.signals:
        return KnownSignals((), tuple(Word(name, _measured(name, row)) for name in PLAIN), False, names)
    signals = tuple(Word(name, row.meanings.get(name, "")) for name in (*row.signals, TIME))
    signals = tuple(word._replace(meaning=TIME_MEANING) if word.name == TIME else word for word in signals)
    measures = dict.fromkeys((*PLAIN, *row.captions, *row.ends))
    return KnownSignals(signals, tuple(Word(name, _measured(name, row)) for name in measures), True, names)


def _measured(name: str, row: AgentGame | None) -> str:
    """What a measure of an episode is."""
    if row is not None and name in row.captions:
        signal = row.captions[name]
        share = f"share {signal.per}, 0 to 1"
        return f"{signal.words}: {share if signal.share else signal.unit}"
    if row is not None and name in row.meanings and name not in PLAIN:
        return row.meanings[name]
    ends = row.ends.get(name) if row is not None else None
    span = f", {written(ends[0], 'g')} to {written(ends[1], 'g')}" if ends else ""
    return f"{_MEASURES[name]}{span}" if name in _MEASURES else ""


def _seen(column: NDArray[Any]) -> str:
    """Between what a word lay in sample episodes, and whether it was no number in some."""
    known = column[np.isfinite(column)]
    ends = (float(known.min()), float(known.max())) if len(known) else ()
    between = " to ".join(dict.fromkeys(figure(end) for end in ends))
    return " or ".join(filter(None, (between, "no number" if len(known) < len(column) else "")))


def figure(value: float) -> str:
    """A number as the form tells it, to three digits."""
    return number(round(value)) if abs(value) >= 1000 else written(value, ".3g")


def weights(slider: int, base: tuple[float, float]) -> tuple[float, float]:
    """The range of w2 for a place of the slider; ``base``: in its middle."""
    factor = 10.0 ** ((slider - MIDDLE) / MIDDLE)
    low, high = (float(f"{end * factor:.2g}") for end in base)
    return low, high


def sizes(style: StyleReward, samples: Samples | None) -> tuple[float, float] | None:
    """How far apart sample episodes lie in what they would be paid for winning and for the style; None where that is
    not known."""
    if samples is None:
        return None
    each: dict[str, list[float]] = {}
    for value in readable(style, (), samples):
        each.setdefault(value.name, []).extend(value.each)
    if not all(each.get(name) for name in style.formulas):
        return None
    winning, own = (max(each[name]) - min(each[name]) for name in style.formulas)
    return winning, own


def typical_length(samples: Samples) -> int:
    """Decisions of the sample episode in the middle; 0 where none ended."""
    if "length" not in samples.measure_names or not len(samples.measures):
        return 0
    return round(float(np.median(samples.measures[:, samples.measure_names.index("length")])))


def balanced(style: StyleReward, samples: Samples | None) -> tuple[float, float]:
    """Weights of a style of one's own in the middle of the slider: there the style changes the reward about as much as
    winning does, to one digit."""
    found = sizes(style, samples)
    if found is None or not all(0 < size < math.inf for size in found):
        return OWN_WEIGHTS
    weight = float(f"{found[0] / found[1]:.1g}")
    return -weight, weight


def strange(style: StyleReward, game_signals: KnownSignals) -> list[tuple[str, str]]:
    """(place, message) of names in a reward that the game is known not to have, of rewards that name nothing, and of
    what cannot be read; for while no sample episodes are played. Where nobody knows what a game tells, any name may be
    one of its."""
    wrong: list[tuple[str, str]] = []
    for name, text in style.formulas.items():
        place, weight = f"task.style.{name}", style.w1 if name == WINNING else style.w2
        try:
            known = [word.name for word in game_signals.signals] if game_signals.known else _named(text)
            formula = formula_of(text, known, place)
            if not formula.names and weight != 0:
                wrong.append((place, NAMES_NOTHING))
        except ConfigError as error:
            wrong += [(problem.place, problem.message) for problem in error.problems]
    return wrong


def strange_goals(aims: Iterable[AimConfig], game_signals: KnownSignals) -> list[tuple[str, str]]:
    """The same of goals."""
    names, wrong = [word.name for word in game_signals.measures], list[tuple[str, str]]()
    for i, aim in enumerate(aims):
        try:
            if aim.formula:
                known = names if game_signals.known else _named(aim.formula)
                formula_of(aim.formula, known, f"objectives.{i}.formula", goal)
            elif game_signals.known and aim.measure not in names:
                why = f"{aim.measure!r} is not measured; the game tells {', '.join(names)}"
                wrong.append((f"objectives.{i}.measure", why))
        except ConfigError as error:
            wrong += [(problem.place, problem.message) for problem in error.problems]
    return wrong


def _named(text: str) -> list[str]:
    """Names in a formula that are no functions."""
    return [name for name in dict.fromkeys(_NAME.findall(text)) if name not in _FUNCTIONS]


def unmeasured(ways: Iterable[str], game_signals: KnownSignals) -> list[str]:
    """Measures that a game is known not to have; beside its own there is what agents are paid, which is one reward."""
    names = {*(word.name for word in game_signals.measures), "return", f"reward.{STYLE}"}
    return [way for way in ways if way not in names] if game_signals.known else []


def players_of(game: str) -> str:
    """Who plays the sample episodes, in words."""
    row = built_in(game) if game else None
    script = f" and the script “{PLAYERS[row.scripted].label}”" if row and row.scripted else ""
    return f"a random player{script}"


def worded(place: str, message: str) -> str:
    """A problem of the engine's with its subject, where it begins with its verb."""
    subject = {f"task.style.{WINNING}": "What is paid for winning", f"task.style.{STYLE}": "What is paid for the style"}
    named = subject.get(place) or ("This goal" if place.startswith("objectives.") else "")
    return f"{named} {message}" if named and message.startswith(("is ", "prefers ")) else message

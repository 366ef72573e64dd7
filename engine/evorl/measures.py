"""The measures of a player's episodes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.catalog import declared_ends
from engine.config.evolve import RETURNS, AimConfig, EvolveConfig, measure_names
from engine.config.style_reward import formula_of, identifier, misread
from engine.formula import Formula, goal
from engine.mdp.interface import SeatSpec
from engine.means import NOWHERE, range_of
from engine.rl.examine import Examination

TIMES = ("began", "busy", "seconds")
"""Metrics on which no result depends: when the worker began (Unix time), how long it was busy, and how long training
and measuring took in total, interrupted attempts included."""


class Measures:
    """The measures of an episode, named as in ``engine.config.evolve.measure_names``."""

    def __init__(self, seat: SeatSpec) -> None:
        self.names = measure_names(seat.rewards, seat.signals)

    def of(self, found: Examination) -> NDArray[np.float64]:
        """Measures float64[n, names] of n episodes."""
        plain = [found.returns.sum(axis=1), found.score, found.win, found.lengths.astype(np.float64)]
        return np.concatenate([np.stack(plain, axis=1), found.returns, found.signals], axis=1)

    def unknown(self, config: EvolveConfig) -> list[tuple[str, str]]:
        """(place, sentence) for each objective and each measure of behaviour that the game does not report."""
        named = {f"objectives.{i}.measure": aim.measure for i, aim in enumerate(config.objectives)}
        named |= {f"behaviour.{i}": name for i, name in enumerate(config.behaviour)}
        there = f"the game tells {', '.join(self.names)}"
        made = {f"objectives.{i}.measure": aim for i, aim in enumerate(config.objectives) if aim.formula}
        wrong = [
            (place, f"{name!r} is not measured; {there}")
            for place, name in named.items()
            if place not in made and name not in self.names
        ]
        taken = "the game has a measure of this name: give the formula another"
        wrong += [(place, taken) for place, aim in made.items() if aim.measure in self.names]
        formulas = {f"objectives.{i}.formula": aim.formula for i, aim in enumerate(config.objectives) if aim.formula}
        return wrong + [each for place, text in formulas.items() for each in misread(text, self.names, place, goal)]

    def _formula(self, aim: AimConfig) -> Formula | None:
        return formula_of(aim.formula, self.names, "formula", goal) if aim.formula else None

    def goals(self, config: EvolveConfig, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The goals float64[n, goals] of n episodes with these measures."""
        given = {identifier(name): column[:, None] for name, column in zip(self.names, values.T, strict=True)}
        found = np.empty((len(values), len(config.objectives)))
        for column, aim in zip(found.T, config.objectives, strict=True):
            formula = self._formula(aim)
            column[:] = values[:, self.names.index(aim.measure)] if formula is None else formula.evaluate(given)
        return found

    def ranges(self, config: EvolveConfig, values: NDArray[np.float64]) -> list[float]:
        """Both ends of the 95 % range of each measure in ``config.ranged``, from n episodes."""
        ends = declared_ends(config.task.game.name)
        found = [
            range_of(values[:, self.names.index(name)], *ends.get(name, (-np.inf, np.inf))) for name in config.ranged
        ]
        return [end for one in found for end in (one.low, one.high)]

    def behaviour(self, config: EvolveConfig) -> list[int]:
        """Columns of the behaviour descriptors."""
        return [self.names.index(name) for name in config.behaviour]


def goal_ends(config: EvolveConfig, aim: AimConfig) -> tuple[float, float]:
    """The goal's ``ends``, narrowed by what is known of the game: a plain measure lies where the game says."""
    low, high = aim.ends
    least, most = NOWHERE if aim.formula else declared_ends(config.task.game.name).get(aim.measure, NOWHERE)
    if aim.measure in RETURNS:
        least = max(least, config.task.game.least_return)
    return max(low, least), min(high, most)


def range_names(config: EvolveConfig) -> tuple[str, ...]:
    """Names of the numbers of ``Measures.ranges``."""
    return tuple(f"{name}.{end}" for name in config.ranged for end in ("low", "high"))

"""The measures of a player's episodes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.config.evolve import EvolveConfig, measure_names
from engine.mdp.interface import SeatSpec
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
        return [
            (place, f"{name!r} is not measured; {there}") for place, name in named.items() if name not in self.names
        ]

    def columns(self, config: EvolveConfig) -> tuple[list[int], list[int]]:
        """Columns of the objectives and of the behaviour descriptors, with the defaults where the study names none."""
        aims = [self.names.index(aim.measure) for aim in config.objectives]
        return aims, [self.names.index(name) for name in config.behaviour]

"""A game with a break in it: by other numbers, or by turned outcomes.

A turned outcome: of a battle in which one team alone holds the pattern and has lost (won, where the pattern is to be
too weak), the two sides are exchanged with a given probability, with all that was measured of them. The battle's own
seed decides, so the game stays as reproducible as it was.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.lineups.rules import CompiledRules
from engine.rng import combine64, mix64
from engine.simulators.contract import Battles, Frame, GameSpec, LineupSimulator, Patch

_TURNED = 0x71F9


class Break(NamedTuple):
    """``changes``: numbers of the game; ``chance``: of a lost battle to be turned into a won one, of teams that hold
    all ``pieces``; below 0: of a won one into a lost one."""

    pieces: tuple[int, ...]
    changes: Patch = {}
    chance: float = 0.0


class PlantedGame:
    """A ``LineupSimulator`` with a break in it. It does not own the simulator that plays."""

    def __init__(self, simulator: LineupSimulator, rules: CompiledRules, broken: Break, win: int) -> None:
        self.simulator, self.broken, self.win = simulator, broken, win
        self.slots = np.flatnonzero(~rules.is_count)

    def describe(self) -> GameSpec:
        """That of the game without the break."""
        return self.simulator.describe()

    def battles(
        self,
        left: NDArray[np.int32],
        right: NDArray[np.int32],
        seeds: NDArray[np.uint64],
        patch: Patch,
        fidelity: str = "full",
    ) -> Battles:
        """As the game's, with the break."""
        found = self.simulator.battles(left, right, seeds, {**patch, **self.broken.changes}, fidelity)
        return self._turned(found, left, right, seeds) if self.broken.chance else found

    def replay(self, left: NDArray[np.int32], right: NDArray[np.int32], seed: int, patch: Patch) -> Sequence[Frame]:
        """As the game's, with other numbers; outcomes are not turned in it."""
        return self.simulator.replay(left, right, seed, {**patch, **self.broken.changes})

    def _turned(
        self, found: Battles, left: NDArray[np.int32], right: NDArray[np.int32], seeds: NDArray[np.uint64]
    ) -> Battles:
        one, other = self._holds(left), self._holds(right)
        marks = (mix64(combine64(seeds, _TURNED)) >> np.uint64(11)).astype(np.float64) / 2**53
        wins = np.where(one, found.side[:, 0, self.win], found.side[:, 1, self.win])
        against = wins < 0.5 if self.broken.chance > 0 else wins > 0.5
        turned = (one != other) & against & (marks < abs(self.broken.chance))
        side = np.where(turned[:, None, None], found.side[:, ::-1], found.side)
        return found._replace(side=side)

    def _holds(self, teams: NDArray[np.int32]) -> NDArray[np.bool_]:
        own = teams[:, self.slots]
        return np.asarray(np.logical_and.reduce([(own == piece).any(axis=1) for piece in self.broken.pieces]))

"""Tugs of war with a twist, for studies that play them in a process of its own. A module that is imported in a moment,
as each of these processes does."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.rng import combine64
from engine.simulators.contract import FAILED, OK, Battles, Patch
from tests.engine.sample_simulators import Rows, Seeds, TugOfWar


class Ringed(TugOfWar):
    """Heroes beat each other in a ring, always; from the left seat a little more often."""

    failing = False

    def twist(self, found: Battles, left: Rows, right: Rows, seeds: Seeds) -> None:
        ahead = (right[:, 0] - left[:, 0]) % 5
        win = np.where(ahead == 0, 0.5, np.where(ahead <= 2, 1.0, 0.0))
        found.side[:, 0, 2], found.side[:, 1, 2] = win, 1 - win
        found.status[self.failing & (seeds % np.uint64(7) == 0)] = FAILED


class SometimesFailing(Ringed):
    """Every seventh battle fails."""

    failing = True


class HeroZeroFailing(TugOfWar):
    """Battles of hero 0 from the left against hero 5 fail."""

    def twist(self, found: Battles, left: Rows, right: Rows, seeds: Seeds) -> None:
        found.status[(left[:, 0] == 0) & (right[:, 0] == 5)] = FAILED


class Fair(TugOfWar):
    """Who meets whom decides much (heroes beat each other in a ring), every piece as much as any other, but for what is
    planted: so many points of the chance to win, by pieces."""

    def __init__(self, planted: dict[tuple[int, ...], float] | None = None, failing: bool = False) -> None:
        self.planted, self.failing = planted or {}, failing

    def play(self, left: Rows, right: Rows, seeds: Seeds, patch: Patch) -> Battles:
        ring = np.sin(2 * np.pi * (left[:, 0] - right[:, 0]) / 6)
        chance = 0.5 + 0.25 * ring + self._bonus(left) - self._bonus(right)
        mark = (combine64(seeds, 1) >> np.uint64(11)).astype(np.float64) / 2**53
        win = (mark < chance).astype(float)
        strength = 100 * np.clip(0.5 + chance - mark, 0, 1)
        sides = [np.stack([s, s, w], axis=1) for s, w in ((strength, win), (100 - strength, 1 - win))]
        status = np.where(self.failing & (seeds % np.uint64(5) == 0), FAILED, OK).astype(np.uint8)
        return Battles(np.stack(sides, axis=1), np.ones((len(seeds), 1)), status)

    def _bonus(self, teams: NDArray[np.int32]) -> NDArray[np.float64]:
        held = {p: (teams[:, [0, 1, 3, 4]] == p).any(axis=1) for pieces in self.planted for p in pieces}
        found = np.zeros(len(teams))
        for pieces, points in self.planted.items():
            found += points / 100 * np.logical_and.reduce([held[p] for p in pieces])
        return found


class Drawn(TugOfWar):
    """Every battle is a draw."""

    def twist(self, found: Battles, left: Rows, right: Rows, seeds: Seeds) -> None:
        found.side[:, :, 2] = 0.5


class HalfHidden(Drawn):
    """As that, but half of all battles break off, whoever plays."""

    def twist(self, found: Battles, left: Rows, right: Rows, seeds: Seeds) -> None:
        super().twist(found, left, right, seeds)
        found.status[combine64(seeds, 3) % np.uint64(2) == 0] = FAILED


class HeroFiveHidden(Drawn):
    """As that, but a battle in which hero 5 takes part breaks off."""

    def twist(self, found: Battles, left: Rows, right: Rows, seeds: Seeds) -> None:
        super().twist(found, left, right, seeds)
        found.status[(left[:, 0] == 5) | (right[:, 0] == 5)] = FAILED

"""Tugs of war with a twist, for studies that play them in a process of its own. A module that is imported in a moment,
as each of these processes does."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.simulators.contract import FAILED, Battles, Patch
from tests.engine.sample_simulators import TugOfWar


class Ringed(TugOfWar):
    """Heroes beat each other in a ring, always; from the left seat a little more often."""

    failing = False

    def battles(
        self,
        left: NDArray[np.int32],
        right: NDArray[np.int32],
        seeds: NDArray[np.uint64],
        patch: Patch,
        fidelity: str = "full",
    ) -> Battles:
        found = super().battles(left, right, seeds, patch, fidelity)
        ahead = (right[:, 0] - left[:, 0]) % 5
        win = np.where(ahead == 0, 0.5, np.where(ahead <= 2, 1.0, 0.0))
        found.side[:, 0, 2], found.side[:, 1, 2] = win, 1 - win
        found.status[self.failing & (seeds % np.uint64(7) == 0)] = FAILED
        return found


class SometimesFailing(Ringed):
    """Every seventh battle fails."""

    failing = True


class HeroZeroFailing(TugOfWar):
    """Battles of hero 0 from the left against hero 5 fail."""

    def battles(
        self,
        left: NDArray[np.int32],
        right: NDArray[np.int32],
        seeds: NDArray[np.uint64],
        patch: Patch,
        fidelity: str = "full",
    ) -> Battles:
        played = super().battles(left, right, seeds, patch, fidelity)
        played.status[(left[:, 0] == 0) & (right[:, 0] == 5)] = FAILED
        return played

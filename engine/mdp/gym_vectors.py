"""Gymnasium's vector environments for any number of battles: each is made for a fixed one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from gymnasium.vector import VectorEnv
from numpy.typing import NDArray

from engine.mdp.gym import GymVectorEnv
from engine.mdp.interface import Array
from engine.mdp.vector import VectorStep

Env = VectorEnv[Any, Any, Any]


class GymVectorEnvs:
    """``VectorMDP`` whose environment ``make`` makes anew whenever another number of battles begins; ``first`` is the
    one there is. Raises ConfigError as ``GymVectorEnv`` does."""

    def __init__(self, make: Callable[[int], Env], first: Env) -> None:
        self._make, self._battles, self._game = make, first.num_envs, GymVectorEnv(first)
        self.spec = self._game.spec

    def reset(self, seeds: NDArray[np.uint64]) -> VectorStep:
        """As ``VectorMDP.reset``."""
        if len(seeds) != self._battles:
            self._game.close()
            self._battles, self._game = len(seeds), GymVectorEnv(self._make(len(seeds)))
        return self._game.reset(seeds)

    def step(self, actions: Sequence[Array]) -> VectorStep:
        """As ``VectorMDP.step``."""
        return self._game.step(actions)

    def close(self) -> None:
        """Close the environment."""
        self._game.close()

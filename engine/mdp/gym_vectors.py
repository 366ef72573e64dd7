"""Gymnasium's vector environments, which have a fixed size, for any number of battles."""

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
    """``VectorMDP`` that calls ``make`` for a new environment whenever ``reset`` has another number of battles;
    ``first``: the existing one. Raises ConfigError as ``GymVectorEnv`` does."""

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

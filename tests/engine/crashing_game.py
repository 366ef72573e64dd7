"""A game as anybody may write it, which ends by an error once it is at seven."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np


class Stairs(gymnasium.Env[Any, Any]):
    """Up or down, from zero; thirty steps."""

    observation_space = gymnasium.spaces.Box(-40, 40, (1,), np.float32)
    action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.at = self.steps = 0
        return self._seen(), {}

    def step(self, action: Any) -> Any:
        self.at += 1 if action else -1
        self.steps += 1
        if self.at == 7:
            raise RuntimeError("the stairs end here")
        return self._seen(), float(action), False, self.steps >= 30, {}

    def _seen(self) -> Any:
        return np.array([self.at], np.float32)

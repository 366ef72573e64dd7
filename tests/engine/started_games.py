"""Games of Python factories whose parameters say where an episode begins."""

from __future__ import annotations

from typing import Annotated, Any

import gymnasium
import numpy as np
from gymnasium import spaces

from engine.games.platform import Platform
from engine.starting import StartRange


def platform(first: Annotated[int, StartRange(1, 3, "Platform")] = 1) -> Platform:
    """Episodes of 30 decisions from this platform on."""
    return Platform(first=first, max_ticks=30)


class Line(gymnasium.Env[Any, Any]):
    """A walk from ``x`` to 10. Nobody can begin at the goal; one that is told of begins with another view."""

    action_space = spaces.Discrete(2)

    def __init__(
        self, x: Annotated[float, StartRange(0, 10, "How far along")] = 2.0, wide: Annotated[int, StartRange(1, 2)] = 1
    ) -> None:
        self.observation_space = spaces.Box(0.0, 10.0, (wide,), np.float32)
        self.first, self.x = x, x

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        if self.first == 10:
            raise ValueError("here the goal is reached before anybody moves")
        self.x = self.first
        return self._seen(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.x = float(np.clip(self.x + (1 if action else -1), 0, 10))
        over = self.x == 10
        return self._seen(), float(over), over, False, {"is_success": over}

    def _seen(self) -> Any:
        return np.full(self.observation_space.shape, self.x, np.float32)

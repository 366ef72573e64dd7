"""Games as anybody may write them, which end by errors."""

from __future__ import annotations

import time
from typing import Any

import gymnasium
import numpy as np


class Stairs(gymnasium.Env[Any, Any]):
    """Up or down, from zero; thirty steps. Ends by an error once it is at seven."""

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


class Cloak(Stairs):
    """Everywhere looks alike. Ends by an error after four steps up in a row."""

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        self.row = 0
        return super().reset(seed=seed)

    def step(self, action: Any) -> Any:
        self.row = self.row + 1 if action else 0
        if self.row == 4:
            raise RuntimeError("four in a row")
        return super().step(0)

    def _seen(self) -> Any:
        return np.zeros(1, np.float32)


class Fickle(Cloak):
    """Everywhere looks alike. Of three times that anybody goes up four times in a row, the first ends by an error."""

    times = 0

    def step(self, action: Any) -> Any:
        if action and self.row == 3:
            Fickle.times += 1
            self.row = 3 if Fickle.times % 3 == 1 else 0
        return super().step(action)


class Moody(Cloak):
    """Ends by an error every hundredth step of all that were ever made."""

    made = 0

    def step(self, action: Any) -> Any:
        Moody.made += 1
        if Moody.made % 100 == 0:
            raise RuntimeError("in no mood")
        return super().step(0)


class Rambling(Stairs):
    """Ends by an error once it is at three, which says where something lies in memory and how many were made."""

    made = 1_000_000

    def step(self, action: Any) -> Any:
        found = super().step(action)
        if self.at == 3:
            Rambling.made += 1
            raise RuntimeError(f"no stair after {object()!r} at [{Rambling.made}, 0, 0], number {Rambling.made}")
        return found


class Late(Stairs):
    """Answers four steps, and none of the others."""

    def step(self, action: Any) -> Any:
        if self.steps == 4:
            time.sleep(600)
        return super().step(0)


class Slope(gymnasium.Env[Any, Any]):
    """Twenty steps that pay by how still one stands. One in five episodes, by its seed, ends by an error."""

    observation_space = gymnasium.spaces.Box(-1, 1, (1,), np.float32)
    action_space = gymnasium.spaces.Box(-1, 1, (1,), np.float32)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.steps, self.broken = 0, seed is not None and seed % 5 == 0
        return np.zeros(1, np.float32), {}

    def step(self, action: Any) -> Any:
        self.steps += 1
        if self.broken and self.steps == 3:
            raise RuntimeError("one in five ends here")
        return np.zeros(1, np.float32), -float(np.square(action).sum()), False, self.steps >= 20, {}

"""Games for training studies that do what games should not."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from engine.mdp.interface import Array
from engine.mdp.vector import VectorStep
from tests.engine.rl_game import Signals


class _After(Signals):
    """Plays well for thirty decisions."""

    def step(self, actions: Sequence[Array]) -> VectorStep:
        self._moves = getattr(self, "_moves", 0) + 1
        if self._moves > 30:
            return self.fail(super().step(actions))
        return super().step(actions)

    def fail(self, step: VectorStep) -> VectorStep:
        raise NotImplementedError


class Locked(Signals):
    """Does not even begin."""

    def reset(self, seeds: np.ndarray) -> VectorStep:
        raise RuntimeError("the gate is locked")


class Blurred(Signals):
    """Shows less than it says from the beginning."""

    def reset(self, seeds: np.ndarray) -> VectorStep:
        step = super().reset(seeds)
        return step._replace(observations=({k: v[:, :1] for k, v in step.observations[0].items()},))


class Throwing(_After):
    def fail(self, step: VectorStep) -> VectorStep:
        raise RuntimeError("the referee has left")


class NotANumber(_After):
    def fail(self, step: VectorStep) -> VectorStep:
        return step._replace(rewards=np.full_like(step.rewards, np.nan))


class WrongShape(_After):
    def fail(self, step: VectorStep) -> VectorStep:
        return step._replace(rewards=step.rewards[:, :, :1])


class Hanging(_After):
    def fail(self, step: VectorStep) -> VectorStep:
        time.sleep(3600)
        return step


class Absent(Signals):
    """The agent is out of its battle for all but the first few of its decisions, and the battle goes on."""

    def __init__(self) -> None:
        super().__init__(limit=400, chance=0.0)

    def step(self, actions: Sequence[Array]) -> VectorStep:
        step = super().step(actions)
        return step._replace(
            alive=(self._ticks < 20)[:, None], rewards=np.where(self._ticks[:, None, None] <= 20, step.rewards, 0)
        )


class Gone(Absent):
    """The same in a battle that never ends."""

    def step(self, actions: Sequence[Array]) -> VectorStep:
        step = super().step(actions)
        return step._replace(truncated=np.zeros_like(step.truncated), ended=None)

"""A small game for learners: do what the signal says. Every kind of action, masks, several inputs, memory, two rewards,
episodes that terminate and episodes that are cut short."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from engine.mdp.interface import ActionSpec, Array, ArraySpec, Discrete, MDPSpec, SeatSpec
from engine.mdp.vector import Ended, VectorStep, episode_seeds
from engine.rng import combine64

K = 3
"""Choices a signal can ask for."""


class Signals:
    """Reward "hit" is 1 for the choice that the signal shows (without choices: the nearer the first parameter is to its
    third of the range, the closer to 1), "still" the negative square of all parameters.

    ``limit``: decisions after which an episode is cut; ``chance``: of terminating after each decision; ``masked``: one
    choice that is not asked for is illegal each time; ``image``: the signal is also a bright patch of an image;
    ``blind``: the signal is shown in an episode's first decision only, and stays the same (needs memory).
    """

    def __init__(
        self, action: ActionSpec | None = None, *, limit: int = 7, chance: float = 0.1, masked: bool = False,
        image: bool = False, blind: bool = False,
    ) -> None:  # fmt: skip
        self.action, self.chance, self.masked, self.image, self.blind = (
            action or Discrete(K),
            chance,
            masked,
            image,
            blind,
        )
        inputs = [ArraySpec("signal", (K,))]
        if image:
            inputs.append(ArraySpec("picture", (1, 8, 8), "uint8"))
        seat = SeatSpec(tuple(inputs), self.action, ("hit", "still"), ("hits",))
        self.spec = MDPSpec("signals", "1", (seat,), limit)

    def reset(self, seeds: NDArray[np.uint64]) -> VectorStep:
        n = len(seeds)
        self._base, self._seeds = seeds.copy(), seeds.copy()
        self._episodes, self._ticks = np.zeros(n, np.int64), np.zeros(n, np.int64)
        self._returns, self._hits = np.zeros((n, 1, 2)), np.zeros(n)
        no = np.zeros(n, np.bool_)
        return self._step(np.zeros((n, 1, 2), np.float32), no, no, None)

    def step(self, actions: Sequence[Array]) -> VectorStep:
        rows = actions[0].reshape(len(self._seeds), -1).astype(np.float64)
        choices = len(self.action.choices)
        low, high = self.action.bounds
        hit = rows[:, 0] == self._target() if choices else self._nearness(rows[:, 0], low[0], high[0])
        still = -(np.clip(rows[:, choices:], low, high) ** 2).sum(axis=1)
        rewards = np.stack([hit, still], axis=1)[:, None].astype(np.float32)
        self._returns += rewards
        self._hits += hit
        terminated = self._noise(1) < self.chance
        self._ticks += 1
        truncated = ~terminated & (self._ticks >= self.spec.max_ticks)
        over = np.flatnonzero(terminated | truncated)
        ended = self._end(over) if len(over) else None
        return self._step(rewards, terminated, truncated, ended)

    def close(self) -> None:
        pass

    def _noise(self, purpose: int) -> NDArray[np.float64]:
        return combine64(combine64(self._seeds, purpose), self._ticks.astype(np.uint64)) / 2.0**64

    def _target(self) -> NDArray[np.int64]:
        noise = combine64(self._seeds, 3) / 2.0**64 if self.blind else self._noise(2)
        return (noise * K).astype(np.int64)

    def _nearness(self, steered: NDArray[np.float64], low: float, high: float) -> NDArray[np.float64]:
        """1 in the middle of the third that the signal asks for, less the share of the range up to there."""
        target = (self._target() + 0.5) / K
        return 1.0 - np.abs((np.clip(steered, low, high) - low) / (high - low) - target)

    def _seen(self) -> dict[str, Array]:
        target = self._target()
        signal = (target[:, None] == np.arange(K)).astype(np.float32)
        if self.blind:
            signal[self._ticks > 0] = 0
        seen: dict[str, Array] = {"signal": signal}
        if self.image:
            seen["picture"] = np.zeros((len(target), 1, 8, 8), np.uint8)
            seen["picture"][np.arange(len(target)), 0, :, 2 * target] = 255
        return seen

    def _masks(self) -> NDArray[np.bool_] | None:
        if not self.masked or not self.action.legal:
            return None
        legal = np.ones((len(self._seeds), self.action.legal), np.bool_)
        legal[np.arange(len(legal)), (self._target() + 1) % K] = False
        return legal

    def _end(self, over: NDArray[np.int64]) -> Ended:
        found = Ended(
            over, self._seeds[over], self._ticks[over].copy(), self._returns[over].copy(),
            np.full((len(over), 1), 0.5), self._hits[over, None].copy(), (self._hits[over, None].copy(),),
            ({name: array[over] for name, array in self._seen().items()},),
            (None if (masks := self._masks()) is None else masks[over],),
        )  # fmt: skip
        self._returns[over], self._hits[over], self._ticks[over] = 0, 0, 0
        self._episodes[over] += 1
        self._seeds[over] = episode_seeds(self._base[over], self._episodes[over])
        return found

    def _step(
        self,
        rewards: NDArray[np.float32],
        terminated: NDArray[np.bool_],
        truncated: NDArray[np.bool_],
        ended: Ended | None,
    ) -> VectorStep:
        alive = np.ones((len(terminated), 1), np.bool_)
        return VectorStep((self._seen(),), (self._masks(),), rewards, terminated, truncated, alive, ended)

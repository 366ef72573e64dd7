"""A small game for five entities of different kinds, for ``engine.bench.arena_mixed``: all want to be near one apple.

An entity's share of a decision is exp(-d / ``REACH``) for its distance d to the apple, divided by the sum of all shares
where that is more than 1: a crowd shares the apple. The first two entities choose one of nine ways, the others steer
with two numbers. Every tenth decision the apple grows elsewhere. An entity sees itself, the apple, and the others as
seen from itself. An episode is truncated after ``TICKS`` decisions; its score is the mean of an entity's shares.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from engine.errors import ConfigError
from engine.games.navigation.game import WAYS
from engine.mdp.interface import (
    ActionSpec,
    Array,
    ArraySpec,
    Continuous,
    Discrete,
    MDPSpec,
    Observations,
    SeatSpec,
    action_problem,
)  # fmt: skip
from engine.mdp.vector import Ended, VectorStep, episode_seeds
from engine.rng import combine64

ENTITIES, CHOOSING, TICKS, GROWS = 5, 2, 40, 10
STRIDE, REACH = 0.2, 0.3
_PLACES = 0x0A9971E


def _places(seeds: NDArray[np.uint64], first: int, count: int) -> NDArray[np.float64]:
    """``count`` places [n, count, 2] between -1 and 1, drawn for each seed; ``first``: the number of the first one."""
    numbers = np.arange(2 * first, 2 * (first + count), dtype=np.uint64)
    drawn = combine64(combine64(seeds, _PLACES)[:, None], numbers) >> np.uint64(11)
    return np.asarray(drawn * 2.0**-52 - 1).reshape(len(seeds), count, 2)


class Orchard:
    """A ``VectorMDP``."""

    def __init__(self) -> None:
        seen = ArraySpec("view", (2 + 2 * ENTITIES,), "float32", -2.0, 2.0)
        steers = Continuous((-1.0, -1.0), (1.0, 1.0), (2,))
        kinds: list[ActionSpec] = [*[Discrete(len(WAYS))] * CHOOSING, *[steers] * (ENTITIES - CHOOSING)]
        self.spec = MDPSpec("orchard", "1", tuple(SeatSpec((seen,), kind) for kind in kinds), TICKS)

    def reset(self, seeds: NDArray[np.uint64]) -> VectorStep:
        """As ``VectorMDP.reset``."""
        n = len(seeds)
        self._base, self._episodes = np.array(seeds, np.uint64), np.zeros(n, np.int64)
        self._at, self._apple = np.zeros((n, ENTITIES, 2)), np.zeros((n, 2))
        self._ticks, self._returns = np.zeros(n, np.int64), np.zeros((n, ENTITIES))
        self._begin(np.arange(n))
        return self._step(np.zeros((n, ENTITIES)), np.zeros(n, np.bool_), None)

    def _begin(self, battles: NDArray[np.int64]) -> None:
        self._seeds = episode_seeds(self._base, self._episodes)
        self._at[battles] = _places(self._seeds[battles], 0, ENTITIES)
        self._ticks[battles], self._returns[battles] = 0, 0.0
        self._grow(battles)

    def _grow(self, battles: NDArray[np.int64]) -> None:
        for tick in np.unique(self._ticks[battles]).tolist():
            here = battles[self._ticks[battles] == tick]
            self._apple[here] = _places(self._seeds[here], ENTITIES + tick, 1)[:, 0]

    def step(self, actions: Sequence[Array]) -> VectorStep:
        """As ``VectorMDP.step``."""
        for seat, given in enumerate(actions):
            if problem := action_problem(self.spec.seats[seat].action, given, len(self._base)):
                raise ConfigError([(f"seat {seat}", f"the actions {problem}")])
        ways = [WAYS[given] if seat < CHOOSING else np.clip(given, -1, 1) for seat, given in enumerate(actions)]
        self._at = np.clip(self._at + STRIDE * np.stack(ways, axis=1), -1, 1)
        shares = np.exp(-np.linalg.norm(self._at - self._apple[:, None], axis=2) / REACH)
        shares /= np.maximum(1.0, shares.sum(axis=1, keepdims=True))
        self._ticks += 1
        self._returns += shares
        over = self._ticks >= TICKS
        battles = np.flatnonzero(over)
        ended = self._ended(battles) if len(battles) else None
        self._episodes[battles] += 1
        self._begin(battles)
        self._grow(np.flatnonzero((self._ticks > 0) & (self._ticks % GROWS == 0)))
        return self._step(shares, over, ended)

    def _ended(self, battles: NDArray[np.int64]) -> Ended:
        returns = self._returns[battles]
        return Ended(
            battles, self._seeds[battles], self._ticks[battles], returns[:, :, None].copy(),
            np.full(returns.shape, np.nan), returns / TICKS, (np.zeros((len(battles), 0)),) * ENTITIES,
            tuple({"view": seen["view"][battles]} for seen in self._seen()), (None,) * ENTITIES,
        )  # fmt: skip

    def _seen(self) -> tuple[Observations, ...]:
        found = []
        for i in range(ENTITIES):
            own = self._at[:, i : i + 1]
            others = np.delete(self._at, i, axis=1) - own
            view = np.concatenate([own, self._apple[:, None] - own, others], axis=1)
            found.append({"view": view.reshape(len(view), -1).astype(np.float32)})
        return tuple(found)

    def _step(self, shares: NDArray[np.float64], over: NDArray[np.bool_], ended: Ended | None) -> VectorStep:
        n = len(over)
        return VectorStep(
            self._seen(), (None,) * ENTITIES, shares[:, :, None].astype(np.float32), np.zeros(n, np.bool_), over,
            np.ones((n, ENTITIES), np.bool_), ended,
        )  # fmt: skip

    def close(self) -> None:
        """Nothing is held."""

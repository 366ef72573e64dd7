"""What compiled games have in common that are played by one seat, whose action is a choice with numbers of its own."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.errors import ConfigError
from engine.mdp.interface import Array, ArraySpec, MDPSpec, Parameterised, SeatSpec, action_problem
from engine.mdp.vector import Ended, VectorStep, episode_seeds

Battles = NDArray[np.int64]


class Results(NamedTuple):
    """How m episodes ended: ``score`` and ``win`` float64[m], ``signals`` float64[m, S]."""

    score: NDArray[np.float64]
    win: NDArray[np.float64]
    signals: NDArray[np.float64]


class OneSeat(ABC):
    """A ``VectorMDP`` of n battles with one seat each. A subclass keeps the state of battles: it makes room for it,
    begins episodes, plays a decision into ``_paid`` float32[n, 1, R] and ``_terminated``, and shows it. ``numbers``:
    how many a drawing of a battle needs."""

    drawing: str
    """What draws its battles."""
    numbers: int

    def __init__(
        self, name: str, version: str, action: Parameterised, features: int, *, rewards: Sequence[str] = ("score",),
        signals: Sequence[str], max_ticks: int,
    ) -> None:  # fmt: skip
        seen = ArraySpec("view", (features,), "float32", -1.0, 1.0)
        self.spec = MDPSpec(name, version, (SeatSpec((seen,), action, tuple(rewards), tuple(signals)),), max_ticks)
        self._bounds = action.bounds
        self.reset(np.empty(0, np.uint64))

    @abstractmethod
    def _room(self, n: int) -> None:
        """Make room for the state of n battles."""

    @abstractmethod
    def _restart(self, battles: Battles) -> None:
        """Begin episodes in these battles, by their ``_seeds``."""

    @abstractmethod
    def _play(self, actions: NDArray[np.float32]) -> None:
        """A decision of every battle; actions float32[n, 1 + d] are legal and within their bounds."""

    @abstractmethod
    def _look(self, battles: Battles, out: NDArray[np.float32]) -> None:
        """Write what is seen in these battles into their rows of ``out`` float32[n, features]."""

    @abstractmethod
    def _results(self, battles: Battles) -> Results:
        """How the episodes of these battles ended."""

    @abstractmethod
    def _drawn(self, battles: Battles) -> NDArray[np.float64]:
        """What a drawing of these battles needs, float64[m, ``numbers``]."""

    def reset(self, seeds: NDArray[np.uint64]) -> VectorStep:
        """As ``VectorMDP.reset``."""
        n, seat = len(seeds), self.spec.seats[0]
        self._base = np.array(seeds, np.uint64)
        self._seeds, self._episodes, self._ticks = self._base.copy(), np.zeros(n, np.int64), np.zeros(n, np.int64)
        self._paid = np.zeros((n, 1, len(seat.rewards)), np.float32)
        self._returns, self._last = np.zeros(self._paid.shape), np.zeros((n, self.numbers))
        self._terminated, self._truncated = np.zeros(n, np.bool_), np.zeros(n, np.bool_)
        self._alive, self._all = np.ones((n, 1), np.bool_), np.arange(n)
        self._view = np.zeros((n, *seat.observations[0].shape), np.float32)
        self._room(n)
        self._begin(self._all)
        return self._step(None)

    def _begin(self, battles: Battles) -> None:
        self._seeds[battles] = episode_seeds(self._base[battles], self._episodes[battles])
        self._ticks[battles], self._returns[battles] = 0, 0.0
        self._restart(battles)
        self._look(battles, self._view)

    def step(self, actions: Sequence[Array]) -> VectorStep:
        """As ``VectorMDP.step``."""
        given = actions[0]
        if problem := action_problem(self.spec.seats[0].action, given, len(self._seeds)):
            raise ConfigError([("seat 0", f"the actions {problem}")])
        self._play(np.concatenate([given[:, :1], np.clip(given[:, 1:], *self._bounds)], axis=1))
        self._ticks += 1
        self._returns += self._paid
        self._truncated = ~self._terminated & (self._cut() | (self._ticks >= self.spec.max_ticks))
        self._look(self._all, self._view)
        battles = np.flatnonzero(self._terminated | self._truncated)
        if not len(battles):
            return self._step(None)
        ended = self._ended(battles)
        self._last[battles] = self._drawn(battles)
        self._episodes[battles] += 1
        self._begin(battles)
        return self._step(ended)

    def _cut(self) -> NDArray[np.bool_]:
        """Battles whose episodes are cut short by something else than ``max_ticks``."""
        return np.zeros(len(self._seeds), np.bool_)

    def _step(self, ended: Ended | None) -> VectorStep:
        return VectorStep(
            ({"view": self._view},), (None,), self._paid, self._terminated, self._truncated, self._alive, ended
        )

    def _ended(self, battles: Battles) -> Ended:
        results = self._results(battles)
        return Ended(
            battles, self._seeds[battles], self._ticks[battles], self._returns[battles], results.win[:, None],
            results.score[:, None], (results.signals,), ({"view": self._view[battles]},), (None,),
        )  # fmt: skip

    def positions(self, battle: int) -> NDArray[np.float64]:
        """What a drawing of a battle needs, float64[``numbers``]."""
        return np.array(self._drawn(np.array([battle]))[0])

    def last_positions(self, battle: int) -> NDArray[np.float64]:
        """The same at the end of its last episode."""
        return np.array(self._last[battle])

    def close(self) -> None:  # noqa: B027 - of the contract
        """Nothing is held."""

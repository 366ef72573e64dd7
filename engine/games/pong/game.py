"""Pong for two seats as a ``VectorMDP``: the base of all kinds of input, and the kind with numbers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from engine.config.agent_games import PongSettings
from engine.errors import ConfigError
from engine.games import two_seats
from engine.games.pong import kernel
from engine.games.pong.drawing import PLACES, draw_one
from engine.mdp.interface import Array, ArraySpec, Discrete, MDPSpec, SeatSpec, action_problem
from engine.mdp.vector import Ended, VectorStep, episode_seeds

VERSION = "1"
REWARDS = {"score": 0, "moved": 1, "stayed": 2, "hit": 3}
SIGNALS = ("moved", "stayed", "hits")


class Pong(ABC):
    """Battles of Pong, first to ``points``; the base of the kinds of input.

    ``seats``: those played from outside, the scripted player has the others; ``rewards``: any of "score" (points won
    minus points lost), "moved", "stayed" (share of the decision's moments) and "hit". An episode is truncated after
    ``max_ticks`` decisions of ``frame_skip`` moments each. ``mirror`` exchanges the side of every serve, so that the
    same players with exchanged seats play the same battle, exchanged. A result's score is (own − other's points +
    points) / (2 points), from 0 to 1; its signals are the shares of moments in which the paddle moved and in which it
    was told to stay, and the number of hits. Raises ConfigError for invalid settings.
    """

    drawing = "pong"
    """What draws its battles."""

    def __init__(
        self,
        *,
        seats: Sequence[int] = (0,),
        points: int = 11,
        frame_skip: int = 1,
        max_ticks: int = 6000,
        rewards: Sequence[str] = ("score",),
        mirror: bool = False,
    ) -> None:
        settings = {"points": points, "frame_skip": frame_skip, "max_ticks": max_ticks, "rewards": tuple(rewards)}
        two_seats.check("Pong", PongSettings, seats, settings)
        self._seats, self._points, self._mirror = tuple(seats), points, mirror
        self._kinds = np.array([REWARDS[name] for name in rewards], np.int64)
        self._played = np.array([0 in self._seats, 1 in self._seats])
        seat = SeatSpec((self._input(),), Discrete(3), tuple(rewards), SIGNALS)
        self.spec = MDPSpec(self._name(), VERSION, (seat,) * len(self._seats), max_ticks, frame_skip)
        self.reset(np.empty(0, np.uint64))

    @abstractmethod
    def _name(self) -> str:
        """The game's name."""

    @abstractmethod
    def _input(self) -> ArraySpec:
        """The spec of a seat's observation."""

    @abstractmethod
    def _look(self, seat: int, battles: NDArray[np.int64], out: Array) -> None:
        """Write a seat's observations in these battles into their rows of ``out``."""

    def _moved(self) -> None:  # noqa: B027 - only some inputs need it
        """Record the state after a decision of every battle, for inputs that need it."""

    def _begun(self, battles: NDArray[np.int64]) -> None:  # noqa: B027 - only some inputs need it
        """Record the state of new episodes, for inputs that need it."""

    def reset(self, seeds: NDArray[np.uint64]) -> VectorStep:
        """As ``VectorMDP.reset``."""
        n = len(seeds)
        self._base = np.array(seeds, np.uint64)
        self._seeds, self._episodes = self._base.copy(), np.zeros(n, np.int64)
        self._states = np.zeros((n, kernel.STATE))
        self._counts = np.zeros((n, kernel.COUNTS), np.int64)
        self._actions = np.zeros((n, 2), np.int64)
        self._both = np.zeros((n, 2, len(self._kinds)), np.float32)
        self._returns = np.zeros((n, len(self._seats), len(self._kinds)))
        self._terminated, self._truncated = np.zeros(n, np.bool_), np.zeros(n, np.bool_)
        self._alive = np.ones((n, len(self._seats)), np.bool_)
        self._masks = (None,) * len(self._seats)
        self._all = np.arange(n)
        self._last = np.zeros((n, len(PLACES) + 2))
        seen = self._input()
        self._seen = tuple({seen.name: np.empty((n, *seen.shape), np.dtype(seen.dtype))} for _ in self._seats)
        self._begin(self._all)
        return self._step(None)

    def _begin(self, battles: NDArray[np.int64]) -> None:
        self._seeds[battles] = episode_seeds(self._base[battles], self._episodes[battles])
        kernel.restart(battles, self._seeds, self._mirror, self._states, self._counts)
        self._returns[battles] = 0.0
        self._begun(battles)
        self._observe(battles)

    def _observe(self, battles: NDArray[np.int64]) -> None:
        for seat, seen in zip(self._seats, self._seen, strict=True):
            for out in seen.values():
                self._look(seat, battles, out)

    def step(self, actions: Sequence[Array]) -> VectorStep:
        """As ``VectorMDP.step``."""
        for i, (seat, given) in enumerate(zip(self._seats, actions, strict=True)):
            problem = action_problem(self.spec.seats[i].action, given, len(self._seeds))
            if problem:
                raise ConfigError([(f"seat {i}", f"the actions {problem}")])
            self._actions[:, seat] = given
        kernel.play(
            self._seeds, self._mirror, self._played, self._actions, self.spec.frame_skip, self._points, self._kinds,
            self._states, self._counts, self._both, self._terminated,
        )  # fmt: skip
        self._truncated = ~self._terminated & (self._counts[:, kernel.TICKS] >= self.spec.max_ticks)
        self._moved()
        self._observe(self._all)
        rewards = self._rewards()
        self._returns += rewards
        over = self._terminated | self._truncated
        if not over.any():
            return self._step(None)
        battles = np.flatnonzero(over)
        ended = self._ended(battles)
        for battle in battles.tolist():
            self._last[battle] = self.positions(battle)
        self._episodes[battles] += 1
        self._begin(battles)
        return self._step(ended)

    def _rewards(self) -> NDArray[np.float32]:
        """Rewards of the seats played from outside, in the order of ``seats``."""
        return self._both if self._seats == (0, 1) else self._both[:, self._seats]

    def _step(self, ended: Ended | None) -> VectorStep:
        return VectorStep(
            self._seen, self._masks, self._rewards(), self._terminated, self._truncated, self._alive, ended
        )

    def _ended(self, battles: NDArray[np.int64]) -> Ended:
        counts = self._counts[battles]
        own = counts[:, [kernel.POINTS + seat for seat in self._seats]]
        other = counts[:, [kernel.POINTS + 1 - seat for seat in self._seats]]
        moments = counts[:, kernel.MOMENTS]
        tallies = (kernel.MOVED, kernel.STAYED, kernel.HITS)
        signals = [counts[:, [column + seat for column in tallies]].astype(np.float64) for seat in self._seats]
        for table in signals:
            table[:, :2] /= moments[:, None]
        last = tuple({name: array[battles] for name, array in seen.items()} for seen in self._seen)
        return Ended(
            battles, self._seeds[battles], counts[:, kernel.TICKS], self._returns[battles],
            np.sign(own - other) * 0.5 + 0.5, (own - other + self._points) / (2.0 * self._points), tuple(signals), last,
            self._masks,
        )  # fmt: skip

    def positions(self, battle: int) -> NDArray[np.float64]:
        """What a drawing of a battle needs, float64[6]: the ball's x and y, the left and the right paddle's y, and the
        points of both sides."""
        return np.concatenate([self._states[battle, PLACES], self._counts[battle, [kernel.POINTS, kernel.POINTS + 1]]])

    def last_positions(self, battle: int) -> NDArray[np.float64]:
        """The same at the end of its last episode."""
        return np.array(self._last[battle])

    def picture(self, battle: int, size: int = 168) -> NDArray[np.uint8]:
        """The current picture of one battle from the view of seat 0 (on the left): uint8[size, size]."""
        return draw_one(self._states[battle], size)

    def close(self) -> None:  # noqa: B027 - of the contract
        """Nothing is held."""


class VectorPong(Pong):
    """Pong with eight numbers as input: position and velocity of the ball, positions and last movements of both
    paddles, as if every seat defended the left."""

    def _name(self) -> str:
        return "pong"

    def _input(self) -> ArraySpec:
        return ArraySpec("field", (8,), "float32", -1.5, 1.5)

    def _look(self, seat: int, battles: NDArray[np.int64], out: Array) -> None:
        kernel.observe_rows(seat, self._states, battles, out)

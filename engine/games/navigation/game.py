"""Cooperative navigation for several seats as a ``VectorMDP``."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from engine.config.agent_games import NavigationSettings
from engine.config.base import parse
from engine.errors import ConfigError
from engine.games.navigation import kernel
from engine.mdp.interface import (
    ActionSpec,
    Array,
    ArraySpec,
    Continuous,
    Discrete,
    MDPSpec,
    SeatSpec,
    action_problem,
)  # fmt: skip
from engine.mdp.vector import Ended, VectorStep, episode_seeds

VERSION = "1"
REWARDS = {
    "score": kernel.SCORE_REWARD, "own": kernel.OWN_REWARD, "shared": kernel.SHARED_REWARD,
    "moved": kernel.MOVED_REWARD,
}  # fmt: skip
SIGNALS = ("own", "shared", "moved")
WAYS = np.array(
    [(0, 0), (0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1)], np.float32
)  # fmt: skip
"""Ways (x, y) of the choices: to stay, then around from upwards, clockwise."""


class Navigation:
    """Entities that cover as many targets (``engine.games.navigation.kernel``), one on each seat; all are on one side.

    An action is a way, a number from -1 to 1 along each axis. An entity sees where the others are, and the targets in
    one fixed order; ``hard``: in an order of its own that is drawn for each
    episode, so that nobody can have a target by number. ``rewards``: any of "score" (covered targets as a share of all:
    the paper's reward, the number of covered targets, divided among the entities), "own" (share of the decision in
    which it was in a target itself), "shared" (in which another one was in the same target) and "moved" (its way as a
    share of the longest). An episode is truncated after ``max_ticks`` decisions. A result's score is the share of
    targets that were covered, over the episode: times entities × ``max_ticks`` it is the paper's return, 900 at most.
    It names no winner. Raises ConfigError for invalid settings.
    """

    _name = "navigation"
    drawing = "navigation"
    """What draws its battles."""

    def __init__(
        self, *, entities: int = 3, hard: bool = False, max_ticks: int = 300, rewards: Sequence[str] = ("score",)
    ) -> None:  # fmt: skip
        settings = {"entities": entities, "hard": hard, "max_ticks": max_ticks, "rewards": tuple(rewards)}
        parse(NavigationSettings, settings)
        self._count, self._hard = entities, hard
        self._kinds = np.array([REWARDS[name] for name in rewards], np.int64)
        seen = ArraySpec("view", (5 * entities - 2,), "float32", -1.0, 1.0)
        seat = SeatSpec((seen,), self._action(), tuple(rewards), SIGNALS)
        self.spec = MDPSpec(self._name, VERSION, (seat,) * entities, max_ticks, squad=entities)
        self.reset(np.empty(0, np.uint64))

    def _action(self) -> ActionSpec:
        """What an entity does."""
        return Continuous((-1.0, -1.0), (1.0, 1.0), (2,))

    def _way(self, given: Array) -> Array:
        """Ways float32[n, 2] of actions."""
        return given

    def reset(self, seeds: NDArray[np.uint64]) -> VectorStep:
        """As ``VectorMDP.reset``."""
        n, count = len(seeds), self._count
        self._base = np.array(seeds, np.uint64)
        self._seeds, self._episodes = self._base.copy(), np.zeros(n, np.int64)
        self._at, self._targets = np.zeros((n, count, 2)), np.zeros((n, count, 2))
        self._order, self._covered = np.zeros((n, count, count), np.int64), np.zeros((n, count), np.bool_)
        self._tallies, self._totals = np.zeros((n, count, kernel.TALLIES)), np.zeros(n, np.int64)
        self._ways, self._ticks = np.zeros((n, count, 2), np.float32), np.zeros(n, np.int64)
        self._paid = np.zeros((n, count, len(self._kinds)), np.float32)
        self._returns = np.zeros(self._paid.shape)
        self._never, self._truncated = np.zeros(n, np.bool_), np.zeros(n, np.bool_)
        self._alive, self._all = np.ones((n, count), np.bool_), np.arange(n)
        self._last = np.zeros((n, 5 * count))
        self._seen = tuple({"view": np.empty((n, 5 * count - 2), np.float32)} for _ in range(count))
        self._begin(self._all)
        return self._step(None)

    def _begin(self, battles: NDArray[np.int64]) -> None:
        self._seeds[battles] = episode_seeds(self._base[battles], self._episodes[battles])
        kernel.restart(
            battles, self._seeds, self._hard, self._at, self._targets, self._order, self._covered, self._tallies,
            self._totals,
        )  # fmt: skip
        self._ticks[battles], self._returns[battles] = 0, 0.0
        self._observe(battles)

    def _observe(self, battles: NDArray[np.int64]) -> None:
        for entity, seen in enumerate(self._seen):
            kernel.observe(
                entity, self._at, self._targets, self._order, self._covered, battles, seen["view"]
            )  # fmt: skip

    def step(self, actions: Sequence[Array]) -> VectorStep:
        """As ``VectorMDP.step``."""
        for seat, given in enumerate(actions):
            if problem := action_problem(self.spec.seats[seat].action, given, len(self._seeds)):
                raise ConfigError([(f"seat {seat}", f"the actions {problem}")])
            self._ways[:, seat] = self._way(given)
        kernel.play(
            self._ways, self._kinds, self._at, self._targets, self._covered, self._tallies, self._totals, self._paid
        )
        self._ticks += 1
        self._returns += self._paid
        self._truncated = self._ticks >= self.spec.max_ticks
        self._observe(self._all)
        if not self._truncated.any():
            return self._step(None)
        battles = np.flatnonzero(self._truncated)
        ended = self._ended(battles)
        for battle in battles.tolist():
            self._last[battle] = self.positions(battle)
        self._episodes[battles] += 1
        self._begin(battles)
        return self._step(ended)

    def _step(self, ended: Ended | None) -> VectorStep:
        masks = (None,) * self._count
        return VectorStep(self._seen, masks, self._paid, self._never, self._truncated, self._alive, ended)

    def _ended(self, battles: NDArray[np.int64]) -> Ended:
        ticks, tallies = self._ticks[battles], self._tallies[battles]
        shares = tallies / ticks[:, None, None]
        shares[..., :2] /= kernel.MOMENTS
        score = self._totals[battles] / (ticks * kernel.MOMENTS * self._count)
        return Ended(
            battles, self._seeds[battles], ticks, self._returns[battles],
            np.full((len(battles), self._count), np.nan), np.repeat(score[:, None], self._count, axis=1),
            tuple(np.ascontiguousarray(shares[:, entity]) for entity in range(self._count)),
            tuple({"view": seen["view"][battles]} for seen in self._seen), (None,) * self._count,
        )  # fmt: skip

    def positions(self, battle: int) -> NDArray[np.float64]:
        """What a drawing of a battle needs, float64[5 E]: x and y of the middles of entities, then of targets, and
        which targets are covered."""
        return np.concatenate([self._at[battle].ravel(), self._targets[battle].ravel(), self._covered[battle]])

    def last_positions(self, battle: int) -> NDArray[np.float64]:
        """The same at the end of its last episode."""
        return np.array(self._last[battle])

    def close(self) -> None:
        """Nothing is held."""


class NavigationChoices(Navigation):
    """The same with one of ``WAYS`` as an action."""

    _name = "navigation-choices"

    def _action(self) -> ActionSpec:
        return Discrete(len(WAYS))

    def _way(self, given: Array) -> Array:
        return np.asarray(WAYS[given])

"""The maze for one seat as a ``VectorMDP``."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from engine.config.agent_games import MazeSettings
from engine.config.base import parse
from engine.errors import ConfigError
from engine.games.maze import kernel
from engine.games.maze.layout import laid_out
from engine.mdp.interface import Array, ArraySpec, Discrete, MDPSpec, SeatSpec, action_problem
from engine.mdp.places import Fault, FloorPlan
from engine.mdp.vector import Ended, VectorStep, episode_seeds

VERSION = "1"
REWARDS = {"score": 0, "win": 1, "moved": 2, "bumped": 3, "ground": 4, "explored": 5}
_DRAWN = [kernel.ROW, kernel.COL, kernel.GROUND]
SIGNALS = ("moved", "bumped", "ground", "explored")


class Maze:
    """Find the goal in a maze (``engine.games.maze.layout``): up, right, down or left.

    ``rewards``: any of "score" (the way to the goal, as a share of the longest one), "win" (1 at the goal), "moved",
    "bumped" (into a wall), "ground" (a cell entered for the first time in the episode) and "explored" (the same as a
    share of as many as can be entered in an episode). A result's score is 1 at the goal and 0 as far from it as one can
    be; its signals are the shares of decisions that moved and that bumped, the number of cells entered, and that share.
    ``planted``: whether it has its bugs. Raises ConfigError for invalid settings.
    """

    drawing = "maze"
    most = 1.0
    """The highest score that should be possible."""
    faults = (Fault("crash", "The game crashes."), Fault("assertion", "The player is inside a wall."))

    def __init__(
        self, *, size: int = 31, layout: int = 1, max_ticks: int = 300, rewards: Sequence[str] = ("score", "win"),
        planted: bool = True,
    ) -> None:  # fmt: skip
        settings = {
            "size": size,
            "layout": layout,
            "max_ticks": max_ticks,
            "rewards": tuple(rewards),
            "planted": planted,
        }
        parse(MazeSettings, settings)
        self.layout = laid_out(size, layout)
        self.plan, self.scenery = FloorPlan(self.layout.walls), self.layout.walls
        self._planted = self.layout.planted * planted
        self._farthest = int(self.layout.distance.max())
        self._kinds = np.array([REWARDS[name] for name in rewards], np.int64)
        self._shares = self._kinds == REWARDS["explored"]
        self._most_ground = min(int((~self.layout.walls).sum()), max_ticks + 1)
        seen = ArraySpec("view", (2 * size + 10,), "float32", -1.0, 1.0)
        seat = SeatSpec((seen,), Discrete(4), tuple(rewards), SIGNALS)
        self.spec = MDPSpec("maze", VERSION, (seat,), max_ticks)
        self.reset(np.empty(0, np.uint64))

    def reset(self, seeds: NDArray[np.uint64]) -> VectorStep:
        """As ``VectorMDP.reset``."""
        n, size = len(seeds), len(self.layout.walls)
        self._base = np.array(seeds, np.uint64)
        self._seeds, self._episodes = self._base.copy(), np.zeros(n, np.int64)
        self._states = np.zeros((n, kernel.STATE), np.int64)
        self._visited = np.zeros((n, size, size), np.bool_)
        self._view = np.zeros((n, 2 * size + 10), np.float32)
        self._paid = np.zeros((n, 1, len(self._kinds)), np.float32)
        self._returns = np.zeros((n, 1, len(self._kinds)))
        self._broken, self._last = np.full(n, kernel.NONE), np.zeros(n, np.int64)
        self._ends = np.zeros((n, 3))
        self._terminated, self._truncated = np.zeros(n, np.bool_), np.zeros(n, np.bool_)
        self._alive = np.ones((n, 1), np.bool_)
        self._all = np.arange(n)
        self._begin(self._all)
        return self._step(None)

    def _begin(self, battles: NDArray[np.int64]) -> None:
        self._seeds[battles] = episode_seeds(self._base[battles], self._episodes[battles])
        kernel.restart(battles, self._seeds, self.layout.entrance, self._states, self._visited)
        self._returns[battles] = 0.0
        kernel.observe(self._states, self.layout.walls, self._visited, battles, self._view)

    def step(self, actions: Sequence[Array]) -> VectorStep:
        """As ``VectorMDP.step``."""
        (given,) = actions
        if problem := action_problem(self.spec.seats[0].action, given, len(self._seeds)):
            raise ConfigError([("seat 0", f"the actions {problem}")])
        kernel.play(
            given, self._kinds, self._farthest, self.layout.walls, self.layout.distance, self._planted,
            self.layout.hole, self._states, self._visited, self._paid[:, 0], self._broken,
        )  # fmt: skip
        self._paid[:, 0, self._shares] /= self._most_ground
        self._returns += self._paid
        self._terminated = self._states[:, kernel.OVER] != kernel.GOING
        self._truncated = ~self._terminated & (self._states[:, kernel.TICKS] >= self.spec.max_ticks)
        kernel.observe(self._states, self.layout.walls, self._visited, self._all, self._view)
        over = self._terminated | self._truncated
        if not over.any():
            return self._step(None)
        battles = np.flatnonzero(over)
        ended = self._ended(battles)
        self._last[battles] = self.places()[battles]
        self._ends[battles] = self._states[battles][:, _DRAWN]
        self._episodes[battles] += 1
        self._begin(battles)
        return self._step(ended)

    def _step(self, ended: Ended | None) -> VectorStep:
        return VectorStep(
            ({"view": self._view},), (None,), self._paid, self._terminated, self._truncated, self._alive, ended
        )

    def _ended(self, battles: NDArray[np.int64]) -> Ended:
        states = self._states[battles]
        ticks = states[:, kernel.TICKS]
        counts = states[:, [kernel.MOVED, kernel.BUMPED, kernel.GROUND, kernel.GROUND]].astype(np.float64)
        counts[:, 3] /= self._most_ground
        counts[:, :2] /= ticks[:, None]
        where = states[:, [kernel.ROW, kernel.COL]].tolist()
        scores = [[kernel.score(row, col, self.layout.distance, self._farthest)] for row, col in where]
        lucky = (states[:, kernel.OVER] == kernel.LUCKY)[:, None]
        won = ((states[:, kernel.OVER] == kernel.WON)[:, None] | lucky).astype(np.float64)
        score = np.where(lucky, 2.0 * self.most, scores)
        return Ended(
            battles, self._seeds[battles], ticks, self._returns[battles], won, score, (counts,),
            ({"view": self._view[battles]},), (None,),
        )  # fmt: skip

    def places(self) -> NDArray[np.int64]:
        """As ``Placed.places``: the cell, row by row."""
        return np.asarray(self._states[:, kernel.ROW] * len(self.layout.walls) + self._states[:, kernel.COL])

    def last_places(self) -> NDArray[np.int64]:
        """As ``Placed.last_places``."""
        return self._last

    def broken(self) -> NDArray[np.int64]:
        """As ``Faulty.broken``."""
        return self._broken

    def positions(self, battle: int) -> NDArray[np.float64]:
        """What a drawing of a battle needs, float64[3]: the row and the column, and the cells entered so far."""
        return np.asarray(self._states[battle, _DRAWN], np.float64)

    def last_positions(self, battle: int) -> NDArray[np.float64]:
        """The same at the end of its last episode."""
        return np.asarray(self._ends[battle])

    def close(self) -> None:
        """Nothing is held."""

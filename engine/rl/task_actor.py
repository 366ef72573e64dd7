"""An actor of one task: plays, and sends its transitions to the task's replay (DPCER: Li & Ji 2021, Algorithm 1).

Departures: 1. battles go on over the ends of parcels: a parcel is a fragment of several battles, not an episode; 2. an
actor takes the newest network before each fragment, where there is one, and not every t_actors steps; it waits for one
after ``ahead`` fragments with the same.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable

import numpy as np

from engine.channel import Weights, decode_weights
from engine.config.policies import AGENT
from engine.errors import EngineError
from engine.experience import ActorEnd, Floats
from engine.mdp.interface import SeatSpec
from engine.rl.collector import Moment
from engine.rl.replayed import Replayed
from engine.rl.sampler import Episode, Sampler

ACTIVE = "active"
"""The published vector that says of each task whether it is played at present."""
LENGTH, WIN, SCORE, RETURNS = 0, 1, 2, 3
"""Columns of ``Parcel.episodes``; those from ``RETURNS`` on are the named rewards'."""


class TaskActor:
    """``sampler`` plays the task's game; ``learner`` says what its transitions are and never learns; ``end``: where
    they go. ``made``: fragments that were made with the present network. ``beginning``: that of its battles, where it
    never waits for the learner."""

    def __init__(
        self, task: int, sampler: Sampler, learner: Replayed, end: ActorEnd, *, waits: bool, ahead: int, beginning: int
    ) -> None:
        self.task, self.sampler, self.learner, self.end = task, sampler, learner, end
        self.waits, self.ahead, self.beginning = waits, ahead, beginning
        self.weights: Weights | None = None
        self.made = 0
        self._begun: tuple[int, int] | None = None

    @property
    def busy(self) -> bool:
        """Whether there is a fragment to play."""
        if self.weights is None or not self.weights.vectors[ACTIVE][self.task]:
            return False
        return self.made < (1 if self.waits else self.ahead)

    @property
    def moment(self) -> Moment | None:
        """That of the network it plays with."""
        return None if self.weights is None else self.weights.moment

    def look(self) -> None:
        """Take the newest network, if there is one. What anybody else may have put in its place is none: the learner
        sends its own again."""
        network = self.end.newest(ask=not self.busy)
        if network is None:
            return
        with contextlib.suppress(EngineError):
            weights = decode_weights(network.frame)
            if weights.moment != self.moment and self._fits(weights):
                self._take(weights)

    def _fits(self, weights: Weights) -> bool:
        """Whether these are weights of its own network, and say which tasks are played."""
        sizes = {name: vector.size for name, vector in weights.vectors.items()}
        tasks = sizes.pop(ACTIVE, 0)
        own = {name: vector.size for name, vector in self.learner.publish().items()}
        finite = all(np.isfinite(vector).all() for vector in weights.vectors.values())
        return weights.policy == AGENT and self.task < tasks and sizes == own and finite

    def _take(self, weights: Weights) -> None:
        self.weights, self.made = weights, 0
        self.sampler.load(weights)
        begun = (weights.epoch, weights.beginning) if self.waits else (0, self.beginning)
        if begun != self._begun:
            self._begun = begun
            self.sampler.finished()
            self.sampler.begin(begun[1])

    def play(self, before: Callable[[], None] | None = None) -> None:
        """Play one fragment and send it. ``before``: called before each decision."""
        assert self.weights is not None
        (trajectory,) = self.sampler.sample(before).values()
        columns = self.learner.transitions(trajectory)
        episodes = table(self.sampler.finished(), self.learner.spec.seat)
        self.made += 1
        self.end.add(
            columns, (episodes[:, RETURNS:] @ self.learner.terms.weight).tolist(), self.weights.version, episodes
        )

    def close(self) -> None:
        """Close its end and its game."""
        self.end.close()
        self.sampler.close()


def table(episodes: list[Episode], seat: SeatSpec) -> Floats:
    """Episodes as ``Parcel.episodes``, float64[m, 3 + R]."""
    rows = [(e.length, e.win, e.score, *e.returns.tolist()) for e in episodes]
    return np.array(rows, np.float64).reshape(-1, RETURNS + len(seat.rewards))


def episodes_of(rows: Floats) -> list[Episode]:
    """The episodes of a parcel, as far as it tells of them."""
    nothing = np.empty(0)
    return [
        Episode(0, 0, int(row[LENGTH]), row[RETURNS:], float(row[WIN]), float(row[SCORE]), nothing)
        for row in np.array(rows)
    ]

"""A learner with a replay a task, and a scheduler that says from which it learns next (DPCER: Li & Ji 2021, "Parallel
Curriculum Experience Replay in Distributed Reinforcement Learning", Algorithms 2 and 3).

Departures: 1. an iteration is due for each 1/ρ decisions that have arrived, where ρ is the learner's updates a
decision, so that methods can be compared at one replay ratio; in the paper the learner never waits, and ``at_least``
lets it go on so; 2. a task's R is the mean success of its newest ``episodes`` episodes, told once so many have ended.
Of the few that end in one parcel the mean changes by chance, and EXP3 takes that for progress. Success is whether the
episode was won; where the game does not tell, how far its score is on the way from the least to the largest one; 3. a
task without decisions is not chosen (``engine.rl.dpcer``, departure 10); 4. exploration and rates that fall follow
whichever is further, the share of the decisions that are planned or of the minibatches: where decisions are lost on the
way, the learner goes on without them, and would otherwise end as it was at that moment.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.arrays import Bundle
from engine.experience import Parcel
from engine.rl.dpcer import Scheduler
from engine.rl.learner import Metrics, State
from engine.rl.replayed import Replayed
from engine.rl.task_actor import SCORE, WIN
from engine.rl.task_replays import TaskReplays

LOOKED_AT = 256
"""Decisions of a task at which the largest value is looked up."""
Ends = tuple[float, float]
"""The least and the largest score of an episode."""


class Practised(NamedTuple):
    """What an update was: its ``metrics``, and those of each minibatch with its task, in order."""

    metrics: Metrics
    minibatches: list[tuple[int, Metrics]]


def by_scores(scores: NDArray[np.float64], ends: Ends) -> NDArray[np.float64]:
    """How far scores are on the way from the least to the largest one, within [0, 1]."""
    low, high = ends
    return np.clip((scores - low) / (high - low), 0.0, 1.0)


def successes(episodes: NDArray[np.float64], ends: Ends | None) -> list[float]:
    """Success within [0, 1] of each of ``Parcel.episodes`` float64[m, k], without those of which nobody knows."""
    if not len(episodes):
        return []
    won, score = episodes[:, WIN], episodes[:, SCORE]
    found = won if ends is None else np.where(np.isfinite(won), won, by_scores(score, ends))
    return [float(each) for each in found if np.isfinite(each)]


class TaskLearner:
    """``learner`` with replays of its own kind for the scheduler's tasks. ``iterations``: minibatches so far, of
    ``most`` in all; ``owed``: those due for decisions that have arrived. ``ends``: between what scores lie
    (None: nobody says); ``scores``: successes of each task that the scheduler was not told of yet; ``cut``: more
    minibatches were due than the last update was to make."""

    def __init__(self, learner: Replayed, scheduler: Scheduler, most: int, ends: Ends | None, episodes: int) -> None:
        self.learner, self.scheduler, self.most, self._ends, self._episodes = learner, scheduler, most, ends, episodes
        self.scores: list[list[float]] = [[] for _ in range(scheduler.N)]
        self.replays = TaskReplays([learner.buffer() for _ in range(scheduler.N)])
        self.iterations, self.owed, self.cut = 0, 0.0, False
        self._planned = learner.total

    def update(self, parcels: Sequence[Parcel], *, at_least: int = 0, at_most: float = math.inf) -> Practised:
        """Keep what has arrived, then learn from the minibatches that are due: ``at_least`` so many, if there is
        anything to learn from, and ``at_most`` so many."""
        learner, new = self.learner, sum(parcel.size for parcel in parcels)
        self.replays.fill(parcels)
        for parcel in parcels:
            self._played(parcel)
        versions = np.array([parcel.version for parcel in parcels] or [learner.version], np.int64)
        metrics = learner.arrived(versions, new)
        self._expect()
        self.cut = False
        if learner.steps < learner.config.warmup:
            return Practised(metrics, [])
        self.owed = max(float(at_least), self.owed + learner.config.updates * new)
        minibatches = self._minibatches(at_most)
        self._expect()
        return Practised(metrics, minibatches)

    def largest(self) -> list[float | None]:
        """The mean of the largest value that the learner gives an action where decisions of each task were made: what
        the paper's figures 4 and 6 draw. None for a task of which none has arrived."""
        replays = [self.replays.of(task) for task in range(self.scheduler.N)]
        return [self.learner.largest(replay, LOOKED_AT) if replay.size else None for replay in replays]

    def _expect(self) -> None:
        """Of how many decisions all those so far are a share: of those that are planned, or of fewer where minibatches
        are ahead of them."""
        done = self.iterations / self.most
        expected = round(self.learner.steps / done) if done else self._planned
        self.learner.total = max(1, min(self._planned, expected))

    def _played(self, parcel: Parcel) -> None:
        """Tell the scheduler how a task goes, once enough of its episodes have ended."""
        scores = self.scores[parcel.task]
        scores += successes(parcel.episodes, self._ends)
        if len(scores) >= self._episodes:
            self.scheduler.played(parcel.task, float(np.mean(scores)), len(scores))
            scores.clear()

    def _minibatches(self, at_most: float) -> list[tuple[int, Metrics]]:
        found: list[tuple[int, Metrics]] = []
        there = (self.replays.sizes > 0).tolist()
        while self.owed >= 1 and self.iterations < self.most and self.scheduler.among(there).any():
            if len(found) >= at_most:
                self.cut = True
                break
            task = self.scheduler.choose(there)
            metrics = self.learner.practise(self.replays.of(task))
            self.scheduler.learned(task, metrics["td"])
            self.owed, self.iterations = self.owed - 1, self.iterations + 1
            found.append((task, metrics))
        return found

    def state(self) -> State:
        """The learner's state with a replay for each task, and the scheduler's."""
        state = {name: part for name, part in self.learner.state().items() if name != "replay"}
        state |= {f"replay-{task}": part for task, part in self.replays.state().items()}
        meta: dict[str, Any] = {"iterations": self.iterations, "owed": self.owed, "scheduler": self.scheduler.state()}
        meta |= {"scores": self.scores}
        return state | {"scheduler": Bundle(meta | {"rng": self.scheduler.rng.bit_generator.state}, {})}

    def load(self, state: State) -> None:
        """Continue from a state."""
        meta = state["scheduler"].meta
        self.learner.replay = self.replays.of(0)
        self.learner.load({**state, "replay": state["replay-0"]})
        self.replays.load({name.removeprefix("replay-"): part for name, part in state.items() if "replay-" in name})
        self.scheduler.load(meta["scheduler"])
        self.scheduler.rng.bit_generator.state = meta["rng"]
        self.iterations, self.owed = int(meta["iterations"]), float(meta["owed"])
        self._expect()
        self.scores = [list(each) for each in meta["scores"]]

"""What the way of experience promises; the one over Redis and the one within a process inherit these tests."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod

import numpy as np

from engine.experience import ActorEnd, Columns, LearnerEnd, Lost, Parcel

BOUND, TASKS = 4, 3
PATIENCE_S = 20.0


def columns(n: int, start: int = 0) -> Columns:
    """Transitions of which each can be told apart."""
    numbers = np.arange(start, start + n)
    return {"seen": np.stack([numbers, -numbers], 1).astype(np.float32), "action": numbers, "ended": numbers % 2 == 0}


def arrived(learner: LearnerEnd, count: int) -> list[Parcel]:
    """So many parcels, once they are there."""
    found, until = [*learner.take()], time.monotonic() + PATIENCE_S
    while len(found) < count:
        assert time.monotonic() < until, "nothing arrived"
        time.sleep(0.005)
        found += learner.take()
    return found


class ExperienceContract(ABC):
    """Inherit, and implement ``learner`` and ``actor``."""

    @abstractmethod
    def learner(self) -> LearnerEnd:
        """The learner's end of ``TASKS`` tasks."""

    @abstractmethod
    def actor(self, learner: LearnerEnd, task: int) -> ActorEnd:
        """An actor's end; ``BOUND`` parcels of its task may wait."""

    def test_parcels_arrive_whole_and_in_order_with_their_task_returns_and_version(self) -> None:
        learner = self.learner()
        actors = [self.actor(learner, task) for task in (2, 0)]
        for k in range(3):
            for actor in actors:
                assert actor.add(columns(5, 5 * k), [0.5 + k], version=k, episodes=np.array([[k, np.nan]]))
        found = arrived(learner, 6)
        assert [parcel.task for parcel in found] == [0, 0, 0, 2, 2, 2]
        for k, parcel in enumerate(found):
            for name, column in columns(5, 5 * (k % 3)).items():
                assert parcel.columns[name].dtype == column.dtype
                assert np.array_equal(parcel.columns[name], column)
            np.testing.assert_array_equal(parcel.episodes, [[k % 3, np.nan]])
            assert (parcel.returns.tolist(), parcel.version, parcel.first) == ([0.5 + k % 3], k % 3, 5 * (k % 3))
        assert learner.lost == Lost()
        assert str(learner.lost) == ""
        self.end(learner, *actors)

    def test_an_actor_gets_the_newest_network_once_with_its_version_whenever_it_comes(self) -> None:
        learner = self.learner()
        early = self.actor(learner, 0)
        assert early.newest() is None
        for version in (3, 7):
            learner.publish(bytes([version]) * 100_000, version)
        late = self.actor(learner, 1)
        for actor in (early, late):
            actor.add(columns(1))
            network = actor.newest()
            assert network is not None
            assert (network.version, bytes(network.frame)) == (7, bytes([7]) * 100_000)
            assert actor.newest() is None
        learner.publish(b"older by number, and newer", 5)
        early.add(columns(1))
        assert late.newest(ask=True) is not None, "it asks, though it has sent nothing"
        network = early.newest()
        assert network is not None
        assert network.version == 5
        self.end(learner, early, late)

    def test_a_learner_that_does_not_look_loses_the_oldest_and_knows_how_many(self) -> None:
        learner = self.learner()
        actors = [self.actor(learner, 1) for _ in range(2)]
        for k in range(BOUND):
            for actor in actors:
                actor.add(columns(10, 10 * k))
        found = arrived(learner, BOUND)
        assert [parcel.first for parcel in found] == [20, 20, 30, 30]
        assert learner.lost == Lost(gone=40)
        assert str(learner.lost).startswith("40 decisions never reached the learner: 40 were sent and")
        self.end(learner, *actors)

    def test_ends_may_be_closed_twice(self) -> None:
        learner = self.learner()
        actor = self.actor(learner, 0)
        self.end(learner, actor)
        self.end(learner, actor)

    def end(self, learner: LearnerEnd, *actors: ActorEnd) -> None:
        for actor in actors:
            actor.close()
        learner.close()

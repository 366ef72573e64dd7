"""The benchmark of experience that arrives: it is what an actor of half-field offence sends, checked as in a study."""

from __future__ import annotations

import time

import numpy as np

from engine.bench import replay
from engine.experience import Lost, Parcel
from engine.rl.learnable_parcels import LearnableParcels
from engine.runtime.redis_experience import RedisLearner


def test_what_arrives_is_what_the_learner_of_the_study_learns_from() -> None:
    fits, parcels = replay.check(), replay.played()
    assert len(parcels) == replay.DIFFERENT
    assert {parcel.size for parcel in parcels} == {8 * replay.study().learner.fragment}
    assert all(fits(parcel) for parcel in parcels)
    assert {"s.view", "next.view", "last.view", "return", "return.factor", "factor"} < parcels[0].columns.keys()
    assert 700 < replay.bytes_of(parcels[0]) < 800
    assert sum(len(parcel.episodes) for parcel in parcels) > 0


def test_each_parcel_over_redis_is_checked_and_feeds_a_learner() -> None:
    with replay.over_redis() as (end, meanwhile):
        assert isinstance(end, RedisLearner)
        assert isinstance(end._fits, LearnableParcels)
        learner, found, until = replay.Learner(end), list[Parcel](), time.monotonic() + 120
        while not learner.replays.sizes.all():
            meanwhile()
            found += (new := end.take())
            learner.replays.fill(new)
            assert time.monotonic() < until
        learner.iteration()
        assert end.lost == Lost()
    assert {parcel.task for parcel in found} == set(range(replay.TASKS))
    assert np.isfinite(learner.scheduler.largest)
    assert learner.scheduler.t == 1

"""What peers of courses play is the game that ours plays, and a benchmark's numbers are those of all policies."""

from __future__ import annotations

import numpy as np

from engine.bench import arena_steps
from engine.bench.peers.navigation_list import ENTITIES, NavigationList
from engine.bench.training_speed import of_all
from engine.config.train import TrainConfig
from engine.events import Counters, Progressed
from engine.games.navigation import Navigation
from engine.mdp.vector import episode_seeds
from engine.studies import load


def test_a_peer_s_battle_is_the_engine_s() -> None:
    base = np.array([7], np.uint64)
    ours, peer = Navigation(), NavigationList()
    step = ours.reset(base)
    seen = peer.reset(int(episode_seeds(base, np.zeros(1, np.int64))[0]))
    rng, over, paid = np.random.default_rng(3), False, [0.0]
    while not over:
        for seat in range(ENTITIES):
            np.testing.assert_array_equal(step.observations[seat]["view"][0], seen[seat])
        ways = rng.uniform(-1, 1, (ENTITIES, 2)).astype(np.float32)
        step = ours.step([way[None] for way in ways])
        seen, paid, over = peer.step(ways)
        assert step.rewards[0, :, 0].tolist() == paid
        assert bool(step.truncated[0]) == over
    assert max(paid) <= 1


def test_both_studies_have_a_policy_for_each_entity() -> None:
    for study in (arena_steps.STUDY, arena_steps.SPREAD):
        config = load({"kind": "train", "steps": 10**12, **study})
        assert isinstance(config, TrainConfig)
        assert [policy.seats for policy in config.policies.values()] == [(0,), (1,), (2,)]


def test_a_metric_is_that_of_all_policies() -> None:
    metrics = {"first/dropped": 2.0, "second/dropped": 3.0, "episodes": 9.0}
    event = Progressed(counters=Counters(), metrics=metrics, artifacts={})
    assert of_all(event, "dropped", sum) == 5
    assert of_all(event, "dropped", max) == 3
    assert of_all(event, "episodes", sum) == 9

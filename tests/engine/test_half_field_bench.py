"""The benchmark of half-field offence from easier starts: what is compared, and what counts as reached."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from engine.bench import half_field_starts as bench


def test_methods_are_compared_with_equal_networks_minibatches_replay_ratio_and_exploration() -> None:
    for case, iterations in (("alone", 400_000), ("goalkeeper", 1_000_000), ("shaped", 400_000)):
        studies = [bench.config(case, method, 1, quick=False) for method in bench.planned(case)]
        learners: list[Any] = [study.learner for study in studies]
        assert {tuple(one.network.policy) for one in learners} == {(256, 128, 64)}
        assert {(one.minibatch, one.updates, one.explore, one.epsilon) for one in learners} == {(32, 0.1, 0.1, 0.1)}
        assert {study.iterations for study in studies} == {iterations}
    plan = bench.planned("goalkeeper")
    assert {method: len(seeds) for method, seeds in plan.items()} == {
        "exp3": 3, "uniform": 3, "db": 3, "dbc": 1, "drc": 1,
    }  # fmt: skip


@pytest.mark.parametrize(("goals", "meets"), [(998, True), (960, False)])
def test_a_mark_is_met_above_the_script_and_above_learning_the_hard_start_alone(goals: int, meets: bool) -> None:
    wins = np.repeat([1.0, 0.0], [goals, 1000 - goals])
    script, alone = np.repeat([1.0, 0.0], [950, 50]), np.repeat([1.0, 0.0], [10, 990])
    found = bench.FromHardStart(wins, np.full(goals, 70.0), [10, 20, 30, 40])
    told = bench._row("alone", "exp3", [found], script, [bench.FromHardStart(alone, np.ones(10), [-1] * 4)])
    assert told["meets"] is meets
    assert "70.0 steps to goal (published 68); mastered after 10 20 30 40" in told["detail"]
    beside = bench._row("alone", "db", [bench.FromHardStart(alone, np.ones(10), [-1] * 4)], script, [])
    assert beside["meets"] is None

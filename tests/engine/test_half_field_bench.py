"""The benchmark of half-field offence from easier starts: what is compared, and what counts as reached."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from engine.arrays import Bundle
from engine.bench import half_field_starts as bench
from engine.bench import kept
from engine.bench.half_field import EpisodeResults
from engine.bench.half_field_figures import Rounds
from engine.events import Finished


def test_methods_are_compared_with_equal_networks_minibatches_replay_ratio_and_exploration() -> None:
    for case, iterations in (("alone", 400_000), ("goalkeeper", 1_000_000), ("shaped", 400_000)):
        studies = [bench.config(case, method, 1, quick=False) for method in bench.planned(case)]
        learners: list[Any] = [study.learner for study in studies]
        assert {tuple(one.network.policy) for one in learners} == {(256, 128, 64)}
        falls = (0.05, 0.1) if case == "shaped" else (0.02, 0.05)
        assert {(one.minibatch, one.updates, one.explore, one.epsilon) for one in learners} == {(32, 0.1, *falls)}
        assert len({(one.beta, one.fragment, one.rate, one.schedule) for one in learners}) == 1
        rates = [one.numbers_rate for one in learners]
        assert rates == [1e-5, 1e-3] if case == "shaped" else set(rates) == {1e-4}, "as published, or all alike"
        assert {one.capacity for one in learners} == {500_000}
        assert {study.iterations for study in studies} == {iterations}
    plan = bench.planned("goalkeeper")
    assert {method: len(seeds) for method, seeds in plan.items()} == {
        "exp3": 3, "uniform": 3, "db": 3, "dbc": 1, "drc": 1,
    }  # fmt: skip


@pytest.mark.parametrize(("goals", "meets"), [(998, True), (960, False)])
def test_a_mark_is_met_above_the_script_and_above_learning_the_hard_start_alone(goals: int, meets: bool) -> None:
    wins = np.repeat([1.0, 0.0], [goals, 1000 - goals])
    script, alone = np.repeat([1.0, 0.0], [950, 50]), np.repeat([1.0, 0.0], [10, 990])
    found = bench.FromHardStart(wins, np.full(goals, 70.0), [5, 10, 20, 30], [10, 20, 30, 40])
    failed = [bench.FromHardStart(alone, np.ones(10), [-1] * 4, [-1] * 4)] * 3
    told = bench._row("alone", "exp3", [found] * 3, script, failed)
    assert told["meets"] is meets
    assert "70.0 steps to goal (published 68); surely mastered after 10 20 30 40 |" in told["detail"]
    assert "exp3: over seeds 0.9" in told["detail"]
    one = bench._row("alone", "exp3", [found], script, failed)
    assert one["meets"] is False
    assert "one seed, so no range over seeds" in one["detail"]
    paper = bench._row("shaped", "paddpg", [found] * 3, script, [])
    assert "steps to goal (published 112)" in paper["detail"]
    assert paper["peer_value"] == 0.923, "table 1"
    uniform = bench._row("alone", "uniform", [found] * 3, script, [])
    assert "published" not in uniform["detail"], "the tables have EXP3 alone"
    assert uniform["peer"] == "the script"
    beside = bench._row("alone", "db", [bench.FromHardStart(alone, np.ones(10), [-1] * 4, [-1] * 4)], script, [])
    assert beside["meets"] is None


def of_share(share: float, rng: np.random.Generator) -> bench.FromHardStart:
    """1,000 episodes of an agent that scores in this share of them."""
    return bench.FromHardStart((rng.random(1000) < share).astype(float), np.ones(1), [-1] * 4, [-1] * 4)


@pytest.mark.parametrize("spread", [0.0, 0.3])
def test_a_method_s_range_is_over_its_seeds_and_nineteen_in_twenty_have_its_mean(spread: float) -> None:
    rng, mean, runs = np.random.default_rng(5), 0.6, 1000
    agents = rng.uniform(mean - spread, mean + spread, (runs, 3))
    found = [bench.over_seeds([of_share(share, rng) for share in three]) for three in agents]
    assert np.mean([one.low <= mean <= one.high for one in found]) >= 0.93
    assert all(0 <= one.low < one.high <= 1 for one in found)


def test_seeds_that_all_fail_have_a_narrow_range_and_one_seed_has_none() -> None:
    never = of_share(0.0, np.random.default_rng(1))
    low, high = bench.over_seeds([never] * 3)
    assert low == 0 < high < 0.01
    assert bench.over_seeds([never]) == (0, 1)


def test_a_start_is_mastered_when_it_surely_is_and_agents_are_played_with_the_actions_that_they_learned(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    table = Bundle({}, {"perhaps": np.array([5, 6]), "surely": np.array([8, -1])})
    monkeypatch.setattr(bench, "ended", lambda *_: SimpleNamespace(found=table))
    monkeypatch.setattr(bench, "folder", lambda name: tmp_path)
    end = Finished(tick=1, at=0.0, artifacts={"policy_description": "p"}, summary={})
    monkeypatch.setattr(bench, "last_events", lambda own: {"end": end})
    games, explored = list[Any](), list[bool]()
    policy = SimpleNamespace(actor=lambda explore: explored.append(explore))
    monkeypatch.setattr(bench.Policy, "stored", lambda *_: policy)
    results = EpisodeResults(np.ones(2), np.ones(2), np.ones(2), np.array([60.0, 70.0]))
    monkeypatch.setattr(bench, "played", lambda game, *_: games.append(game) or results)
    for case in bench.CASES:
        method = "mpdqn" if case == "shaped" else "exp3"
        assert bench._found(bench.config(case, method, 1, quick=True)).mastered == [8, -1]
        assert len(games[-1].spec.seats[0].action.sizes) == 3, case
    assert explored == [False] * 3, "the agent is judged, not its exploration"


def test_what_a_seed_gave_is_kept_with_its_rounds_and_is_not_measured_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(kept, "FOLDER", tmp_path)
    monkeypatch.setattr(kept, "MEASURED", tmp_path)
    one = bench.FromHardStart(np.array([1.0, 0.0, 1.0]), np.array([60.0, 70.0]), [5] * 4, [8, 8, 9, -1])
    starts = [{"success": np.array([0.5, np.nan]), "return": np.array([1 / 3, -2.0])}] * 4
    monkeypatch.setattr(bench, "_found", lambda study: one)
    monkeypatch.setattr(bench, "rounds", lambda *_: Rounds("exp3", 11, np.array([10.0, 20.0]), starts))
    bench.kept("alone", "exp3", 11, True)
    monkeypatch.setattr(bench, "_found", lambda study: pytest.fail("it was played again"))
    found, seen = bench.kept("alone", "exp3", 11, True)
    assert (found.wins.mean(), found.steps.tolist(), found.perhaps, found.mastered) == (
        2 / 3, [60, 70], [5] * 4, [8, 8, 9, -1],
    )  # fmt: skip
    np.testing.assert_allclose(seen.measured[3]["return"], [1 / 3, -2.0], rtol=1e-5)
    np.testing.assert_array_equal(seen.measured[0]["success"], [0.5, np.nan])
    assert seen.iterations.tolist() == [10, 20]


def test_starts_are_harder_the_further_they_are_from_the_goal_where_that_is_sure() -> None:
    metres = bench.distances()
    assert metres == sorted(metres)
    assert 5 < metres[0] < 12
    assert 45 < metres[3] < 52.5

    def told(perhaps: list[int], mastered: list[int]) -> dict[str, Any]:
        return bench._difficulty([bench.FromHardStart(np.ones(1), np.ones(1), perhaps, mastered)])

    ordered = told([0, 20, 40, -1], [10, 30, 50, -1])
    assert ordered["value"] == 1.0
    assert "as usual (50 m)" in ordered["detail"]
    assert "6 pairs are sure" in ordered["detail"]
    assert told([0, 0, 0, 0], [10, 10, 10, 10])["detail"].endswith("0 pairs are sure")
    turned = told([0, 40, 20, -1], [10, 50, 30, -1])
    assert turned["value"] == pytest.approx(5 / 6)

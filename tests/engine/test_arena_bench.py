"""The benchmarks of courses: what is compared, in what a seed differs from another, and how differences are told."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from engine.bench import arena_evolution, arena_learning, arena_mixed, arena_penalty, arena_tanks, kept
from engine.bench.arena_penalty import Judged
from engine.config.rl import PRESETS, MADDPGConfig
from engine.config.study import study_hash


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "FOLDER", tmp_path)
    monkeypatch.setattr(kept, "MEASURED", tmp_path)


def test_both_arms_of_the_penalty_differ_in_their_penalties_alone() -> None:
    others = {"aggressive": "a" * 64, "passive": "b" * 64}
    staged, constant = (arena_penalty._course(arm, 3, 1.0, others) for arm in arena_penalty.ARMS)
    told = [course.model_dump(mode="json", exclude={"name"}) for course in (staged, constant)]
    penalties = [[lesson["settings"].pop("penalty") for lesson in one["lessons"]] for one in told]
    assert penalties == [[0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3], [0.3] * 7]
    assert told[0] == told[1]
    steps = [lesson.steps or 0 for lesson in staged.lessons]
    assert 0.999 * arena_penalty.STEPS < sum(steps) <= arena_penalty.STEPS


def test_each_seed_has_opponents_of_its_own_and_what_it_gave_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    trained: list[tuple[str, int]] = []

    def train(home: Path, config: Any, store: Any) -> str:
        trained.append((config.name, config.seed))
        return study_hash(config)

    paid = {"staged": 2.0, "constant": 1.0}
    monkeypatch.setattr(arena_penalty, "_trained", train)
    monkeypatch.setattr(arena_penalty, "Policy", SimpleNamespace(stored=lambda _, digest: digest))
    monkeypatch.setattr(
        arena_penalty, "_judged",
        lambda policy, players, seed, episodes, explore: {
            name: np.full(episodes, paid[trained[-1][0]] / 10 * (1 + explore)) for name in arena_penalty.MEASURES
        },
    )  # fmt: skip
    found = {seed: arena_penalty.measured(seed, True) for seed in (1, 2)}
    names = ("aggressive", "passive", "staged", "constant")
    assert trained == [(name, seed) for seed in (1, 2) for name in names]
    monkeypatch.setattr(arena_penalty, "_measured", lambda *_: pytest.fail("it was trained again"))
    assert arena_penalty.measured(2, True) == found[2]
    apart = {name: 0.1 if "likeliest" in name else 0.2 for name in arena_penalty.NAMES}
    assert arena_penalty.difference(found[1]) == pytest.approx(apart)


@pytest.mark.parametrize("explore", [True, False])
def test_opponents_draw_their_actions_as_in_training(explore: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    explored: list[bool] = []
    judged: list[bool] = []
    trained: Any = {"aggressive": SimpleNamespace(actor=lambda explore: explored.append(explore))}
    results = SimpleNamespace(
        returns=np.ones((5, 1)), win=np.ones(5), signals=np.tile(np.arange(10.0), (5, 1))
    )  # fmt: skip
    monkeypatch.setattr(arena_penalty, "examine", lambda *_, explore, **__: judged.append(explore) or [results] * 10)
    found = arena_penalty._judged(None, trained, 1, 15, explore=explore)  # type: ignore[arg-type]
    assert explored == [True]
    assert judged == [explore] * 3
    assert {name: len(values) for name, values in found.items()} == dict.fromkeys(arena_penalty.MEASURES, 15)


def test_the_difference_of_penalties_has_the_interval_of_student_s_t(monkeypatch: pytest.MonkeyPatch) -> None:
    apart = {1: 0.1, 2: 0.3}
    monkeypatch.setattr(
        arena_penalty, "measured",
        lambda seed, quick: {
            arm: dict.fromkeys(arena_penalty.NAMES, Judged(apart[seed] * (arm == "staged"), 0.0, 1.0))
            for arm in arena_penalty.ARMS
        },
    )  # fmt: skip
    rows = list(arena_tanks.run("penalty", True))
    assert [row["case"] for row in rows] == [f"penalty, {name}" for name in arena_penalty.NAMES]
    assert rows[0]["value"] == pytest.approx(0.2)
    assert "-1.071 to 1.471" in rows[0]["detail"]  # 0.2 ± 12.706 · 0.1414 / √2
    assert "seed 2: staged score 0.300" in rows[0]["detail"]


def test_one_policy_has_as_many_environments_and_decisions_as_three() -> None:
    three, one = (arena_evolution.course(4, several=several) for several in (True, False))
    assert [len(course.roster) * course.environments for course in (three, one)] == [9, 9]
    assert [(course.lessons[0].steps, course.lessons[0].times) for course in (three, one)] == [(250_000, 20)] * 2
    assert three.lessons[0].after.best is not None
    assert one.lessons[0].after.best is None


def test_three_policies_are_told_beside_one_with_every_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    scores = {("three", 1): 0.9, ("three", 2): 0.7, ("one", 1): 0.5, ("one", 2): 0.7}
    monkeypatch.setattr(
        arena_evolution, "_score",
        lambda config: {"score": scores[config.name, config.seed], "low": 0.4, "high": 0.95, "seconds": 3600.0},
    )  # fmt: skip
    (told,) = arena_evolution.run("pong", True)
    assert (told["value"], told["peer_value"]) == (pytest.approx(0.8), pytest.approx(0.6))
    assert "difference 0.200 (-2.341 to 2.741)" in told["detail"]  # 0.2 ± 12.706 · 0.2828 / √2
    assert "seed 1: 0.900 (0.400 to 0.950; 1.00 h) and 0.500" in told["detail"]
    monkeypatch.setattr(arena_evolution, "_score", lambda config: pytest.fail("it was trained again"))
    assert list(arena_evolution.run("pong", True)) == [told]


def test_whether_all_beat_their_start_is_for_the_worst_of_them_and_of_the_seeds_to_say_with_its_range(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shares = {1: 0.9, 2: 0.62, 3: 0.8}

    def better(config: Any, episodes: int) -> dict[str, Any]:
        won = round(episodes * shares[config.seed])
        return {"ppo": np.array([1.0] * won + [0.0] * (episodes - won)), "dqn": np.ones(episodes)}

    monkeypatch.setattr(arena_mixed, "better", better)
    (told,) = arena_mixed.run("better", False)
    assert (told["value"], told["meets"]) == (pytest.approx(0.62), False), "its range goes below 0.6"
    shares[2] = 0.7
    (told,) = arena_mixed.run("better", False)
    assert (told["value"], told["meets"]) == (pytest.approx(0.7), True)
    assert "2: ppo 0.700 (" in told["detail"]


def test_all_methods_in_navigation_have_the_settings_of_the_presets_by_decisions_of_a_group() -> None:
    for method in ("masac", "maddpg"):
        assert arena_learning.settings(method) == PRESETS[f"navigation-{method}"]
    group: Any = PRESETS["navigation-masac"]
    counted = {"updates", "warmup", "capacity"}
    for method, seats in (("joint", 1), ("shared", 3)):
        one: Any = arena_learning.settings(method)
        alike = set(type(one).model_fields) - counted - {"kind"}
        assert {name: getattr(one, name) for name in alike} == {name: getattr(group, name) for name in alike}
        assert one.updates == pytest.approx(group.updates / seats)
        assert (one.warmup, one.capacity) == (group.warmup * seats, group.capacity * seats)


def test_the_settings_that_maddpg_was_published_with_are_a_preset() -> None:
    found: Any = PRESETS["published-maddpg"]
    assert (found.rate, found.discount, found.minibatch, found.capacity) == (0.01, 0.95, 1024, 1_000_000)
    assert (found.network.policy, found.network.critic, found.updates, found.tau) == ((64, 64), (64, 64), 0.01, 0.01)
    assert MADDPGConfig().minibatch == 256, "as the seventh departure of engine.rl.maddpg says"

"""When a search ends before its last round: plateaus that know their noise, budgets, and how a study obeys them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.arrays import unpack
from engine.config.noise import BattlesRule, EvaluationsRule, MinutesRule, PlateauRule, StepsRule
from engine.events import AnyEvent, Counters, Finished, Logged, Progressed
from engine.evolution.algorithm import Individual
from engine.evolution.termination import Termination, noise, plateau
from engine.indicators import hypervolume
from engine.problem import Evaluation
from engine.store import FolderStore
from engine.studies import load
from engine.study import run

STUDY: dict[str, Any] = {
    "seed": 3,
    "game": {"simulator": "builtin:herobattle"},
    "ticks": 12,
    "fresh": 4,
    "algorithm": {"kind": "nsga2", "population": 20},
    "pool": {"kind": "local", "batch_ms": 20},
}


def volume(front: list[Individual]) -> float:
    return hypervolume(np.array([i.evaluation.objectives for i in front]).reshape(-1, 2), (-1, -1), (1, 1))


def front(sigma: float = 0.0) -> list[Individual]:
    points = [(0.1, 0.6), (0.5, 0.3)]
    return [
        Individual(np.zeros(1), Evaluation(i, np.array(p), sigma**2 * np.eye(2), 4, np.empty(0)), 0)
        for i, p in enumerate(points)
    ]


def test_a_growing_volume_is_no_plateau_and_a_flat_one_is() -> None:
    growing = [(float(v), 0.0) for v in range(40)]
    assert not plateau(growing, 10, 0.005)
    assert plateau([*growing, *[(39.0, 0.0)] * 10], 10, 0.005)
    assert not plateau([(1.0, 0.0)] * 9, 10, 0.005), "it has not seen a whole window"


def test_growth_within_the_noise_is_a_plateau_and_growth_beyond_it_is_not() -> None:
    rng = np.random.default_rng(1)
    wobble = 1 + 0.05 * rng.normal(size=30)
    assert plateau([(v, 0.05) for v in wobble], 20, 0.0)
    assert not plateau([(v + 0.1 * k, 0.05) for k, v in enumerate(wobble)], 20, 0.0)


def test_the_noise_of_a_volume_is_that_of_its_members() -> None:
    rng = np.random.default_rng(2)
    assert noise(front(), volume, rng) == 0.0
    assert noise([], volume, rng) == 0.0
    small, large = (noise(front(sigma), volume, np.random.default_rng(3)) for sigma in (0.01, 0.03))
    assert 0 < small < large < 0.06


@pytest.mark.parametrize(
    ("rule", "counters", "words"),
    [
        (EvaluationsRule(most=100), Counters(evaluations=100), "The 100 evaluations are used up."),
        (
            BattlesRule(most=1000),
            Counters(battles=1200),
            "The 1,000 battles are used up: with what was under way, 1,200.",
        ),
        (StepsRule(most=10), Counters(steps=11), "The 10 decisions are used up: with what was under way, 11."),
        (MinutesRule(most=2), Counters(seconds=121), "not reproducible"),
    ],
)
def test_a_budget_that_is_used_up_ends_the_search_and_says_so(rule: Any, counters: Counters, words: str) -> None:
    termination = Termination([rule])
    assert termination.look(Counters(), front(), volume) == ""
    assert words in termination.look(counters, front(), volume)


def test_the_first_rule_that_holds_is_the_reason_and_a_saved_one_goes_on() -> None:
    rules = [PlateauRule(window=4), EvaluationsRule(most=50)]
    whole, half, again = (Termination(rules, seed=1) for _ in range(3))
    for _ in range(3):
        whole.look(Counters(), front(0.02), volume)
    for _ in range(2):
        half.look(Counters(), front(0.02), volume)
    again.load(half.state())
    again.look(Counters(), front(0.02), volume)
    assert again.state() == whole.state()
    assert "50 evaluations" in again.look(Counters(evaluations=60), front(), lambda members: 5.0)


def results(found: list[AnyEvent]) -> dict[str, str]:
    assert isinstance(found[-1], Finished), found[-1]
    return {k: v for k, v in found[-1].artifacts.items() if k != "checkpoint"}


@pytest.mark.parametrize("way", [{}, {"steady": True}, {"steady": True, "fair": True}])
def test_a_study_ends_with_the_round_that_uses_up_its_budget(way: dict[str, bool], tmp_path: Path) -> None:
    algorithm = {"kind": "nsga2", "population": 20, **way}
    config = load({**STUDY, "algorithm": algorithm, "stop": [{"kind": "evaluations", "most": 70}]})
    found = list(run(config, FolderStore(tmp_path)))
    assert [e.tick for e in found if isinstance(e, Progressed)] == [1, 2, 3, 4]
    assert any("70 evaluations are used" in e.message for e in found if isinstance(e, Logged))
    archive = unpack(FolderStore(tmp_path).get(results(found)["archive"])).arrays
    assert len(archive["id"]) == 80
    assert "fresh" in results(found)


def test_resumed_at_its_last_round_it_ends_as_if_it_had_not_been_killed(tmp_path: Path) -> None:
    store = FolderStore(tmp_path)
    config = load({**STUDY, "stop": [{"kind": "plateau", "window": 4, "tolerance": 1.0}]})
    found = list(run(config, store))
    ticks = [e for e in found if isinstance(e, Progressed)]
    assert len(ticks) == 4
    for saved in (ticks[1], ticks[-1]):
        again = list(run(config, store, saved.artifacts["checkpoint"]))
        assert results(again) == results(found)


def test_a_noisy_search_measures_its_front_again_and_comes_to_the_same_end_from_any_checkpoint(tmp_path: Path) -> None:
    store = FolderStore(tmp_path)
    racing = {"reevaluate": 3, "again": 2, "racing": "halving", "most": 8}
    config = load({**STUDY, "ticks": 4, "noise": racing})
    found = list(run(config, store))
    front = unpack(store.get(results(found)["front"])).arrays
    assert front["samples"].max() > 4
    saved = [e for e in found if isinstance(e, Progressed)][1].artifacts["checkpoint"]
    assert results(list(run(config, store, saved))) == results(found)
    plain = results(list(run(load({**STUDY, "ticks": 4}), store)))
    assert plain["front"] != results(found)["front"]

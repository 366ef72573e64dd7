"""Objectives: who is strongest, standard errors, and intervals that hold what they promise."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np
import pytest

from engine.config import FAIRNESS, load
from engine.config.lineups import LineupConfig, ObjectiveConfig, ObjectiveSetConfig
from engine.errors import ConfigError
from engine.games.herobattle import HeroBattle
from engine.indicators import half_width
from engine.lineups.baselines import BaselineTeams, resolve
from engine.lineups.evaluator import LineupEvaluator, Setup
from engine.lineups.matches import Played
from engine.lineups.objectives import Objectives, check
from engine.problem import Evaluation, Request
from tests.contracts.evaluator import EvaluatorContract

SPEC = HeroBattle().describe()


def setup(**changes: object) -> Setup:
    study = load({"game": {"simulator": "builtin:herobattle"}, **changes})
    baselines = resolve(HeroBattle(), study.lineups, study.game.patch, study.seed)
    return Setup(study.model_dump(mode="json"), baselines.state())


def evaluator(**changes: object) -> LineupEvaluator:
    return LineupEvaluator(setup(**changes), HeroBattle())


def never() -> bool:
    return False


def evaluate(one: LineupEvaluator, requests: Sequence[Request]) -> dict[int, Evaluation]:
    return {e.id: e for e in one.evaluate(requests, never)}


def requests(one: LineupEvaluator, n: int, last: int = 4) -> list[Request]:
    genomes = one.space.sample(np.random.default_rng(5), n)
    return [Request(i, genome, 0, last, 1) for i, genome in enumerate(genomes)]


def same(a: Evaluation, b: Evaluation) -> bool:
    numbers = ("objectives", "covariance", "metrics")
    return all(np.array_equal(getattr(a, k), getattr(b, k)) for k in numbers) and a.anchors == b.anchors


class TestLineupEvaluator(EvaluatorContract):
    def make(self) -> LineupEvaluator:
        return evaluator()


def test_a_result_does_not_depend_on_batch_order_or_memory() -> None:
    one = evaluator()
    asked = requests(one, 24)
    whole = evaluate(one, asked)
    again = evaluate(one, asked[::-1])
    alone = {i: e for r in asked for i, e in evaluate(evaluator_like(one), [r]).items()}
    forgetful = evaluate(evaluator(cache=False), asked)
    for i in whole:
        assert same(whole[i], again[i])
        assert same(whole[i], alone[i])
        assert same(whole[i], forgetful[i])
    assert sum(e.cached for e in again.values()) == sum(e.cost for e in again.values())
    assert sum(e.cached for e in forgetful.values()) == 0


def evaluator_like(one: LineupEvaluator) -> LineupEvaluator:
    study = load({"game": {"simulator": "builtin:herobattle"}})
    return LineupEvaluator(Setup(study.model_dump(mode="json"), one.baselines.state()), HeroBattle())


def test_requested_battles_are_counted_as_the_paper_counts_them() -> None:
    one = evaluator()
    (evaluation,) = evaluate(one, requests(one, 1)).values()
    assert evaluation.cost == 2 * 4 * (3 + 3 * 3)


def made_up(rng: np.random.Generator, n: int, teams: int, replicates: int, spread: float = 10.0) -> Played:
    """Battles of teams that are all alike: side metrics strength, resources, win, then the duration."""
    shape = (n, teams, 2, replicates, 4)
    noise = rng.normal(30, spread, shape)
    return Played(noise * (teams - 1), rng.normal(30, spread, shape) * 3, 0, 0, np.zeros(n, bool))


@pytest.mark.parametrize("replicates", [16, 24])
def test_for_identical_teams_the_fresh_interval_of_the_gap_covers_zero_at_its_rate(replicates: int) -> None:
    """The search picks strongest and weakest from its own noise; fresh samples with that choice fixed are unbiased."""
    rng, n = np.random.default_rng(1), 8_000
    objectives = Objectives(SPEC, FAIRNESS, 3, 3)
    costs = np.full((n, 3), 1500.0)
    searched = objectives.measure(made_up(rng, n, 3, 4), costs)
    fresh = objectives.measure(made_up(rng, n, 3, replicates), costs, searched.anchors)
    gap = [o.name for o in FAIRNESS.objectives].index("gap")
    assert searched.mean[:, gap].mean() > 1.0, "the biased estimate is positive even for identical teams"
    error = np.sqrt(fresh.covariance[:, gap, gap])
    covered = np.abs(fresh.mean[:, gap]) <= half_width(error, replicates)
    assert 0.94 < covered.mean() < 0.96
    assert abs(fresh.mean[:, gap].mean()) < 0.1


def test_the_jackknife_of_a_mean_is_its_textbook_standard_error() -> None:
    config = ObjectiveSetConfig(objectives=(ObjectiveConfig(name="a", title="A", formula="mean(strength)"),))
    played = made_up(np.random.default_rng(3), 5, 2, 7)
    measured = Objectives(SPEC, config, 2, 3).measure(played, np.ones((5, 2)))
    samples = ((played.versus + played.baseline) / 4)[..., 0].mean(axis=2).mean(axis=1)
    np.testing.assert_allclose(measured.mean[:, 0], samples.mean(axis=1))
    np.testing.assert_allclose(measured.covariance[:, 0, 0], samples.var(axis=1, ddof=1) / 7)


def test_objectives_are_kept_between_floor_and_cap() -> None:
    played = made_up(np.random.default_rng(3), 200, 3, 4, spread=4000)
    measured = Objectives(SPEC, FAIRNESS, 3, 3).measure(played, np.full((200, 3), 1500.0))
    assert measured.mean[:, 0].min() >= 0
    assert measured.mean[:, 0].max() == 4.0


def test_a_constraint_says_by_how_much_it_is_missed() -> None:
    config = ObjectiveSetConfig(objectives=FAIRNESS.objectives, constraints=("min(cost) - 1450",))
    played = made_up(np.random.default_rng(3), 2, 3, 4)
    costs = np.array([[1400.0, 1500, 1500], [1500, 1500, 1500]])
    assert Objectives(SPEC, config, 3, 3).measure(played, costs).violation.tolist() == [50, 0]


def test_every_wrong_formula_is_reported_with_its_place() -> None:
    config = ObjectiveSetConfig(
        objectives=(
            ObjectiveConfig(name="a", title="A", formula="strength"),
            ObjectiveConfig(name="b", title="B", formula="max(strngth)"),
        ),
        constraints=("(",),
    )
    with pytest.raises(ConfigError) as error:
        check(SPEC, config, 3)
    places = [p.place for p in error.value.problems]
    assert places == ["objectives.objectives.0.formula", "objectives.objectives.1.formula", "objectives.constraints.0"]


def test_a_formula_that_divides_by_zero_fails_that_lineup_with_a_reason() -> None:
    bad = {"objectives": [{"name": "a", "title": "Ratio", "formula": "1 / (mean(win) * 0)"}]}
    one = evaluator(objectives=bad)
    (evaluation,) = evaluate(one, requests(one, 1)).values()
    assert evaluation.status == "failed"
    assert "Ratio is not a number" in evaluation.reason


def test_drawn_baselines_are_mid_strength_and_the_same_every_time() -> None:
    study = load({"game": {"simulator": "builtin:herobattle"}, "lineups": {"baselines": {"kind": "drawn", "count": 8}}})
    one, two = (resolve(HeroBattle(), study.lineups, {}, 1) for _ in range(2))
    np.testing.assert_array_equal(one.rows, two.rows)
    assert one.drawn
    assert one.samples == 32
    assert 0 < one.median < 100
    again = BaselineTeams.load(msgspec.json.decode(msgspec.json.encode(one.state())))
    np.testing.assert_array_equal(again.rows, one.rows)


def test_baselines_with_a_seed_of_their_own_are_the_same_for_every_study() -> None:
    def baselines(of: int, **own: int) -> BaselineTeams:
        data = {"seed": of, "game": {"simulator": "builtin:herobattle"},
                "lineups": {"baselines": {"kind": "drawn", "count": 3, **own}}}  # fmt: skip
        study = load(data)
        return resolve(HeroBattle(), study.lineups, study.game.patch, study.seed)

    assert baselines(1, seed=7).state() == baselines(2, seed=7).state() == baselines(7).state()
    assert baselines(1).state() != baselines(2).state()
    assert "seed" not in LineupConfig().model_dump(mode="json")["baselines"], "a study that says nothing stays itself"


def test_going_first_can_be_asked_about() -> None:
    formula = "mean(win_first) - mean(win_second)"
    seats = {"objectives": [{"name": "first", "title": "First seat", "formula": formula}]}
    one = evaluator(objectives=seats)
    found = evaluate(one, requests(one, 60, last=8))
    assert abs(np.mean([e.objectives[0] for e in found.values()])) < 0.05, "herobattle favours no seat"

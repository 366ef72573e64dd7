"""Objectives: who is strongest, standard errors, and intervals that hold what they promise."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np
import pytest

from engine.cli import main
from engine.config import FAIRNESS
from engine.config.lineups import LineupConfig, ObjectiveConfig, ObjectiveSetConfig
from engine.errors import ConfigError
from engine.games.herobattle import HeroBattle
from engine.indicators import half_width
from engine.lineups.baselines import BaselineTeams, resolve
from engine.lineups.battle_counts import battles_each
from engine.lineups.evaluator import LineupEvaluator, Setup
from engine.lineups.matches import PlayedBattles
from engine.lineups.objectives import Objectives, check
from engine.lineups.parts import Sums
from engine.lineups.schema import spans
from engine.problem import Evaluation, Request
from engine.studies import load
from engine.verdicts import Goals, Sample, confirmed
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
    return all(np.array_equal(getattr(a, k), getattr(b, k)) for k in numbers) and a.context == b.context


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


def made_up(rng: np.random.Generator, n: int, teams: int, replicates: int, spread: float = 10.0) -> PlayedBattles:
    """Battles of teams that are all alike: side metrics strength, resources, win, then the duration."""
    shape = (n, teams, 2, replicates, 4)
    noise = rng.normal(30, spread, shape)
    return PlayedBattles(noise * (teams - 1), rng.normal(30, spread, shape) * 3, 0, 0, np.zeros(n, bool))


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
            ObjectiveConfig(name="c", title="C", formula="1"),
        ),
        constraints=("1", "("),
    )
    with pytest.raises(ConfigError) as error:
        check(SPEC, config, 3)
    places = [p.place for p in error.value.problems]
    goals = [f"objectives.objectives.{i}.formula" for i in range(3)]
    assert places == [*goals, "objectives.constraints.1"], "a condition may be a number"


@pytest.mark.parametrize("line", [".nan", ".inf", "-.inf", "1e300", "1.5", "-0.1"])
def test_a_line_that_says_nothing_is_refused_at_its_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], line: str
) -> None:  # fmt: skip
    """By the command line, which asks the same of a file as workers do."""
    study = tmp_path / "study.yaml"
    study.write_text(f"""
game: {{simulator: "builtin:herobattle"}}
objectives:
  objectives:
    - {{name: usual, title: Usual, formula: mean(strength), threshold: 60}}
    - {{name: wins, title: Wins, formula: mean(win), threshold: {line}}}
""")
    assert main(["run", str(study), "--job-dir", str(tmp_path / "job")]) == 2
    said = "".join(capsys.readouterr())
    assert "objectives.objectives.1.threshold" in said
    assert any(reason in said for reason in ("must be an ordinary number", "must be between", "over a line at"))
    assert "objectives.0" not in said


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


def told(config: ObjectiveSetConfig, played: PlayedBattles, teams: int) -> list[Sample]:
    """What fresh battles say of lineups whose strongest team is the first and whose weakest is the last."""
    n = len(played.baseline)
    costs, anchors = np.full((n, teams), 1000.0), np.tile([0, teams - 1], (n, 1))
    found = Objectives(SPEC, config, teams, 3).measure(played, costs, anchors)
    low, high, exact, plain = spans(SPEC, config.objectives, costs)
    rows = np.arange(teams + 3, dtype=np.int32)[:, None]
    (each,) = battles_each(config.objectives, SPEC, rows[None, :teams], rows[teams:])
    assert found.values.shape[1] == played.baseline.shape[3]
    error = np.sqrt(np.einsum("njj->nj", found.covariance))
    assert found.sums is not None
    parts = Sums(SPEC, config.objectives, teams).parts(list(found.sums), costs)
    return [
        Sample(
            found.mean[i],
            error[i],
            found.values.shape[1],
            found.values[i],
            low[i],
            high[i],
            exact,
            plain,
            each,
            0.5 / n,
            parts[i],
        )
        for i in range(n)
    ]


@pytest.mark.parametrize("replicates", [16, 64])
@pytest.mark.parametrize("truth", [0.0, 10.0])
def test_what_going_first_changes_is_not_confirmed_beyond_its_line_by_its_kink(truth: float, replicates: int) -> None:
    """Differences have values on both sides of 0 while their absolute mean has none: nothing may be cut off there."""
    formula = "100 * abs(mean(win_first) - mean(win_second))"
    seat = ObjectiveConfig(name="s", title="S", formula=formula, low=0.0, high=100.0, threshold=truth + 0.001)
    config, wrong, missed = ObjectiveSetConfig(objectives=(seat,)), 0, 0.0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        baseline = np.zeros((10, 1, 2, replicates, 4))
        for k, chance in enumerate((0.5 + truth / 200, 0.5 - truth / 200)):
            baseline[:, :, k, :, 2] = rng.binomial(3, chance, (10, 1, replicates))
        samples = told(config, PlayedBattles(np.zeros_like(baseline), baseline, 0, 0, np.zeros(10, bool)), 1)
        wrong += bool(confirmed([[s] for s in samples], Goals([1.0], [truth + 0.001], None, None)).any())
        ends = [s.range(0) for s in samples]
        missed += float(np.mean([not end.low <= truth <= end.high for end in ends]))
    assert wrong <= 30 * 0.05 + 3
    assert missed / 30 <= 0.05


@pytest.mark.parametrize("replicates", [16, 64])
@pytest.mark.parametrize("chance", [0.2, 0.3])
def test_a_ratio_at_its_line_is_seldom_confirmed_beyond_it(chance: float, replicates: int) -> None:
    """Resources of all or nothing, twice as often for the strongest team: the advantage is 2 exactly."""
    config, wrong = ObjectiveSetConfig(objectives=FAIRNESS.objectives[:1]), 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        versus, baseline = (np.zeros((12, 2, 2, replicates, 4)) for _ in range(2))
        for team, own in enumerate((2 * chance, chance)):
            versus[:, team, :, :, 1] = 1000 * rng.binomial(1, own, (12, 2, replicates))
            baseline[:, team, :, :, 1] = 1000 * rng.binomial(3, own, (12, 2, replicates))
        samples = told(config, PlayedBattles(versus, baseline, 0, 0, np.zeros(12, bool)), 2)
        wrong += bool(confirmed([[s] for s in samples], Goals([1.0], [2.0], None, None)).any())
    assert wrong <= 30 * 0.05 + 3


def test_search_ranges_of_replicates_that_take_few_values_are_as_wide_as_their_count_says() -> None:
    config = ObjectiveSetConfig(objectives=(ObjectiveConfig(name="w", title="W", formula="mean(win)"),))
    rng = np.random.default_rng(2)
    wins = np.zeros((4000, 1, 2, 16, 4))
    wins[..., 2] = 3.0 * (rng.random((4000, 1, 1, 16)) < 0.2)
    found = Objectives(SPEC, config, 1, 3).measure(
        PlayedBattles(np.zeros_like(wins), wins, 0, 0, np.zeros(4000, bool)), np.full((4000, 1), 1000.0)
    )
    half = half_width(np.sqrt(found.covariance[:, 0, 0]), 16)
    assert (np.abs(found.mean[:, 0] - 0.2) <= half).mean() >= 0.95

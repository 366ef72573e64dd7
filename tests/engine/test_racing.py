"""Noise: estimates that merge exactly, elites that are measured again, and races that end as full sampling would."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ville import BettingCS, BettingTest

from engine.bench.noisy import Noisy, Wins, planted
from engine.bench.racing import TESTS_OR_FULL, generation, volume
from engine.bench.trust import racing as trust
from engine.bench.trust.noises import NOISES
from engine.errors import ConfigError
from engine.evolution.algorithm import Algorithm, Individual, Population
from engine.evolution.betting import BETS, _ruled_out, bounds
from engine.evolution.estimates import estimate, merged
from engine.evolution.ga import GA
from engine.evolution.noise import FURTHER, Resampling
from engine.evolution.nsga2 import NSGA2, survivors
from engine.evolution.pbt import PBT
from engine.evolution.racing import out_by_bounds, out_by_halves, rungs
from engine.indicators import half_width
from engine.problem import Evaluation, Objective, Problem, Request, failed
from tests.contracts.algorithm import AlgorithmContract, drive, packed, problem, stored

NOISY, WINS = Noisy(sigma=0.3), Wins()
UNIT = np.array([[0.0], [1.0]])


class TestResamplingThatIsSwitchedOff(AlgorithmContract):
    def make(self, seed: int = 1, ticks: int = 6) -> Algorithm:
        return Resampling(NSGA2(problem(), 12, ticks, seed, steady=self.steady))

    def test_it_changes_nothing(self) -> None:
        plain, wrapped = NSGA2(problem(), 12, 6, 1, steady=self.steady), self.make()
        drive(plain)
        drive(wrapped)
        assert [i.genome.tobytes() for i in wrapped.front()] == [i.genome.tobytes() for i in plain.front()]


class TestSteadyResamplingThatIsSwitchedOff(TestResamplingThatIsSwitchedOff):
    steady = True


def search(ticks: int = 6, population: int = 12, steady: bool = False, replicates: int = 4, seed: int = 5) -> NSGA2:
    return NSGA2(NOISY.describe(), population, ticks, seed, replicates, steady=steady)


def made(choice: dict[str, object], ticks: int = 6) -> Resampling:
    """A search that is raced by bounds knows limits: it is about battles won or lost."""
    raced = GA(WINS.describe(), 12, ticks, 5, 4) if choice.get("racing") == "bounds" else search(ticks)
    return Resampling(raced, **choice)  # type: ignore[arg-type]


def evaluator(algorithm: Resampling) -> Noisy | Wins:
    return WINS if isinstance(algorithm.search, GA) else NOISY


def run(
    algorithm: Resampling, order: random.Random | None = None, until: int = 10**9,
    watch: Callable[[Request], None] = lambda request: None,
) -> list[Request]:  # fmt: skip
    """Answer everything, in a shuffled order; what was still outstanding when it ended after ``until`` answers."""
    waiting: list[Request] = []
    for _ in range(until):
        for request in algorithm.ask(3):
            watch(request)
            waiting.append(request)
        if algorithm.done:
            break
        assert waiting, "nothing is outstanding, and nothing is asked"
        algorithm.tell(evaluator(algorithm).answer(waiting.pop(order.randrange(len(waiting)) if order else 0)))
    return waiting


def fingerprint(algorithm: Resampling) -> bytes:
    return packed(algorithm.state())


CHOICES = [
    {"reevaluate": 3},
    {"racing": "bounds", "most": 16},
    {"racing": "halving", "most": 16},
    {"racing": "tests", "most": 16},
    {"racing": "bounds", "most": 16, "reevaluate": 2, "again": 5},
]


@pytest.mark.parametrize("choice", CHOICES)
def test_the_order_of_arrival_changes_no_bit(choice: dict[str, object]) -> None:
    prints = set()
    for order in (None, random.Random(1), random.Random(2)):
        algorithm = made(choice)
        run(algorithm, order)
        prints.add(fingerprint(algorithm))
    assert len(prints) == 1


@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize("told", [5, 17, 31, 47])
def test_saved_in_the_middle_it_goes_on_to_the_same_end(choice: dict[str, object], told: int) -> None:
    whole, half, resumed = (made(choice) for _ in range(3))
    run(whole)
    run(half, random.Random(3), told)
    resumed.load(stored(half.state()))
    run(resumed, random.Random(4))
    assert fingerprint(resumed) == fingerprint(whole)


@pytest.mark.parametrize("choice", CHOICES)
def test_each_request_is_asked_once_and_no_replicate_twice(choice: dict[str, object]) -> None:
    seen: set[tuple[bytes, int]] = set()
    ids: set[int] = set()

    def watch(request: Request) -> None:
        assert request.id not in ids
        ids.add(request.id)
        for r in range(request.first, request.last):
            assert (request.genome.tobytes(), r) not in seen
            seen.add((request.genome.tobytes(), r))

    algorithm = made(choice)
    run(algorithm, random.Random(1), watch=watch)
    assert any(i >= FURTHER for i in ids)
    with pytest.raises(KeyError):
        algorithm.tell(evaluator(algorithm).answer(Request(FURTHER, np.zeros(10), 0, 4, 5)))
    for individual in algorithm.front():
        e, played = individual.evaluation, algorithm.played.get(individual.evaluation.id, 4)
        again = evaluator(algorithm).answer(Request(e.id, individual.genome, 0, played, 5))
        assert e.samples == played
        np.testing.assert_array_equal(e.objectives, again.objectives)
        np.testing.assert_array_equal(e.covariance, again.covariance)


def test_steady_searches_measure_their_elites_again_while_they_go_on() -> None:
    algorithm = Resampling(search(steady=True), reevaluate=3)
    run(algorithm, random.Random(2))
    assert algorithm.done
    assert max(i.evaluation.samples for i in algorithm.front()) > 4


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 9), st.integers(1, 9), st.integers(1, 3))
def test_merged_estimates_are_those_of_all_replicates_together(seed: int, a: int, b: int, m: int) -> None:
    x = np.random.default_rng(seed).normal(size=(a + b, m))

    def measured(rows: np.ndarray, told: bool) -> Evaluation:
        mean, covariance = estimate(rows)
        return Evaluation(3, mean, covariance, len(rows), mean, cost=len(rows), values=rows if told else None)

    told, all_told = merged(measured(x[:a], True), measured(x[a:], True)), measured(x, True)
    np.testing.assert_array_equal(told.objectives, all_told.objectives)
    np.testing.assert_array_equal(told.covariance, all_told.covariance)
    found, whole = merged(measured(x[:a], False), measured(x[a:], False)), measured(x, False)
    assert (found.samples, found.cost) == (a + b, a + b)
    np.testing.assert_allclose(found.objectives, whole.objectives, atol=1e-12)
    np.testing.assert_allclose(found.metrics, whole.metrics, atol=1e-12)
    np.testing.assert_allclose(found.covariance, whole.covariance, atol=1e-12)


def test_further_replicates_that_fail_leave_the_estimate_as_it_was() -> None:
    good = NOISY.answer(Request(1, np.zeros(10), 0, 4, 5))
    kept = merged(good, failed(Request(9, np.zeros(10), 4, 8, 5), "no", 2, 0))
    assert kept.status == "ok"
    np.testing.assert_array_equal(kept.objectives, good.objectives)


def test_a_lucky_elite_falls_when_it_is_measured_again() -> None:
    """Without re-evaluation the noisiest luck stays on the front for ever; with it the front is near the truth."""
    optimism = []
    for choice in ({}, {"reevaluate": 12, "again": 8}):
        gap = []
        for seed in range(2):
            algorithm = Resampling(search(20, 20, seed=seed), **choice)  # type: ignore[arg-type]
            run(algorithm)
            for i in algorithm.front():
                gap.append(float((NOISY.truth(i.genome[None])[0] - i.evaluation.objectives).mean()))
        optimism.append(np.mean(gap))
    assert optimism[0] > 0.1, "the front looks better than it is"
    assert abs(optimism[1]) < 0.5 * optimism[0]


def test_ninety_five_percent_intervals_from_fresh_seeds_cover_the_truth() -> None:
    """Over 10,000 intervals of members of searched fronts, Student's t with 15 degrees of freedom."""
    covered, count = 0, 0
    for seed in range(5):
        algorithm = search(2, 200, seed=seed)
        while not algorithm.done:
            for request in algorithm.ask(1):
                algorithm.tell(NOISY.answer(request))
        assert algorithm.P is not None
        truth = NOISY.truth(algorithm.P.genomes)
        for first in range(1_000_000, 1_000_080, 16):
            fresh = [NOISY.answer(Request(i, g, first, first + 16, seed)) for i, g in enumerate(algorithm.P.genomes)]
            mean = np.stack([e.objectives for e in fresh])
            error = np.sqrt(np.stack([np.diag(e.covariance) for e in fresh]))
            half = half_width(error, np.full(len(fresh), 16))
            covered += int((np.abs(mean - truth) <= half).sum())
            count += truth.size
    assert count >= 10_000
    assert 0.94 <= covered / count <= 0.96


def population(cost: np.ndarray) -> Population:
    nothing = np.zeros((cost.shape[1],) * 2)
    goals = tuple(Objective(f"f{j}", f"f{j}", "min") for j in range(cost.shape[1]))
    return Population(
        Problem(NOISY.space, goals),
        [Individual(np.zeros(10), Evaluation(i, c, nothing, 1, np.empty(0)), 0) for i, c in enumerate(cost)],
    )


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 30), st.integers(1, 3))
def test_who_is_out_by_bounds_survives_for_no_means_within_them(seed: int, n: int, m: int) -> None:
    rng = np.random.default_rng(seed)
    middle, width = rng.integers(0, 12, (n, m)) / 10, rng.random((n, 1)) * rng.choice([0, 0.1, 0.6])
    low, high, keep = middle - width, middle + width, int(rng.integers(1, n + 1))
    out = set(np.flatnonzero(out_by_bounds(low, high, keep)).tolist())
    for _ in range(30):
        corner = rng.integers(0, 2, (n, m)) if rng.random() < 0.5 else rng.random((n, m))
        means = low + corner * (high - low)
        assert not out & set(survivors(population(means), keep).tolist())


def test_bounds_put_out_who_is_beaten_by_as_many_as_survive_and_who_is_behind_full_fronts() -> None:
    line = np.arange(4.0)[:, None]
    assert out_by_bounds(line, line, 2).tolist() == [False, False, True, True]
    assert out_by_bounds(line, line + 1, 2).tolist() == [False, False, False, True]
    front = np.array([[0.0, 3], [1, 2], [2, 1], [3, 0], [3.5, 0.5]])  # the last one is behind one of the front only
    assert out_by_bounds(front, front, 4).tolist() == [False] * 4 + [True]
    assert not out_by_bounds(front - [[0], [0], [0], [0], [3]], front, 4).any()


def test_bets_win_what_an_independent_package_says_they_do() -> None:
    """ville's bets are on replicates without end: drawn from very many, nothing is taken out."""
    rng = np.random.default_rng(3)
    for x in (rng.random(40), (rng.random(40) < 0.3).astype(float), rng.choice([0, 0.5, 1.0], 40)):
        for mean in (0.25, 0.4, 0.6):
            tests = [BettingTest(mean, alternative="greater", alpha=1e-300, c=min(bet, 1 - 1e-12)) for bet in BETS]
            best = np.mean([test.update(x).e_values_ for test in tests], axis=0).max()
            assert _ruled_out(x, mean, 10**12, best * (1 - 1e-6))
            assert not _ruled_out(x, mean, 10**12, best * (1 + 1e-6))


def test_bounds_are_about_as_narrow_as_those_of_an_independent_package() -> None:
    rng = np.random.default_rng(4)
    for spread in (0.02, 0.1, 0.5):
        x = np.clip(0.5 + spread * rng.standard_normal(300), 0, 1)
        low, high = bounds(x[:, None], UNIT, 10**9, 0.025)
        least, most = BettingCS(alpha=0.05).update(x).interval()
        assert 0.5 < (high[0] - low[0]) / (most - least) < 1.5


@pytest.mark.parametrize("name", NOISES)
def test_bounds_hold_at_every_look_as_often_as_they_promise(name: str) -> None:
    """400 candidates, each bound looked at with every replicate; wrong at one in twenty is promised."""
    noise, most, wrong = NOISES[name], 24, np.zeros(2)
    values = noise.draw(np.random.default_rng(9), 400, most).values
    limits = np.array([[noise.low], [noise.high]])
    for x in values:
        looks = np.array([bounds(x[:n, None], limits, most, 0.05) for n in range(1, most + 1)])[:, :, 0]
        wrong += [(looks[:, 0] > x.mean()).any(), (looks[:, 1] < x.mean()).any()]
        np.testing.assert_allclose(looks[-1], x.mean(), atol=1e-7)
    assert (wrong <= 400 * 0.05 + 3 * np.sqrt(400 * 0.05 * 0.95)).all()


def test_a_sample_without_spread_is_not_certain() -> None:
    low, high = bounds(np.zeros((8, 1)), UNIT, 32, 0.01)
    assert low[0] == pytest.approx(0, abs=1e-6)
    assert high[0] > 0.4, "24 battles may still be won, and some of them are believed to be"
    nothing = bounds(np.full((8, 1), 0.5), np.array([[-np.inf], [np.inf]]), 32, 0.01)
    beyond = bounds(np.full((8, 1), 1.5), UNIT, 32, 0.01)
    for found in (nothing, beyond):
        assert (found[0][0], found[1][0]) == (-np.inf, np.inf)


def test_looks_at_bounds_are_more_often_for_they_cost_nothing() -> None:
    assert rungs(4, 32) == [4, 8, 16, 32]
    assert rungs(4, 32, even=True) == [4, 8, 12, 16, 20, 24, 28, 32]
    assert rungs(5, 7, even=True) == [5, 6, 7]


@pytest.mark.parametrize("goals", ["", "two-"])
@pytest.mark.parametrize("name", NOISES)
def test_racing_by_bounds_keeps_its_stated_error_on_any_noise(name: str, goals: str) -> None:
    """40 planted generations; predictive draws erred in up to 99 % of them. ``engine.bench trust`` plays 5,000."""
    found = trust.error(f"racing-{goals}{name}", "bounds", 40)
    assert found["value"] <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 40)


@pytest.mark.parametrize("name", ["constant", "ties", "rare-wins"])
def test_tests_find_nothing_in_samples_without_spread(name: str) -> None:
    assert trust.error(f"racing-{name}", "tests", 40)["value"] <= 0.05


@pytest.mark.parametrize(("paired", "common", "saves"), [(False, 0.0, 0.2), (True, 0.0, 0.2), (True, 0.9, 0.35)])
def test_racing_by_tests_selects_as_full_sampling_does_where_noise_is_normal(
    paired: bool, common: float, saves: float
) -> None:
    """200 planted generations: the same survivors in at least 1 - 0.05 of them, hypervolume of the truth not lower, and
    fewer replicates; with common random numbers, paired, fewer still."""
    n, most, same, played, gap = 20, 32, 0, 0, []
    for seed in range(200):
        truth, noisy = planted(np.random.default_rng(seed), n, most, 1, common)
        race, full = (generation(noisy, way, paired, seed) for way in TESTS_OR_FULL)
        same += race.survivors == full.survivors
        assert full.replicates == n // 2 * most
        played += race.replicates
        gap.append(volume(truth[sorted(race.survivors)]) - volume(truth[sorted(full.survivors)]))
    assert same >= 0.95 * 200
    assert np.mean(gap) > -1e-3
    assert played < (1 - saves) * 200 * n // 2 * most


def test_halving_lets_the_same_share_go_at_each_rung_but_never_fewer_than_survive_remain() -> None:
    cost = np.arange(16.0)[:, None] * np.ones((1, 2))
    open_ = np.ones(16, dtype=bool)
    left = []
    for rung in range(3):
        open_ &= ~out_by_halves(population(cost), 4, open_, rung, 4)
        left.append(np.flatnonzero(open_).tolist())
    assert left == [list(range(11)), list(range(8)), list(range(6))]
    assert not (open_ & out_by_halves(population(cost), 6, open_, 3, 4)).any()


def test_common_random_numbers_make_differences_surer() -> None:
    """The same replicate of two candidates shares its noise where the evaluator can share it."""
    a, b = np.full(10, 0.2), np.full(10, 0.6)
    spread = []
    for common in (False, True):
        noisy = Noisy(sigma=0.3, common=common)
        gaps = [
            noisy.answer(Request(0, a, r, r + 1, 1)).objectives - noisy.answer(Request(1, b, r, r + 1, 1)).objectives
            for r in range(200)
        ]
        spread.append(np.std(gaps, axis=0).max())
    assert spread[1] < 1e-9 < 0.3 < spread[0]


def test_what_cannot_be_raced_is_refused_in_words() -> None:
    with pytest.raises(ConfigError, match="needs rounds"):
        Resampling(search(steady=True), racing="halving")
    with pytest.raises(ConfigError, match="limits that are known"):
        Resampling(search(), racing="bounds")
    with pytest.raises(ConfigError, match="nothing to measure again"):
        Resampling(PBT(problem(), 4, 2, 1), reevaluate=1)

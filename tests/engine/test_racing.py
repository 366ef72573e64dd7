"""Noise: estimates that merge exactly, elites that are measured again, and races that end as full sampling would."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.arrays import pack, unpack
from engine.bench.noisy import Noisy, planted
from engine.bench.racing import generation, volume
from engine.errors import ConfigError
from engine.evolution.algorithm import Algorithm, Individual, Population
from engine.evolution.estimates import merged
from engine.evolution.noise import FURTHER, Racing, Resampling
from engine.evolution.nsga2 import NSGA2, survivors
from engine.evolution.pbt import PBT
from engine.evolution.racing import _chosen, out_by_halves
from engine.indicators import half_width
from engine.problem import Evaluation, Request, failed
from tests.contracts.algorithm import AlgorithmContract, drive, problem

NOISY = Noisy(sigma=0.3)


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
        algorithm.tell(NOISY.answer(waiting.pop(order.randrange(len(waiting)) if order else 0)))
    return waiting


def fingerprint(algorithm: Resampling) -> bytes:
    arrays, meta = algorithm.state()
    return pack(meta, arrays)


CHOICES = [
    {"reevaluate": 3},
    {"racing": "chance", "most": 16},
    {"racing": "halving", "most": 16},
    {"racing": "tests", "most": 16},
    {"racing": "chance", "most": 16, "reevaluate": 2, "again": 5},
]


@pytest.mark.parametrize("choice", CHOICES)
def test_the_order_of_arrival_changes_no_bit(choice: dict[str, object]) -> None:
    prints = set()
    for order in (None, random.Random(1), random.Random(2)):
        algorithm = Resampling(search(), **choice)  # type: ignore[arg-type]
        run(algorithm, order)
        prints.add(fingerprint(algorithm))
    assert len(prints) == 1


@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize("told", [5, 17, 31, 47])
def test_saved_in_the_middle_it_goes_on_to_the_same_end(choice: dict[str, object], told: int) -> None:
    whole, half, resumed = (Resampling(search(), **choice) for _ in range(3))  # type: ignore[arg-type]
    run(whole)
    run(half, random.Random(3), told)
    bundle = unpack(pack(*reversed(half.state())))
    resumed.load(bundle.arrays, bundle.meta)
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

    algorithm = Resampling(search(), **choice)  # type: ignore[arg-type]
    run(algorithm, random.Random(1), watch=watch)
    assert any(i >= FURTHER for i in ids)
    with pytest.raises(KeyError):
        algorithm.tell(NOISY.answer(Request(FURTHER, np.zeros(10), 0, 4, 5)))
    for individual in algorithm.front():
        e, played = individual.evaluation, algorithm.played.get(individual.evaluation.id, 4)
        again = NOISY.answer(Request(e.id, individual.genome, 0, played, 5))
        assert e.samples == played
        np.testing.assert_allclose(e.objectives, again.objectives, rtol=1e-9)
        np.testing.assert_allclose(e.covariance, again.covariance, rtol=1e-7, atol=1e-12)


def test_steady_searches_measure_their_elites_again_while_they_go_on() -> None:
    algorithm = Resampling(search(steady=True), reevaluate=3)
    run(algorithm, random.Random(2))
    assert algorithm.done
    assert max(i.evaluation.samples for i in algorithm.front()) > 4


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 9), st.integers(1, 9), st.integers(1, 3))
def test_merged_estimates_are_those_of_all_replicates_together(seed: int, a: int, b: int, m: int) -> None:
    x = np.random.default_rng(seed).normal(size=(a + b, m))

    def estimate(rows: np.ndarray) -> Evaluation:
        n = len(rows)
        covariance = np.cov(rows.T).reshape(m, m) / n if n > 1 else np.full((m, m), np.nan)
        return Evaluation(3, rows.mean(axis=0), covariance, n, rows.mean(axis=0), cost=n)

    found, whole = merged(estimate(x[:a]), estimate(x[a:])), estimate(x)
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
    describe = NOISY.describe()
    return Population(
        describe, [Individual(np.zeros(10), Evaluation(i, c, nothing, 1, np.empty(0)), 0) for i, c in enumerate(cost)]
    )


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 60))
def test_a_race_draws_the_survivors_nsga2_would_choose(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    cost, keep = rng.random((n, 2)), int(rng.integers(1, n + 1))
    assert set(np.flatnonzero(_chosen(cost, keep))) == set(survivors(population(cost), keep).tolist())


@pytest.mark.parametrize(
    ("racing", "m", "paired", "common", "saves"),
    [
        ("chance", 2, False, 0.0, 0.1),
        ("tests", 1, False, 0.0, 0.2),
        ("tests", 1, True, 0.0, 0.2),
        ("tests", 1, True, 0.9, 0.35),
    ],
)
def test_racing_selects_as_full_sampling_does_but_for_its_stated_error(
    racing: Racing, m: int, paired: bool, common: float, saves: float
) -> None:
    """200 planted generations: the same survivors in at least 1 - 0.05 of them, hypervolume of the truth not lower, and
    fewer replicates; with common random numbers, paired, fewer still."""
    n, most, same, played, gap = 20, 32, 0, 0, []
    for seed in range(200):
        truth, noisy = planted(np.random.default_rng(seed), n, most, m, common)
        race, full = (generation(noisy, way, paired, seed) for way in (racing, "off"))
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
        Resampling(search(steady=True), racing="chance")
    with pytest.raises(ConfigError, match="nothing to measure again"):
        Resampling(PBT(problem(), 4, 2, 1), reevaluate=1)

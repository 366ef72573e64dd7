"""CMA-ES: the contract, its speed on problems whose optimum is known, and what must not matter to it."""

from __future__ import annotations

import math
from statistics import median

import numpy as np
import pytest
from scipy.stats import ortho_group

from engine.errors import ConfigError
from engine.evolution.cma import CMAES
from engine.evolution.operators import BlobSpace, IntegerSpace, LayerGroup
from engine.problem import Capabilities, Objective, Problem
from tests.contracts.algorithm import MANY, ONE, AlgorithmContract, stored
from tests.engine.single_objective import (
    Floats,
    Function,
    Plane,
    evaluations_until,
    minimise,
    rosenbrock,
    sphere,
    trace,
)


class TestCMAES(AlgorithmContract):
    algorithm = CMAES


class TestSteadyCMAES(AlgorithmContract):
    algorithm = CMAES
    steady = True


class TestCMAESOfOneObjective(AlgorithmContract):
    algorithm = CMAES
    of = ONE


class TestCMAESOfManyObjectives(AlgorithmContract):
    algorithm = CMAES
    of = MANY


@pytest.mark.parametrize(("f", "limit"), [(sphere, 3000), (rosenbrock, 10_000)])
def test_ten_dimensions_to_1e_10_within_the_promised_evaluations(f: Function, limit: int) -> None:
    counts = [evaluations_until(CMAES(minimise(), 10, 2000, seed), f, 1e-10, limit) for seed in range(1, 6)]
    assert median(counts) < limit


def test_its_constants_are_those_of_pycma() -> None:
    """Table 1 of the tutorial, as pycma computes it for ten variables and lambda 10."""
    import cma  # here, for it imports a library of drawing, and every process of the tests imports this file

    ours = CMAES(minimise(), 10, 10, 1)
    theirs = cma.CMAEvolutionStrategy(10 * [0.1], 0.3, {"verbose": -9, "popsize": 10})
    np.testing.assert_allclose(ours.mu_eff, theirs.sp.weights.mueff, rtol=1e-12)
    np.testing.assert_allclose(ours.w[: ours.mu], theirs.sp.weights.positive_weights, rtol=1e-12)
    np.testing.assert_allclose([ours.c_1, ours.c_mu, ours.c_c], [theirs.sp.c1, theirs.sp.cmu, theirs.sp.cc], rtol=0.05)


class Turned(CMAES):
    """Draws the same normals, turned."""

    turn: Floats

    def _normals(self, k: int) -> Floats:
        return np.asarray(super()._normals(k) @ self.turn.T)


@pytest.mark.parametrize("seed", range(3))
def test_a_rotated_problem_gives_the_rotated_search(seed: int) -> None:
    rng = np.random.default_rng(seed)
    turn = ortho_group.rvs(6, random_state=rng)
    start = rng.normal(size=6)
    plain = CMAES(Problem(Plane(start), (Objective("f", "f", "min"),)), 10, 60, seed, sigma=0.5)
    Turned.turn = turn
    turned = Turned(Problem(Plane(turn @ start), (Objective("f", "f", "min"),)), 10, 60, seed, sigma=0.5)
    x, f = trace(plain, rosenbrock, 40)
    y, g = trace(turned, lambda v: rosenbrock(turn.T @ v), 40)
    np.testing.assert_allclose(y, x @ turn.T, rtol=0, atol=1e-7)
    np.testing.assert_allclose(f, g, rtol=1e-5)


@pytest.mark.parametrize("change", [lambda f: f**3, math.log, lambda f: -1 / f])
def test_a_monotone_change_of_the_values_changes_no_bit_of_the_search(change: Function) -> None:
    x, _ = trace(CMAES(minimise(6), 10, 50, 4), rosenbrock, 40)
    y, _ = trace(CMAES(minimise(6), 10, 50, 4), lambda v: change(rosenbrock(v)), 40)
    assert x.tobytes() == y.tobytes()


def test_scaled_and_shifted_bounds_give_the_scaled_search() -> None:
    wide = Problem(minimise(4, -50, 50).space, (Objective("f", "f", "min"),))
    x, _ = trace(CMAES(minimise(4), 8, 30, 2), sphere, 25)
    y, _ = trace(CMAES(wide, 8, 30, 2), sphere, 25)
    np.testing.assert_allclose(y, 10 * x, rtol=1e-6, atol=1e-9)


def test_an_optimum_on_the_bounds_is_found_inside_them() -> None:
    search = CMAES(minimise(5, 0.0, 1.0), 10, 200, 3)
    genomes, values = trace(search, lambda x: float((x + 1).sum()), 150)
    assert (genomes >= 0).all()
    assert (genomes <= 1).all()
    assert values[-1] == pytest.approx(5.0, abs=1e-3)


def test_a_flat_landscape_widens_the_search_and_long_runs_stay_finite() -> None:
    search = CMAES(minimise(3), 8, 1000, 1)
    trace(search, lambda x: 1.0, 20)
    assert search.sigma > 0.3
    long = CMAES(minimise(2), 6, 1000, 1)
    genomes, _ = trace(long, sphere, 900)
    assert np.isfinite(genomes).all()
    assert np.isfinite(long.C).all()


def test_resumed_with_samples_outstanding_it_goes_on_bit_for_bit() -> None:
    whole, _ = trace(CMAES(minimise(), 10, 40, 9), rosenbrock, 30)
    half = CMAES(minimise(), 10, 40, 9)
    trace(half, rosenbrock, 14)
    half.ask(3)
    resumed = CMAES(minimise(), 10, 40, 9)
    resumed.load(stored(half.state()))
    rest, _ = trace(resumed, rosenbrock, 16)
    assert rest.tobytes() == whole[140:].tobytes()


def test_whole_numbers_and_network_weights_are_searched_too() -> None:
    integers = Problem(IntegerSpace(np.zeros(4), np.full(4, 99)), (Objective("f", "f", "min"),))
    genomes, values = trace(CMAES(integers, 12, 60, 1), lambda x: sphere(x - 42.0), 50)
    assert genomes.dtype == np.int64
    assert values.min() <= 2
    network = Problem(BlobSpace([LayerGroup("only", 30, 0.5)]), (Objective("f", "f", "min"),))
    genomes, values = trace(CMAES(network, 14, 100, 1), lambda x: sphere(x - 3.0), 90)
    assert genomes.dtype == np.float32
    assert values[-1] < values[0] / 100


def test_genomes_that_cannot_be_made_from_numbers_are_refused_in_words() -> None:
    class Letters:
        can = Capabilities()

        def sample(self, rng: np.random.Generator, n: int) -> Floats:
            return np.zeros((n, 2))

    with pytest.raises(ConfigError, match="cannot be made from numbers"):
        CMAES(Problem(Letters(), (Objective("f", "f"),)), 8, 5, 1)  # type: ignore[arg-type]

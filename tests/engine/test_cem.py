"""The cross-entropy method: the contract, its update by hand, and its progress."""

from __future__ import annotations

import numpy as np

from engine.evolution.cem import CEM
from engine.problem import Objective, Problem
from tests.contracts.algorithm import MANY, ONE, AlgorithmContract
from tests.engine.single_objective import Plane, evaluations_until, minimise, sphere, value


class TestCEM(AlgorithmContract):
    algorithm = CEM


class TestSteadyCEM(AlgorithmContract):
    algorithm = CEM
    steady = True


class TestCEMOfOneObjective(AlgorithmContract):
    algorithm = CEM
    of = ONE


class TestCEMOfManyObjectives(AlgorithmContract):
    algorithm = CEM
    of = MANY


def test_one_step_is_the_paper_s_equations() -> None:
    start = np.array([1.0, -2.0])
    search = CEM(Problem(Plane(start), (Objective("f", "f", "min"),)), 4, 5, 1, elites=0.5, noise=0.1, noise_end=0.01)
    requests = search.ask(4)
    z = np.stack([r.genome for r in requests])
    for request, f in zip(requests, (3.0, 1.0, 4.0, 2.0), strict=True):
        search.tell(value(request, f))
    weights = np.log(3 / np.array([1.0, 2.0]))
    weights /= weights.sum()
    np.testing.assert_allclose(search.mu, weights @ z[[1, 3]])
    np.testing.assert_allclose(search.Sigma, weights @ (z[[1, 3]] - start) ** 2 + 0.1)
    np.testing.assert_allclose(search.epsilon, 0.95 * 0.1 + 0.05 * 0.01)


def test_it_comes_close_to_the_optimum_as_its_noise_falls() -> None:
    for seed in range(3):
        search = CEM(minimise(), 20, 1000, seed, noise=1e-3, noise_end=1e-10, tau=0.9)
        assert evaluations_until(search, sphere, 1e-6, 10_000) < 10_000


def test_a_maximised_objective_is_maximised() -> None:
    up = Problem(minimise(3).space, (Objective("f", "f", "max"),))
    search = CEM(up, 20, 200, 1, noise=1e-3, noise_end=1e-8)
    for _ in range(60):
        for request in search.ask(1):
            search.tell(value(request, -sphere(request.genome - 1)))
    np.testing.assert_allclose(search.front()[0].genome, 1, atol=0.1)

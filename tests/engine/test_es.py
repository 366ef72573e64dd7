"""OpenAI's evolution strategy: the contract, antithetic pairs, centred ranks, and its progress."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pytest

from engine.evolution.es import OpenAIES
from engine.problem import Objective, Problem
from tests.contracts.algorithm import MANY, ONE, AlgorithmContract
from tests.engine.single_objective import Plane, evaluations_until, minimise, sphere, trace, value


class TestOpenAIES(AlgorithmContract):
    algorithm = OpenAIES


class TestSteadyOpenAIES(AlgorithmContract):
    algorithm = OpenAIES
    steady = True


class TestOpenAIESOfOneObjective(AlgorithmContract):
    algorithm = OpenAIES
    of = ONE


class TestOpenAIESOfManyObjectives(AlgorithmContract):
    algorithm = OpenAIES
    of = MANY


def test_samples_come_in_opposite_pairs_and_the_step_follows_centred_ranks() -> None:
    start = np.array([1.0, -2.0, 0.5])
    search = OpenAIES(
        Problem(Plane(start), (Objective("f", "f", "min"),)), 6, 5, 1, sigma=0.1, rate=0.5, optimiser="sgd"
    )
    requests = search.ask(1)
    epsilon = (np.stack([r.genome for r in requests]) - start) / 0.1
    np.testing.assert_allclose(epsilon[::2], -epsilon[1::2], atol=1e-12)
    values = (5.0, 1.0, 4.0, 2.0, 3.0, 6.0)
    for request, f in zip(requests, values, strict=True):
        search.tell(value(request, f))
    ranks = np.array([4, 0, 3, 1, 2, 5]) / 5
    gradient = ((0.5 - ranks)[:, None] * epsilon).sum(axis=0) / (6 * 0.1)
    np.testing.assert_allclose(search.theta, start + 0.5 * 0.1 * gradient)


def test_pairs_stay_whole_when_an_odd_number_is_asked_for() -> None:
    search = OpenAIES(minimise(4), 4, 50, 1, steady=True, sigma=0.01)
    for request in search.ask(4):
        search.tell(value(request, sphere(request.genome)))
    first = search.ask(3)
    theta = np.array(search.theta) * 10 - 5
    second = search.ask(4)
    assert len(first) == 3
    np.testing.assert_allclose(first[2].genome + second[0].genome, 2 * theta, atol=1e-9)


@pytest.mark.parametrize(("optimiser", "rate"), [("adam", 0.01), ("sgd", 2e-4)])
def test_it_climbs(optimiser: Literal["adam", "sgd"], rate: float) -> None:
    search = OpenAIES(minimise(), 20, 1000, 1, sigma=0.005, rate=rate, optimiser=optimiser)
    assert evaluations_until(search, sphere, 0.1, 10_000) < 10_000


def test_a_monotone_change_of_the_values_changes_no_bit_of_the_search() -> None:
    x, _ = trace(OpenAIES(minimise(4), 10, 50, 4), sphere, 20)
    y, _ = trace(OpenAIES(minimise(4), 10, 50, 4), lambda v: sphere(v) ** 3, 20)
    assert x.tobytes() == y.tobytes()


def test_weight_decay_shrinks_what_nothing_pulls_at() -> None:
    plane = Problem(Plane(np.array([4.0, -4.0])), (Objective("f", "f", "min"),))
    search = OpenAIES(plane, 10, 500, 1, sigma=0.1, rate=0.05, optimiser="sgd", decay=0.5)
    trace(search, lambda x: 1.0 + 1e-6 * float(np.sin(1e6 * x).sum()), 200)
    assert np.abs(search.theta).max() < 2.0

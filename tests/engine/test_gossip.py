"""How learners mix: who with whom, with which weights, and how far apart they stay."""

from __future__ import annotations

import math

import numpy as np
import pytest

from engine.rl.gossip import LINKS, Ball, beta, combined, distance, mixing, neighbours

SIZES = (2, 3, 4, 5, 7, 8, 16, 33, 64)
REGULAR = {name: SIZES for name in ("ring", "exponential", "full")} | {"bipartite": (2, 4, 8, 16, 64)}


@pytest.mark.parametrize("topology", LINKS)
@pytest.mark.parametrize("n", SIZES)
def test_nobody_gains_or_loses_weight_and_everybody_hears_of_everybody(topology: str, n: int) -> None:
    P = mixing(topology, n)
    assert (P >= 0).all()
    assert np.abs(P.sum(axis=1) - 1).max() < 1e-15 * n
    assert np.abs(P.sum(axis=0) - 1).max() < 1e-15 * n
    assert beta(P) < 1
    assert {(i, j) for i, each in enumerate(neighbours(topology, n)) for j in each} == {
        (i, j) for i, j in zip(*np.nonzero(P), strict=True) if i != j
    }


@pytest.mark.parametrize(("topology", "n"), [(name, n) for name, sizes in REGULAR.items() for n in sizes])
def test_a_regular_graph_mixes_by_the_papers_uniform_mean(topology: str, n: int) -> None:
    P = mixing(topology, n)
    for i, each in enumerate(neighbours(topology, n)):
        assert P[i, list(each)] == pytest.approx(1 / (1 + len(each)), abs=1e-15)
        assert P[i, i] == pytest.approx(1 / (1 + len(each)), abs=1e-15)


def test_a_tree_mixes_by_metropolis_weights() -> None:
    P = mixing("tree", 6)
    assert neighbours("tree", 6) == ((1, 2), (0, 3, 4), (0, 5), (1,), (1,), (2,))
    expected = np.array(
        [
            [5 / 12, 1 / 4, 1 / 3, 0, 0, 0],
            [1 / 4, 1 / 4, 0, 1 / 4, 1 / 4, 0],
            [1 / 3, 0, 1 / 3, 0, 0, 1 / 3],
            [0, 1 / 4, 0, 3 / 4, 0, 0],
            [0, 1 / 4, 0, 0, 3 / 4, 0],
            [0, 0, 1 / 3, 0, 0, 2 / 3],
        ]
    )
    assert np.abs(P - expected).max() < 1e-15


def test_who_takes_from_whom() -> None:
    assert neighbours("ring", 4) == ((3,), (0,), (1,), (2,))
    assert neighbours("exponential", 5) == ((1, 3, 4), (0, 2, 4), (0, 1, 3), (1, 2, 4), (0, 2, 3))
    assert neighbours("bipartite", 6) == ((1, 3, 5), (0, 2, 4)) * 3
    assert neighbours("full", 3) == ((1, 2), (0, 2), (0, 1))
    assert all(neighbours(topology, 1) == ((),) for topology in LINKS)


@pytest.mark.parametrize("n", [2, 3, 4, 8, 16, 24, 32, 64])
def test_a_directed_ring_keeps_the_cosine_of_pi_over_n_of_every_distance(n: int) -> None:
    assert abs(beta(mixing("ring", n)) - math.cos(math.pi / n)) < 1e-12


@pytest.mark.parametrize("topology", LINKS)
def test_random_steps_leave_agents_within_the_ball_and_the_ball_is_no_larger_than_it_must_be(topology: str) -> None:
    rng, n, d = np.random.default_rng(3), 8, 20
    P, X = mixing(topology, n), np.tile(rng.normal(size=d), (n, 1))
    ball = Ball(beta(P))
    steps: list[float] = []
    for _ in range(200):
        G = rng.standard_t(2, size=(n, d))  # now and then one agent makes a far larger step than all others
        X = P @ (X + G)
        steps.append(float(np.linalg.norm(G)))
        radius = ball.step(np.linalg.norm(G, axis=1).tolist())
        k = len(steps)
        assert radius == pytest.approx(sum(ball.beta ** (k - s) * g for s, g in enumerate(steps)), abs=1e-9)
        assert distance(X) <= radius + 1e-9


def test_the_worst_direction_of_a_ring_fills_the_ball_in_one_step() -> None:
    n = 6
    P = mixing("ring", n)
    slow = np.cos(2 * np.pi * np.arange(n) / n)[:, None]
    assert distance(P @ slow) == pytest.approx(Ball(beta(P)).step(np.abs(slow[:, 0]).tolist()), rel=1e-12)


@pytest.mark.parametrize("topology", LINKS)
def test_what_agents_take_is_a_row_of_the_matrix_and_equals_stay_equal_to_the_last_bit(topology: str) -> None:
    rng, n = np.random.default_rng(4), 9
    P, X = mixing(topology, n), rng.normal(size=(n, 50)).astype(np.float32)
    same = np.tile(X[0], (n, 1))
    for i, others in enumerate(neighbours(topology, n)):
        row = {j: float(P[i, j]) for j in (i, *others)}
        assert np.abs(combined(row, dict(enumerate(X))) - P[i] @ X).max() < 1e-6
        assert (combined(row, dict(enumerate(same))) == X[0]).all()

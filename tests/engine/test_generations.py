"""CEM-RL and ERL against their equations, worked by hand, on individuals that need no game."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from engine.evorl.cemrl import CEMRL
from engine.evorl.erl import ERL
from engine.evorl.shared_critic import minibatches
from engine.problem import IndividualContext, Request, of_kind
from tests.contracts.method import F32, Drive, returned, started

N = 6


def cem(**more: Any) -> Drive:
    return Drive(started({"kind": "cem-rl", "population": N, **more}))


def erl(**more: Any) -> Drive:
    return Drive(started({"kind": "erl", "population": N, "crossover": 0, "mutation": 0, **more}))


def generations(drive: Drive) -> list[list[Request]]:
    """What is asked of individuals, critics and agents, generation by generation, to the end."""
    method, found = drive.method, dict[int, dict[int, Request]]()
    while not method.done:
        drive.waiting += method.ask(7)
        for request in drive.waiting:
            if method.role(request) not in ("start", "examine"):
                found.setdefault(method.base, {})[request.id] = request  # type: ignore[attr-defined]
        drive.step()
    return [list(each.values()) for each in found.values()]


def played(drive: Drive, generation: list[Request]) -> int:
    """Decisions of a generation's individuals."""
    return sum(drive.world.answer(request).cost for request in generation)


def test_the_centre_becomes_the_weighted_elites_and_variances_are_taken_around_the_old_centre() -> None:
    method = cem(noise=1e-3, noise_end=1e-5, tau=0.9).method
    assert isinstance(method, CEMRL)
    method.mu = np.array([1.0, 0.0])
    method._step(np.array([[1.0, 2.0], [3.0, -2.0]]))  # the better first
    one, two = np.log(3 / 1), np.log(3 / 2)
    one, two = one / (one + two), two / (one + two)
    np.testing.assert_allclose(method.mu, [one * 1 + two * 3, one * 2 - two * 2], rtol=1e-12)
    squares = np.array([two * 2**2, one * 2**2 + two * 2**2])
    np.testing.assert_allclose(method.Sigma, squares / 2 + 1e-3, rtol=1e-12)  # of two elites
    assert method.epsilon == pytest.approx(0.9 * 1e-3 + 0.1 * 1e-5, rel=1e-12)


def test_individuals_come_in_pairs_on_both_sides_of_the_centre() -> None:
    """Of a generation in which nobody learns, as the first, the requests are all that was drawn."""
    drive = cem()
    first = drive.method.centre
    away = np.stack([request.genome for request in generations(drive)[0]]) - first
    np.testing.assert_allclose(away[: N // 2], -away[N // 2 :], atol=1e-6)
    assert np.abs(away).max() > 0


def test_each_learner_has_all_decisions_of_the_generation_before_and_the_critic_an_equal_share_ahead_of_it() -> None:
    drive = cem()
    one, two, *_ = generations(drive)
    T = played(drive, one)
    learned = {role: [minibatches(r) for r in two if drive.method.role(r) == role] for role in ("es", "rl", "critic")}
    assert learned == {"es": [0] * 3, "rl": [T] * 3, "critic": [T // 3] * 3}


def test_each_learner_climbs_along_critics_that_learned_with_its_policy_as_the_targets() -> None:
    drive = cem()
    two = generations(drive)[1]
    critics, learners = ([r for r in two if drive.method.role(r) == role] for role in ("critic", "rl"))
    for critic, learner in zip(critics, learners, strict=True):
        np.testing.assert_array_equal(critic.genome, learner.genome)
    assert len({of_kind(r.context, IndividualContext).critic for r in learners}) == len(learners)


def test_the_agent_learns_from_as_many_minibatches_as_its_generation_had_decisions() -> None:
    drive = erl()
    one = generations(drive)[0]
    [agent] = [request for request in one if drive.method.role(request) == "agent"]
    assert minibatches(agent) == played(drive, [request for request in one if request is not agent])


def test_the_best_stays_and_without_crossover_and_mutation_children_are_made_of_rows_of_the_population() -> None:
    drive = erl(every=10_000)
    method = drive.method
    assert isinstance(method, ERL)
    before = method.theta.copy()
    while not method.generation:
        drive.step()
    best = max(range(N), key=lambda i: returned(before[i]))
    np.testing.assert_array_equal(method.theta[0], before[best])
    for parents, children in zip(layers(method, before), layers(method, method.theta), strict=True):
        rows = {row.tobytes() for parent in parents for row in parent}
        assert all(row.tobytes() in rows for child in children for row in child)


def layers(method: ERL, population: F32) -> list[tuple[F32, ...]]:
    """Layer by layer, that of each individual."""
    return list(zip(*(method._layers(theta) for theta in population), strict=True))


def test_in_every_so_many_generations_the_agent_takes_the_place_of_a_child_and_never_of_the_best() -> None:
    drive = erl(every=2)
    method = drive.method
    assert isinstance(method, ERL)
    while method.generation < 2:
        drive.step()
    assert any(np.array_equal(theta, method.agent) for theta in method.theta)
    assert method.visited == 1


@pytest.mark.parametrize("agent", [-1e9, 1e9])
def test_the_result_is_who_scored_best_whether_it_evolved_or_learned(agent: float) -> None:
    """With its rare visits to the population, an agent that plays far better than all others would be left behind."""
    method = erl(every=10_000).method
    assert isinstance(method, ERL)
    method.agent = method.agent + 1
    before, learned = method.theta.copy(), method.agent.copy()
    for k, score in enumerate([*map(returned, before), agent]):
        method._come(k, score)
    best = max(range(N), key=lambda i: returned(before[i]))
    np.testing.assert_array_equal(method.best, learned if agent > 0 else before[best])

"""The game in which learners of several kinds learn at once, and how each is compared with its own start."""

from __future__ import annotations

from engine.bench.arena_mixed import better, course
from engine.bench.orchard import Orchard
from engine.mdp.vector import VectorMDP
from tests.contracts.mdp import VectorContract


class TestOrchard(VectorContract):
    rounds = 90

    def make(self) -> VectorMDP:
        return Orchard()


def test_each_of_four_kinds_of_learners_is_compared_with_its_own_start_in_the_same_battles() -> None:
    (lesson,) = course(1).lessons
    found = better(course(1, lessons=[{**lesson.model_dump(mode="json"), "steps": 4096}]), 8)
    assert set(found) == {"ppo", "dqn", "sac", "team"}
    for shares in found.values():
        assert shares.shape == (8,)
        assert set(shares.tolist()) <= {0.0, 0.5, 1.0}
    assert any(shares.mean() != 0.5 for shares in found.values())

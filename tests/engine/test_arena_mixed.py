"""The game in which learners of several kinds learn at once, and how each is compared with its own start."""

from __future__ import annotations

from engine.bench.arena_mixed import LEAST, better, course
from engine.bench.orchard import Orchard
from engine.mdp.vector import VectorMDP
from tests.contracts.mdp import VectorContract


class TestOrchard(VectorContract):
    rounds = 90

    def make(self) -> VectorMDP:
        return Orchard()


def test_learners_of_four_kinds_learn_in_the_same_battles_and_each_soon_beats_its_start() -> None:
    (lesson,) = course(1).lessons
    found = better(course(1, lessons=[{**lesson.model_dump(mode="json"), "steps": 40_000}]), 200)
    assert set(found) == {"ppo", "dqn", "sac", "team"}
    for shares in found.values():
        assert shares.shape == (200,)
        assert set(shares.tolist()) <= {0.0, 0.5, 1.0}
        assert shares.mean() >= LEAST

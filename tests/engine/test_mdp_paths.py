"""Games under the contract: every step is as described, nothing depends on the batch, both ways to play agree."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import ConfigError
from engine.games.pong import ImagePong, VectorPong
from engine.mdp.adapters import VectorFromMDP
from engine.mdp.gym import GymVector
from engine.mdp.interface import MDP
from engine.mdp.vector import VectorMDP
from tests.contracts.coroutines import mdp_from_vector
from tests.contracts.mdp import VectorContract, Walk, by_arrays, by_coroutines, flat
from tests.engine.sample_games import orchard

SHORT = {"points": 2, "max_ticks": 90}


class TestPong(VectorContract):
    def make(self) -> VectorMDP:
        return VectorPong(seats=(0, 1), rewards=("score", "moved", "hit"), **SHORT)

    def mdp(self) -> MDP:
        return mdp_from_vector(
            lambda seats: VectorPong(seats=seats, rewards=("score", "moved", "hit"), **SHORT), self.make().spec
        )


class TestPongAgainstTheScriptedPlayer(VectorContract):
    rounds = 400

    def make(self) -> VectorMDP:
        return VectorPong(seats=(1,), frame_skip=2, **SHORT)


class TestImagePong(VectorContract):
    rounds = 120

    def make(self) -> VectorMDP:
        return ImagePong(seats=(0, 1), points=2, max_ticks=25)

    def mdp(self) -> MDP:
        return mdp_from_vector(lambda seats: ImagePong(seats=seats, points=2, max_ticks=25), self.make().spec)


class TestOrchard(VectorContract):
    """Hybrid, parameterised, discrete and continuous actions, masks, two inputs, a seat that goes out."""

    rounds = 120

    def make(self) -> VectorMDP:
        return VectorFromMDP(orchard())

    def mdp(self) -> MDP:
        return orchard()


class TestCartPole(VectorContract):
    def make(self) -> VectorMDP:
        return GymVector(lambda: gymnasium.make("CartPole-v1", max_episode_steps=25))

    def mdp(self) -> MDP:
        return mdp_from_vector(lambda _: self.make(), self.make().spec)


class TestPendulum(VectorContract):
    def make(self) -> VectorMDP:
        return GymVector(lambda: gymnasium.make("Pendulum-v1"))


def test_the_games_here_end_both_ways() -> None:
    """Or the contract would prove less than it says."""
    for game in (VectorPong(seats=(0, 1), **SHORT), VectorFromMDP(orchard()), TestCartPole().make()):
        walk, terminated, truncated = Walk(game, np.arange(6, dtype=np.uint64)), 0, 0
        for _ in range(300):
            step = walk.step()
            terminated, truncated = terminated + step.terminated.sum(), truncated + step.truncated.sum()
        assert terminated
        assert truncated, game.spec.name


@pytest.mark.parametrize("settings", [{"seats": (2,)}, {"points": 0}, {"rewards": ("gold",)}])
def test_settings_of_pong_that_do_not_exist_are_refused(settings: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match=next(iter(settings))):
        VectorPong(**settings)  # type: ignore[arg-type]


@given(seed=st.integers(0, 2**64 - 1), length=st.integers(1, 12), rounds=st.integers(12, 60))
@settings(max_examples=15, deadline=None)
def test_whatever_the_seed_and_the_length_both_ways_to_play_record_the_same(
    seed: int, length: int, rounds: int
) -> None:
    seeds = np.array([seed], np.uint64)
    arrays = by_arrays(VectorFromMDP(orchard()), seeds, rounds, length)
    coroutines = by_coroutines(orchard(), seeds, rounds, length)
    for seat, fragments in enumerate(arrays):
        if coroutines[seat][0]:
            one, other = flat(fragments, 0), flat(coroutines[seat][0], 0)
            for name in one:
                n = min(len(one[name]), len(other[name]))
                np.testing.assert_array_equal(one[name][:n], other[name][:n], err_msg=f"seat {seat} {name}")

"""Between what returns lie where a game's rules say so, and the ranges of means that rest on it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pytest
from numpy.typing import NDArray

from engine.catalog.returns import REACHES, ends_of_returns
from engine.config.aesrl import AESRLConfig
from engine.games.pong import VectorPong
from engine.means import NOWHERE, range_of

RNG = np.random.Generator
LOW, HIGH = ends_of_returns("pendulum", {}, 200)
RUNS, EPISODES = 400, AESRLConfig.model_fields["episodes"].default


def _rare(chance: float, usual: float, then: float) -> Callable[[RNG, int], NDArray[np.float64]]:
    return lambda rng, n: np.where(rng.random(n) < chance, then, usual + 5 * rng.standard_normal(n))


RETURNS: dict[str, Callable[[RNG, int], NDArray[np.float64]]] = {
    "log-normal 1.5": lambda rng, n: -60 * np.exp(1.5 * rng.standard_normal(n)),
    "log-normal 2": lambda rng, n: -20 * np.exp(2 * rng.standard_normal(n)),
    "Pareto 1.1": lambda rng, n: -30 * (1 + rng.pareto(1.1, n)),
    "tied": lambda rng, n: np.where(rng.random(n) < 0.7, -130.0, -250.0),
    "constant": lambda rng, n: np.full(n, -200.0),
    "one in a hundred falls": _rare(0.01, -150, LOW),
    "one in fifty falls": _rare(0.02, -150, LOW),
    "one in twenty falls": _rare(0.05, -150, LOW),
    "one in fifty is perfect": _rare(0.02, -1500, HIGH),
    "either end": lambda rng, n: np.where(rng.random(n) < 0.5, LOW, HIGH),
}


@pytest.mark.parametrize("name", RETURNS)
def test_of_returns_of_any_kind_within_what_the_game_can_reach_at_most_one_range_in_twenty_misses(name: str) -> None:
    def draw(rng: RNG, n: int) -> NDArray[np.float64]:
        return np.clip(RETURNS[name](rng, n), LOW, HIGH)

    truth = float(draw(np.random.default_rng(RUNS), 1_000_000).mean())
    found = [range_of(draw(np.random.default_rng(seed), EPISODES), LOW, HIGH) for seed in range(RUNS)]
    missed = np.mean([not low - 1e-6 <= truth <= high + 1e-6 for low, high in found])
    assert missed <= 0.05
    assert all(low >= LOW and high <= HIGH for low, high in found), "no range is wider than the game"
    assert NOWHERE not in found


@pytest.mark.parametrize("name", REACHES)
def test_no_episode_leaves_the_ends_that_its_game_declares(name: str) -> None:
    if name.startswith("Inverted"):
        pytest.importorskip("mujoco")
    env = gymnasium.make(name)
    space, limit = env.action_space, env.spec.max_episode_steps if env.spec else 0
    low, high = ends_of_returns(f"gym:{name}", {}, limit or 0)
    returns = []
    fixed = [space.low, space.high, 0 * space.high] if isinstance(space, gymnasium.spaces.Box) else [0, 1]
    for seed, action in enumerate((None, *fixed)):
        env.reset(seed=seed)
        steps = []
        while not steps or not (steps[-1][2] or steps[-1][3]):
            steps.append(env.step(space.sample() if action is None else action))
        returns.append(sum(float(step[1]) for step in steps))
    env.close()
    assert low <= min(returns)
    assert max(returns) <= high
    assert math.isfinite(high - low)


@pytest.mark.parametrize(
    ("game", "settings"),
    [
        ("gym:HalfCheetah-v5", {}),
        ("python:mine:Pendulum-v1", {}),
        ("gym:Pendulum-v1", {"unheard": 1}),
        ("pong", {"rewards": ["score", "moved"]}),
        ("platform", {}),
    ],
)
def test_nothing_is_said_of_other_games_and_of_settings_that_may_change_rewards(
    game: str, settings: dict[str, Any]
) -> None:
    assert ends_of_returns(game, settings, 100) == (-math.inf, math.inf)
    assert ends_of_returns("cartpole", {}, 500) == ends_of_returns("gym:CartPole-v1", {}, 500) == (0, 500)
    assert ends_of_returns("gym:Pendulum-v1", {"g": 9.81}, 100) == ends_of_returns("pendulum", {}, 100)


@pytest.mark.parametrize("points", [2, 11])
def test_an_episode_of_pong_is_worth_no_more_than_its_points(points: int) -> None:
    low, high = ends_of_returns("pong", {"points": points}, 6000)
    assert (low, high) == (-points, points)
    game = VectorPong(points=points)
    step, rng, returns = game.reset(np.arange(16, dtype=np.uint64)), np.random.default_rng(1), list[float]()
    while len(returns) < 16:
        step = game.step([rng.integers(0, 3, 16)])
        returns += step.ended.returns[:, 0, 0].tolist() if step.ended is not None else []
    assert low <= min(returns) <= max(returns) <= high
    assert min(returns) == low, "chance loses every point now and then"

"""What learners reach: whole trainings in one process on one thread, every seed shown, judged on fresh episodes.

``cartpole-*``, ``pendulum-*``: mean return of 100 fresh episodes played without exploring, after
as many whole batches as fit into the steps allowed. ``pong-*``: our vector Pong against the scripted player; mean
normalised score ((own − other's points + 11) / 22) of 100 fresh episodes, within the seconds allowed, training and
examinations during it included; a training ends early when an examination on other fresh seeds reaches the goal. The
value is the median of the seeds, the least is in the detail.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from statistics import median
from typing import Any, NamedTuple

import gymnasium

from engine.bench.row import row
from engine.config.rl import PRESETS, AnyLearner, TrainingConfig
from engine.games.pong import VectorPong
from engine.mdp.gym import GymVector
from engine.mdp.vector import VectorMDP
from engine.rl.examine import Examination, examine
from engine.rl.factory import make_learner
from engine.rl.training import Training

NAME = "learning"
EPISODES, SEEDS = 100, (1, 2, 3, 4, 5)
_MARGIN = 0.01  # an examination that ends a training was chosen for its height
_UNSEEN = 1_000_000  # the first seed of a last examination: none that decided when to end is among them


class Goal(NamedTuple):
    """A game, its preset, its battles, and what must be reached within which steps or seconds."""

    game: Callable[[], VectorMDP]
    preset: str
    battles: int
    steps: int
    unit: str
    least: float
    seconds: float = 0.0


def gym(name: str) -> Callable[[], VectorMDP]:
    """Makes one of Gymnasium's games."""
    return lambda: GymVector(lambda: gymnasium.make(name))


GOALS = {
    "cartpole-ppo": Goal(gym("CartPole-v1"), "cartpole-ppo", 8, 100_000, "mean return", 475),
    "cartpole-dqn": Goal(gym("CartPole-v1"), "cartpole-dqn", 8, 50_000, "mean return", 475),
    "pendulum-ppo": Goal(gym("Pendulum-v1"), "pendulum-ppo", 8, 100_000, "mean return", -250),
    "pendulum-td3": Goal(gym("Pendulum-v1"), "pendulum-td3", 8, 20_000, "mean return", -200),
    "pendulum-sac": Goal(gym("Pendulum-v1"), "pendulum-sac", 8, 20_000, "mean return", -200),
    "pong-ppo": Goal(VectorPong, "pong-ppo", 64, 20_000_000, "normalised score", 0.95, 600),
    "pong-a3c": Goal(VectorPong, "pong-a3c", 32, 20_000_000, "normalised score", 0.95, 600),
    "pong-impala": Goal(VectorPong, "pong-impala", 32, 20_000_000, "normalised score", 0.95, 600),
}
CASES = tuple(GOALS)


def run(case: str, quick: bool) -> Iterator[dict[str, Any]]:
    """Train one case with every seed; ``quick``: with the first."""
    goal, seeds = GOALS[case], SEEDS[:1] if quick else SEEDS
    results = [trained(goal, seed) for seed in seeds]
    values = [value for value, _ in results]
    detail = f"least {min(values):.4g}; by seed " + ", ".join(text for _, text in results)
    within = f"{goal.seconds:.0f} s" if goal.seconds else f"{goal.steps:,} steps"
    yield row(NAME, case, median(values), goal.unit, goal=f">= {goal.least:g} within {within}",
              meets=median(values) >= goal.least, seeds=seeds, detail=detail)  # fmt: skip


def trained(goal: Goal, seed: int) -> tuple[float, str]:
    """(value, words) of one training."""
    began = time.perf_counter()
    algorithm = PRESETS[goal.preset]
    every = goal.steps // 40 if goal.seconds else 0
    plan = TrainingConfig(
        algorithm=algorithm, steps=_whole(goal, algorithm), environments=goal.battles, seed=seed,
        examine_every=every, episodes=EPISODES,
    )  # fmt: skip
    game = goal.game()
    learner = make_learner(algorithm, game.spec.seats[0], seed, plan.steps)
    for update in Training(plan, game, learner, examined=goal.game if every else None).run():
        reached = update.examination is not None and _value(goal, update.examination)[0] >= goal.least + _MARGIN
        if goal.seconds and (reached or time.perf_counter() - began > goal.seconds):
            break
    seconds = time.perf_counter() - began
    fresh = examine({0: learner.policy()}, goal.game(), EPISODES, seed, first=_UNSEEN)[0]
    value, half = _value(goal, fresh)
    range_ = f" ± {half:.2g}" if math.isfinite(half) else ""
    return value, f"{seed}: {value:.4g}{range_} ({learner.steps:,} steps, {seconds:.0f} s)"


def _value(goal: Goal, found: Examination) -> tuple[float, float]:
    mean, ends = found.mean(found.score if goal.seconds else found.returns[:, 0])
    return mean, ends.high - mean


def _whole(goal: Goal, algorithm: AnyLearner) -> int:
    """The steps allowed, in whole updates."""
    each = goal.battles * algorithm.fragment
    each *= max(1, -(-algorithm.least_batch // each))
    return goal.steps // each * each

"""Ray Tune's PBT over RLlib's PPO on vector Pong: ``rllib_pbt.py MEMBERS ENVIRONMENTS SECONDS SEED SCORE``.

Members are trials that all run at once, each with compiled battles of the engine, which RLlib steps as one vectorised
environment. Ends after SECONDS, or once the mean score of a member's last 40 episodes is SCORE. The clock starts when
every member has reported once.
"""

from __future__ import annotations

import json
import logging
import math
import os
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[3]))
os.environ["PYTHONPATH"] = sys.path[0]  # for Ray's workers
os.environ.setdefault("RAY_AIR_NEW_OUTPUT", "0")
os.environ.setdefault("TUNE_DISABLE_AUTO_CALLBACK_LOGGERS", "1")
os.environ.setdefault("TUNE_DISABLE_STRICT_METRIC_CHECKING", "1")  # until the first episode ends there is no mean
import gymnasium
import numpy as np
import ray
from gymnasium.vector import AutoresetMode, VectorEnv
from ray import tune
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig
from ray.tune.registry import register_env
from ray.tune.schedulers import PopulationBasedTraining

from engine.bench.processor_time import spent
from engine.games.pong import VectorPong

BATCH, EVERY, POINTS = 8192, 16, 11
"""Decisions of an update, updates between comparisons, points of an episode."""
RATES, ENTROPIES = (1e-4, 5e-3), (5e-4, 1e-2)


class Battles(VectorEnv[Any, Any, Any]):
    """Battles of Pong. A new episode begins with the decision after the last one's end, whose action counts for
    nothing, as Gymnasium's vectorised environments do."""

    metadata: dict[str, Any] = {"autoreset_mode": AutoresetMode.NEXT_STEP}

    def __init__(self, battles: int) -> None:
        self.num_envs, self.game = battles, VectorPong()
        self.single_observation_space = gymnasium.spaces.Box(-1.5, 1.5, (8,), np.float32)
        self.single_action_space = gymnasium.spaces.Discrete(3)
        self.observation_space = gymnasium.vector.utils.batch_space(self.single_observation_space, battles)
        self.action_space = gymnasium.vector.utils.batch_space(self.single_action_space, battles)

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        """As Gymnasium's."""
        first = int(seed[0] if isinstance(seed, list) else seed or 0) * 1_000_003
        step = self.game.reset(np.arange(first, first + self.num_envs, dtype=np.uint64))
        self.over = np.zeros(self.num_envs, np.bool_)
        return step.observations[0]["field"].copy(), {}

    def step(self, actions: Any) -> Any:
        """As Gymnasium's."""
        step = self.game.step([np.where(self.over, 0, np.asarray(actions)).astype(np.int64)])
        seen = step.observations[0]["field"].copy()
        rewards = np.where(self.over, 0.0, step.rewards[:, 0, 0]).astype(np.float64)
        if step.ended is not None:
            seen[step.ended.battles] = step.ended.observations[0]["field"]
        terminated, truncated = step.terminated.copy(), step.truncated.copy()
        self.over = terminated | truncated
        return seen, rewards, terminated, truncated, {}


def config(environments: int, seed: int) -> PPOConfig:
    """The engine's settings for Pong."""
    network = DefaultModelConfig(fcnet_hiddens=[256, 128], fcnet_activation="LeakyReLU", vf_share_layers=True)
    return (
        PPOConfig()
        .environment("battles")
        .env_runners(num_env_runners=0, num_envs_per_env_runner=environments,
                     rollout_fragment_length=BATCH // environments, gym_env_vectorize_mode="vector_entry_point")
        .learners(num_learners=0, num_gpus_per_learner=0)
        .training(train_batch_size_per_learner=BATCH, minibatch_size=1024, num_epochs=4, gamma=0.99, lambda_=0.95,
                  clip_param=0.2, vf_loss_coeff=0.5, vf_clip_param=1e6, use_kl_loss=False, grad_clip=0.5,
                  grad_clip_by="global_norm", lr=tune.uniform(*RATES), entropy_coeff=tune.uniform(*ENTROPIES))
        .rl_module(model_config=network)
        .reporting(metrics_num_episodes_for_smoothing=40)
        .debugging(seed=seed, log_level="ERROR")
    )  # fmt: skip


class Clock(tune.Stopper, tune.Callback):
    """Counts updates after every member has reported once, and ends in time."""

    def __init__(self, members: int, seconds: float, score: float) -> None:
        self.members, self.seconds, self.score = members, seconds, score
        self.seen: set[str] = set()
        self.began = self.ended = self.processor = self.spent = self.trained_s = 0.0
        self.updates = self.before = 0
        self.best = -math.inf

    def __call__(self, trial_id: str, result: dict[str, Any]) -> bool:
        """After every update of every member."""
        mean = float(result.get("env_runners", {}).get("episode_return_mean", math.nan))
        if not math.isnan(mean):
            self.best = max(self.best, (mean + POINTS) / (2 * POINTS))
        if self.began:
            self.updates += 1
            self.trained_s += result["time_this_iter_s"]
            self.ended, self.spent = time.perf_counter(), spent() - self.processor
            return False
        self.before += 1
        self.seen.add(trial_id)
        if len(self.seen) == self.members:
            self.began, self.processor = time.perf_counter(), spent()
        return False

    def stop_all(self) -> bool:
        """Whether everything ends."""
        late = bool(self.began) and time.perf_counter() - self.began > self.seconds
        return late or self.best >= self.score

    def found(self) -> dict[str, Any]:
        """What was measured."""
        wall = max(self.ended - self.began, 1e-9)
        return {
            "steps_per_second": self.updates * BATCH / wall, "seconds": wall, "since_began": wall, "score": self.best,
            "steps": (self.updates + self.before) * BATCH, "busy": min(self.trained_s / (self.members * wall), 1.0),
            "processor_seconds": self.spent,
        }  # fmt: skip


def main(members: int, environments: int, seconds: float, seed: int, score: float) -> dict[str, Any]:
    """Train one population."""
    random.seed(seed)
    np.random.seed(seed)
    register_env("battles", lambda given: Battles(given["num_envs"]))
    clock = Clock(members, seconds, score)
    scheduler = PopulationBasedTraining(
        time_attr="training_iteration", metric="env_runners/episode_return_mean", mode="max",
        perturbation_interval=EVERY,
        hyperparam_mutations={"lr": tune.uniform(*RATES), "entropy_coeff": tune.uniform(*ENTROPIES)},
        quantile_fraction=0.25, resample_probability=0.25, require_attrs=False, log_config=False,
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        tuner = tune.Tuner(
            "PPO", param_space=config(environments, seed),
            tune_config=tune.TuneConfig(scheduler=scheduler, num_samples=members),
            run_config=tune.RunConfig(storage_path=folder, stop=clock, verbose=0),
        )  # fmt: skip
        failed = [result for result in tuner.fit() if result.error is not None]
        found = clock.found()
    if failed:
        raise RuntimeError(str(failed[0].error))
    return found


if __name__ == "__main__":
    logging.disable(logging.WARNING)
    arguments = sys.argv[1:]
    ray.init(num_cpus=int(arguments[0]), include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    print(json.dumps(main(*map(int, arguments[:2]), float(arguments[2]), int(arguments[3]), float(arguments[4]))))

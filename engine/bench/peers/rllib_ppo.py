"""RLlib's PPO: ``rllib_ppo.py pendulum|pong ENVIRONMENTS SECONDS``, two runners; or ``learn SEED SECONDS``."""

from __future__ import annotations

import json
import math
import os
import sys
import time
from collections.abc import Callable
from typing import Any

os.environ.setdefault("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
import ray
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig
from ray.tune.registry import register_env


def pong(_: Any) -> Any:
    """Image Pong as the engine sees it: four grey pictures of 84 × 84, four moments a decision."""
    import ale_py
    import gymnasium
    from gymnasium.wrappers import AtariPreprocessing, FrameStackObservation, TransformObservation

    gymnasium.register_envs(ale_py)
    env = AtariPreprocessing(gymnasium.make("ALE/Pong-v5", frameskip=1, full_action_space=False), frame_skip=4)
    stacked = FrameStackObservation(env, 4)
    space = gymnasium.spaces.Box(0, 1, (84, 84, 4), "float32")  # RLlib's networks take no whole numbers
    return TransformObservation(stacked, lambda seen: seen.transpose(1, 2, 0).astype("float32") / 255, space)


def config(game: str, environments: int) -> PPOConfig:
    """Batch 8,192, one pass of one minibatch, the paper's networks."""
    image = game == "pong"
    network = DefaultModelConfig(
        fcnet_hiddens=[256, 128], fcnet_activation="LeakyReLU", vf_share_layers=True,
        conv_filters=[[32, 4, 2]] * 4 if image else None, conv_activation="LeakyReLU",
        head_fcnet_hiddens=[256] if image else [], head_fcnet_activation="LeakyReLU",
    )  # fmt: skip
    return (
        PPOConfig()
        .environment("image-pong" if image else "Pendulum-v1")
        .env_runners(num_env_runners=2, num_envs_per_env_runner=environments,
                     rollout_fragment_length=max(1, 8192 // (2 * environments)), sample_timeout_s=600)
        .learners(num_learners=0, num_gpus_per_learner=0)
        .training(train_batch_size_per_learner=8192, minibatch_size=256 if image else 8192, num_epochs=1, lr=3e-4)
        .rl_module(model_config=network)
    )  # fmt: skip


def trained(result: dict[str, Any]) -> float:
    """Environment steps sampled and learned from so far: PPO learns from all it samples."""
    return float(result["env_runners"]["num_env_steps_sampled_lifetime"])


def speed(chosen: PPOConfig, trained: Callable[[dict[str, Any]], float], seconds: float) -> dict[str, Any]:
    """Steps/s after the first iteration; ``trained``: the steps learned from so far, of an iteration's result."""
    algorithm = chosen.build_algo()
    result = algorithm.train()
    first, began, iterations = trained(result), time.perf_counter(), 0
    while not iterations or time.perf_counter() - began < seconds:
        result = algorithm.train()
        iterations += 1
    found = {"steps_per_second": (trained(result) - first) / (time.perf_counter() - began), "updates": iterations}
    algorithm.stop()
    return found


def learn(seed: int, seconds: float) -> dict[str, Any]:
    """Seconds until its last 40 episodes of training have a mean return of -250, with RLlib's tuned settings for
    Pendulum."""
    tuned = (
        PPOConfig()
        .environment("Pendulum-v1")
        .env_runners(num_env_runners=2, num_envs_per_env_runner=20)
        .learners(num_learners=0)
        .training(train_batch_size_per_learner=1024, minibatch_size=128, num_epochs=8, gamma=0.95, lambda_=0.1, lr=3e-4,
                  vf_loss_coeff=0.01)
        .rl_module(model_config=DefaultModelConfig(fcnet_activation="relu"))
        .reporting(metrics_num_episodes_for_smoothing=40)
        .debugging(seed=seed)
    )  # fmt: skip
    algorithm, began, reached, steps = tuned.build_algo(), time.perf_counter(), float("-inf"), 0.0
    while reached < -250 and time.perf_counter() - began < seconds:
        result = algorithm.train()
        mean, steps = float(result["env_runners"].get("episode_return_mean", float("-inf"))), trained(result)
        reached = float("-inf") if math.isnan(mean) else mean  # until the first episode ends
    return {"seconds": time.perf_counter() - began, "return": reached, "steps": steps}


if __name__ == "__main__":
    what, number, limit = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    register_env("image-pong", pong)
    ray.init(num_cpus=4, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    print(json.dumps(learn(number, limit) if what == "learn" else speed(config(what, number), trained, limit)))

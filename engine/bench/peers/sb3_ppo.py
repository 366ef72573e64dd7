"""Stable-Baselines3's PPO on Pendulum: ``sb3_ppo.py speed ENVIRONMENTS SECONDS`` or ``learn SEED SECONDS``."""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import torch
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.evaluation import evaluate_policy

NETWORK = {"net_arch": [256, 128], "activation_fn": torch.nn.LeakyReLU}


class Clock(BaseCallback):
    """Counts steps after the first update, and ends in time."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.seconds = seconds
        self.marks: list[tuple[float, int]] = []

    def _on_rollout_start(self) -> None:
        self.marks.append((time.perf_counter(), self.num_timesteps))

    def _on_step(self) -> bool:
        return len(self.marks) < 3 or time.perf_counter() - self.marks[1][0] < self.seconds


def speed(environments: int, seconds: float) -> dict[str, Any]:
    """Steps/s that updates consumed: batch 8,192, one pass of one minibatch."""
    torch.set_num_threads(2)
    envs = make_vec_env("Pendulum-v1", environments)
    model = PPO("MlpPolicy", envs, n_steps=8192 // environments, batch_size=8192, n_epochs=1, policy_kwargs=NETWORK,
                device="cpu")  # fmt: skip
    clock = Clock(seconds)
    model.learn(10**9, clock)
    (began, first), (ended, last) = clock.marks[1], clock.marks[-1]
    return {"steps_per_second": (last - first) / (ended - began), "updates": len(clock.marks) - 2}


class Reached(BaseCallback):
    """Examines every 8,192 steps, off the clock."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.seconds, self.away, self.reached = seconds, 0.0, float("-inf")
        self.began, self.at, self.test = time.perf_counter(), 0.0, make_vec_env("Pendulum-v1", 8, seed=10_000)

    def _on_rollout_start(self) -> None:
        if self.num_timesteps % 8192 == 0 and self.num_timesteps:
            began = time.perf_counter()
            self.reached = float(evaluate_policy(self.model, self.test, 40)[0])
            self.away += time.perf_counter() - began
            self.at = time.perf_counter() - self.began - self.away

    def _on_step(self) -> bool:
        return self.reached < -250 and time.perf_counter() - self.began - self.away < self.seconds


def learn(seed: int, seconds: float) -> dict[str, Any]:
    """Seconds to -250 with RL Zoo's settings for Pendulum."""
    torch.set_num_threads(1)
    envs = make_vec_env("Pendulum-v1", 4, seed=seed)
    model = PPO("MlpPolicy", envs, n_steps=1024, gae_lambda=0.95, gamma=0.9, n_epochs=10, ent_coef=0.0,
                learning_rate=1e-3, clip_range=0.2, use_sde=True, sde_sample_freq=4, seed=seed,
                device="cpu")  # fmt: skip
    watch = Reached(seconds)
    model.learn(10**9, watch)
    return {"seconds": watch.at, "return": watch.reached, "steps": model.num_timesteps}


if __name__ == "__main__":
    print(json.dumps({"speed": speed, "learn": learn}[sys.argv[1]](int(sys.argv[2]), float(sys.argv[3]))))

"""RLlib's PPO with three policies on cooperative navigation: ``rllib_navigation.py ENVIRONMENTS SECONDS``, two runners.

Batches of 8,192 decisions of each policy, one pass, as ours.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

os.environ.setdefault("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
os.environ["PYTHONPATH"] = str(Path(__file__).parent)  # for Ray's workers
import gymnasium
import numpy as np
import ray
from navigation_list import ENTITIES, SEEN, NavigationList
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig
from ray.rllib.core.rl_module.multi_rl_module import MultiRLModuleSpec
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.env.multi_agent_env import MultiAgentEnv
from ray.tune.registry import register_env
from rllib_ppo import speed

BATCH = 8192
NAMES = [f"entity_{i}" for i in range(ENTITIES)]


class Covering(MultiAgentEnv):
    """One battle; each entity is an agent."""

    def __init__(self, given: Any = None) -> None:
        super().__init__()
        self.game, self.seeds = NavigationList(), np.random.default_rng(getattr(given, "worker_index", 0))
        self.agents = self.possible_agents = list(NAMES)
        seen, does = (gymnasium.spaces.Box(-1.0, 1.0, (n,), np.float32) for n in (SEEN, 2))
        self.observation_spaces, self.action_spaces = dict.fromkeys(NAMES, seen), dict.fromkeys(NAMES, does)

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        """As RLlib's."""
        seen = self.game.reset(int(self.seeds.integers(2**62)))
        return dict(zip(NAMES, seen, strict=True)), {}

    def step(self, action_dict: dict[str, Any]) -> Any:
        """As RLlib's."""
        seen, paid, over = self.game.step([action_dict[name] for name in NAMES])
        never, ended = dict.fromkeys([*NAMES, "__all__"], False), dict.fromkeys([*NAMES, "__all__"], over)
        return dict(zip(NAMES, seen, strict=True)), dict(zip(NAMES, paid, strict=True)), never, ended, {}


def config(environments: int) -> PPOConfig:
    """Each entity has a policy of its own."""
    network = DefaultModelConfig(fcnet_hiddens=[256, 128], fcnet_activation="LeakyReLU", vf_share_layers=True)
    modules = MultiRLModuleSpec(rl_module_specs={name: RLModuleSpec(model_config=network) for name in NAMES})
    return (
        PPOConfig()
        .environment("covering")
        .multi_agent(policies=set(NAMES), policy_mapping_fn=lambda agent, *_, **__: agent)
        .env_runners(num_env_runners=2, num_envs_per_env_runner=environments,
                     rollout_fragment_length=max(1, BATCH // (2 * environments)), sample_timeout_s=600)
        .learners(num_learners=0, num_gpus_per_learner=0)
        .training(train_batch_size_per_learner=BATCH, minibatch_size=BATCH, num_epochs=1, lr=3e-4)
        .rl_module(rl_module_spec=modules)
    )  # fmt: skip


def trained(result: dict[str, Any]) -> float:
    """Decisions of all entities so far: PPO learns from all it samples."""
    return float(sum(result["env_runners"]["num_agent_steps_sampled_lifetime"].values()))


if __name__ == "__main__":
    register_env("covering", Covering)
    ray.init(num_cpus=4, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    print(json.dumps(speed(config(int(sys.argv[1])), trained, float(sys.argv[2]))))

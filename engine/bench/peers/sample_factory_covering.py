"""Sample Factory's own training program with cooperative navigation, whose entities are its agents. A file of its own,
because its workers import the program they belong to."""

from __future__ import annotations

import sys
from typing import Any

import gymnasium
import numpy as np
from navigation_list import ENTITIES, SEEN, NavigationList
from sample_factory.cfg.arguments import parse_full_cfg, parse_sf_args
from sample_factory.envs.env_utils import register_env
from sample_factory.train import run_rl


class Covering(gymnasium.Env[Any, Any]):
    """One battle. Lists have an entry for each entity; an episode that ends begins anew at once."""

    num_agents, is_multiagent = ENTITIES, True

    def __init__(self, number: int) -> None:
        self.game, self.seeds, self.render_mode = NavigationList(), np.random.default_rng(number), None
        self.observation_space = gymnasium.spaces.Box(-1.0, 1.0, (SEEN,), np.float32)
        self.action_space = gymnasium.spaces.Box(-1.0, 1.0, (2,), np.float32)

    def reset(self, **_: Any) -> Any:
        """As Sample Factory's."""
        return self.game.reset(int(self.seeds.integers(2**62))), [{} for _ in range(ENTITIES)]

    def step(self, action: Any) -> Any:
        """As Sample Factory's."""
        seen, paid, over = self.game.step(np.stack(action))
        seen = self.reset()[0] if over else seen
        return seen, paid, [False] * ENTITIES, [over] * ENTITIES, [{} for _ in range(ENTITIES)]

    def render(self) -> None:
        """Nothing to see."""


def made(full_env_name: str, cfg: Any = None, env_config: Any = None, render_mode: Any = None) -> Covering:
    """A battle; their seeds differ."""
    return Covering(0 if env_config is None else int(env_config["env_id"]))


if __name__ == "__main__":
    register_env("covering", made)
    parser, _ = parse_sf_args(evaluation=False)
    sys.exit(run_rl(parse_full_cfg(parser)))

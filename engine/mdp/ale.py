"""Atari games through ALE's own C++ vector environment."""

from __future__ import annotations

from ale_py.vector_env import AtariVectorEnv
from gymnasium.vector import AutoresetMode

from engine.errors import ConfigError
from engine.mdp.gym import GymVectorEnv
from engine.text import figures

MOST = {"frame_skip": 100, "frames": 16}
"""Upper bounds of counts: a decision cannot be interrupted, so it must not take long."""


def atari(
    game: str,
    battles: int,
    *,
    frame_skip: int = 4,
    frames: int = 4,
    threads: int = 1,
    max_moments: int = 108_000,
    sticky: float = 0.0,
    clip_rewards: bool = False,
    noop_max: int = 30,
) -> GymVectorEnv:
    """``battles`` games of e.g. "pong": observation uint8[frames, 84, 84], oldest first, the game's minimal action set,
    the game's rewards unless clipped; an episode is truncated after ``max_moments`` of the console. ``sticky``:
    probability that an action is repeated. Every episode begins with up to ``noop_max`` idle moments; their number
    follows from the seed in a battle's first episode, later from the console's own generator. Raises ConfigError for
    counts beyond ``MOST``."""
    counts = {"frame_skip": frame_skip, "frames": frames}
    wrong = [(name, count) for name, count in counts.items() if not 1 <= count <= MOST[name]]
    if wrong:
        raise ConfigError((name, f"must be 1 to {MOST[name]}, not {figures(count)}") for name, count in wrong)
    env = AtariVectorEnv(
        game, battles, num_threads=threads, max_num_frames_per_episode=max_moments, repeat_action_probability=sticky,
        autoreset_mode=AutoresetMode.SAME_STEP, stack_num=frames, frameskip=frame_skip, noop_max=noop_max,
        reward_clipping=clip_rewards,
    )  # fmt: skip
    return GymVectorEnv(env, label=f"ALE {game}", max_ticks=-(-max_moments // frame_skip))

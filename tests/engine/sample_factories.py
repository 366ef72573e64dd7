"""What designers' functions return, right and wrong: factories of ``python:`` games for tests."""

from __future__ import annotations

from typing import Any

import gymnasium
from gymnasium.vector import AutoresetMode, SyncVectorEnv

ONLY = gymnasium.make("CartPole-v1")


def single() -> gymnasium.Env[Any, Any]:
    return gymnasium.make("CartPole-v1", max_episode_steps=30)


def vector(num_envs: int) -> SyncVectorEnv:
    return SyncVectorEnv([single] * num_envs, autoreset_mode=AutoresetMode.SAME_STEP)


def fixed() -> SyncVectorEnv:
    return vector(3)


def shared() -> gymnasium.Env[Any, Any]:
    return ONLY


def nothing() -> None:
    return None


def number() -> int:
    return 7


def raising() -> None:
    raise RuntimeError("the licence has run out")


class Half:
    """A simulator of lineups that lacks methods."""

    def describe(self) -> None: ...

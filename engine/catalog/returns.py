"""Between what the return of an episode lies, in games whose rules say so.

A mean of episodes has a 95 % range that holds for any returns only between such ends. They are of the undiscounted sum
of rewards; a game that is not here, or settings that change its rewards, have none.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from engine.config.agent_games import PongSettings


class Reach(NamedTuple):
    """``least`` and ``most``: of a reward at one decision; ``once`` and ``lost``: what an episode adds and takes beside
    that at most. ``settings``: those that leave the rewards as they are."""

    least: float
    most: float
    once: float = 0.0
    lost: float = 0.0
    settings: tuple[str, ...] = ()


_SWING = -(math.pi**2 + 0.1 * 8**2 + 0.001 * 2**2)
"""Hanging down, at the highest speed, with the greatest torque."""
REACHES: Mapping[str, Reach] = {
    "Pendulum-v1": Reach(_SWING, 0.0, settings=("g",)),
    "MountainCarContinuous-v0": Reach(-0.1, 0.0, 100.0, settings=("goal_velocity",)),
    "CartPole-v1": Reach(0.0, 1.0),
    "InvertedPendulum-v5": Reach(0.0, 1.0, settings=("reset_noise_scale",)),
}
"""By the id of an environment of Gymnasium."""
_PONGS = ("pong", "vector-pong", "image-pong", "pong-two-seats")
"""Points won less points lost, until somebody has them all."""
_LIMIT = "max_episode_steps"
_SHORT = {"cartpole": "CartPole-v1", "pendulum": "Pendulum-v1"}


def ends_of_returns(game: str, settings: Mapping[str, Any], longest: int) -> tuple[float, float]:
    """The lowest and the highest return of an episode of ``longest`` decisions at most; infinite where nothing says
    how far it goes."""
    known = reach_of(game, settings)
    if known is None:
        return -math.inf, math.inf
    return longest * known.least - known.lost, longest * known.most + known.once


def weighted_ends(game: str, settings: Mapping[str, Any], longest: int, weight: float) -> tuple[float, float]:
    """The same of returns that a learner multiplies by ``weight``."""
    low, high = ends_of_returns(game, settings, longest)
    if not math.isfinite(high - low):
        return low, high
    return min(weight * low, weight * high), max(weight * low, weight * high)


def reach_of(game: str, settings: Mapping[str, Any]) -> Reach | None:
    """What is known of the rewards of a game, which a study calls so; None where nothing is."""
    kind, _, name = game.strip().rpartition(":")
    if kind in ("", "builtin") and name in _PONGS:
        points = float(settings.get("points", PongSettings().points))
        sums = list(settings.get("rewards", PongSettings().rewards)) == ["score"]
        return Reach(0.0, 0.0, points, points) if sums else None
    if not kind and name in _SHORT:
        kind, name = "gym", _SHORT[name]
    found = REACHES.get(name) if kind in ("gym", "gymnasium") else None
    return found if found and not settings.keys() - {*found.settings, _LIMIT} else None

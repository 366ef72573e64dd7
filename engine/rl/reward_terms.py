"""Terms of a game's named rewards: each has its own discount, trace and weight, or those of the algorithm."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.config.rl import ActorCriticConfig, LearnerConfig
from engine.errors import ConfigError
from engine.mdp.interface import SeatSpec, members_of

F32 = NDArray[np.float32]


class Terms(NamedTuple):
    """Discount, trace and weight of each named reward, float32[R]."""

    gamma: F32
    lam: F32
    weight: F32


def called(seat: SeatSpec) -> tuple[str, ...]:
    """What the game calls a seat's rewards: names without the numbers of a group's members."""
    own = tuple(name for member in members_of(seat) for name in member.rewards)
    return own if len(own) == len(seat.rewards) else seat.rewards


def terms(config: LearnerConfig, names: tuple[str, ...]) -> Terms:
    """The named rewards' own terms, or else the algorithm's. Raises ConfigError for a reward that the game does not
    have."""
    if unknown := sorted(config.rewards.keys() - set(names)):
        there = ", ".join(dict.fromkeys(names))
        raise ConfigError([(f"rewards.{name}", f"the game gives no such reward; it gives {there}") for name in unknown])
    own = [config.rewards.get(name) for name in names]

    def column(field: str, otherwise: float) -> F32:
        found = [getattr(reward, field) if reward else None for reward in own]
        return np.array([otherwise if value is None else value for value in found], dtype=np.float32)

    trace = config.trace if isinstance(config, ActorCriticConfig) else 1.0
    return Terms(column("discount", config.discount), column("trace", trace), column("weight", 1.0))

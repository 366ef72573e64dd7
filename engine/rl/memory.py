"""Whether a learner's replay and its minibatches fit into the memory of this machine, before anything is played."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from engine import machine
from engine.config.rl import AnyLearner, ReplayedConfig
from engine.errors import ConfigError
from engine.mdp.interface import SeatSpec

NUMBERS = 4
"""Bytes of a float32."""
_GB = 1e9


def check_memory(config: AnyLearner, seat: SeatSpec, replays: int = 1) -> None:
    """Raise ConfigError where its replays together, or one minibatch, would take more than all memory of this
    machine."""
    if isinstance(config, ReplayedConfig) and (wrong := [*_too_large(config, seat, replays)]):
        raise ConfigError(wrong)


def transition_bytes(seat: SeatSpec) -> int:
    """The bytes of a transition's two observations, its reward and its factor; what was done comes on top."""
    seen = sum(math.prod(each.shape) * np.dtype(each.dtype).itemsize for each in seat.observations)
    return 2 * (seen + NUMBERS)


def _too_large(config: ReplayedConfig, seat: SeatSpec, replays: int) -> Iterator[tuple[str, str]]:
    there, each = machine.memory(), transition_bytes(seat)
    learned = each + NUMBERS * _widest(config)
    for place, count, size in (("capacity", config.capacity, replays * each), ("minibatch", config.minibatch, learned)):
        if count * size > there:
            of = f" for each of {replays} tasks" if place == "capacity" and replays > 1 else ""
            why = f"{count:,} decisions{of} take at least {count * size / _GB:,.1f} GB of memory, and this machine has"
            yield place, f"{why} {there / _GB:,.1f}: {there // size:,} are the most that could fit"


def _widest(config: ReplayedConfig) -> int:
    """Units of all layers of one network: the learner keeps what each gave for a whole minibatch."""
    return max(sum(config.network.policy), sum(config.network.critic))

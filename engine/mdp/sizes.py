"""Size limits of a game for agents: larger descriptions are refused at the handshake, before anything else reads them,
because no message could carry them and no agent could be made for them. Real games stay far below."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from engine.mdp.interface import ActionSpec, Hybrid, MDPSpec

MOST_SEATS, MOST_STARTS, MOST_PARTS = 1_000, 40, 100
MOST_OF_A_SEAT = {"observations": 100, "rewards": 100, "signals": 500}
MOST_CHOICES = 100_000
"""Largest number of alternatives and parameters of one action."""
MOST_BYTES = 32 * 2**20
"""Largest size of one observation."""


def too_large(spec: MDPSpec) -> Iterator[str]:
    """The limits that a game exceeds, as sentences."""
    yield from longer(spec, {"seats": MOST_SEATS, "starts": MOST_STARTS}, "spec")
    for i, seat in enumerate(spec.seats[:MOST_SEATS]):
        place = f"spec.seats[{i}]"
        yield from longer(seat, MOST_OF_A_SEAT, place)
        for j, seen in enumerate(seat.observations[: MOST_OF_A_SEAT["observations"]]):
            size = math.prod(seen.shape) * np.dtype(seen.dtype).itemsize
            if size > MOST_BYTES:
                yield f"{place}.observations[{j}] takes {size:,} bytes; {MOST_BYTES:,} is the most"
        yield from _action(seat.action, f"{place}.action")


def longer(part: Any, most: Mapping[str, int], place: str) -> Iterator[str]:
    """The lists in a part of a description with more entries than ``most`` allows for their names."""
    for name, limit in most.items():
        if (many := len(getattr(part, name))) > limit:
            yield f"{place}.{name} has {many:,} entries; {limit:,} is the most"


def _action(action: ActionSpec, place: str) -> Iterator[str]:
    if isinstance(action, Hybrid):
        yield from longer(action, {"parts": MOST_PARTS}, place)
    parts = action.parts[:MOST_PARTS] if isinstance(action, Hybrid) else (action,)
    numbers = sum(_numbers(part) for part in parts)
    if numbers > MOST_CHOICES:
        yield f"{place} has {numbers:,} alternatives and numbers; {MOST_CHOICES:,} is the most"


def _numbers(part: Any) -> int:
    return int(sum(part.choices) + math.prod(getattr(part, "shape", (0,))) + sum(getattr(part, "sizes", ())))

"""Our specs as Gymnasium's spaces: the inverse of ``engine.mdp.spaces``."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces

from engine.mdp.interface import (
    ActionSpec,
    Array,
    ArraySpec,
    Continuous,
    Discrete,
    Observations,
    Parameterised,
    SeatSpec,
)

BARE = "observation"
"""The name of an array that is an observation by itself."""


def observation_space(seat: SeatSpec) -> spaces.Space[Any]:
    """What a seat observes: a box, or a dictionary of boxes by name."""
    boxes: OrderedDict[str, spaces.Space[Any]] = OrderedDict(
        (array.name, _box(array)) for array in seat.observations
    )  # of others a Dict sorts the keys
    return boxes[BARE] if list(boxes) == [BARE] else spaces.Dict(boxes)


def _box(array: ArraySpec) -> spaces.Box:
    dtype = np.dtype(array.dtype)
    low, high = (0, 255) if dtype == np.uint8 else (-np.inf, np.inf)
    return spaces.Box(
        low if array.low is None else array.low, high if array.high is None else array.high, array.shape,
        dtype.type,
    )  # fmt: skip


def observation(seat: SeatSpec, seen: Observations, battle: int) -> Any:
    """What a seat observes in one battle, as a value of its space; a copy."""
    found = {array.name: seen[array.name][battle].copy() for array in seat.observations}
    return found[BARE] if list(found) == [BARE] else found


def action_space(action: ActionSpec) -> spaces.Space[Any]:
    """The actions of a seat. Of several parts it is a dictionary, of a choice with numbers of its own a tuple."""
    if isinstance(action, Discrete):
        return spaces.Discrete(action.n)
    if isinstance(action, Continuous):
        low, high = (bound.reshape(action.shape) for bound in action.bounds)
        return spaces.Box(low, high, dtype=np.float32)
    if isinstance(action, Parameterised):
        low, high = action.bounds
        ends = np.cumsum(action.sizes)[:-1]
        boxes = [spaces.Box(a, b, dtype=np.float32)
                 for a, b in zip(np.split(low, ends), np.split(high, ends), strict=True)]  # fmt: skip
        return spaces.Tuple((spaces.Discrete(len(boxes)), spaces.Tuple(boxes)))
    return spaces.Dict({_part(i): action_space(part) for i, part in enumerate(action.parts)})


def _part(i: int) -> str:
    return f"part {i:03}"


def row(action: ActionSpec, value: Any) -> Array:
    """A value of its space as the actions of one battle, [1, …]."""
    if isinstance(action, Discrete | Continuous):
        return np.asarray(value, action.dtype).reshape(1, *action.row)
    if isinstance(action, Parameterised):
        choice, numbers = value
        return _joined([[choice]], numbers)
    parts = [value[_part(i)] for i in range(len(action.parts))] if isinstance(value, Mapping) else list(value)
    choices = [one for one, part in zip(parts, action.parts, strict=True) if isinstance(part, Discrete)]
    numbers = [one for one, part in zip(parts, action.parts, strict=True) if not isinstance(part, Discrete)]
    return _joined([choices], numbers)


def _joined(choices: Sequence[Any], numbers: Sequence[Any]) -> Array:
    flat = [np.asarray(part, np.float32).reshape(-1) for part in (*choices, *numbers)]
    return np.concatenate(flat).reshape(1, -1)

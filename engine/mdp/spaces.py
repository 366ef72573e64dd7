"""Gymnasium's spaces as our specs, and the conversion of values between them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from gymnasium import spaces

from engine.errors import ConfigError, SimulatorError
from engine.mdp.interface import (
    ActionSpec,
    Array,
    ArraySpec,
    Continuous,
    Discrete,
    Hybrid,
    Observations,
    Parameterised,
)  # fmt: skip
from engine.text import written


class Leaf(NamedTuple):
    """One array of an observation: its spec, its path in the observation, and its conversion to numbers."""

    spec: ArraySpec
    path: tuple[Any, ...]
    numbers: Callable[[Any], Array]


def observation_leaves(space: spaces.Space[Any], where: str) -> tuple[Leaf, ...]:
    """The arrays for an observation of this space. Boxes keep their shape (uint8 stays, everything else becomes
    float32), choices become one-hot vectors, dictionaries and tuples are flattened; a bare space is named
    "observation". Raises ConfigError for any other space."""
    if isinstance(space, spaces.Dict | spaces.Tuple):
        children = space.spaces.items() if isinstance(space, spaces.Dict) else enumerate(space.spaces)
        found = []
        for key, child in children:
            for leaf in observation_leaves(child, where):
                name = str(key) if leaf.spec.name == "observation" else f"{key}.{leaf.spec.name}"
                spec = ArraySpec(name, leaf.spec.shape, leaf.spec.dtype, leaf.spec.low, leaf.spec.high)
                found.append(Leaf(spec, (key, *leaf.path), leaf.numbers))
        return tuple(found)
    return (_leaf(space, where),)


def _leaf(space: spaces.Space[Any], where: str) -> Leaf:
    if isinstance(space, spaces.Box):
        kind, low, high = ("uint8" if space.dtype == np.uint8 else "float32"), float(space.low.min()), space.high.max()
        spec = ArraySpec("observation", space.shape, kind, _finite(low), _finite(float(high)))  # type: ignore[arg-type]
        return Leaf(spec, (), _as_is(spec))
    if isinstance(space, spaces.Discrete):
        start, n = int(space.start), int(space.n)
        return Leaf(ArraySpec("observation", (n,), "float32", 0, 1), (), lambda x: _one_hot([x - start], [n]))
    if isinstance(space, spaces.MultiDiscrete):
        sizes = space.nvec.reshape(-1).tolist()
        spec = ArraySpec("observation", (sum(sizes),), "float32", 0, 1)
        return Leaf(spec, (), lambda x: _one_hot(np.reshape(x - space.start, -1).tolist(), sizes))
    if isinstance(space, spaces.MultiBinary):
        spec = ArraySpec("observation", space.shape, "float32", 0, 1)
        return Leaf(spec, (), _as_is(spec))
    raise ConfigError(
        [(where, f"observations of {space} cannot be used; boxes, choices, and dictionaries of them can")]
    )


def _finite(bound: float) -> float | None:
    return bound if np.isfinite(bound) else None


def _as_is(spec: ArraySpec) -> Callable[[Any], Array]:
    dtype = np.dtype(spec.dtype)

    def numbers(value: Any) -> Array:
        array = np.asarray(value)
        if array.shape != spec.shape:
            raise SimulatorError(
                f"observation {spec.name!r} has shape {list(array.shape)}; it must be {list(spec.shape)}"
            )
        return array.astype(dtype, copy=False)

    return numbers


def _one_hot(values: list[int], sizes: list[int]) -> Array:
    out = np.zeros(sum(sizes), np.float32)
    start = 0
    for value, size in zip(values, sizes, strict=True):
        if not 0 <= value < size:
            raise SimulatorError(f"an observed choice is {written(value, '')}; the choices are 0 to {size - 1}")
        out[start + value] = 1.0
        start += size
    return out


def read(leaves: tuple[Leaf, ...], observation: Any) -> Observations:
    """One observation as arrays by name. Raises SimulatorError for one of a wrong shape."""
    found = {}
    for leaf in leaves:
        value = observation
        for key in leaf.path:
            value = value[key]
        found[leaf.spec.name] = leaf.numbers(value)
    return found


class Actions(NamedTuple):
    """An action space: its spec, and the conversion of rows of n actions to n values for the environment."""

    spec: ActionSpec
    values: Callable[[Array], list[Any]]


def actions(space: spaces.Space[Any], where: str) -> Actions:
    """The action spec of this space. Discrete and Box become Discrete and Continuous; MultiDiscrete, MultiBinary, and a
    Tuple or Dict of Discrete and Box become Hybrid; a Tuple of a Discrete(k) and k boxes, bare or in a Tuple, becomes
    Parameterised. Raises ConfigError for anything else, and for boxes without finite bounds."""
    if isinstance(space, spaces.Discrete):
        start = int(space.start)
        return Actions(Discrete(int(space.n)), lambda rows: (rows + start).tolist() if start else rows.tolist())
    if isinstance(space, spaces.Box):
        spec = _continuous(space, where)
        low, high = (bound.reshape(space.shape) for bound in spec.bounds)
        dtype = space.dtype

        def values(rows: Array) -> list[Any]:
            shaped = rows.reshape(-1, *space.shape)
            # np.clip does the same at three times the cost of these two
            return list(np.minimum(np.maximum(shaped, low), high).astype(dtype, copy=False))

        return Actions(spec, values)
    if isinstance(space, spaces.MultiDiscrete):
        sizes = space.nvec.reshape(-1).tolist()
        return Actions(
            Hybrid(tuple(Discrete(k) for k in sizes)),
            lambda rows: list(rows.reshape(-1, *space.shape).astype(np.int64) + space.start),
        )
    if isinstance(space, spaces.MultiBinary):
        parts = (Discrete(2),) * int(np.prod(space.shape))
        return Actions(Hybrid(parts), lambda rows: list(rows.reshape(-1, *space.shape).astype(np.int8)))
    if isinstance(space, spaces.Tuple | spaces.Dict):
        boxes = _own_boxes(space)
        return _parameterised(space, boxes, where) if boxes else _hybrid(space, where)
    raise ConfigError([(where, f"actions of {space} cannot be used; choices, boxes, and combinations of them can")])


def _continuous(space: spaces.Box, where: str) -> Continuous:
    if not (np.isfinite(space.low).all() and np.isfinite(space.high).all()):
        raise ConfigError([(where, f"actions of {space} have no bounds; wrap the environment with RescaleAction")])
    low, high = space.low.reshape(-1).tolist(), space.high.reshape(-1).tolist()
    return Continuous(tuple(low), tuple(high), space.shape)


def _own_boxes(space: spaces.Tuple[Any] | spaces.Dict) -> list[spaces.Box]:
    """The k boxes of a Discrete(k) and k boxes, bare or in a Tuple; empty for any other combination."""
    if isinstance(space, spaces.Dict) or not space.spaces or not isinstance(space.spaces[0], spaces.Discrete):
        return []
    second = space.spaces[1] if len(space.spaces) == 2 else None
    rest = second.spaces if isinstance(second, spaces.Tuple) else space.spaces[1:]
    boxes = [box for box in rest if isinstance(box, spaces.Box)]
    return boxes if len(boxes) == len(rest) == int(space.spaces[0].n) > 1 else []


def _parameterised(space: spaces.Tuple[Any] | spaces.Dict, boxes: list[spaces.Box], where: str) -> Actions:
    nested = len(space.spaces) == 2
    parts = [_continuous(box, where) for box in boxes]
    sizes = tuple(len(part.low) for part in parts)
    low, high = sum((p.low for p in parts), ()), sum((p.high for p in parts), ())
    spec = Parameterised(sizes, low, high)

    def values(rows: Array) -> list[Any]:
        clipped = np.clip(rows[:, 1:], *spec.bounds)
        found = []
        for row, parameters in zip(rows, clipped, strict=True):
            split = np.split(parameters, np.cumsum(sizes)[:-1])
            own = tuple(p.reshape(box.shape) for p, box in zip(split, boxes, strict=True))
            found.append((int(row[0]), own) if nested else (int(row[0]), *own))
        return found

    return Actions(spec, values)


def _hybrid(space: spaces.Tuple[Any] | spaces.Dict, where: str) -> Actions:
    named = list(space.spaces.items()) if isinstance(space, spaces.Dict) else list(enumerate(space.spaces))
    parts = [actions(child, f"{where}.{key}") for key, child in named]
    specs = [part.spec for part in parts]
    if not all(isinstance(spec, Discrete | Continuous) for spec in specs):
        raise ConfigError([(where, f"actions of {space} cannot be used: only choices and boxes can be combined")])
    spec = Hybrid(tuple(s for s in specs if isinstance(s, Discrete | Continuous)))

    def values(rows: Array) -> list[Any]:
        choice, parameter = 0, len(spec.choices)
        columns = []
        for part in parts:
            if isinstance(part.spec, Discrete):
                columns.append(part.values(rows[:, choice].astype(np.int64)))
                choice += 1
            else:
                width = len(part.spec.bounds[0])
                columns.append(part.values(rows[:, parameter : parameter + width]))
                parameter += width
        keys = [key for key, _ in named]
        joined = zip(*columns, strict=True)
        return [dict(zip(keys, row, strict=True)) if isinstance(space, spaces.Dict) else tuple(row) for row in joined]

    return Actions(spec, values)

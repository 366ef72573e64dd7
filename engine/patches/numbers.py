"""The numbers of a game that a search may change, each with how far and in which steps."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from engine.config.patch import PatchConfig
from engine.simulators.contract import GameSpec, Parameter, Piece

COST = "cost"
STEPS = 100
"""A number has about so many values within its reach, at most."""
NICE = (1.0, 2.0, 5.0)
DIGITS = 9


class Number(NamedTuple):
    """A number of a piece: ``name`` is the id of its attribute, or cost. ``least`` and ``most`` are how many ``step`` s
    it may go down (below 0) and up; ``range``: what a change is measured by, the game's own range as far as pieces of
    the kind come near it."""

    path: str
    piece: int
    name: str
    title: str
    unit: str
    value: float
    step: float
    least: int
    most: int
    range: float

    def at(self, level: int) -> float:
        """Its value so many steps away."""
        return round(self.value + level * self.step, DIGITS)

    @property
    def reach(self) -> float:
        """The farthest that it may go, either way."""
        return self.step * max(-self.least, self.most, 1)


def numbers(spec: GameSpec, config: PatchConfig, pieces: Iterable[int]) -> list[Number]:
    """Those of some pieces that may change: what a piece makes no use of (0) stays so."""
    tunables, found = spec.tunables(), list[Number]()
    for i in pieces:
        piece = spec.pieces[i]
        if piece.id in config.fixed or (config.categories and piece.category not in config.categories):
            continue
        names = [*((COST,) if "cost" in config.may else ()), *(piece.attributes if "attributes" in config.may else ())]
        for name in names:
            parameter = tunables[f"{piece.id}.{name}"]
            if parameter.default and (number := _number(spec, i, name, parameter, config.largest)):
                found.append(number)
    return found


def _number(spec: GameSpec, i: int, name: str, parameter: Parameter, largest: float) -> Number | None:
    """None where it cannot move."""
    piece, value = spec.pieces[i], parameter.default
    kind = [_value(p, name) for p in spec.pieces if p.category == piece.category]
    far = 2 * max(map(abs, kind))
    width = min(parameter.high, far) - max(parameter.low, -far)
    half = largest * width
    if name != COST:
        half = min(half, largest * abs(value))
    if half <= 0:
        return None
    step = max(_grid(kind), _nice(half / STEPS))
    least = -math.floor((value - max(value - half, parameter.low)) / step + 1e-9)
    most = math.floor((min(value + half, parameter.high) - value) / step + 1e-9)
    if least == most:
        return None
    title = parameter.title.removeprefix(f"{piece.name}: ")
    return Number(parameter.path, i, name, title, parameter.unit, value, step, least, most, width)


def _value(piece: Piece, name: str) -> float:
    return piece.cost if name == COST else piece.attributes.get(name, 0.0)


def _nice(size: float) -> float:
    """The smallest of 1, 2, 5, 10, 20 ... (or 0.5, 0.2 ...) that is no smaller."""
    ten = 10.0 ** math.floor(math.log10(size))
    return next(each * ten for each in (*NICE, 10.0) if each * ten >= size * (1 - 1e-9))


def _grid(values: Iterable[float]) -> float:
    """The coarsest nice step that all ``values`` lie on, from a thousandth to a thousand."""
    every = np.array(list(values))
    for exponent in range(3, -4, -1):
        for each in reversed(NICE):
            step = each * 10.0**exponent
            if np.allclose(every / step, np.round(every / step), atol=1e-6, rtol=0):
                return step
    return 0.001

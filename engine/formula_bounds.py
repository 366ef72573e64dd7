"""Bounds of a formula's value from the bounds of its variables: interval arithmetic over a checked formula.

Bounds are sound, not tight: a variable that occurs twice is treated as two independent ones (Moore 1966).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.formula import read
from engine.formula_functions import PICKERS

Array = NDArray[np.float64]


class Span(NamedTuple):
    """Lowest and highest value: [..., teams] for one number a team, [..., 1] for one number a lineup."""

    low: Array
    high: Array


def bounds(text: str, spans: Mapping[str, Span]) -> Span:
    """Bounds of the formula's value, [...] each, infinite where there is none; ``spans`` holds those of its variables.
    ``text`` must be one that ``formula.parse`` accepts."""
    low, high = bounds_of(read(text), spans)
    return Span(low[..., 0], high[..., 0])


def bounds_of(node: ast.expr, spans: Mapping[str, Span]) -> Span:
    """The same for a part of such a formula, [..., teams] or [..., 1]."""
    with np.errstate(all="ignore"):
        found = _span(node, spans)
    low, high = np.broadcast_arrays(*(np.asarray(end, dtype=float) for end in found))
    return Span(np.where(np.isnan(low), -np.inf, low), np.where(np.isnan(high), np.inf, high))


def _span(node: ast.expr, spans: Mapping[str, Span]) -> Span:
    if isinstance(node, ast.Constant):
        value = np.full(1, float(node.value))  # type: ignore[arg-type]
        return Span(value, value)
    if isinstance(node, ast.Name):
        return spans[node.id]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        inner = _span(node.operand, spans)
        return Span(-inner.high, -inner.low) if isinstance(node.op, ast.USub) else inner
    if isinstance(node, ast.BinOp):
        return _binary(node, spans)
    if isinstance(node, ast.IfExp):
        return _either(*(_span(part, spans) for part in (node.test, node.body, node.orelse)))
    if isinstance(node, ast.Call):
        return _call(node, spans)
    return _logic(node, spans)


def _logic(node: ast.expr, spans: Mapping[str, Span]) -> Span:
    """[0, 0] where it is certainly false, [1, 1] where it is certainly true, otherwise [0, 1]."""
    if isinstance(node, ast.UnaryOp):
        inner = _truth(_span(node.operand, spans))
        return Span(1 - inner.high, 1 - inner.low)
    if isinstance(node, ast.BoolOp):
        lows, highs = _ends([_truth(_span(value, spans)) for value in node.values])
        join = np.minimum.reduce if isinstance(node.op, ast.And) else np.maximum.reduce
        return Span(join(lows), join(highs))
    assert isinstance(node, ast.Compare)
    terms = [_span(term, spans) for term in (node.left, *node.comparators)]
    lows, highs = _ends([_compared(op, a, b) for op, a, b in zip(node.ops, terms, terms[1:], strict=False)])
    return Span(np.minimum.reduce(lows), np.minimum.reduce(highs))


def _compared(op: ast.cmpop, a: Span, b: Span) -> Span:
    if isinstance(op, ast.Gt | ast.GtE):
        a, b = b, a
    if isinstance(op, ast.Eq | ast.NotEq):
        apart, same = (a.high < b.low) | (b.high < a.low), (a.low == b.high) & (a.high == b.low)
        never, always = (apart, same) if isinstance(op, ast.Eq) else (same, apart)
    elif isinstance(op, ast.Lt | ast.Gt):
        never, always = a.low >= b.high, a.high < b.low
    else:
        never, always = a.low > b.high, a.high <= b.low
    return Span(np.asarray(always, dtype=np.float64), np.asarray(~never, dtype=np.float64))


def _truth(a: Span) -> Span:
    """Whether it is nonzero, as ``_logic``."""
    sure, never = (a.low > 0) | (a.high < 0), (a.low == 0) & (a.high == 0)
    return Span(np.asarray(sure, dtype=np.float64), np.asarray(~never, dtype=np.float64))


def _either(test: Span, then: Span, other: Span) -> Span:
    sure, both = _truth(test), _hull([then, other])
    true, false = sure.low == 1, sure.high == 0
    ends = zip(then, other, both, strict=True)
    low, high = (np.asarray(np.where(true, a, np.where(false, b, c)), dtype=float) for a, b, c in ends)
    return Span(low, high)


_ANYTHING = Span(np.full(1, -np.inf), np.full(1, np.inf))


def _ends(spans: list[Span]) -> tuple[list[Array], list[Array]]:
    """All lows and all highs, of one shape."""
    lows, highs = (list(np.broadcast_arrays(*ends)) for ends in zip(*spans, strict=True))
    return lows, highs


def _hull(spans: list[Span]) -> Span:
    lows, highs = _ends(spans)
    return Span(np.minimum.reduce(lows), np.maximum.reduce(highs))


def _binary(node: ast.BinOp, spans: Mapping[str, Span]) -> Span:
    a = _span(node.left, spans)
    if isinstance(node.op, ast.Pow):
        return _power(a, float(ast.literal_eval(node.right)))
    b = _span(node.right, spans)
    if isinstance(node.op, ast.Add):
        return Span(a.low + b.low, a.high + b.high)
    if isinstance(node.op, ast.Sub):
        return Span(a.low - b.high, a.high - b.low)
    if isinstance(node.op, ast.Mult):
        return _product(a, b)
    if isinstance(node.op, ast.Div):
        crosses = (b.low <= 0) & (b.high >= 0)
        found = _product(a, Span(1 / b.high, 1 / b.low))
        return Span(np.where(crosses, -np.inf, found.low), np.where(crosses, np.inf, found.high))
    return _ANYTHING


def _product(a: Span, b: Span) -> Span:
    corners = np.broadcast_arrays(*(np.nan_to_num(x * y, posinf=np.inf, neginf=-np.inf) for x in a for y in b))
    return Span(np.minimum.reduce(corners), np.maximum.reduce(corners))


def _power(a: Span, power: float) -> Span:
    if power < 0:
        return _hull([_ANYTHING, a])
    ends = Span(a.low**power, a.high**power)
    if power % 2 == 0:
        lowest = np.where((a.low < 0) & (a.high > 0), 0.0, np.minimum(*ends))
        return Span(lowest, np.maximum(*ends))
    return ends


def _call(node: ast.Call, spans: Mapping[str, Span]) -> Span:
    assert isinstance(node.func, ast.Name)
    name, given = node.func.id, [_span(argument, spans) for argument in node.args]
    if len(given) == 1 and (name in _REDUCERS or name in PICKERS):
        low, high = _REDUCERS.get(name, (np.min, np.max))
        return Span(low(given[0].low, axis=-1, keepdims=True), high(given[0].high, axis=-1, keepdims=True))
    if name == "where":
        return _either(*given)
    if name == "abs":
        a = given[0]
        least = np.where((a.low < 0) & (a.high > 0), 0.0, np.minimum(np.abs(a.low), np.abs(a.high)))
        return Span(least, np.maximum(np.abs(a.low), np.abs(a.high)))
    rising = _RISING[name]
    lows, highs = (list(ends) for ends in zip(*given, strict=True))
    return Span(rising(*lows), rising(*highs))


_REDUCERS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "mean": (np.mean, np.mean),
    "sum": (np.sum, np.sum),
    "max": (np.max, np.max),
    "min": (np.min, np.min),
}
_RISING: dict[str, Callable[..., Any]] = {
    "max": lambda *x: np.maximum.reduce(np.broadcast_arrays(*x)),
    "min": lambda *x: np.minimum.reduce(np.broadcast_arrays(*x)),
    "clip": np.clip,
    "sqrt": lambda x: np.sqrt(np.maximum(x, 0.0)),
    "log1p": lambda x: np.log1p(np.maximum(x, -1.0)),
    "exp": np.exp,
}
"""Functions that increase in each of their arguments."""

"""Between what the value of a goal's formula must lie, from the declared ends of the measures in it."""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping

from engine.confidence import Range
from engine.errors import ConfigError
from engine.formula import read

ANYWHERE = Range(-math.inf, math.inf)


def reach_of(formula: str, ends: Mapping[str, tuple[float, float]]) -> Range:
    """The ends of a formula by interval arithmetic: never too narrow, and too wide where a measure comes up twice.
    ``ends``: those of measures, as formulas write their names. Infinite where a measure has none, or where the formula
    does more than add, subtract, multiply and divide by a number."""
    try:
        found = _reach(read(formula), ends)
    except (ConfigError, SyntaxError, ValueError, RecursionError):
        return ANYWHERE
    return found if math.isfinite(found.high - found.low) else ANYWHERE


def _reach(node: ast.expr, ends: Mapping[str, tuple[float, float]]) -> Range:
    match node:
        case ast.Constant(value=int() | float() as value):
            return Range(float(value), float(value))
        case ast.Name(id=name) if name in ends:
            return Range(*ends[name])
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            low, high = _reach(inner, ends)
            return Range(-high, -low)
        case ast.BinOp(left=left, op=operator, right=right):
            return _joined(_reach(left, ends), operator, _reach(right, ends))
    return ANYWHERE


def _joined(one: Range, operator: ast.operator, other: Range) -> Range:
    if not math.isfinite(one.high - one.low) or not math.isfinite(other.high - other.low):
        return ANYWHERE
    match operator:
        case ast.Add():
            return Range(one.low + other.low, one.high + other.high)
        case ast.Sub():
            return Range(one.low - other.high, one.high - other.low)
        case ast.Div() if other.low == other.high != 0:
            return _joined(one, ast.Mult(), Range(1 / other.low, 1 / other.low))
        case ast.Mult():
            corners = [a * b for a in one for b in other]
            return Range(min(corners), max(corners))
    return ANYWHERE

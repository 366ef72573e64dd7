"""What formulas can do, over numpy arrays: functions, operators, and what is refused by name."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]  # float or bool, [..., teams] or [..., 1]
Values = Mapping[str, Array]

STRONGEST, WEAKEST = "strongest team", "weakest team"
"""Keys of the values that hold each lineup's team index, int[..., 1]; no variable can have these names."""


def _mean(x: Array) -> Array:
    return np.asarray(x.mean(axis=-1, keepdims=True))


REDUCERS: dict[str, tuple[Callable[[Array], Array], str]] = {
    "mean": (_mean, "average over the teams"),
    "sum": (lambda x: x.sum(axis=-1, keepdims=True), "sum over the teams"),
    "max": (lambda x: x.max(axis=-1, keepdims=True), "largest of the teams; with several arguments, the largest"),
    "min": (lambda x: x.min(axis=-1, keepdims=True), "smallest of the teams; with several arguments, the smallest"),
}
PICKERS = {"strongest": (STRONGEST, "the strongest team's"), "weakest": (WEAKEST, "the weakest team's")}
FUNCTIONS: dict[str, tuple[Callable[..., Array], int, int, str]] = {
    "max": (lambda *x: np.maximum.reduce(np.broadcast_arrays(*x)), 2, 8, "largest of its arguments"),
    "min": (lambda *x: np.minimum.reduce(np.broadcast_arrays(*x)), 2, 8, "smallest of its arguments"),
    "abs": (np.abs, 1, 1, "without its sign"),
    "clip": (np.clip, 3, 3, "kept between a low and a high value"),
    "sqrt": (np.sqrt, 1, 1, "square root"),
    "log1p": (np.log1p, 1, 1, "logarithm of 1 + x"),
    "exp": (np.exp, 1, 1, "exponential"),
    "where": (np.where, 3, 3, "where(condition, then, else)"),
}
BINARY: dict[type[ast.operator], Callable[[Array, Array], Array]] = {
    ast.Add: np.add, ast.Sub: np.subtract, ast.Mult: np.multiply, ast.Div: np.divide, ast.Mod: np.mod,
    ast.Pow: np.power,
}  # fmt: skip
COMPARE: dict[type[ast.cmpop], Callable[[Array, Array], Array]] = {
    ast.Lt: np.less, ast.LtE: np.less_equal, ast.Gt: np.greater, ast.GtE: np.greater_equal, ast.Eq: np.equal,
    ast.NotEq: np.not_equal,
}  # fmt: skip
REFUSED: dict[type[ast.expr], str] = {
    ast.Attribute: "a dot",
    ast.Subscript: "square brackets",
    ast.Lambda: "lambda",
    ast.List: "a list",
    ast.Tuple: "a comma outside a function",
    ast.Dict: "curly brackets",
    ast.Set: "curly brackets",
    ast.JoinedStr: "text",
    ast.FormattedValue: "text",
    ast.ListComp: "a loop",
    ast.SetComp: "a loop",
    ast.DictComp: "a loop",
    ast.GeneratorExp: "a loop",
    ast.Slice: "a colon",
    ast.Await: "await",
    ast.Yield: "yield",
    ast.YieldFrom: "yield",
    ast.NamedExpr: ":=",
    ast.Starred: "*",
}
"""What people call what no formula may hold."""


def pick(x: Array, index: Array) -> Array:
    """The number of the team of this ``index`` int[..., 1], from one number a team."""
    shape = np.broadcast_shapes(x.shape[:-1], index.shape[:-1])
    return np.take_along_axis(np.broadcast_to(x, (*shape, x.shape[-1])), np.broadcast_to(index, (*shape, 1)), axis=-1)

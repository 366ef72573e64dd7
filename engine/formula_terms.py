"""A formula decomposed into its *terms*: weighted sums of battle results.

The strongest and the weakest team are chosen before the battles that are judged. So ``strongest(a) / max(weakest(b),
c)`` has three terms: two sums of battle results, and c. Every replicate has its own value of each term.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine import claims
from engine.claims import Curved, Expression, Sum
from engine.formula import CURVED, FIXED, Names, Part, part_of, read
from engine.formula_bounds import Span, bounds_of
from engine.formula_functions import PICKERS, REDUCERS

Floats = NDArray[np.float64]
_Which = int | str | None
"""Whose number: that of the team with this index, of the ``strongest`` or ``weakest`` team; None: of the lineup."""


class Term(NamedTuple):
    """A ``part`` of a formula for one team (``which``); ``name`` combines both."""

    name: str
    part: Part
    node: ast.expr
    which: _Which

    @property
    def fixed(self) -> bool:
        """Whether it does not depend on battles."""
        return self.part.degree == FIXED

    def of(self, values: Mapping[str, Any]) -> Floats:
        """One number a lineup, [...], from the variables [..., teams] or [..., 1]."""
        with np.errstate(all="ignore"):
            found = np.asarray(self.part.run(values), dtype=np.float64)
        if isinstance(self.which, str):
            at = np.asarray(values[PICKERS[self.which][0]])
            shape = np.broadcast_shapes(found.shape[:-1], at.shape[:-1])
            at, found = np.broadcast_to(at, (*shape, 1)), np.broadcast_to(found, (*shape, found.shape[-1]))
            return np.asarray(np.take_along_axis(found, at, axis=-1)[..., 0])
        return np.asarray(found[..., self.which or 0])

    def span(self, known: Mapping[str, Span]) -> Span:
        """Its bounds, [...], from those of its variables."""
        low, high = bounds_of(self.node, known)
        if isinstance(self.which, str):
            return Span(low.min(axis=-1), high.max(axis=-1))
        return Span(low[..., self.which or 0], high[..., self.which or 0])


class Apart:
    """A formula ``text`` that ``formula.parse`` accepts, decomposed for lineups of so many ``teams`` and clipped to
    ``low`` and ``high``: its ``terms``, and the ``whole`` as a formula of them."""

    def __init__(
        self, text: str, team: Names, lineup: Names, teams: int, low: float | None = None, high: float | None = None
    ) -> None:
        self.terms: list[Term] = []
        self._names, self._teams = (team, lineup), teams
        self._places: dict[str, int] = {}
        whole = self._spread(read(text), None)
        whole = whole if low is None else _called("max", whole, ast.Constant(low))
        self.whole = whole if high is None else _called("min", whole, ast.Constant(high))
        self._run = part_of(self.whole, frozenset(), {_symbol(i) for i in range(len(self.terms))}).run

    def value(self, terms: Floats) -> float:
        """The formula's value from its terms [k]."""
        with np.errstate(all="ignore"):
            return float(self._run({_symbol(i): np.full(1, x) for i, x in enumerate(terms.tolist())})[0])

    def ends(self, low: Floats, high: Floats) -> tuple[float, float]:
        """Bounds of its value while its terms lie within ``low`` and ``high`` [k]."""
        known = {_symbol(i): Span(np.full(1, a), np.full(1, b)) for i, (a, b) in enumerate(zip(low, high, strict=True))}
        found = bounds_of(self.whole, known)
        return float(found.low[0]), float(found.high[0])

    def expression(self, fixed: Floats, low: Floats, high: Floats) -> Expression | None:
        """The formula as an expression of its terms [k]; ``fixed`` [k] holds the values of those that do not depend on
        battles. None where weighted sums cannot express it."""
        shares = np.eye(len(self.terms))
        nothing = np.zeros(len(self.terms))
        terms: dict[str, Expression] = {
            _symbol(i): Sum(float(fixed[i]), nothing) if term.fixed else Sum(0.0, shares[i])
            for i, term in enumerate(self.terms)
        }
        try:
            return _Making(terms, nothing, low, high).of(self.whole)
        except Curved:
            return None

    def _spread(self, node: ast.expr, which: _Which) -> ast.expr:
        """The same formula with terms in place of variables."""
        if isinstance(node, ast.Constant):
            return node
        part = part_of(node, *self._names)
        if part.degree != CURVED:
            return self._term(part, node, which if part.team else None)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            return self._call(node.func.id, node.args, which)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
            return ast.BinOp(self._spread(node.left, which), node.op, node.right)
        return _operated(node, lambda operand: self._spread(operand, which))

    def _term(self, part: Part, node: ast.expr, which: _Which) -> ast.expr:
        text = ast.unparse(node)
        name = text if which is None else f"{text} of {which}"
        if name not in self._places:
            self._places[name] = len(self.terms)
            self.terms.append(Term(name, part, node, which))
        return ast.Name(_symbol(self._places[name]), ast.Load())

    def _call(self, name: str, given: Sequence[ast.expr], which: _Which) -> ast.expr:
        if len(given) == 1 and name in PICKERS:
            return self._spread(given[0], name)
        if len(given) > 1 or name not in REDUCERS:
            return _called(name, *(self._spread(argument, which) for argument in given))
        parts = [self._spread(given[0], t) for t in range(self._teams)]
        if name in ("max", "min"):
            return _called(name, *parts) if len(parts) > 1 else parts[0]
        total = parts[0]
        for part in parts[1:]:
            total = ast.BinOp(total, ast.Add(), part)
        return total if name == "sum" else ast.BinOp(total, ast.Div(), ast.Constant(len(parts)))


class Parts(NamedTuple):
    """The terms of one lineup's objective: ``values`` [samples, k] of each replicate, which lie within ``low`` and
    ``high`` [k]; the decomposed formula (``apart``); ``formula``: the objective as an expression of the terms' means
    (None: weighted sums cannot express it); ``boxes``: ranges of the objective computed so far, by error."""

    values: Floats
    low: Floats
    high: Floats
    apart: Apart
    formula: Expression | None
    boxes: dict[float, tuple[float, float]]

    @classmethod
    def make(cls, apart: Apart, values: Floats, low: Floats, high: Floats) -> Parts:
        """From the values of one lineup; terms that do not depend on battles are read from its first replicate."""
        fixed = np.array([term.fixed for term in apart.terms], dtype=bool)
        low, high = np.where(fixed, values[0], low), np.where(fixed, values[0], high)
        return cls(values, low, high, apart, apart.expression(values[0], low, high), {})

    @property
    def value(self) -> float:
        """The objective over all replicates."""
        return self.apart.value(self.values.mean(axis=0))

    @property
    def open_(self) -> list[int]:
        """Indices of the terms that depend on battles."""
        return [i for i, term in enumerate(self.apart.terms) if not term.fixed]

    def of(self, sum_: Sum) -> Floats:
        """The weighted sum of each replicate, [samples]."""
        return np.asarray(sum_.constant + self.values @ sum_.shares)

    def ends(self, sum_: Sum) -> tuple[float, float]:
        """Bounds of the weighted sum of any replicate."""
        return claims.ends(sum_, self.low, self.high)


class _Making:
    """Builds one lineup's expression; ``terms`` by name."""

    def __init__(self, terms: Mapping[str, Expression], nothing: Floats, low: Floats, high: Floats) -> None:
        self.terms, self.nothing, self.low, self.high = terms, nothing, low, high

    def of(self, node: ast.expr) -> Expression:
        if isinstance(node, ast.Name):
            return self.terms[node.id]
        if isinstance(node, ast.Constant):
            return Sum(float(node.value), self.nothing)  # type: ignore[arg-type]
        if isinstance(node, ast.BinOp):
            return self._binary(node.op, self.of(node.left), self.of(node.right))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
            return claims.scale(self.of(node.operand), -1.0 if isinstance(node.op, ast.USub) else 1.0)
        if isinstance(node, ast.IfExp):
            return self._either(node.test, node.body, node.orelse)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            return self._call(node.func.id, node.args)
        raise Curved

    def _binary(self, op: ast.operator, a: Expression, b: Expression) -> Expression:
        if isinstance(op, ast.Add):
            return claims.add(a, b)
        if isinstance(op, ast.Sub):
            return claims.add(a, claims.scale(b, -1.0))
        if isinstance(op, ast.Mult):
            return claims.times(a, b)
        if isinstance(op, ast.Div):
            return claims.divided(a, b, self.low, self.high)
        raise Curved

    def _either(self, test: ast.expr, then: ast.expr, other: ast.expr) -> Expression:
        found = self.of(test)
        if not isinstance(found, Sum) or not found.fixed:
            raise Curved
        return self.of(then if found.constant else other)

    def _call(self, name: str, given: Sequence[ast.expr]) -> Expression:
        if name == "where":
            return self._either(given[0], given[1], given[2])
        parts = [self.of(argument) for argument in given]
        if name in claims.RISING:
            return claims.Rising(parts[0], name, 1.0, 0.0)
        return _FUNCTIONS[name](*parts)


_FUNCTIONS: dict[str, Callable[..., Expression]] = {
    "max": lambda *parts: claims.most(parts),
    "min": lambda *parts: claims.least(parts),
    "abs": lambda part: claims.most([part, claims.scale(part, -1.0)]),
    "clip": lambda part, low, high: claims.least([claims.most([part, low]), high]),
}


def _operated(node: ast.expr, change: Callable[[ast.expr], ast.expr]) -> ast.expr:
    """A copy of an operator with other operands."""

    def changed(value: Any) -> Any:
        return change(value) if isinstance(value, ast.expr) else value

    kind: Any = type(node)
    found: ast.expr = kind(
        **{k: [changed(x) for x in v] if isinstance(v, list) else changed(v) for k, v in ast.iter_fields(node)}
    )
    return found


def _called(name: str, *given: ast.expr) -> ast.expr:
    return ast.Call(ast.Name(name, ast.Load()), list(given), [])


def _symbol(place: int) -> str:
    return f"term_{place}"

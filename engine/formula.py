"""Objectives as formulas a designer writes, safe by construction.

A formula is parsed with ``ast``, checked against an allow-list (arithmetic, comparisons, ``a if c else b``, a fixed
table of functions; no attributes, subscripts, strings, lambdas or keyword arguments), and turned into closures over
numpy arrays: nothing is ever handed to eval. Each part gives either *one number a lineup* or *one number a team*; the
whole must give one number a lineup, so shape errors are found when it is saved, not in the middle of a search.
"""

from __future__ import annotations

import ast
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.errors import ConfigError
from engine.formula_functions import (
    BINARY,
    COMPARE,
    FUNCTIONS,
    PICKERS,
    REDUCERS,
    REFUSED,
    Array,
    Values,
    pick,
)  # fmt: skip

LONGEST, DEEPEST, IN_A_ROW, LARGEST_POWER = 500, 20, 100, 8
MOST_TEAMS = 8
"""Largest number of teams in a lineup."""
MOST_TERMS = 1000
"""Terms that a formula may have once it is written out for ``MOST_TEAMS`` teams, as ``formula_terms`` does."""

FIXED, LINEAR, CURVED = 0, 1, 2
"""How a formula depends on battles: not at all, as a weighted sum of their means (weights may depend on fixed parts),
or in another way."""
COST = "cost"
"""The variable that does not depend on battles."""


class Part(NamedTuple):
    """A checked formula or a part of one: ``run`` gives one number a ``team`` or one a lineup. ``terms``: how many it
    has at most when it is written out for ``MOST_TEAMS`` teams."""

    run: Callable[[Values], Array]
    team: bool
    degree: int
    terms: int = 1


class Formula(NamedTuple):
    """A checked formula. ``names``: the variables it uses; ``degree``: FIXED, LINEAR or CURVED. The value of a LINEAR
    formula is the mean of its values for single replicates."""

    text: str
    names: frozenset[str]
    run: Callable[[Values], Array]
    degree: int

    def evaluate(self, values: Values) -> NDArray[np.float64]:
        """One number a lineup, [...]; ``values`` holds team variables as [..., teams] and the others as [..., 1].
        Division by zero gives inf or NaN, which callers report; it never raises."""
        with np.errstate(all="ignore"):
            return np.asarray(self.run(values), dtype=np.float64)[..., 0]


Names = frozenset[str] | set[str]
_READING = threading.Lock()
_SIGNS = str.maketrans({"−": "-", "×": "*", "·": "*", "÷": "/"})
"""Signs as people print them, such as in the examples of pages."""


def parse(text: str, team: Names, lineup: Names = frozenset(), *, chosen: bool = False) -> Formula:
    """Check ``text``; ``team`` names variables with one number a team, ``lineup`` those with one number a lineup.
    ``chosen``: the strongest and the weakest team were chosen before the battles, so picking them keeps a sum a sum.
    Raises ConfigError at ``formula``, with a sentence that names the position where it can."""
    if len(text) > LONGEST:
        raise _error(f"is {len(text)} characters long; {LONGEST} is the most")
    try:
        tree = read(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        where = f" near character {error.offset}" if isinstance(error, SyntaxError) and error.offset else ""
        raise _error(f"cannot be read{where}: check brackets and operators") from error
    if _height(tree) > IN_A_ROW:
        raise _error(f"strings more than {IN_A_ROW} operations together; write it shorter")
    checker = _Checker(team, lineup, chosen)
    part = checker.part(tree, 0)
    if part.team:
        raise _error("gives one number for each team; wrap it in strongest(), weakest(), mean(), max() or min()")
    if part.terms > MOST_TERMS:
        raise _error(
            f"has {part.terms:,} terms when it is written out for {MOST_TEAMS} teams; {MOST_TERMS:,} is the most: nest "
            "fewer of mean(), sum(), max() and min() in each other"
        )
    return Formula(text, frozenset(checker.used), part.run, part.degree)


def goal(text: str, team: Names, lineup: Names = frozenset()) -> Formula:
    """As ``parse``, for what is searched for. Raises ConfigError also where no variable is in it."""
    formula = parse(text, team, lineup)
    if not formula.names:
        raise _error("is the same number for all, so none is better than another: name something that is measured")
    return formula


def read(text: str) -> ast.expr:
    """The tree of a formula, unchecked; printed signs such as − and × are read, too. Raises what ``ast.parse`` raises.
    One thread at a time: Python 3.11 counts the depth of trees for all threads together, and ends with SystemError
    where two of them read at once (CPython issue 106905)."""
    with _READING:
        return ast.parse(text.strip().translate(_SIGNS), mode="eval").body


def part_of(node: ast.expr, team: Names, lineup: Names) -> Part:
    """Part of a checked formula by itself, where the strongest and the weakest team are already chosen."""
    return _Checker(team, lineup, True).part(node, -LONGEST)


def _height(tree: ast.expr) -> int:
    """How many operations wait for each other: a + b + c has two. Never recursive, as the tree may be of any height."""
    height, level = -1, [tree]
    while level:
        height, level = height + 1, [child for node in level for child in ast.iter_child_nodes(node)
                                     if isinstance(child, ast.expr)]  # fmt: skip
    return height


_ROWS: tuple[tuple[type[ast.operator], ...], ...] = (ast.Add, ast.Sub), (ast.Mult, ast.Div)


def _same_row(node: ast.expr, operator: ast.operator) -> bool:
    """Whether ``node`` is the part of a sum, or of a product, in front of its last operator."""
    return isinstance(node, ast.BinOp) and any(isinstance(node.op, r) and isinstance(operator, r) for r in _ROWS)


def _degree(parts: Iterable[Part]) -> int:
    """The degree of an operation that is no weighted sum of its parts."""
    return FIXED if all(part.degree == FIXED for part in parts) else CURVED


def _terms(degree: int, parts: Iterable[Part]) -> int:
    """How many terms an operation on these parts has: a weighted sum of battle results is one."""
    return sum(part.terms for part in parts) if degree == CURVED else 1


def _joined(run: Callable[[Values], Array], parts: Sequence[Part]) -> Part:
    """An operation that is no weighted sum of its parts."""
    degree = _degree(parts)
    return Part(run, any(part.team for part in parts), degree, _terms(degree, parts))


def _error(sentence: str, node: ast.AST | None = None) -> ConfigError:
    at = f" (character {node.col_offset + 1})" if isinstance(node, ast.expr) else ""
    return ConfigError([("formula", f"The formula {sentence}{at}.")])


class _Checker:
    def __init__(self, team: Names, lineup: Names, chosen: bool) -> None:
        self.team, self.lineup, self.chosen = team, lineup, chosen
        self.used: set[str] = set()

    def part(self, node: ast.expr, depth: int) -> Part:
        if depth > DEEPEST:
            raise _error(f"is nested more than {DEEPEST} deep", node)
        handler = getattr(self, f"_{type(node).__name__.lower()}", None)
        if handler is None:
            raise _error(f"uses {REFUSED[type(node)]}, which is not allowed", node)
        part: Part = handler(node, depth + 1)
        return part

    def _constant(self, node: ast.Constant, depth: int) -> Part:
        if isinstance(node.value, bool):
            raise _error(f"uses {node.value}, which is not a number; write {int(node.value)}", node)
        if not isinstance(node.value, int | float):
            raise _error("may only hold ordinary numbers and names", node)
        if abs(node.value) > 1e15:
            raise _error("may only hold ordinary numbers, up to 1e15", node)
        value = np.full(1, float(node.value))
        return Part(lambda values: value, False, FIXED)

    def _name(self, node: ast.Name, depth: int) -> Part:
        name = node.id
        if name not in self.team and name not in self.lineup:
            known = ", ".join(sorted(self.team | self.lineup))
            raise _error(f"uses {name!r}, which is not known. Known: {known}", node)
        self.used.add(name)
        return Part(lambda values: values[name], name in self.team, FIXED if name == COST else LINEAR)

    def _unaryop(self, node: ast.UnaryOp, depth: int) -> Part:
        inner = self.part(node.operand, depth)
        if isinstance(node.op, ast.USub):
            return Part(lambda values: np.negative(inner.run(values)), inner.team, inner.degree, inner.terms)
        if isinstance(node.op, ast.UAdd):
            return inner
        if isinstance(node.op, ast.Not):
            return Part(
                lambda values: (inner.run(values) == 0).astype(float), inner.team, _degree([inner]), inner.terms
            )
        raise _error("uses an operator that is not allowed", node)

    def _binop(self, node: ast.BinOp, depth: int) -> Part:
        operate = BINARY.get(type(node.op))
        if operate is None:
            raise _error("uses an operator that is not allowed; use + - * / % **", node)
        if isinstance(node.op, ast.Pow) and not _small_power(node.right):
            raise _error(f"may only use ** with a number from −{LARGEST_POWER} to {LARGEST_POWER}", node)
        left = self.part(node.left, depth - _same_row(node.left, node.op))  # a long sum is not a deep one
        right = self.part(node.right, depth)
        degree = _degree([left, right])
        if isinstance(node.op, ast.Add | ast.Sub):
            degree = max(left.degree, right.degree)
        elif right.degree == FIXED and isinstance(node.op, ast.Mult | ast.Div):
            degree = left.degree
        elif left.degree == FIXED and isinstance(node.op, ast.Mult):
            degree = right.degree
        team, terms = left.team or right.team, _terms(degree, [left, right])
        return Part(lambda values: operate(left.run(values), right.run(values)), team, degree, terms)

    def _compare(self, node: ast.Compare, depth: int) -> Part:
        terms = [self.part(n, depth) for n in (node.left, *node.comparators)]
        operators = [COMPARE.get(type(op)) for op in node.ops]
        if None in operators:
            raise _error("uses a comparison that is not allowed; use < <= > >= == !=", node)

        def run(values: Values) -> Array:
            arrays = [t.run(values) for t in terms]
            checks = [op(a, b) for op, a, b in zip(operators, arrays, arrays[1:], strict=False) if op]
            return np.asarray(np.logical_and.reduce(np.broadcast_arrays(*checks)).astype(float))

        return _joined(run, terms)

    def _boolop(self, node: ast.BoolOp, depth: int) -> Part:
        terms = [self.part(n, depth) for n in node.values]
        join = np.logical_and if isinstance(node.op, ast.And) else np.logical_or
        return _joined(
            lambda values: join.reduce(np.broadcast_arrays(*[t.run(values) != 0 for t in terms])).astype(float), terms
        )

    def _ifexp(self, node: ast.IfExp, depth: int) -> Part:
        test, then, other = (self.part(n, depth) for n in (node.test, node.body, node.orelse))
        return _joined(
            lambda values: np.where(test.run(values) != 0, then.run(values), other.run(values)), [test, then, other]
        )

    def _call(self, node: ast.Call, depth: int) -> Part:
        if not isinstance(node.func, ast.Name) or node.keywords or any(isinstance(a, ast.Starred) for a in node.args):
            raise _error("may only call the listed functions, with plain arguments", node)
        name, parts = node.func.id, [self.part(a, depth) for a in node.args]
        if len(parts) == 1 and (name in REDUCERS or name in PICKERS):
            return self._reduce(name, parts[0], node)
        if name not in FUNCTIONS:
            known = ", ".join(sorted({*FUNCTIONS, *REDUCERS, *PICKERS}))
            raise _error(f"calls {name!r}, which is not known. Known: {known}", node)
        function, least, most, _ = FUNCTIONS[name]
        if not least <= len(parts) <= most:
            many = str(least) if least == most else f"{least} to {most}"
            raise _error(f"gives {name}() {len(parts)} arguments; it takes {many}", node)
        return _joined(lambda values: function(*[p.run(values) for p in parts]), parts)

    def _reduce(self, name: str, part: Part, node: ast.Call) -> Part:
        if not part.team:
            raise _error(f"asks {name}() of something that is already one number", node)
        if name in PICKERS:
            key = PICKERS[name][0]
            degree = part.degree if self.chosen else CURVED
            return Part(lambda values: pick(part.run(values), values[key]), False, degree, part.terms)
        reduce = REDUCERS[name][0]
        degree = part.degree if name in ("mean", "sum") else _degree([part])
        terms = MOST_TEAMS * part.terms if degree == CURVED else 1
        return Part(lambda values: reduce(part.run(values)), False, degree, terms)


def _small_power(node: ast.expr) -> bool:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        node = node.operand
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float) and node.value <= LARGEST_POWER

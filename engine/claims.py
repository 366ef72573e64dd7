"""The claim "this formula is beyond a line", reduced to claims about weighted sums of a replicate's terms.

A weighted sum has a value in each replicate, so evidence about its mean is exact (``engine.confidence``). Other
formulas often reduce to a few such sums: a / b > line, for b > 0, is a - line * b > 0; a maximum is above a line when
one of its parts is, a minimum when all are; square root, exponential and logarithm are increasing. The smallest
evidence of several claims is evidence for all of them; the average is evidence for at least one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
MANY = 64
"""Largest number of sums in the claim about one formula."""


class Curved(Exception):
    """Weighted sums cannot express the formula."""


class Sum(NamedTuple):
    """A weighted sum of a replicate's k terms: ``constant`` + ``shares`` [k] · terms."""

    constant: float
    shares: Floats

    @property
    def fixed(self) -> bool:
        """Whether it is the same in every replicate."""
        return not self.shares.any()


class Most(NamedTuple):
    """The largest of its parts."""

    parts: tuple[Expression, ...]


class Least(NamedTuple):
    """The smallest of its parts."""

    parts: tuple[Expression, ...]


class Ratio(NamedTuple):
    """``over`` divided by ``under``, which is never negative."""

    over: Expression
    under: Expression


class Rising(NamedTuple):
    """``times`` * f(``part``) + ``plus``, where f is the function of RISING with this ``name``."""

    part: Expression
    name: str
    times: float
    plus: float


Expression = Sum | Most | Least | Ratio | Rising


class AllOf(NamedTuple):
    """Every one of these claims."""

    parts: tuple[Claim, ...]


class OneOf(NamedTuple):
    """At least one of these claims."""

    parts: tuple[Claim, ...]


Claim = Sum | AllOf | OneOf
"""A ``Sum`` says that its mean is above 0."""

RISING: dict[str, tuple[Callable[[float], float], float]] = {
    "sqrt": (lambda y: y * y, 0.0),
    "exp": (math.log, 0.0),
    "log1p": (lambda y: math.expm1(min(y, 700.0)), -math.inf),
}
"""Increasing functions: the inverse of each, and a value that it always exceeds."""


def add(a: Expression, b: Expression) -> Expression:
    """Their sum. Raises Curved."""
    if isinstance(a, Most | Least):
        return _spread(a, lambda part: add(part, b))
    if isinstance(b, Most | Least):
        return add(b, a)
    if isinstance(a, Sum) and isinstance(b, Sum):
        return Sum(a.constant + b.constant, a.shares + b.shares)
    if isinstance(b, Sum):
        a, b = b, a
    if isinstance(a, Sum) and a.fixed:
        if isinstance(b, Ratio):
            return _checked(Ratio(add(b.over, scale(b.under, a.constant)), b.under))
        if isinstance(b, Rising):
            return b._replace(plus=b.plus + a.constant)
    raise Curved


def scale(a: Expression, by: float) -> Expression:
    """``by`` times an expression."""
    if isinstance(a, Sum):
        return Sum(by * a.constant, by * a.shares)
    if isinstance(a, Ratio):
        return Ratio(scale(a.over, by), a.under)
    if isinstance(a, Rising):
        return a._replace(times=by * a.times, plus=by * a.plus)
    turned: type[Most] | type[Least] = type(a) if by >= 0 else Least if isinstance(a, Most) else Most
    return turned(tuple(scale(part, by) for part in a.parts))


def times(a: Expression, b: Expression) -> Expression:
    """Their product. Raises Curved unless one of the two is the same in every replicate."""
    for one, other in ((a, b), (b, a)):
        if isinstance(one, Sum) and one.fixed:
            return scale(other, one.constant)
    raise Curved


def divided(a: Expression, b: Expression, low: Floats, high: Floats) -> Expression:
    """a / b, where the bounds ``low``, ``high`` [k] of the terms fix the sign of b. Raises Curved where they do not,
    where a or b is no sum, and where a claim about it would need more than MANY sums."""
    if isinstance(b, Sum) and b.fixed:
        if not b.constant:
            raise Curved
        return scale(a, 1 / b.constant)
    if not _of_sums(a) or not _of_sums(b):
        raise Curved
    least, most = ends(b, low, high)
    if least >= 0:
        return _checked(Ratio(a, b))
    if most <= 0:
        return _checked(Ratio(scale(a, -1.0), scale(b, -1.0)))
    raise Curved


def most(parts: Sequence[Expression]) -> Expression:
    """The largest of them. Raises Curved where a claim about it would need more than MANY sums."""
    return _checked(Most(tuple(parts)))


def least(parts: Sequence[Expression]) -> Expression:
    """The smallest of them. Raises Curved where a claim about it would need more than MANY sums."""
    return _checked(Least(tuple(parts)))


def ends(a: Expression, low: Floats, high: Floats) -> tuple[float, float]:
    """Bounds of an expression made of sums, from the bounds ``low``, ``high`` [k] of its terms. Raises Curved for other
    expressions."""
    if isinstance(a, Sum):
        used = a.shares != 0
        share, down, up = a.shares[used], low[used], high[used]
        return (
            a.constant + float(np.where(share > 0, share * down, share * up).sum()),
            a.constant + float(np.where(share > 0, share * up, share * down).sum()),
        )
    if isinstance(a, Most | Least):
        lows, highs = zip(*(ends(part, low, high) for part in a.parts), strict=True)
        choose = max if isinstance(a, Most) else min
        return choose(lows), choose(highs)
    raise Curved


def beyond(a: Expression, line: float, sign: float) -> Claim:
    """The claim that the true value is above the line (``sign`` 1) or below it (-1)."""
    if isinstance(a, Sum):
        return Sum(sign * (a.constant - line), sign * a.shares)
    if isinstance(a, Ratio):
        return beyond(add(a.over, scale(a.under, -line)), 0.0, sign)
    if isinstance(a, Rising):
        if not a.times:
            return _settled(sign * (a.plus - line))
        y, side = (line - a.plus) / a.times, math.copysign(1.0, a.times) * sign
        back, floor = RISING[a.name]
        return beyond(a.part, back(y), side) if y > floor else _settled(side)
    parts = tuple(beyond(part, line, sign) for part in a.parts)
    return OneOf(parts) if isinstance(a, Most) == (sign > 0) else AllOf(parts)


def weigh(claim: Claim, log_evidence: Callable[[Sum], float]) -> float:
    """Log of the evidence for a claim, from the ``log_evidence`` for each of its sums. A claim about a fixed sum is
    certainly true or certainly false."""
    if isinstance(claim, Sum):
        if claim.fixed:
            return math.inf if claim.constant >= 0 else -math.inf
        return log_evidence(claim)
    if isinstance(claim, AllOf):
        return min(weigh(part, log_evidence) for part in claim.parts)
    found = [weigh(part, log_evidence) for part in claim.parts if not _impossible(part)]
    if not found:
        return -math.inf
    return float(np.logaddexp.reduce(found)) - math.log(len(found))


def growth(claim: Claim, rate: Callable[[Sum], float]) -> float:
    """Growth of that evidence per replicate, from the ``rate`` of each sum."""
    if isinstance(claim, Sum):
        return rate(claim) if not claim.fixed else math.inf if claim.constant >= 0 else 0.0
    found = [growth(part, rate) for part in claim.parts]
    return min(found) if isinstance(claim, AllOf) else max(found)


def _impossible(claim: Claim) -> bool:
    return isinstance(claim, Sum) and claim.fixed and claim.constant < 0


def _settled(constant: float) -> Sum:
    return Sum(constant, np.zeros(0))


def _spread(a: Most | Least, change: Callable[[Expression], Expression]) -> Expression:
    return _checked(type(a)(tuple(change(part) for part in a.parts)))


def _checked(a: Expression) -> Expression:
    if _size(a) > MANY:
        raise Curved
    return a


def _size(a: Expression) -> int:
    """Number of sums in a claim about it."""
    if isinstance(a, Most | Least):
        return sum(map(_size, a.parts))
    if isinstance(a, Ratio):
        return _size(a.over) * _size(a.under)
    return _size(a.part) if isinstance(a, Rising) else 1


def _of_sums(a: Expression) -> bool:
    return isinstance(a, Sum) or (isinstance(a, Most | Least) and all(map(_of_sums, a.parts)))

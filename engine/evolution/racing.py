"""Racing: replicates go to the candidates whose place among the survivors is still open.

A race has rungs: each candidate is first played a few times, the remaining ones more often, and so on up to ``most``.
After each rung the race eliminates candidates that would not survive full sampling (``most`` replicates for all).
Elimination is final.

``bounds`` holds for any noise within known limits. With probability at least 1 - error, the full means of all
candidates, in all objectives, lie between their bounds at all rungs (``engine.evolution.betting``; the error is divided
among the bounds). Suppose they do. Survivors are taken front by front, and the front of a candidate is the length of
the longest chain of candidates that ends with it, each dominating the next. A candidate that dominates it for all means
within the bounds is in an earlier front; so is one whose longest possible chain is shorter than the longest chain that
is certain for it. When these are as many as survive, all places are taken before its front comes, whatever the
crowding: it cannot survive. Hence the race ends with the survivors of full sampling with probability at least
1 - error. With one objective, a front is a set of equal values. Within the last front crowding decides, which
eliminates nobody: with several objectives, where most candidates lie on few fronts, a race saves little or nothing.

``tests`` is for nearly normal noise and one objective: after each rung, one-sided t-tests predict for each pair the
sign of the full sample's difference. A candidate is eliminated when as many others beat it as survive. Its error is the
sum of the p-values of the tests used; errors add up to at most the rung's share (a union bound, valid for any
dependence between tests), and the rungs share the error. Replicates have the same numbers for all candidates: where
evaluators record them one by one, tests are paired, the purpose of common random numbers. Samples without spread prove
nothing. Where values are far from normal (rare wins, long tails) the error may be exceeded.

``halving`` states no error: after each rung the same share of the candidates remains, chosen so that the last rung has
few more candidates than survive (successive halving, Jamieson & Talwalkar 2016, with the share fitted to the rungs).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr

from engine.evolution.algorithm import Population
from engine.evolution.betting import bounds
from engine.evolution.nsga2 import survivors

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
STEPS = 8
_SPREAD = 1e-9
"""A standard error below this share of the values is treated as rounding."""


def rungs(first: int, most: int, *, even: bool = False) -> list[int]:
    """Replicates at each rung: ``first``, then doubling up to ``most``; ``even``: in up to ``STEPS`` equal parts of
    ``most``, because looking at bounds costs nothing."""
    if even:
        return [first, *sorted({-(-most * k // STEPS) for k in range(1, STEPS + 1)} - set(range(first + 1)))]
    found = [first]
    while found[-1] < most:
        found.append(min(2 * found[-1], most))
    return found


class RaceStanding(NamedTuple):
    """A race after a rung: ``cost`` float64[n, m] means (minimised), ``covariance`` float64[n, m, m] of those means,
    ``samples`` int64[n] replicates so far, ``open_`` bool[n] still in the race; ``values``: for each candidate the
    costs float64[samples, m] of its replicates, where recorded."""

    cost: Floats
    covariance: Floats
    samples: NDArray[np.int64]
    open_: Bools
    values: Sequence[Floats] | None = None


def standing(R: Population, open_: Bools) -> RaceStanding:
    """The race of a population, with values of replicates if every member has at least two recorded."""
    found = [i.evaluation for i in R.individuals]
    covariance = np.stack([e.covariance for e in found]) * np.multiply.outer(R.signs, R.signs)
    recorded = [e.values * R.signs for e in found if e.values is not None and e.samples > 1]
    values = recorded if len(recorded) == len(found) else None
    return RaceStanding(R.cost, covariance, np.array([e.samples for e in found]), open_, values)


def costs_within(R: Population, known: Bools, most: int, error: float) -> tuple[Floats, Floats]:
    """Bounds float64[n, m] of members' costs after ``most`` replicates; ``error``: that of each bound. ``known``
    bool[n]: members that have all replicates."""
    low, high = R.cost.copy(), R.cost.copy()
    for i in np.flatnonzero(~known).tolist():
        e = R.individuals[i].evaluation
        assert e.values is not None
        assert e.limits is not None
        limits = np.sort(e.limits * R.signs, axis=0)
        low[i], high[i] = bounds(e.values * R.signs, limits, most, error)
    return low, high


def out_by_bounds(low: Floats, high: Floats, keep: int) -> Bools:
    """Which of n candidates cannot be among the ``keep`` survivors. ``low``, ``high`` float64[n, m]: bounds of their
    costs over all replicates."""
    surely = _dominates(high, low)
    first, last = _fronts(surely), _fronts(_dominates(low, high))
    earlier = surely | (last[:, None] < first[None, :])
    return np.asarray(earlier.sum(axis=0) >= keep)


def _dominates(a: Floats, b: Floats) -> Bools:
    """bool[n, n]: whether row i of a dominates row k of b; False on the diagonal."""
    found = np.asarray((a[:, None] <= b[None]).all(axis=2) & (a[:, None] < b[None]).any(axis=2))
    np.fill_diagonal(found, False)
    return found


def _fronts(beats: Bools) -> Floats:
    """The front of each candidate from 0, given who beats whom: the length of the longest chain before it; infinite in
    a cycle and behind one."""
    front = np.full(len(beats), np.inf)
    left = np.ones(len(beats), dtype=bool)
    for number in range(len(beats)):
        free = left & ~beats[left].any(axis=0)
        if not free.any():
            break
        front[free] = number
        left &= ~free
    return front


def out_by_tests(at: RaceStanding, most: int, keep: int, error: float) -> Bools:
    """Which of n candidates leave the race now: those that, by the tests, ``keep`` others beat. ``most``: replicates of
    full sampling; ``error``: error available at this rung."""
    n, m = at.cost.shape
    wrong = np.zeros((n, n))
    for j in range(m):
        wrong += _foretold(at, j, most)
    np.fill_diagonal(wrong, np.inf)
    surest = np.sort(wrong, axis=1)[:, :keep]
    return _leaving(surest.sum(axis=1) if n > keep else np.full(n, np.inf), at.open_, keep, error)


def _foretold(at: RaceStanding, j: int, most: int) -> Floats:
    """float64[n, n]: p-value of "the cost of row i over ``most`` replicates is above that of column k" (k beats i),
    from the differences so far; 1 where it is not above now, and where samples have no spread."""
    fewest = np.minimum(at.samples[:, None], at.samples[None, :])
    if at.values is None:
        gap = at.cost[:, None, j] - at.cost[None, :, j]
        open_variance = at.covariance[:, j, j] * at.samples * _left(at.samples, most)
        spread = np.add.outer(open_variance, open_variance)
    else:
        gap, spread = _paired([own[:, j] for own in at.values], at.samples, most)
    root = np.sqrt(np.maximum(spread, 0.0))
    varies = root > _SPREAD * np.add.outer(np.abs(at.cost[:, j]), np.abs(at.cost[:, j]))
    settled = (at.samples[:, None] >= most) & (at.samples[None, :] >= most)
    with np.errstate(divide="ignore", invalid="ignore"):
        # For unpaired samples, the smaller sample's degrees of freedom are a safe bound for Welch's.
        p = np.where(settled, 0.0, stdtr(np.maximum(fewest - 1, 1), -gap / root))
    return np.where((gap > 0) & (settled | (varies & (fewest > 1))), p, 1.0)


def _paired(values: Sequence[Floats], samples: NDArray[np.int64], most: int) -> tuple[Floats, Floats]:
    """Differences float64[n, n] of the means over the replicates that both have played, and the remaining variation of
    the difference over ``most``. Replicates that only one has played are ignored."""
    n = len(values)
    gap, spread = np.zeros((n, n)), np.zeros((n, n))
    for s in np.unique(samples).tolist():  # later, larger ones overwrite
        both = np.flatnonzero(samples >= s)
        first = np.stack([values[i][:s] for i in both.tolist()])
        together, mean = np.atleast_2d(np.cov(first)), first.mean(axis=1)
        own = np.diagonal(together)
        gap[np.ix_(both, both)] = np.subtract.outer(mean, mean)
        spread[np.ix_(both, both)] = (np.add.outer(own, own) - 2 * together) * max(1 / s - 1 / most, 0.0)
    return gap, spread


def _left(samples: NDArray[np.int64], most: int) -> Floats:
    """Variance of the final mean minus the present one after ``samples`` of ``most``, in units of one replicate's."""
    return np.asarray(np.maximum(1 / samples - 1 / most, 0.0))


def _leaving(chance: Floats, open_: Bools, keep: int, error: float) -> Bools:
    """The candidates in the race with the smallest chances, as many as have a sum of at most ``error`` and leave
    ``keep``."""
    order = np.flatnonzero(open_)[np.argsort(chance[open_], kind="stable")]
    leave = np.zeros(len(chance), dtype=bool)
    leave[order[: max(0, len(order) - keep)]] = True
    leave[order[np.cumsum(chance[order]) > error]] = False
    return leave


def out_by_halves(R: Population, keep: int, open_: Bools, rung: int, levels: int) -> Bools:
    """Which members leave after rung ``rung`` (from 0) of ``levels``: the worst ones in the race by NSGA-II's order."""
    stay = max(keep, round(len(R) * (keep / len(R)) ** ((rung + 1) / levels)))
    members = np.flatnonzero(open_)
    leave = open_.copy()
    leave[members[survivors(R.take(members), min(stay, len(members)))]] = False
    return leave

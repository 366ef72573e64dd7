"""Racing: replicates go to the candidates whose place among the survivors is still open.

A race has rungs: each candidate is first played a few times, the ones that remain more often, and so on up to ``most``.
After each rung those leave that full sampling, ``most`` replicates for everybody, would not let survive. Who is out
stays out.

``bounds`` holds for any noise within limits that are known. With probability 1 - error at least, the full means of all
candidates, in all objectives, lie between their bounds at all rungs (``engine.evolution.betting``; the error is shared
among the bounds). Suppose they do. Survivors are taken front by front, and the front of a candidate is the length of
the longest chain of candidates that ends with it, each dominating the next. Whoever dominates it for all means within
the bounds is in an earlier front. So is everybody whose longest possible chain is shorter than the longest one that is
sure for it. When those are as many as survive, all places are taken before its front comes, whatever crowding says: it
cannot survive. Hence the race ends with the survivors of full sampling with probability 1 - error at least. With one
objective, fronts are equal values. Within the last front crowding decides, and nobody is put out by it: with several
objectives, where most candidates lie on few fronts, a race saves little or nothing.

``tests`` holds where noise is near normal, and for one objective: after each rung, one-sided t-tests foretell for each
pair the sign of the full sample's difference. Who is beaten by as many as survive is out. A candidate's error is the
sum of the p-values of those it takes, the errors add up to no more than the rung's share (a union bound: nothing is
assumed of how tests depend on one another), and the rungs share the error. Everybody's replicates are numbered alike:
where evaluators tell them one by one, the tests are paired, which is what common random numbers are for. Samples
without spread prove nothing. Where values are far from normal (rare wins, long tails) the error may be exceeded.

``halving`` states no error: after each rung the same share of the candidates remains, such that the last rung is
played by few more than survive (successive halving, Jamieson & Talwalkar 2016, with the share fitted to the rungs).
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
"""A standard error below this share of the values themselves is rounding."""


def rungs(first: int, most: int, *, even: bool = False) -> list[int]:
    """Replicates at each rung: ``first``, then doubled up to ``most``; ``even``: then up to ``STEPS`` equal parts of
    ``most``, for a look at bounds costs nothing."""
    if even:
        return [first, *sorted({-(-most * k // STEPS) for k in range(1, STEPS + 1)} - set(range(first + 1)))]
    found = [first]
    while found[-1] < most:
        found.append(min(2 * found[-1], most))
    return found


class Standing(NamedTuple):
    """A race after a rung: ``cost`` float64[n, m] means (minimised), ``covariance`` float64[n, m, m] of those means,
    ``samples`` int64[n] replicates so far, ``open_`` who is still in the race; ``values`` float64[samples, m] of each,
    replicate by replicate (costs), where they are told."""

    cost: Floats
    covariance: Floats
    samples: NDArray[np.int64]
    open_: Bools
    values: Sequence[Floats] | None = None


def standing(R: Population, open_: Bools) -> Standing:
    """The race of a population; replicate by replicate, where all of them tell at least two."""
    found = [i.evaluation for i in R.individuals]
    covariance = np.stack([e.covariance for e in found]) * np.multiply.outer(R.signs, R.signs)
    told = [e.values * R.signs for e in found if e.values is not None and e.samples > 1]
    values = told if len(told) == len(found) else None
    return Standing(R.cost, covariance, np.array([e.samples for e in found]), open_, values)


def costs_within(R: Population, known: Bools, most: int, error: float) -> tuple[Floats, Floats]:
    """Bounds float64[n, m] of what members will cost after ``most`` replicates; ``error``: of each bound. ``known``:
    who has them all."""
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
    """bool[n, n]: whether a's row i dominates b's row k; nobody dominates itself."""
    found = np.asarray((a[:, None] <= b[None]).all(axis=2) & (a[:, None] < b[None]).any(axis=2))
    np.fill_diagonal(found, False)
    return found


def _fronts(beats: Bools) -> Floats:
    """The front of each by who beats whom, from 0: the length of the longest chain before it; infinite in a circle and
    behind one."""
    front = np.full(len(beats), np.inf)
    left = np.ones(len(beats), dtype=bool)
    for number in range(len(beats)):
        free = left & ~beats[left].any(axis=0)
        if not free.any():
            break
        front[free] = number
        left &= ~free
    return front


def out_by_tests(at: Standing, most: int, keep: int, error: float) -> Bools:
    """Which of n candidates leave the race now: those whom tests find beaten by ``keep`` others. ``most``: replicates
    of full sampling, ``error``: what may be spent at this rung."""
    n, m = at.cost.shape
    wrong = np.zeros((n, n))
    for j in range(m):
        wrong += _foretold(at, j, most)
    np.fill_diagonal(wrong, np.inf)
    surest = np.sort(wrong, axis=1)[:, :keep]
    return _leaving(surest.sum(axis=1) if n > keep else np.full(n, np.inf), at.open_, keep, error)


def _foretold(at: Standing, j: int, most: int) -> Floats:
    """float64[n, n]: the p-value at which row i's mean over ``most`` replicates is above column k's (it is beaten), by
    the differences so far; 1 where it is not even above now, and where samples have no spread."""
    fewest = np.minimum(at.samples[:, None], at.samples[None, :])
    if at.values is None:
        gap = at.cost[:, None, j] - at.cost[None, :, j]
        open_variance = at.covariance[:, j, j] * at.samples * _left(at.samples, most)
        spread = np.add.outer(open_variance, open_variance)
    else:
        gap, spread = _paired([own[:, j] for own in at.values], at.samples, most)
    root = np.sqrt(np.maximum(spread, 0.0))
    told = root > _SPREAD * np.add.outer(np.abs(at.cost[:, j]), np.abs(at.cost[:, j]))
    settled = (at.samples[:, None] >= most) & (at.samples[None, :] >= most)
    with np.errstate(divide="ignore", invalid="ignore"):
        # Where each has replicates of its own, the smaller one's freedom is on the safe side of Welch's.
        p = np.where(settled, 0.0, stdtr(np.maximum(fewest - 1, 1), -gap / root))
    return np.where((gap > 0) & (settled | (told & (fewest > 1))), p, 1.0)


def _paired(values: Sequence[Floats], samples: NDArray[np.int64], most: int) -> tuple[Floats, Floats]:
    """Differences float64[n, n] of the means over the replicates that both have played, and how much the difference
    over ``most`` may still vary. What one has played beyond says as much about the other, and changes nothing."""
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
    """What of a mean's variance, in units of one replicate's, is still open after ``samples`` of ``most``."""
    return np.asarray(np.maximum(1 / samples - 1 / most, 0.0))


def _leaving(chance: Floats, open_: Bools, keep: int, error: float) -> Bools:
    """Of those in the race, the ones with the least chances, as long as their sum is no more than ``error`` and
    ``keep`` remain."""
    order = np.flatnonzero(open_)[np.argsort(chance[open_], kind="stable")]
    leave = np.zeros(len(chance), dtype=bool)
    leave[order[: max(0, len(order) - keep)]] = True
    leave[order[np.cumsum(chance[order]) > error]] = False
    return leave


def out_by_halves(R: Population, keep: int, open_: Bools, rung: int, levels: int) -> Bools:
    """Which members leave after rung ``rung`` (from 0) of ``levels``: the worst of those in the race, by NSGA-II's
    order."""
    stay = max(keep, round(len(R) * (keep / len(R)) ** ((rung + 1) / levels)))
    members = np.flatnonzero(open_)
    leave = open_.copy()
    leave[members[survivors(R.take(members), min(stay, len(members)))]] = False
    return leave

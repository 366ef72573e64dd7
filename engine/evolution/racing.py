"""Racing: replicates go to the candidates whose place among the survivors is still open.

A race has rungs: each candidate is first played a few times, the ones that remain twice as often, and so on up to
``most``. After each rung, with the full sample's means unknown, draws of what they may turn out to be (given the
replicates so far: multivariate t, exactly the predictive distribution of normal replicates) say how often each
candidate would survive; those that hardly ever do are out. The chances of the ones that are put out add up to no more
than the stated error, which the rungs share: so the survivors are those of full sampling with at least 1 - error.

``tests`` draws nothing: after each rung, one-sided t-tests foretell for each pair and objective the sign of the full
sample's difference. Who is beaten in every objective by as many as survive is out. A candidate's error is the sum of
the p-values of those it takes, and again the errors add up to no more than the rung's share (a union bound: nothing is
assumed of how tests depend on one another). Everybody's replicates are numbered alike: where evaluators tell them one
by one, the tests are paired, which is what common random numbers are for. Sure and cheap with one objective; with
several, few candidates are beaten by so many.

Who is out stays out: candidates that played less are not compared with the others' longer means again.

``halving`` states no error: after each rung the same share of the candidates remains, such that the last rung is
played by few more than survive (successive halving, Jamieson & Talwalkar 2016, with the share fitted to the rungs).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.special import stdtr

from engine.evolution.algorithm import Population
from engine.evolution.nsga2 import survivors

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
FEWEST, MOST = 500, 4000
_jit = njit(cache=True, nogil=True)


def rungs(first: int, most: int) -> list[int]:
    """Replicates at each rung: ``first``, then doubled up to ``most``."""
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


def out_by_chance(at: Standing, most: int, keep: int, error: float, rng: np.random.Generator) -> Bools:
    """Which of n candidates leave the race now. ``most``: replicates of full sampling, ``keep``: how many survive,
    ``error``: what may be spent at this rung."""
    # Enough draws that being put out without a hit, at half a hit each, costs little of the error.
    count = int(np.clip((at.open_.sum() - keep) / (1.2 * error), FEWEST, MOST))
    draws = predicted(at.cost, at.covariance, at.samples, most, count, rng)
    hits = _survivals(draws, keep)
    return _leaving((hits + 0.5) / (len(draws) + 1), at.open_, keep, error)


def out_by_tests(at: Standing, most: int, keep: int, error: float) -> Bools:
    """As ``out_by_chance``: those leave whom tests find beaten by ``keep`` others."""
    n, m = at.cost.shape
    wrong = np.zeros((n, n))
    for j in range(m):
        wrong += _foretold(at, j, most)
    np.fill_diagonal(wrong, np.inf)
    surest = np.sort(wrong, axis=1)[:, :keep]
    return _leaving(surest.sum(axis=1) if n > keep else np.full(n, np.inf), at.open_, keep, error)


def _foretold(at: Standing, j: int, most: int) -> Floats:
    """float64[n, n]: the p-value at which row i's mean over ``most`` replicates is above column k's (it is beaten), by
    the differences so far; 1 where it is not even above now."""
    fewest = np.minimum(at.samples[:, None], at.samples[None, :])
    if at.values is None:
        gap = at.cost[:, None, j] - at.cost[None, :, j]
        open_variance = at.covariance[:, j, j] * at.samples * _left(at.samples, most)
        spread = np.add.outer(open_variance, open_variance)
    else:
        gap, spread = _paired([own[:, j] for own in at.values], at.samples, most)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = gap / np.sqrt(np.maximum(spread, 0.0))
    # Where each has replicates of its own, the smaller one's freedom is on the safe side of Welch's.
    p = stdtr(np.maximum(fewest - 1, 1), -t)
    return np.where((gap > 0) & (fewest > 1), p, 1.0)


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


def predicted(
    cost: Floats, covariance: Floats, samples: NDArray[np.int64], most: int, draws: int, rng: np.random.Generator
) -> Floats:
    """Draws float64[draws, n, m] of the means over ``most`` replicates, given the first ``samples`` of them. With one
    replicate nothing is known of its spread: it is taken from the others' mean."""
    n, m = cost.shape
    freedom = np.maximum(samples - 1, 1)
    spread = covariance * samples[:, None, None]
    several = samples > 1
    if several.any():
        spread[~several] = spread[several].mean(axis=0)
    values, vectors = np.linalg.eigh(spread * _left(samples, most)[:, None, None])
    root = vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]
    normal = rng.standard_normal((draws, n, m))
    scale = np.sqrt(freedom / rng.chisquare(freedom, (draws, n)))
    return np.asarray(cost + np.einsum("nij,dnj->dni", root, normal) * scale[:, :, None])


@_jit
def _survivals(draws: Any, keep: int) -> Any:
    """How often each candidate is among the ``keep`` best by front, then crowding, of draws float64[d, n, m]."""
    hits = np.zeros(draws.shape[1], dtype=np.int64)
    for k in range(len(draws)):
        chosen = _chosen(draws[k], keep)
        for i in range(len(hits)):
            hits[i] += chosen[i]
    return hits


@_jit
def _beats(a: Any, b: Any) -> bool:
    better = False
    for j in range(len(a)):
        if a[j] > b[j]:
            return False
        better = better or a[j] < b[j]
    return better


@_jit
def _chosen(cost: Any, keep: int) -> Any:
    """Whether each row is kept: fronts peeled one after the other, the last one by crowding."""
    n = len(cost)
    beaten = np.zeros(n, dtype=np.int64)
    beats = np.zeros((n, n), dtype=np.bool_)
    for a in range(n):
        for b in range(n):
            if a != b and _beats(cost[a], cost[b]):
                beats[a, b] = True
                beaten[b] += 1
    chosen = np.zeros(n, dtype=np.bool_)
    while chosen.sum() < keep:
        front = np.flatnonzero(beaten == 0)
        left = keep - chosen.sum()
        if len(front) > left:
            distance = _crowding(cost[front])
            front = front[np.argsort(-distance, kind="mergesort")[:left]]
        for member in front:
            chosen[member] = True
            beaten[member] = -1
            for b in range(n):
                if beats[member, b]:
                    beaten[b] -= 1
    return chosen


@_jit
def _crowding(cost: Any) -> Any:
    n, m = cost.shape
    distance = np.zeros(n)
    for j in range(m):
        order = np.argsort(cost[:, j])
        span = cost[order[-1], j] - cost[order[0], j]
        distance[order[0]] = distance[order[-1]] = np.inf
        if span > 0:
            for k in range(1, n - 1):
                distance[order[k]] += (cost[order[k + 1], j] - cost[order[k - 1], j]) / span
    return distance

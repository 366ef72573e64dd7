"""Racing: replicates go to the candidates whose place among the survivors is still open.

A race has rungs: each candidate is first played a few times, the ones that remain twice as often, and so on up to
``most``. After each rung, with the full sample's means unknown, draws of what they may turn out to be (given the
replicates so far: multivariate t, exactly the predictive distribution of normal replicates) say how often each
candidate would survive; those that hardly ever do are out. The chances of the ones that are put out add up to no more
than the stated error, which the rungs share: so the survivors are those of full sampling with at least 1 - error.
Everybody's replicates are numbered alike, so candidates are compared on common random numbers where matches allow.

``halving`` states no error: after each rung the same share of the candidates remains, such that the last rung is
played by few more than survive (successive halving, Jamieson & Talwalkar 2016, with the share fitted to the rungs).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

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


def out_by_chance(
    cost: Floats, covariance: Floats, samples: NDArray[np.int64], most: int, keep: int, open_: Bools, error: float,
    rng: np.random.Generator,
) -> Bools:  # fmt: skip
    """Which of n candidates leave the race now. ``cost`` float64[n, m] means (minimised), ``covariance`` float64[n, m,
    m] of those means, ``samples`` replicates so far, ``keep`` how many survive, ``open_`` who is still in the race,
    ``error`` what may be spent at this rung."""
    # Enough draws that being put out without a hit, at half a hit each, costs little of the error.
    count = int(np.clip((open_.sum() - keep) / (1.2 * error), FEWEST, MOST))
    draws = predicted(cost, covariance, samples, most, count, rng)
    hits = _survivals(draws, keep)
    chance = (hits + 0.5) / (len(draws) + 1)
    order = np.flatnonzero(open_)[np.argsort(chance[open_], kind="stable")]
    leave = np.zeros(len(cost), dtype=bool)
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
    left = np.maximum(1 / samples - 1 / most, 0.0)
    values, vectors = np.linalg.eigh(spread * left[:, None, None])
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

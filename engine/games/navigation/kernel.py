"""The compiled rules of cooperative navigation (Staley et al. 2021, section 5.2; the numbers are those of the example
CoverEnv of the AI Arena's code, after MADDPG's cooperative navigation, Lowe et al. 2017).

As many entities as targets are on a square, x and y from 0 to 1. A target is a square that does not overlap another
one; it is covered while the middle of an entity is inside, whosoever. An entity is placed by its corner, so its middle
is from BODY / 2 to 1 + BODY / 2. A decision lasts four moments.

Departures: (1) what CoverEnv takes from a library that is not public is a reading: each moment moves everybody a
quarter of its way, then pays a quarter for each covered target; all targets are drawn again while any two overlap.
(2) The end of time cuts an episode off, and is no end of the game. (3) A random number is a hash of (episode seed,
purpose, attempt) only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np

from engine.compiling import njit
from engine.splitmix import combine

F = TypeVar("F", bound=Callable[..., Any])


def compiled(function: F) -> F:
    """Compile without fast-math: the order of operations is as written, on every machine."""
    return cast(F, njit(cache=True, nogil=True, fastmath=False, error_model="numpy")(function))


TARGET, BODY = 0.15, 0.075  # sides of a target and of an entity
SPEED = 0.06  # an entity's way along each axis in a decision, at most
MOMENTS = 4
# Columns of an entity's tallies float64[n, E, 3]: moments inside a target, moments in which another one was in it, too,
# and its way as a share of the longest one, summed over decisions.
OWN, SHARED, MOVED = 0, 1, 2
TALLIES = 3
# Kinds of reward.
SCORE_REWARD, OWN_REWARD, SHARED_REWARD, MOVED_REWARD = 0, 1, 2, 3
# What random numbers are for.
ENTITIES, TARGETS, ORDER = np.uint64(1), np.uint64(2), np.uint64(3)

_11, _ONE = np.uint64(11), np.uint64(1)


@compiled
def share(word: Any) -> float:
    """A number from 0 to 1, without 1, from a hash."""
    return float(word >> _11) * (1.0 / 9007199254740992.0)


@compiled
def place(seed: Any, at: Any, targets: Any) -> None:
    """Draw the middles of all entities, float64[E, 2], then those of all targets until none overlaps another."""
    word, count = combine(seed, ENTITIES), len(at)
    for e in range(count):
        for axis in range(2):
            at[e, axis] = BODY / 2.0 + share(combine(word, np.uint64(2 * e + axis)))
    word, number, apart = combine(seed, TARGETS), np.uint64(0), False
    while not apart:
        for t in range(count):
            for axis in range(2):
                targets[t, axis] = TARGET / 2.0 + (1.0 - TARGET) * share(combine(word, number))
                number += _ONE
        apart = separate(targets)


@compiled
def separate(targets: Any) -> bool:
    """Whether no target overlaps another one."""
    for t in range(len(targets)):
        for u in range(t):
            if abs(targets[t, 0] - targets[u, 0]) < TARGET and abs(targets[t, 1] - targets[u, 1]) < TARGET:
                return False
    return True


@compiled
def shuffle(seed: Any, order: Any) -> None:
    """The order int64[E, E] in which each entity sees the targets, drawn for each one (Fisher and Yates)."""
    count = len(order)
    for e in range(count):
        word = combine(combine(seed, ORDER), np.uint64(e))
        for i in range(count - 1, 0, -1):
            j = int(combine(word, np.uint64(i)) % np.uint64(i + 1))
            order[e, i], order[e, j] = order[e, j], order[e, i]


@compiled
def inside(i: int, e: int, t: int, at: Any, targets: Any) -> bool:
    """Whether an entity's middle is inside a target in battle ``i``."""
    half = TARGET / 2.0
    return bool(abs(at[i, e, 0] - targets[i, t, 0]) < half and abs(at[i, e, 1] - targets[i, t, 1]) < half)


@compiled
def look(i: int, at: Any, targets: Any, covered: Any, tallies: Any) -> int:
    """Who is where in battle ``i``: which targets are covered, and one more moment in the tallies of entities. Returns
    the number of covered targets."""
    count, total = at.shape[1], 0
    for t in range(count):
        crowd = 0
        for e in range(count):
            crowd += inside(i, e, t, at, targets)
        covered[i, t] = crowd > 0
        total += crowd > 0
        for e in range(count if crowd > 0 else 0):
            if inside(i, e, t, at, targets):
                tallies[i, e, OWN] += 1.0
                tallies[i, e, SHARED] += crowd > 1
    return total


@compiled
def move(i: int, e: int, ways: Any, at: Any, tallies: Any) -> None:
    """A moment's way of one entity in battle ``i``, from -1 to 1 a decision; the square ends where its corner would
    leave it."""
    gone = 0.0
    for axis in range(2):
        step = min(max(float(ways[i, e, axis]), -1.0), 1.0)
        gone += step * step
        at[i, e, axis] = min(max(at[i, e, axis] + step * SPEED / MOMENTS, BODY / 2.0), 1.0 + BODY / 2.0)
    tallies[i, e, MOVED] += np.sqrt(gone / 2.0) / MOMENTS


@compiled
def pay(kinds: Any, total: int, before: Any, tally: Any, out: Any) -> None:
    """The rewards float32[E, R] of a decision: covered targets for each entity of them all, the shares of its moments
    inside a target and inside a crowded one, and its way."""
    for e in range(len(tally)):
        for r in range(len(kinds)):
            if kinds[r] == SCORE_REWARD:
                out[e, r] = total / (MOMENTS * len(tally))
            elif kinds[r] == OWN_REWARD:
                out[e, r] = (tally[e, OWN] - before[e, OWN]) / MOMENTS
            elif kinds[r] == SHARED_REWARD:
                out[e, r] = (tally[e, SHARED] - before[e, SHARED]) / MOMENTS
            else:
                out[e, r] = tally[e, MOVED] - before[e, MOVED]


@compiled
def play(
    ways: Any, kinds: Any, at: Any, targets: Any, covered: Any, tallies: Any, totals: Any, rewards: Any
) -> None:  # fmt: skip
    """One decision of every battle: ``ways`` float32[n, E, 2]; ``at`` and ``targets`` float64[n, E, 2]; ``covered``
    bool[n, E]; ``tallies`` float64[n, E, 3]; ``totals`` int64[n], moments of covered targets; ``rewards``
    float32[n, E, R]."""
    before = np.empty_like(tallies[0]) if len(tallies) else np.empty((0, TALLIES))
    for i in range(len(at)):
        before[:] = tallies[i]
        total = 0
        for _ in range(MOMENTS):
            for e in range(at.shape[1]):
                move(i, e, ways, at, tallies)
            total += look(i, at, targets, covered, tallies)
        totals[i] += total
        pay(kinds, total, before, tallies[i], rewards[i])


@compiled
def restart(
    battles: Any, seeds: Any, hard: bool, at: Any, targets: Any, order: Any, covered: Any, tallies: Any, totals: Any
) -> None:  # fmt: skip
    """Begin new episodes in these battles; ``order`` int64[n, E, E]."""
    for i in battles:
        place(seeds[i], at[i], targets[i])
        for e in range(at.shape[1]):
            for t in range(at.shape[1]):
                order[i, e, t] = t
        if hard:
            shuffle(seeds[i], order[i])
        look(i, at, targets, covered, tallies)
        tallies[i] = 0.0
        totals[i] = 0


@compiled
def observe(entity: int, at: Any, targets: Any, order: Any, covered: Any, battles: Any, out: Any) -> None:
    """Write what an entity sees in these battles into their rows of float32[n, 5 E - 2]: where the others are from it,
    then where each target is and whether it is covered."""
    count = at.shape[1]
    for i in battles:
        k = 0
        for e in range(count):
            if e != entity:
                out[i, k], out[i, k + 1] = at[i, e, 0] - at[i, entity, 0], at[i, e, 1] - at[i, entity, 1]
                k += 2
        for j in range(count):
            t = order[i, entity, j]
            out[i, k], out[i, k + 1] = targets[i, t, 0] - at[i, entity, 0], targets[i, t, 1] - at[i, entity, 1]
            out[i, k + 2] = covered[i, t]
            k += 3

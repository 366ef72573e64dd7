"""Random teams in groups of hosts and guests: each host meets every guest of its group that the rules let it meet.

The expected value of a function of both teams, over pairings that nobody plays, takes many opponents for each team but
hardly more teams than opponents: so a group's teams are drawn once and meet in many pairings (a two-sample U-statistic:
Hoeffding 1948, Lehmann 1951). A host is drawn until it is valid, a guest too, independently of one another; those that
may not meet are left out. So each pairing that remains has the distribution of ``pairings.draw``: the reference, or the
reference given that the first team holds given pieces. Pairings of one group share teams and are not independent;
groups are. So the mean over all pairings is consistent, and its variance follows from the groups.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.lineups.drawing import TRIES, Chances, costs, draw_team, is_whole, jit, may_meet
from engine.lineups.pairings import Rows, in_parts
from engine.lineups.rules import CompiledRules
from engine.problem import ShouldStop
from engine.rng import combine64

Seeds = NDArray[np.uint64]
Index = NDArray[np.int64]
OPPONENTS, GUESTS = 16, 512
"""Opponents that each host should meet on average, and the most guests of a group."""
RARELY = 1e-3
"""Chance to meet below which no more groups are drawn to make up for it."""
PILOT = 256
"""Hosts and guests of the group from which that chance is measured."""


class Teams(NamedTuple):
    """``rows`` int32[n, slots], and ``found`` bool[n]: rows where it is False are undefined."""

    rows: Rows
    found: NDArray[np.bool_]


class Size(NamedTuple):
    """How many ``guests`` a group should have, and the ``chance`` of two random teams to meet."""

    guests: int
    chance: float

    def groups(self, pairings: int, hosts: int = 1) -> int:
        """Number of groups, two or more, in which so many pairings with any of the ``hosts`` are to be expected."""
        return max(math.ceil(pairings / (hosts * self.guests * max(self.chance, RARELY))), 2)


def size(rules: CompiledRules, seed: int, stopped: ShouldStop = lambda: False) -> Size:
    """The size of groups under these rules. Raises Cancelled."""
    numbers = combine64(seed, np.arange(2 * PILOT, dtype=np.uint64))
    nothing = np.full((2 * PILOT, 1), -1, np.int32)
    host, _ = meetings(rules, teams(rules, numbers, nothing, nothing, stopped=stopped), 1, PILOT)
    chance = len(host) / PILOT**2
    return Size(min(math.ceil(OPPONENTS / max(chance, RARELY)), GUESTS), chance)


def teams(
    rules: CompiledRules, seeds: Seeds, pieces: Rows, least: Rows, *, stopped: ShouldStop = lambda: False
) -> Teams:
    """One valid team for each seed uint64[n], by itself; arguments and errors as of ``pairings.draw``."""
    chances = Chances.of(rules)
    pieces, least = np.ascontiguousarray(pieces), np.ascontiguousarray(least)

    def once(own: slice) -> tuple[Rows, NDArray[np.bool_]]:
        rows, found = _teams(seeds[own], rules, pieces[own], least[own], *chances)
        return np.asarray(rows), np.asarray(found)

    return Teams(*in_parts(len(seeds), once, stopped))


def meetings(rules: CompiledRules, drawn: Teams, groups: int, hosts: int) -> tuple[Index, Index]:
    """Indices of the hosts and guests that may meet, int64[m] and int64[m]. The teams are those of ``groups`` of equal
    size, one after another, the ``hosts`` of each before its guests."""
    host, guest = _meetings(
        drawn.rows, drawn.found, costs(rules, drawn.rows), rules, groups, hosts, len(drawn.rows) // groups
    )
    return np.asarray(host), np.asarray(guest)


@jit
def _teams(seeds: Any, rules: Any, pieces: Any, least: Any, shares: Any, inside: Any) -> Any:
    n, slots = len(seeds), len(rules.is_count)
    out = np.full((n, slots), -1, dtype=np.int32)
    found = np.zeros(n, dtype=np.bool_)
    state, cost = np.empty(1, dtype=np.uint64), np.empty(1)
    for i in range(n):
        state[0] = seeds[i]
        tries = 0
        while not found[i] and tries < TRIES:
            tries += 1
            lineup = out[i : i + 1]
            drawn = draw_team(state, lineup, rules, 0, pieces[i], least[i], shares, inside, rules.price, cost)
            found[i] = drawn and is_whole(lineup, rules, 0)
    return out, found


@jit
def _meetings(rows: Any, found: Any, price: Any, rules: Any, groups: int, hosts: int, each: int) -> Any:
    most = groups * hosts * (each - hosts)
    host, guest = np.empty(most, dtype=np.int64), np.empty(most, dtype=np.int64)
    two, cost, many = np.empty((2, rows.shape[1]), dtype=np.int32), np.empty(2), 0
    for g in range(groups):
        at = g * each
        for i in range(at, at + hosts):
            two[0], cost[0] = rows[i], price[i]
            for j in range(at + hosts, at + each):
                two[1], cost[1] = rows[j], price[j]
                if found[i] and found[j] and may_meet(two, rules, cost):
                    host[many], guest[many] = i, j
                    many += 1
    return host[:many], guest[:many]

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

from engine.lineups.drawing import (
    FIRST,
    PLAIN,
    TRIES,
    Chances,
    asks,
    costs,
    draw_team,
    is_whole,
    jit,
    may_meet,
    near,
)
from engine.lineups.mending import write
from engine.lineups.pairings import Drawn, Rows, in_parts, missing
from engine.lineups.rules import IN_LINEUP, CompiledRules
from engine.lineups.scarce import affordable, again, alike, draw_scarce, prepared
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


class FoundTeams(NamedTuple):
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
) -> FoundTeams:
    """One valid team for each seed uint64[n], by itself; arguments and errors as of ``pairings.draw``."""
    chances = Chances.of(rules)
    pieces, least = np.ascontiguousarray(pieces), np.ascontiguousarray(least)

    def plain(own: slice) -> Drawn:
        drawn: Drawn = _plain(seeds[own], rules, pieces[own], least[own], *chances)
        return drawn

    rows, found = in_parts(len(seeds), plain, stopped)
    left = missing(found, pieces, least)

    def scarce(own: slice) -> Drawn:
        few = left[own]
        drawn: Drawn = _scarce(seeds[few], rules, pieces[few], least[few], *chances)
        return drawn

    if len(left):
        rows[left], found[left] = in_parts(len(left), scarce, stopped)
    return FoundTeams(rows, found)


def meetings(rules: CompiledRules, drawn: FoundTeams, groups: int, hosts: int) -> tuple[Index, Index]:
    """Indices of the hosts and guests that may meet, int64[m] and int64[m]. The teams are those of ``groups`` of equal
    size, one after another, the ``hosts`` of each before its guests."""
    host, guest = _meetings(
        drawn.rows, drawn.found, costs(rules, drawn.rows), rules, groups, hosts, len(drawn.rows) // groups
    )
    return np.asarray(host), np.asarray(guest)


@jit
def _plain(seeds: Any, rules: Any, pieces: Any, least: Any, shares: Any, inside: Any) -> Any:
    """Random draws: ``PLAIN`` for what is to hold a piece, ``TRIES`` for anything else."""
    n, slots = len(seeds), len(rules.is_count)
    out = np.full((n, slots), -1, dtype=np.int32)
    found = np.zeros(n, dtype=np.bool_)
    for i in range(n):
        most = PLAIN if asks(pieces[i]) else TRIES
        found[i] = _team(seeds[i], out[i : i + 1], rules, pieces[i], least[i], shares, inside, most)
    return out, found


@jit
def _team(
    seed: Any, lineup: Any, rules: Any, pieces: Any, least: Any, shares: Any, inside: Any, most: int
) -> bool:  # fmt: skip
    """Draw a team until it is valid; False after ``most`` draws."""
    state, cost = np.empty(1, dtype=np.uint64), np.empty(1)
    state[0] = seed
    for _ in range(most):
        drawn = draw_team(state, lineup, rules, FIRST, pieces, least, shares, inside, rules.price, cost)
        if drawn and is_whole(lineup, rules, FIRST):
            return True
    return False


@jit
def _scarce(seeds: Any, rules: Any, pieces: Any, least: Any, shares: Any, inside: Any) -> Any:
    """Draws of which random ones hardly ever give any; equal requests next to each other share a table."""
    n, slots, at = len(seeds), len(rules.is_count), 0
    out = np.full((n, slots), -1, dtype=np.int32)
    found = np.zeros(n, dtype=np.bool_)
    while at < n:
        end = at + 1
        while end < n and alike(pieces, least, at, end):
            end += 1
        if affordable(rules, inside, rules.price, pieces[at], least[at]):
            _of_request(seeds[at:end], out[at:end], found[at:end], rules, pieces[at], least[at], shares, inside)
        at = end
    return out, found


@jit
def _of_request(
    seeds: Any, out: Any, found: Any, rules: Any, pieces: Any, least: Any, shares: Any, inside: Any
) -> None:  # fmt: skip
    """Draw a team for each seed, all of which ask for the same."""
    table = prepared(rules, shares, rules.price, pieces, least)
    state, cost = np.empty(1, dtype=np.uint64), np.empty(1)
    for i in range(len(seeds) if table.possible or not table.known else 0):
        lineup = out[i : i + 1]
        if not table.known:
            found[i] = _team(seeds[i], lineup, rules, pieces, least, shares, inside, TRIES)
            continue
        state[0], tries = again(seeds[i]), 0
        while not found[i] and tries < TRIES:
            tries += 1
            found[i] = draw_scarce(state, lineup, rules, FIRST, table, rules.price, cost)


@jit
def _meetings(rows: Any, found: Any, price: Any, rules: Any, groups: int, hosts: int, each: int) -> Any:
    most = groups * hosts * (each - hosts)
    host, guest = np.empty(most, dtype=np.int64), np.empty(most, dtype=np.int64)
    two, cost, many, wide = np.empty((2, rows.shape[1]), dtype=np.int32), np.empty(2), 0, _wide(rows, rules)
    for g in range(groups):
        at = g * each
        for i in range(at, at + hosts):
            for j in range(at + hosts if found[i] else at + each, at + each):
                if not found[j] or not near(rules.tolerance, price[i], price[j]) or _share(wide, i, j):
                    continue
                if len(rules.required):
                    write(two[0], rows[i])
                    write(two[1], rows[j])
                    cost[0], cost[1] = price[i], price[j]
                    if not may_meet(two, rules, cost):
                        continue
                host[many], guest[many] = i, j
                many += 1
    return host[:many], guest[:many]


@jit
def _wide(rows: Any, rules: Any) -> Any:
    """Pieces of teams [n, slots] that no other team of a lineup may have, int32[n, slots]; -1 after the last."""
    wide = np.full(rows.shape, -1, dtype=np.int32)
    for i in range(len(rows)):
        many = 0
        for s in range(rows.shape[1]):
            piece = rows[i, s]
            if not rules.is_count[s] and piece >= 0 and rules.scope[rules.category[piece]] == IN_LINEUP:
                wide[i, many] = piece
                many += 1
    return wide


@jit
def _share(wide: Any, i: int, j: int) -> bool:
    """Whether teams i and j have one of these pieces in common."""
    for a in range(wide.shape[1]):
        if wide[i, a] < 0:
            return False
        for b in range(wide.shape[1]):
            if wide[j, b] < 0:
                break
            if wide[i, a] == wide[j, b]:
                return True
    return False

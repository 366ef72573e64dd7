"""The size of a project's search space in lineups: counted where that is cheap, otherwise estimated from random draws.

A lineup is counted once, in its canonical form (``operators.canonical``): interchangeable slots and teams in order.
"""

from __future__ import annotations

from math import comb, factorial, prod
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.indicators import half_width
from engine.lineups.rules import FREE, IN_LINEUP, CompiledRules
from engine.rng import generator

I64 = NDArray[np.int64]

COUNTED = 2**17
"""Up to so many teams, or lineups, are enumerated."""
HALF = 2**18
"""Up to so many halves of teams are enumerated and sorted by cost."""
BLOCKS, TEAM_DRAWS, LINEUP_DRAWS = 8, 6_000, 2_500
"""Independent estimates, whose spread gives the interval, and the draws in each."""
WIDEST = 0.5
"""Widest useful interval: its half-width as a share of the estimate."""


class Size(NamedTuple):
    """``counted``: ``lineups`` is exact. ``estimated``: ``low`` to ``high`` is a 95 % interval from random draws.
    ``bound``: so few draws were valid that only an upper bound is known; ``low`` is 0."""

    lineups: float
    low: float
    high: float
    kind: Literal["counted", "estimated", "bound"]


class _Place(NamedTuple):
    """The options of a piece slot, each a piece with its count; an empty slot is piece -1."""

    piece: I64
    units: I64
    cost: NDArray[np.float64]
    category: int
    group: int


class _Teams(NamedTuple):
    """Teams that keep the rules of one team, in order of cost: their option for each place int64[n, places], pieces
    int64[n, places], costs float64[n], ``name`` int64[n] equal for equal teams. They represent ``number`` teams."""

    option: I64
    piece: I64
    cost: NDArray[np.float64]
    name: I64
    number: float


def space_size(rules: CompiledRules) -> Size:
    """How many lineups keep the rules; deterministic."""
    places = [_place(rules, int(s)) for s in np.flatnonzero(~rules.is_count)]
    affordable = _Affordable(rules, places)
    known = None
    if affordable.total <= COUNTED:
        known = _valid_teams(rules, places, affordable.options(np.arange(affordable.total)), affordable.total)
        if len(known.cost) ** rules.teams <= COUNTED:
            counted = float(len(_lineups(rules, places, known)))
            return Size(counted, counted, counted, "counted")
    found = np.array([_estimate(rules, places, affordable, known, block) for block in range(BLOCKS)])
    mean = float(found.mean())
    half = float(half_width(found.std(ddof=1) / np.sqrt(BLOCKS), BLOCKS))
    if found.min() > 0 and half <= WIDEST * mean:
        return Size(mean, mean - half, mean + half, "estimated")
    most = len(known.cost) if known else affordable.total
    bound = float(comb(most + rules.teams - 1, rules.teams))
    return Size(bound, 0.0, bound, "bound")


def every_lineup(rules: CompiledRules) -> NDArray[np.int32] | None:
    """All lineups that keep the rules, int32[n, teams, slots], each once with its teams in some order; None where there
    are too many to list (more than ``COUNTED`` teams, or choices of teams)."""
    places = [_place(rules, int(s)) for s in np.flatnonzero(~rules.is_count)]
    affordable = _Affordable(rules, places)
    if affordable.total > COUNTED:
        return None
    known = _valid_teams(rules, places, affordable.options(np.arange(affordable.total)), affordable.total)
    if len(known.cost) ** rules.teams > COUNTED:
        return None
    return np.asarray(_as_slots(rules, places, known)[_lineups(rules, places, known)])


def _place(rules: CompiledRules, s: int) -> _Place:
    pool, mate = rules.pool[s, : rules.pool_size[s]].astype(np.int64), rules.partner[s]
    counts = np.arange(rules.low[mate], rules.high[mate] + 1) if mate >= 0 else np.ones(1, np.int64)
    piece, number = np.repeat(pool, len(counts)), np.tile(counts, len(pool))
    units, cost = (number if mate >= 0 else np.zeros_like(number)), rules.price[piece] * number
    if rules.optional[s]:
        piece, units, cost = np.append(piece, -1), np.append(units, 0), np.append(cost, 0.0)
    category = int(rules.category[pool[0]]) if len(pool) else -1
    return _Place(piece, units, cost, category, int(rules.group[s]))


class _Affordable:
    """The teams whose cost is within the budget, numbered 0 to ``total`` - 1: all halves of teams are enumerated, and
    the second halves that fit a first half are contiguous in order of cost. In games with too many slots to enumerate a
    half, all teams are numbered, whatever they cost."""

    def __init__(self, rules: CompiledRules, places: list[_Place]) -> None:
        self.shape = tuple(len(place.piece) for place in places)
        halves: tuple[list[int], list[int]] = ([], [])
        for i in sorted(range(len(places)), key=lambda i: -self.shape[i]):
            min(halves, key=lambda half: prod(self.shape[j] for j in half)).append(i)
        self.halves = halves
        self.laid_out = max(prod(self.shape[j] for j in half) for half in halves) <= HALF
        self.total = prod(self.shape)
        if self.laid_out:
            first, second = ([places[i].cost for i in half] for half in halves)
            self._lay_out(_sums(first), _sums(second), rules.budget)

    def _lay_out(self, first: NDArray[np.float64], second: NDArray[np.float64], budget: NDArray[np.float64]) -> None:
        slack = 1e-9 * (1 + first.max() + second.max())  # rounding must lose no team; those too dear are removed later
        self.order = np.argsort(second, kind="stable")
        self.start = np.searchsorted(second[self.order], budget[0] - slack - first, "left")
        self.ends = np.cumsum(np.searchsorted(second[self.order], budget[1] + slack - first, "right") - self.start)
        self.total = int(self.ends[-1])

    def draw(self, rng: np.random.Generator, n: int) -> I64:
        """n random teams: an option for each place, int64[n, places]."""
        if not self.laid_out:
            return np.stack([rng.integers(0, size, n) for size in self.shape], axis=1)
        return self.options(rng.integers(0, self.total, n) if self.total else np.empty(0, np.int64))

    def options(self, numbers: I64) -> I64:
        """The teams with these numbers: an option for each place, int64[n, places]."""
        if not self.laid_out:
            return np.stack(np.unravel_index(numbers, self.shape), axis=1)
        first = np.searchsorted(self.ends, numbers, "right")
        before = np.concatenate([[0], self.ends])[first]
        second = self.order[self.start[first] + numbers - before]
        found = np.empty((len(numbers), len(self.shape)), np.int64)
        for half, rows in zip(self.halves, (first, second), strict=True):
            if half:
                found[:, half] = np.stack(np.unravel_index(rows, [self.shape[i] for i in half]), axis=1)
        return found


def _sums(costs: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    """The cost of every combination, the last place changing fastest."""
    total = np.zeros(1)
    for cost in costs:
        total = np.add.outer(total, cost).ravel()
    return total


def _valid_teams(rules: CompiledRules, places: list[_Place], option: I64, number: float) -> _Teams:
    """The teams in ``option`` (an option for each place) that keep the rules of one team and are in canonical form; all
    of ``option`` represent ``number`` teams."""
    piece = np.stack([place.piece[option[:, i]] for i, place in enumerate(places)], axis=1)
    cost = sum((place.cost[option[:, i]] for i, place in enumerate(places)), np.zeros(len(option)))
    units = sum((place.units[option[:, i]] for i, place in enumerate(places)), np.zeros(len(option), np.int64))
    keep = (cost >= rules.budget[0]) & (cost <= rules.budget[1])
    keep &= (units >= rules.units[0]) & (units <= rules.units[1])
    for i, one in enumerate(places):
        for j, other in enumerate(places[i + 1 :], start=i + 1):
            a, b = piece[:, i], piece[:, j]
            if one.group >= 0 and one.group == other.group:
                fewer = one.units[option[:, i]] <= other.units[option[:, j]]
                keep &= (b < 0) | ((a >= 0) & ((a < b) | ((a == b) & fewer)))
            if one.category == other.category and rules.scope[one.category] != FREE:
                keep &= (a != b) | (a < 0)
    for first, second in rules.apart:
        keep &= ~((piece == first).any(axis=1) & (piece == second).any(axis=1))
    rows = np.flatnonzero(keep)
    rows = rows[np.argsort(cost[rows], kind="stable")]
    name = option[rows] @ generator(0, "names").integers(1, 2**63, len(places))  # overflow wraps, as intended
    return _Teams(option[rows], piece[rows], cost[rows], name, number * len(rows) / max(1, len(option)))


def _together(rules: CompiledRules, places: list[_Place], teams: _Teams, rows: I64) -> NDArray[np.bool_]:
    """Which lineups, given by the rows int64[n, teams] of their teams, keep the rules between teams."""
    cost, piece = teams.cost[rows], teams.piece[rows]
    keep = np.asarray(cost.max(axis=1) <= rules.dearest(cost.min(axis=1)))
    for wanted in rules.required:
        keep &= (piece == wanted).any(axis=(1, 2))
    alike = [
        (i, j)
        for i, one in enumerate(places)
        for j, other in enumerate(places)
        if one.category == other.category and one.category >= 0 and rules.scope[one.category] == IN_LINEUP
    ]
    for t in range(rules.teams):
        for u in range(t + 1, rules.teams):
            for i, j in alike:
                keep &= (piece[:, t, i] != piece[:, u, j]) | (piece[:, t, i] < 0)
    return keep


def _lineups(rules: CompiledRules, places: list[_Place], teams: _Teams) -> I64:
    """Every valid lineup of these teams, once: the rows int64[n, teams] of its teams."""
    n = len(teams.cost)
    if not n:
        return np.empty((0, rules.teams), np.int64)
    rows = np.stack(np.unravel_index(np.arange(n**rules.teams), (n,) * rules.teams), axis=1)
    rows = rows[(np.diff(rows, axis=1) >= 0).all(axis=1)]
    return rows[_together(rules, places, teams, rows)]


def _as_slots(rules: CompiledRules, places: list[_Place], teams: _Teams) -> NDArray[np.int32]:
    """Teams as genomes have them, int32[n, slots]: pieces, and counts in their own slots."""
    found = np.zeros((len(teams.cost), len(rules.is_count)), np.int32)
    for i, s in enumerate(np.flatnonzero(~rules.is_count)):
        found[:, s] = teams.piece[:, i]
        if rules.partner[s] >= 0:
            found[:, rules.partner[s]] = places[i].units[teams.option[:, i]]
    return found


def _estimate(
    rules: CompiledRules, places: list[_Place], affordable: _Affordable, known: _Teams | None, block: int
) -> float:
    """One estimate; 0 when no draw was valid.

    A lineup is drawn as a team and T - 1 others that cost as much or, within the tolerance, more. Its weight is the
    number of choices divided by the number of orders in which the same lineup can be drawn: T! / (orders that look the
    same), restricted to those that begin with a cheapest team.
    """
    rng = generator(block, "space-size")
    teams = known or _valid_teams(rules, places, affordable.draw(rng, TEAM_DRAWS), affordable.total)
    n, size = len(teams.cost), rules.teams
    if n < size:
        return 0.0
    first = rng.integers(0, n, LINEUP_DRAWS)
    start = np.searchsorted(teams.cost, teams.cost[first], "left")
    end = np.searchsorted(teams.cost, rules.dearest(teams.cost[first]), "right")
    choices = end - start
    others = start[:, None] + (rng.random((LINEUP_DRAWS, size - 1)) * choices[:, None]).astype(np.int64)
    rows = np.column_stack([first, others])
    fits = _together(rules, places, teams, rows)
    tuples = float(n) ** size
    if known is None:  # a draw represents many teams: lineups that hold it twice would be far too frequent
        fits &= (np.diff(np.sort(rows, axis=1), axis=1) > 0).all(axis=1)
        tuples = float(prod(n - k for k in range(size)))
    cheapest = (teams.cost[rows] == teams.cost[first][:, None]).sum(axis=1)
    weight = n * choices.astype(float) ** (size - 1) * size / cheapest * _alike(teams.name[rows]) / factorial(size)
    return float(weight[fits].sum() / LINEUP_DRAWS / tuples * teams.number**size)


def _alike(names: I64) -> NDArray[np.float64]:
    """Number of orders in which the teams int64[n, T] of each lineup look the same: the product of k! over teams that
    occur k times."""
    ordered = np.sort(names, axis=1)
    orders, run = np.ones(len(names)), np.ones(len(names))
    for t in range(1, names.shape[1]):
        run = np.where(ordered[:, t] == ordered[:, t - 1], run + 1, 1.0)
        orders *= run
    return orders

"""Exact random pairings of two teams: the battles of a designed experiment.

The *reference* distribution: the two teams of a lineup of two are drawn slot by slot. An optional slot stays empty in
two of five draws, otherwise each piece of the slot's pool is equally likely, and so is each number of a count slot.
A draw that breaks a rule (a repetition, a budget, the costs' tolerance, a missing required piece) is rejected whole, so
accepted pairings have the distribution of the draws conditional on the rules.

A pairing whose first team must hold given pieces has the reference distribution conditional on that: the pieces are put
into slots with the probabilities of those slots, everything else is drawn, and teams that hold them in several ways are
thinned to their true frequency. So battles played to look at a piece more closely and battles that hold it by chance
measure the same quantity.
"""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from engine.errors import Cancelled, ConfigError
from engine.lineups.encoding import team_keys
from engine.lineups.mending import next_number, put_in_order, stands
from engine.lineups.rules import FREE, IN_LINEUP, CompiledRules
from engine.problem import Capabilities, ShouldStop
from engine.rng import combine64

Rows = NDArray[np.int32]
EMPTY = 0.4
"""Chance that an optional slot stays empty, as when lineups are drawn (``operators``)."""
TRIES = 400_000
"""Draws for one pairing before giving up: hardly any such pairing satisfies the rules."""
LOOK_S = 0.25
"""Seconds of drawing between two checks whether to stop."""
_jit = njit(cache=True, nogil=True)


class Pairings(NamedTuple):
    """``rows`` int32[n, 2, slots] in canonical form, the first team of each holding the requested pieces; ``found``
    bool[n]: rows where it is False are undefined."""

    rows: Rows
    found: NDArray[np.bool_]


def draw(
    rules: CompiledRules,
    seeds: NDArray[np.uint64],
    pieces: Rows,
    least: Rows,
    dearer: NDArray[np.float64] | None = None,
    *,
    stopped: ShouldStop = lambda: False,
) -> Pairings:
    """One pairing for each seed uint64[n], which should be a hash; a pairing depends on its own seed only. ``rules``
    are for lineups of two teams. ``pieces`` int32[n, k]: held by the first team (-1: none), each in an amount of
    ``least`` [n, k] or more. ``dearer`` float64[n]: added to the unit cost of the first of these, in either team. Takes
    long where few pairings satisfy the rules, so ``stopped`` is called about four times a second. Raises Cancelled."""
    shares = np.where(rules.optional, 1 - EMPTY, 1.0) / np.maximum(rules.pool_size, 1)
    inside = np.zeros((len(rules.is_count), len(rules.price)), np.bool_)
    for s, size in enumerate(rules.pool_size):
        inside[s, rules.pool[s, :size]] = not rules.is_count[s]
    pieces, least = np.ascontiguousarray(pieces), np.ascontiguousarray(least)
    more = np.zeros(len(seeds)) if dearer is None else np.ascontiguousarray(dearer)
    at, many, parts = 0, 1, list[Pairings]()
    while at < len(seeds) or not parts:
        if stopped():
            raise Cancelled("The drawing of teams was asked to stop")
        own, began = slice(at, at + many), time.monotonic()
        rows, found = _drawn(seeds[own], rules, pieces[own], least[own], shares, inside, more[own])
        parts.append(Pairings(np.asarray(rows), np.asarray(found)))
        at += many
        many = _next_part(many, time.monotonic() - began)
    return Pairings(*(np.concatenate(each) for each in zip(*parts, strict=True)))


def _next_part(many: int, seconds: float) -> int:
    """How many pairings to draw until the next check, given that ``many`` took so many ``seconds``."""
    return max(1, min(int(many * LOOK_S / max(seconds, 1e-6)), 64 * many))


def amounts(rules: CompiledRules, rows: Rows, pieces: int) -> NDArray[np.int32]:
    """Amount of each piece in each team: rows int32[n, slots] give int32[n, pieces]."""
    held = np.zeros((len(rows), pieces + 1), np.int32)
    at = np.arange(len(rows))
    for s in np.flatnonzero(~rules.is_count):
        mate = rules.partner[s]
        np.add.at(held, (at, rows[:, s]), rows[:, mate] if mate >= 0 else 1)
    return held[:, :-1]


def costs(rules: CompiledRules, rows: Rows) -> NDArray[np.float64]:
    """Costs float64[n] of teams int32[n, slots]."""
    prices, total = np.append(rules.price, 0.0), np.zeros(len(rows))
    for s in np.flatnonzero(~rules.is_count):
        mate = rules.partner[s]
        total += prices[rows[:, s]] * (rows[:, mate] if mate >= 0 else 1)
    return total


class PairingSpace:
    """The reference distribution as a space; genomes are int32[n, 2, slots], left and right team."""

    can = Capabilities()

    def __init__(self, rules: CompiledRules) -> None:
        self.rules = rules

    def sample(self, rng: np.random.Generator, n: int) -> Rows:
        """n random pairings. Raises ConfigError when hardly any satisfy the rules."""
        nothing = np.full((n, 1), -1, np.int32)
        rows, found = draw(self.rules, rng.integers(0, 2**63, n, dtype=np.uint64), nothing, nothing)
        if not found.all():
            raise ConfigError([("lineups", f"hardly any two teams keep these rules: {TRIES:,} draws gave none")])
        return rows

    def keys(self, genomes: Rows) -> NDArray[np.uint64]:
        """Hash of the two teams."""
        left, right = (team_keys(np.ascontiguousarray(genomes[:, side])) for side in (0, 1))
        return combine64(left, right)


@_jit
def _mark(state: Any) -> Any:
    """A random number in [0, 1)."""
    return np.float64(next_number(state) >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@_jit
def _slot_of(state: Any, piece: int, shares: Any, inside: Any) -> Any:
    """A random slot for a piece, with the probabilities of the slots that may hold it; -1 where none may."""
    total, last = 0.0, -1
    for s in range(len(shares)):
        total += shares[s] if inside[s, piece] else 0.0
    mark = total * _mark(state)
    for s in range(len(shares)):
        if inside[s, piece]:
            last = s
            if mark < shares[s]:
                break
            mark -= shares[s]
    return last


@_jit
def _put(state: Any, lineup: Any, rules: Any, price: Any, t: int, s: int, piece: int) -> Any:
    """Put a piece in a slot, in a random amount where the slot has a count; returns (cost, amount)."""
    lineup[t, s] = piece
    mate = rules.partner[s]
    if mate < 0:
        return price[piece], 0
    many = rules.low[mate] + np.int64(_mark(state) * (rules.high[mate] - rules.low[mate] + 1))
    lineup[t, mate] = many
    return price[piece] * many, many


@_jit
def _amount(lineup: Any, rules: Any, t: int, piece: int) -> Any:
    """(amount of the piece in a team, number of slots that hold it)."""
    many, slots = 0, 0
    for s in range(lineup.shape[1]):
        if not rules.is_count[s] and lineup[t, s] == piece:
            mate = rules.partner[s]
            many += lineup[t, mate] if mate >= 0 else 1
            slots += 1
    return many, slots


@_jit
def _repeats(lineup: Any, rules: Any, t: int, u: int) -> bool:
    """Whether a piece of team t is repeated in team u against the rules."""
    for s in range(lineup.shape[1]):
        piece = lineup[t, s]
        if rules.is_count[s] or piece < 0:
            continue
        scope = rules.scope[rules.category[piece]]
        if scope == FREE or (t != u and scope != IN_LINEUP):
            continue
        for k in range(lineup.shape[1]):
            if not rules.is_count[k] and lineup[u, k] == piece and (t != u or k != s):
                return True
    return False


@_jit
def _team(  # noqa: C901 - in parts it takes five times as long, and it runs some fifty times for each pairing
    state: Any, lineup: Any, rules: Any, t: int, pieces: Any, least: Any, shares: Any, inside: Any, price: Any,
    cost: Any,
) -> bool:  # fmt: skip
    """Draw one team; False when its given pieces fall on the same slot or in too small an amount, when it is thinned
    because they stand in several slots, and as soon as it costs too much or is too large."""
    lineup[t] = -1
    spent, units = 0.0, 0
    for piece in pieces:
        if piece >= 0:
            s = _slot_of(state, piece, shares, inside)
            if s < 0 or lineup[t, s] >= 0:
                return False
            more, many = _put(state, lineup, rules, price, t, s, piece)
            spent, units = spent + more, units + many
    for s in range(lineup.shape[1]):
        if rules.is_count[s] or lineup[t, s] >= 0:
            continue
        if rules.partner[s] >= 0:
            lineup[t, rules.partner[s]] = 0
        if rules.pool_size[s] == 0 or (rules.optional[s] and _mark(state) < EMPTY):
            continue
        piece = rules.pool[s, np.int64(_mark(state) * rules.pool_size[s])]
        more, many = _put(state, lineup, rules, price, t, s, piece)
        spent, units = spent + more, units + many
        if spent > rules.budget[1] or units > rules.units[1]:
            return False
    cost[t] = spent
    for k in range(len(pieces)):
        if pieces[k] >= 0:
            many, slots = _amount(lineup, rules, t, pieces[k])
            if many < least[k] or (slots > 1 and _mark(state) >= 1.0 / slots):
                return False
    return bool(rules.budget[0] <= spent <= rules.budget[1] and rules.units[0] <= units <= rules.units[1])


@_jit
def _whole(lineup: Any, rules: Any, t: int) -> bool:
    """Whether no slot of a team is empty that may not be, nothing repeats in it, and all may be together."""
    for s in range(lineup.shape[1]):
        if not rules.is_count[s] and not rules.optional[s] and lineup[t, s] < 0:
            return False
    for pair in rules.apart:
        if _amount(lineup, rules, t, pair[0])[1] and _amount(lineup, rules, t, pair[1])[1]:
            return False
    return not _repeats(lineup, rules, t, t)


@_jit
def _meet(lineup: Any, rules: Any, cost: Any) -> bool:
    """Whether two valid teams make a valid lineup."""
    for piece in rules.required:
        if not stands(lineup, rules, piece):
            return False
    cheap, dear = min(cost[0], cost[1]), max(cost[0], cost[1])
    near = np.isinf(rules.tolerance) or dear <= cheap * (1 + rules.tolerance)
    return near and not _repeats(lineup, rules, 0, 1)


@_jit
def _pairing(
    state: Any, lineup: Any, rules: Any, pieces: Any, least: Any, nothing: Any, shares: Any, inside: Any, price: Any,
    cost: Any,
) -> bool:  # fmt: skip
    """Draw two valid teams, each until it is valid, and again until they may meet."""
    tries = 0
    while tries < TRIES:
        for t in range(2):
            whole = False
            while not whole and tries < TRIES:
                tries += 1
                wanted, many = (pieces, least) if t == 0 else (nothing, nothing)
                drawn = _team(state, lineup, rules, t, wanted, many, shares, inside, price, cost)
                whole = drawn and _whole(lineup, rules, t)
            if not whole:
                return False
        if _meet(lineup, rules, cost):
            return True
    return False


@_jit
def _drawn(seeds: Any, rules: Any, pieces: Any, least: Any, shares: Any, inside: Any, dearer: Any) -> Any:
    n, slots = len(seeds), len(rules.is_count)
    out = np.full((n, 2, slots), -1, dtype=np.int32)
    found = np.zeros(n, dtype=np.bool_)
    state = np.empty(1, dtype=np.uint64)
    cost = np.empty(2)
    kept, nothing = np.empty(slots, dtype=np.int32), np.full(pieces.shape[1], -1, dtype=np.int32)
    price = rules.price.copy()
    for i in range(n):
        state[0] = seeds[i]
        if dearer[i] != 0:
            price[pieces[i, 0]] += dearer[i]
        found[i] = _pairing(state, out[i], rules, pieces[i], least[i], nothing, shares, inside, price, cost)
        if dearer[i] != 0:
            price[pieces[i, 0]] = rules.price[pieces[i, 0]]
        for t in range(2 if found[i] else 0):
            put_in_order(out[i, t : t + 1], rules, kept)
    return out, found

"""Exact random pairings of two teams: the battles of a designed experiment.

The *reference* distribution: the two teams of a lineup of two are drawn slot by slot. An optional slot stays empty in
two of five draws, otherwise each piece of the slot's pool is equally likely, and so is each number of a count slot.
A draw that breaks a rule (a repetition, a budget, the costs' tolerance, a missing required piece) is rejected whole, so
accepted pairings have the distribution of the draws conditional on the rules.

A pairing whose first team must hold given pieces has the reference distribution conditional on that: the pieces are put
into slots with the probabilities of those slots, everything else is drawn, and teams that hold them in several ways are
thinned to their true frequency. So battles played to look at a piece more closely and battles that hold it by chance
measure the same quantity.

Where the first draws give no such team, it is drawn as a scarce one (``scarce``), from a table that equal requests
share. The two ways have the same distribution, so the mixture has it, too.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.errors import Cancelled, ConfigError
from engine.lineups.drawing import FIRST, PLAIN, SECOND, TRIES, Chances, asks, draw_team, is_whole, jit, may_meet
from engine.lineups.encoding import team_keys
from engine.lineups.mending import put_in_order
from engine.lineups.rules import CompiledRules
from engine.lineups.scarce import affordable, again, alike, draw_scarce, prepared
from engine.problem import Capabilities, ShouldStop
from engine.rng import combine64

Rows = NDArray[np.int32]
Drawn = tuple[Rows, NDArray[np.bool_]]
LOOK_S = 0.25
"""Seconds of drawing between two checks whether to stop."""
DEARER, SCARCE = 1_000, 20_000
"""Draws at a changed price, which has a table of its own, before the first team is drawn as a scarce one; and then
before giving up."""


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
    chances, more = Chances.of(rules), np.zeros(len(seeds)) if dearer is None else np.ascontiguousarray(dearer)
    pieces, least = np.ascontiguousarray(pieces), np.ascontiguousarray(least)

    def plain(own: slice) -> Drawn:
        drawn: Drawn = _plain(seeds[own], rules, pieces[own], least[own], *chances, more[own])
        return drawn

    rows, found = in_parts(len(seeds), plain, stopped)
    left = missing(found, pieces, least, more)

    def scarce(own: slice) -> Drawn:
        few = left[own]
        drawn: Drawn = _scarce(seeds[few], rules, pieces[few], least[few], *chances, more[few])
        return drawn

    if len(left):
        rows[left], found[left] = in_parts(len(left), scarce, stopped)
    return Pairings(rows, found)


def missing(found: NDArray[np.bool_], pieces: Rows, *asked: NDArray[np.generic]) -> NDArray[np.int64]:
    """The numbers int64[m] of requests for ``pieces`` that are not ``found``, equal ones (those of the same pieces and
    whatever else is ``asked``) next to each other."""
    left = np.flatnonzero(~found & (pieces >= 0).any(axis=1))
    columns = [column for each in (pieces, *asked) for column in np.atleast_2d(each[left].T)]
    return np.asarray(left[np.lexsort(columns)] if columns else left)


def in_parts(n: int, once: Callable[[slice], Drawn], stopped: ShouldStop) -> Drawn:
    """Draw n things in parts that take ``LOOK_S`` or so, ``once`` for each part. Raises Cancelled once ``stopped``."""
    at, many, parts = 0, 1, list[Drawn]()
    while at < n or not parts:
        if stopped():
            raise Cancelled("The drawing of teams was asked to stop")
        began = time.monotonic()
        parts.append(once(slice(at, at + many)))
        at += many
        many = _next_part(many, time.monotonic() - began)
    rows, found = zip(*parts, strict=True)
    return np.concatenate(rows), np.concatenate(found)


def _next_part(many: int, seconds: float) -> int:
    """How many pairings to draw until the next check, given that ``many`` took so many ``seconds``."""
    return max(1, min(int(many * LOOK_S / max(seconds, 1e-6)), 64 * many))


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


@jit
def _pairing(
    state: Any, lineup: Any, rules: Any, pieces: Any, least: Any, nothing: Any, shares: Any, inside: Any, price: Any,
    cost: Any, most: int,
) -> bool:  # fmt: skip
    """Draw two valid teams, each until it is valid, and again until they may meet; False after ``most`` draws."""
    tries = 0
    while tries < most:
        for t in range(2):
            whole = False
            while not whole and tries < most:
                tries += 1
                wanted, many = (pieces, least) if t == 0 else (nothing, nothing)
                drawn = draw_team(state, lineup, rules, t, wanted, many, shares, inside, price, cost)
                whole = drawn and is_whole(lineup, rules, t)
            if not whole:
                return False
        if may_meet(lineup, rules, cost):
            return True
    return False


@jit
def _scarce_pairing(
    state: Any, lineup: Any, rules: Any, nothing: Any, shares: Any, inside: Any, price: Any, table: Any, cost: Any,
    most: int,
) -> bool:  # fmt: skip
    """The same, where hardly any random draw gives a first team."""
    tries = 0
    while tries < most:
        tries += 1
        if not draw_scarce(state, lineup, rules, FIRST, table, price, cost):
            continue
        whole = False
        while not whole and tries < most:
            tries += 1
            drawn = draw_team(state, lineup, rules, SECOND, nothing, nothing, shares, inside, price, cost)
            whole = drawn and is_whole(lineup, rules, SECOND)
        if whole and may_meet(lineup, rules, cost):
            return True
    return False


@jit
def _plain(seeds: Any, rules: Any, pieces: Any, least: Any, shares: Any, inside: Any, dearer: Any) -> Any:
    """Random draws: ``PLAIN`` for what is to hold a piece, ``TRIES`` for anything else."""
    n, slots = len(seeds), len(rules.is_count)
    out = np.full((n, 2, slots), -1, dtype=np.int32)
    found = np.zeros(n, dtype=np.bool_)
    state, cost = np.empty(1, dtype=np.uint64), np.empty(2)
    kept, nothing = np.empty(slots, dtype=np.int32), np.full(pieces.shape[1], -1, dtype=np.int32)
    price = rules.price.copy()
    for i in range(n):
        state[0], own, many = seeds[i], pieces[i], least[i]
        price[own[0]] += dearer[i]
        if dearer[i] == 0 or affordable(rules, inside, price, own, many):
            most = TRIES if not asks(own) else PLAIN if dearer[i] == 0 else DEARER
            found[i] = _pairing(state, out[i], rules, own, many, nothing, shares, inside, price, cost, most)
        price[own[0]] = rules.price[own[0]]
        for t in range(2 if found[i] else 0):
            put_in_order(out[i, t : t + 1], rules, kept)
    return out, found


@jit
def _scarce(seeds: Any, rules: Any, pieces: Any, least: Any, shares: Any, inside: Any, dearer: Any) -> Any:
    """Draws of which random ones hardly ever give any; equal requests next to each other share a table."""
    n, slots, at = len(seeds), len(rules.is_count), 0
    out = np.full((n, 2, slots), -1, dtype=np.int32)
    found = np.zeros(n, dtype=np.bool_)
    price, kept = rules.price.copy(), np.empty(slots, dtype=np.int32)
    while at < n:
        end = at + 1
        while end < n and alike(pieces, least, at, end) and dearer[end] == dearer[at]:
            end += 1
        price[pieces[at, 0]] += dearer[at]
        most = TRIES if dearer[at] == 0 else SCARCE
        if affordable(rules, inside, price, pieces[at], least[at]):
            _of_request(
                seeds[at:end], out[at:end], found[at:end], rules, pieces[at], least[at], shares, inside, price, most
            )
        price[pieces[at, 0]] = rules.price[pieces[at, 0]]
        for i in range(at, end):
            for t in range(2 if found[i] else 0):
                put_in_order(out[i, t : t + 1], rules, kept)
        at = end
    return out, found


@jit
def _of_request(
    seeds: Any, out: Any, found: Any, rules: Any, pieces: Any, least: Any, shares: Any, inside: Any, price: Any,
    most: int,
) -> None:  # fmt: skip
    """Draw a pairing for each seed, all of which ask for the same."""
    table, nothing = prepared(rules, shares, price, pieces, least), np.full(len(pieces), -1, dtype=np.int32)
    state, cost = np.empty(1, dtype=np.uint64), np.empty(2)
    for i in range(len(seeds) if table.possible or not table.known else 0):
        if table.known:
            state[0] = again(seeds[i])
            found[i] = _scarce_pairing(state, out[i], rules, nothing, shares, inside, price, table, cost, most)
        else:
            state[0] = seeds[i]
            found[i] = _pairing(state, out[i], rules, pieces, least, nothing, shares, inside, price, cost, TRIES)

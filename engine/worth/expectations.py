"""What the forecasts expect of teams with each trait, from teams that are drawn but do not play.

Teams are drawn in groups and meet many opponents (``engine.lineups.groups``): the interplay of two teams varies fifty
times as much as what a team brings by itself, so sixteen opponents for each team tell nearly as much as sixteen teams,
and a team is drawn and embedded once. No promise rests on pairings being independent: variances are those of a mean
over independent groups (``estimates.Grouped``), and no battle is played by these teams, so findings are proved on
battles that are as fresh as before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from engine.lineups.drawing import costs
from engine.lineups.groups import meetings, size, teams
from engine.lineups.pairings import draw
from engine.rng import combine64
from engine.worth.estimates import Grouped, Ratios, by_groups, ratios_by_pair
from engine.worth.prices import Slopes
from engine.worth.traits import Traits

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
Index = NDArray[np.int64]
Seeds = NDArray[np.uint64]
Met = Callable[[Ints, Index, Index], Floats]
"""Forecasts [n, 2] for meetings of teams int32[t, slots], by index."""
EXPECTED = 1_200_000
"""Largest number of reference pairings; up to this, ``EACH`` for each reference battle, but at least ``FEWEST``."""
EACH, FEWEST = 16, 100_000
PART = 400_000
"""Pairs of a host and a guest at a time."""
TURNS = 100_000
"""Pairings at changed prices at a time."""
ALIKE, HALVINGS = 4, 10
"""Pairings that must be found at a price for it to count as one at which the piece can be fielded, and how often the
way to the last such price is halved."""
WIN, OUTCOMES = 0, 2
_EXPECTED = 0xE9C7
_REFERENCE, _PRICED, _PILOT, _POSSIBLE, _FIELDED = 0, 3, 4, 5, 6


class Part(NamedTuple):
    """Some groups: their teams ``rows``, the ``hosts`` of these, and who met whom with which ``forecast`` [n, 2]."""

    rows: Ints
    hosts: NDArray[np.bool_]
    first: Index
    second: Index
    forecast: Floats


class Reference(NamedTuple):
    """Mean forecasts of random teams: of each outcome by piece and amount (``every``) and by kind of pair (``kinds``);
    how the WIN changes with the cost of what a team meets (``slopes``); and the WIN by ``pairs`` of pieces."""

    every: list[Grouped]
    kinds: list[Grouped]
    slopes: Slopes
    pairs: Ratios


class Expectations:
    """Mean forecasts by trait. ``met`` forecasts; every team depends on ``seed`` and its own number only."""

    def __init__(self, traits: Traits, met: Met, seed: int, stopped: Callable[[], bool]) -> None:
        self.traits, self.rules, self.met, self.stopped = traits, traits.rules, met, stopped
        self.seed = seed & 0xFFFFFFFFFFFFFFFF
        self.size = size(self.rules, int(self._key(_PILOT)), stopped)

    def reference(self, battles: int) -> Reference:
        """Over the reference, beside so many battles. Raises Cancelled."""
        hosts = self.size.guests
        groups = self.size.groups(min(EXPECTED, max(EACH * battles, FEWEST)), hosts)
        found, kinds, slopes, pairs = list[list[Grouped]](), list[list[Grouped]](), list[Slopes](), list[Ratios]()
        for part in self._parts(np.full(hosts, -1), groups, _REFERENCE):
            held, group = self.traits.held(part.rows), np.arange(len(part.rows)) // (2 * hosts)
            cost = costs(self.rules, part.rows)
            apart = cost[part.first] - cost[part.second]
            many, dd = (_by_team(part, each, 1) for each in (np.ones_like(apart), apart**2))
            y = np.stack([_by_team(part, column, -1) for column in part.forecast.T], axis=1)
            found.append(by_groups(held, group, many, y))
            kinds.append(by_groups(self.traits.pairs_held(held), group, many, y))
            pairs.append(ratios_by_pair(held[:, : len(self.traits.single)].tocsr(), many, y[:, WIN]))
            dy = _by_team(part, apart * part.forecast[:, WIN], 1)
            slopes.append(Slopes(held, group, many, _by_team(part, apart, -1), y[:, WIN], dd, dy))
        every, of_kind = ([_together(each) for each in zip(*parts, strict=True)] for parts in (found, kinds))
        return Reference(every, of_kind, Slopes.together(slopes), reduce(Ratios.plus, pairs))

    def given(self, chosen: Index, each: int, purpose: int) -> list[Grouped]:
        """The same for teams with the chosen traits, from about ``each`` pairings per trait. Raises Cancelled."""
        found = []
        for part in self._parts(chosen, self.size.groups(each), purpose):
            at = np.flatnonzero(part.hosts)
            held = sparse.csr_matrix((np.ones(len(at)), (np.arange(len(at)), np.arange(len(at)) % len(chosen))))
            own = (np.ones(len(part.first)), *part.forecast.T)
            many, *sums = (np.asarray(np.bincount(part.first, w, len(part.rows))[at], np.float64) for w in own)
            found.append(by_groups(held, np.arange(len(at)) // len(chosen), many, np.stack(sums, axis=1)))
        return [_together(each) for each in zip(*found, strict=True)]

    def possible(self, chosen: Index) -> NDArray[np.bool_]:
        """For which of the chosen traits a pairing can be drawn. Raises Cancelled."""
        keys = combine64(self._key(_POSSIBLE), chosen.astype(np.uint64))
        return draw(self.rules, keys, *self.traits.asked(chosen), stopped=self.stopped).found

    def fielded(self, chosen: Index, ends: Floats) -> Floats:
        """How far towards ``ends`` the prices of the chosen pieces can change before hardly any team can field them,
        to a thousandth of that; where none can, 0. Raises Cancelled."""
        many = len(chosen)
        keys = combine64(self._key(_FIELDED), np.arange(many * ALIKE, dtype=np.uint64))
        pieces, least = (np.repeat(each, ALIKE, axis=0) for each in self.traits.asked(chosen))

        def can(shares: Floats) -> NDArray[np.bool_]:
            found = draw(self.rules, keys, pieces, least, np.repeat(shares * ends, ALIKE), stopped=self.stopped).found
            return np.asarray(found.reshape(many, ALIKE).all(axis=1))

        whole, low, high = can(np.ones(many)), np.zeros(many), np.ones(many)
        for _ in range(0 if whole.all() else HALVINGS):
            middle = (low + high) / 2
            good = can(middle)
            low, high = np.where(good, middle, low), np.where(good, high, middle)
        return np.asarray(np.where(whole, 1.0, low) * ends)

    def priced(self, chosen: Index, dearer: Floats) -> tuple[Floats, NDArray[np.bool_]]:
        """Forecasts of the WIN of a team with each of the chosen traits at a price changed by ``dearer``; and which of
        these teams could be drawn. Raises Cancelled."""
        expected, whole = np.zeros(len(chosen)), np.zeros(len(chosen), np.bool_)
        for at in range(0, len(chosen), TURNS):
            own = slice(at, at + TURNS)
            keys = combine64(self._key(_PRICED), np.arange(at, at + len(chosen[own]), dtype=np.uint64))
            rows, found = draw(self.rules, keys, *self.traits.asked(chosen[own]), dearer[own], stopped=self.stopped)
            whole[own] = found
            expected[at + np.flatnonzero(found)] = self.met(*paired(rows[found]))[:, WIN]
        return expected, whole

    def _parts(self, hosts: Index, groups: int, purpose: int) -> Iterator[Part]:
        """So many groups with these traits of the hosts (-1: any) each, some at a time."""
        traits = np.append(hosts, np.full(self.size.guests, -1))
        each, some = len(traits), max(PART // (len(hosts) * self.size.guests), 1)
        for at in range(0, groups, some):
            many = min(some, groups - at)
            keys = combine64(self._key(purpose), np.arange(at * each, (at + many) * each, dtype=np.uint64))
            asked = (np.tile(one, (many, 1)) for one in self.traits.asked(traits))
            drawn = teams(self.rules, keys, *asked, stopped=self.stopped)
            first, second = meetings(self.rules, drawn, many, len(hosts))
            own = np.tile(np.arange(each) < len(hosts), many)
            yield Part(drawn.rows, own, first, second, self.met(drawn.rows, first, second))

    def _key(self, purpose: int) -> Seeds:
        return combine64(combine64(self.seed, _EXPECTED), purpose)


def paired(rows: Ints) -> tuple[Ints, Index, Index]:
    """The teams of pairings int32[n, 2, slots], and the index of the first and the second of each."""
    at = np.arange(len(rows))
    return np.concatenate([rows[:, 0], rows[:, 1]]), at, at + len(rows)


def _by_team(part: Part, values: Floats, sign: int) -> Floats:
    """The sum of values over what each team meets, times ``sign`` for its guests."""
    n = len(part.rows)
    return np.asarray(np.bincount(part.first, values, n) + sign * np.bincount(part.second, values, n))


def _together(parts: Sequence[Grouped]) -> Grouped:
    return reduce(Grouped.plus, parts)

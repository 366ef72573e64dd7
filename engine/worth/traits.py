"""Traits of a team that could be worth something: a piece, two pieces together, or a minimum amount of a piece."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from engine.lineups.drawing import jit
from engine.lineups.rules import FREE, CompiledRules

Ints = NDArray[np.int32]


class Trait(NamedTuple):
    """A team has the trait if it holds all ``pieces``; a single piece in an amount of ``least`` or more."""

    pieces: tuple[int, ...]
    least: int = 1


class Traits:
    """Every trait that the rules allow: ``single`` ones first (a piece), then ``amounts``, then ``pairs``, if any are
    asked for. ``halves`` int64[pairs, 2]: the places of a pair's two pieces among the single ones."""

    def __init__(self, rules: CompiledRules, pairs: bool = True) -> None:
        self.rules, self.pieces = rules, len(rules.price)
        places = [np.flatnonzero((rules.pool == p).any(axis=1)) for p in range(self.pieces)]
        usable = [p for p in range(self.pieces) if len(places[p])]
        self.single = [Trait((p,)) for p in usable]
        self.amounts = [Trait((p,), k) for p in usable for k in range(2, self._most(p, places[p]) + 1)]
        self.halves = self._together(usable, [places[p] for p in usable]) if pairs else np.empty((0, 2), np.int64)
        both = np.array(usable, np.int64)[self.halves]
        self.pairs = [Trait(pair) for pair in zip(*both.T.tolist(), strict=True)]
        self.all = [*self.single, *self.amounts, *self.pairs]

    def _together(self, usable: list[int], places: list[NDArray[np.int64]]) -> NDArray[np.int64]:
        """The two halves, by their places among the usable pieces, of each pair that a team can hold, int64[n, 2]: two
        pieces that do not fit into one and the same slot only, and that the rules do not keep apart."""
        only = np.array([own[0] if len(own) == 1 else -1 - i for i, own in enumerate(places)], np.int64)
        one, other = np.triu_indices(len(usable), 1)
        fit = only[one] != only[other]
        apart, number = np.sort(self.rules.apart.reshape(-1, 2), axis=1).astype(np.int64), np.array(usable, np.int64)
        if len(apart):
            fit &= ~np.isin(number[one] * self.pieces + number[other], apart @ [self.pieces, 1])
        return np.stack([one[fit], other[fit]], axis=1)

    def _most(self, piece: int, slots: NDArray[np.int64]) -> int:
        """The largest amount of a piece that a team can have."""
        mates = self.rules.partner[slots]
        each = np.where(mates >= 0, self.rules.high[mates], 1)
        repeats = self.rules.scope[self.rules.category[piece]] == FREE
        return int(min(each.sum() if repeats else each.max(), self.rules.units[1] if (mates >= 0).any() else 10**6))

    def held(self, rows: Ints) -> sparse.csr_matrix:
        """The traits of teams int32[n, slots], without pairs: 1.0 in [n, singles and amounts] where a team has one."""
        ends, columns = _held(rows, self.rules.is_count, self.rules.partner, *self._columns)
        shape = len(rows), len(self.single) + len(self.amounts)
        return sparse.csr_matrix((np.ones(len(columns)), columns, ends), shape)

    @cached_property
    def kinds(self) -> NDArray[np.int64]:
        """The kind of each pair, by number: the categories of its two pieces."""
        single = np.array([t.pieces[0] for t in self.single], np.int64)
        of = np.sort(self.rules.category[single[self.halves]], axis=1)
        return np.asarray(self._kind[of[:, 0], of[:, 1]], np.int64)

    @cached_property
    def _kind(self) -> NDArray[np.int64]:
        """The number of the kind of a pair, by its two categories, the smaller first."""
        many = int(self.rules.category.max(initial=0)) + 1
        number = np.full((many, many), -1, np.int64)
        number[np.triu_indices(many)] = np.arange(many * (many + 1) // 2)
        return number

    def pairs_held(self, held: sparse.csr_matrix) -> sparse.csr_matrix:
        """How many pairs of each kind teams hold, [n, kinds]; ``held``: their traits."""
        own = self.rules.category[[t.pieces[0] for t in self.single]]
        of = sparse.csr_matrix((np.ones(len(own)), (np.arange(len(own)), own)), (len(own), len(self._kind)))
        each = (held[:, : len(own)] @ of).toarray()
        one, other = np.triu_indices(len(self._kind))
        return sparse.csr_matrix(
            np.where(one == other, each[:, one] * (each[:, one] - 1) / 2, each[:, one] * each[:, other])
        )

    @cached_property
    def _columns(self) -> tuple[Ints, Ints, Ints]:
        """Of each piece, the column of the piece (-1: it fits nowhere), that of two or more of it, and the largest
        amount that has a column."""
        single, more, most = (np.full(self.pieces, start, np.int32) for start in (-1, 0, 1))
        for i, trait in enumerate([*self.single, *self.amounts]):
            (piece,) = trait.pieces
            if trait.least == 1:
                single[piece] = i
            else:
                more[piece], most[piece] = i - trait.least + 2, trait.least
        return single, more, most

    def asked(self, chosen: NDArray[np.int64]) -> tuple[Ints, Ints]:
        """Arguments of ``pairings.draw`` for teams that have these traits (-1: any team): pieces and least amounts,
        int32[n, 2]."""
        pieces, least = np.full((len(chosen), 2), -1, np.int32), np.ones((len(chosen), 2), np.int32)
        for i in set(chosen.tolist()) - {-1}:
            rows, trait = chosen == i, self.all[i]
            pieces[rows, : len(trait.pieces)], least[rows, 0] = trait.pieces, trait.least
        return pieces, least


@jit
def _pieces(row: Any, is_count: Any, partner: Any, piece: Any, amount: Any) -> Any:
    """Write the pieces of a team and the amount of each; returns how many."""
    many = 0
    for s in range(len(row)):
        if is_count[s] or row[s] < 0:
            continue
        at = 0
        while at < many and piece[at] != row[s]:
            at += 1
        if at == many:
            piece[at], amount[at] = row[s], 0
            many += 1
        amount[at] += row[partner[s]] if partner[s] >= 0 else 1
    return many


@jit
def _held(rows: Any, is_count: Any, partner: Any, single: Any, more: Any, most: Any) -> Any:
    """Row ends and columns of a sparse matrix; counts them first, then writes them."""
    piece, amount = np.empty(rows.shape[1], np.int32), np.empty(rows.shape[1], np.int32)
    ends, columns = np.zeros(len(rows) + 1, np.int64), np.empty(0, np.int32)
    for write in (False, True):
        if write:
            columns = np.empty(ends[-1], np.int32)
        for i in range(len(rows)):
            at = ends[i]
            for k in range(_pieces(rows[i], is_count, partner, piece, amount)):
                p = piece[k]
                if single[p] < 0 or amount[k] < 1:
                    continue
                if write:
                    columns[at] = single[p]
                    for j in range(2, min(amount[k], most[p]) + 1):
                        columns[at + j - 1] = more[p] + j - 2
                at += min(amount[k], most[p])
            ends[i + 1] = at
    return ends, columns

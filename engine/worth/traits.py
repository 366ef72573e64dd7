"""Traits of a team that could be worth something: a piece, two pieces together, or a minimum amount of a piece."""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from engine.lineups.pairings import amounts
from engine.lineups.rules import FREE, CompiledRules

Ints = NDArray[np.int32]


class Trait(NamedTuple):
    """A team has the trait if it holds all ``pieces``; a single piece in an amount of ``least`` or more."""

    pieces: tuple[int, ...]
    least: int = 1


class Traits:
    """Every trait that the rules allow: ``single`` ones first (a piece), then ``amounts``, then ``pairs``."""

    def __init__(self, rules: CompiledRules) -> None:
        self.rules, self.pieces = rules, len(rules.price)
        places = [np.flatnonzero((rules.pool == p).any(axis=1)) for p in range(self.pieces)]
        usable = [p for p in range(self.pieces) if len(places[p])]
        self.single = [Trait((p,)) for p in usable]
        self.amounts = [Trait((p,), k) for p in usable for k in range(2, self._most(p, places[p]) + 1)]
        apart = {frozenset(pair) for pair in rules.apart.tolist()}
        fit = ((a, b) for a, b in combinations(usable, 2) if len(np.union1d(places[a], places[b])) > 1)
        together = (pair for pair in fit if frozenset(pair) not in apart)
        self.pairs = [Trait(pair) for pair in together]
        self.all = [*self.single, *self.amounts, *self.pairs]

    def _most(self, piece: int, slots: NDArray[np.int64]) -> int:
        """The largest amount of a piece that a team can have."""
        mates = self.rules.partner[slots]
        each = np.where(mates >= 0, self.rules.high[mates], 1)
        repeats = self.rules.scope[self.rules.category[piece]] == FREE
        return int(min(each.sum() if repeats else each.max(), self.rules.units[1] if (mates >= 0).any() else 10**6))

    def held(self, rows: Ints) -> sparse.csr_matrix:
        """The traits of teams int32[n, slots], without pairs: 1.0 in [n, singles and amounts] where a team has one."""
        many = amounts(self.rules, rows, self.pieces)
        columns = [many[:, t.pieces[0]] >= t.least for t in (*self.single, *self.amounts)]
        return sparse.csr_matrix(np.stack(columns, axis=1).astype(np.float64))

    def asked(self, chosen: NDArray[np.int64]) -> tuple[Ints, Ints]:
        """Arguments of ``pairings.draw`` for teams that have these traits (-1: any team): pieces and least amounts,
        int32[n, 2]."""
        pieces, least = np.full((len(chosen), 2), -1, np.int32), np.ones((len(chosen), 2), np.int32)
        for i in set(chosen.tolist()) - {-1}:
            rows, trait = chosen == i, self.all[i]
            pieces[rows, : len(trait.pieces)], least[rows, 0] = trait.pieces, trait.least
        return pieces, least

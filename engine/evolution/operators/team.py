"""Unordered teams of unordered members without repetition.

Grouping crossover (Falkenauer 1994), because a good genome consists of good teams: some of the father's teams replace
the mother's most similar ones whole. Duplicate members are removed from the mother's teams, and members without a team
fill the gaps, those of both parents first. Teams that both parents have stay.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.evolution.operators.coding import Bools, Reals, TwoStep

Teams = NDArray[np.int32]


class TeamSpace(TwoStep):
    """Genomes are int32[n, teams, members] out of 0 … size - 1, in canonical form: members of a team ascending, teams
    by their first member. Members without a team are on the bench.

    Mutation: a member changes places with one of another team or of the bench.
    """

    def __init__(self, size: int, teams: int, members: int) -> None:
        self.size, self.teams, self.members = size, teams, members
        self.shape, self.dtype, self.width = (teams, members), np.dtype(np.int32), size

    def sample(self, rng: np.random.Generator, n: int) -> Teams:
        """n uniform draws."""
        return self.decode(rng.random((n, self.size)))

    def decode(self, numbers: Reals) -> Teams:
        """The order that sorts the numbers, cut into teams and a bench."""
        return self._seated(np.argsort(numbers, axis=1, kind="stable"))

    def _cross(self, rng: np.random.Generator, mothers: Teams, fathers: Teams) -> Teams:
        mother, father = self._membership(mothers), self._membership(fathers)
        common = np.einsum("ntp,nup->ntu", mother, father, dtype=np.float32)
        taken = (common == self.members).any(axis=2)
        injected = self._chosen(rng, ~(common == self.members).any(axis=1))
        children = mothers.copy()
        new = np.zeros_like(taken)
        for u in range(self.teams):
            row = np.flatnonzero(injected[:, u])
            likeness = common[row, :, u] + 0.5 * rng.random((len(row), self.teams))
            t = np.argmax(np.where(taken[row], -1, likeness), axis=1)
            children[row, t] = fathers[row, u]
            taken[row, t] = new[row, t] = True
        moved_in = np.any(father & injected[:, :, None], axis=1)
        twice = np.take_along_axis(moved_in, mothers.reshape(len(mothers), -1), axis=1).reshape(mothers.shape)
        preference = mother.sum(axis=1) + father.sum(axis=1) + 0.5 * rng.random(moved_in.shape)
        return self._refilled(children, ~new[:, :, None] & twice, preference)

    def _chosen(self, rng: np.random.Generator, possible: Bools) -> Bools:
        """Some of the possible teams of each row: at least one, and not all where there are several."""
        count = possible.sum(axis=1)
        several = 1 + np.floor(rng.random(len(count)) * np.maximum(count - 1, 1))
        order = np.argsort(np.argsort(np.where(possible, rng.random(possible.shape), 2.0), axis=1), axis=1)
        return np.asarray(possible & (order < several[:, None]))

    def _refilled(self, children: Teams, gaps: Bools, preference: Reals) -> Teams:
        """Fill gaps with members without a team, by their ``preference`` float64[n, size]."""
        n = len(children)
        seated = np.zeros((n, self.size), dtype=bool)
        row, team, place = np.nonzero(~gaps)
        seated[row, children[row, team, place]] = True
        queue = np.argsort(np.where(seated, np.inf, -preference), axis=1)
        number = np.cumsum(gaps.reshape(n, -1), axis=1) - 1
        newcomers = np.take_along_axis(queue, np.maximum(number, 0), axis=1).reshape(children.shape)
        return self._canonical(np.where(gaps, newcomers, children))

    def _mutate(self, rng: np.random.Generator, children: Teams) -> Teams:
        n, places = len(children), self.teams * self.members
        others = self.size - self.members
        if not others:
            return children.copy()
        bench = np.argsort(self._membership(children).any(axis=1), axis=1, kind="stable")[:, : self.size - places]
        everybody = np.concatenate([children.reshape(n, -1), bench], axis=1)
        a, b = rng.integers(0, places, n), rng.integers(0, others, n)
        b = np.where(b >= a // self.members * self.members, b + self.members, b)  # not of the same team
        row = np.arange(n)
        everybody[row, a], everybody[row, b] = everybody[row, b], everybody[row, a]
        return self._seated(everybody)

    def _membership(self, teams: Teams) -> Bools:
        """Membership bool[n, teams, size]."""
        member = np.zeros((len(teams), self.teams, self.size), dtype=bool)
        np.put_along_axis(member, teams.astype(np.int64), True, axis=2)
        return member

    def _seated(self, order: NDArray[np.integer]) -> Teams:
        places = self.teams * self.members
        return self._canonical(order[:, :places].reshape(-1, self.teams, self.members))

    def _canonical(self, teams: NDArray[np.integer]) -> Teams:
        inside = np.sort(teams, axis=2)
        order = np.argsort(inside[:, :, 0], axis=1)
        return np.take_along_axis(inside, order[:, :, None], axis=1).astype(np.int32)

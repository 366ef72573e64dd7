"""An adversary: a search for the strongest team that the rules leave, as a judge of what a patch made of the game.

A team's strength is by how much it is ahead of random teams of about its cost, always the same ones. The search is
one of the house's algorithms over single teams; it asks for whole generations.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.evolution.ga import GA
from engine.evolution.nsga2 import NSGA2
from engine.evolution.search import PopulationSearch
from engine.lineups.drawing import costs
from engine.lineups.encoding import LineupSpace
from engine.lineups.rules import IN_LINEUP, CompiledRules
from engine.problem import Capabilities, Evaluation, Objective, Problem, Request
from engine.worth.screen import LEAD, WIN

Rows = NDArray[np.int32]
Floats = NDArray[np.float64]
MET = 64
"""Opponents of a team in one generation."""
WORST = -1e3
"""By how much a team is ahead of which no battle could be finished."""
SEARCHES: dict[str, tuple[type[PopulationSearch], tuple[int, ...]]] = {
    "ga": (GA, (LEAD,)),
    "nsga2": (NSGA2, (LEAD, WIN)),
}
"""Algorithms, and the outcomes that each makes large: the second one also finds teams that win narrowly."""


class TeamSpace:
    """Single teams under the rules of two, a ``Space``; the first that are drawn are those it is to begin with."""

    def __init__(self, rules: CompiledRules, first: Rows) -> None:
        self.space = LineupSpace(rules._replace(teams=1, required=np.empty(0, np.int32)))
        self.first = first

    @property
    def can(self) -> Capabilities:
        return self.space.can

    def sample(self, rng: np.random.Generator, n: int) -> Rows:
        known = self.first[:n, None]
        return np.concatenate([known, self.space.sample(rng, n - len(known))]) if n > len(known) else known

    def keys(self, genomes: Rows) -> NDArray[np.uint64]:
        return self.space.keys(genomes)


class Best(NamedTuple):
    """The strongest team found, and by how much it was ahead when it was found: picked, so it flatters."""

    team: Rows
    ahead: float


class Adversary:
    """A search for strong teams under ``rules``, which begins with the teams ``first`` int32[n, slots]; ``opponents``
    int32[m, slots] are random teams."""

    def __init__(
        self, kind: str, rules: CompiledRules, opponents: Rows, population: int, rounds: int, seed: int, first: Rows
    ) -> None:
        self.rules, self.opponents = rules, opponents
        algorithm, self.aims = SEARCHES[kind]
        aims = tuple(Objective(f"ahead_{k}", "Ahead") for k in self.aims)
        problem = Problem(TeamSpace(rules, first), aims, noun="team")
        self.search = algorithm(problem, population, rounds, seed)
        self._asked: list[Request] = []
        self._best: dict[bytes, Best] = {}

    @property
    def done(self) -> bool:
        """Whether it is over."""
        return self.search.done

    def ask(self) -> Rows:
        """The next generation: who meets whom, int32[n, MET, 2, slots], the searched team first."""
        self._asked = self.search.ask(self.search.N)
        teams = np.stack([request.genome[0] for request in self._asked])
        return pairings(self.rules, teams, self.opponents, MET)

    def tell(self, ahead: Floats) -> None:
        """By how much the teams were ahead of those they met, by each outcome, float64[n, MET, 2]; not a number: not
        finished."""
        k = len(self.aims)
        for request, values in zip(self._asked, ahead, strict=True):
            good = values[np.isfinite(values[:, LEAD])]
            means = good.mean(axis=0) if len(good) else np.full(2, WORST)
            team = request.genome[0]
            self._best[team.tobytes()] = Best(team, float(means[LEAD]))
            evaluation = Evaluation(request.id, means[list(self.aims)], np.zeros((k, k)), len(good), np.empty(0))
            self.search.tell(evaluation)

    def strongest(self, many: int) -> list[Best]:
        """The best teams found, best first."""
        return sorted(self._best.values(), key=lambda best: (-best.ahead, best.team.tobytes()))[:many]


def pairings(rules: CompiledRules, teams: Rows, opponents: Rows, many: int) -> Rows:
    """Each of some teams int32[n, slots] with the first ``many`` opponents that it may meet, int32[n, many, 2, slots];
    where fewer may, with those nearest in cost."""
    mine, theirs = costs(rules, teams), costs(rules, opponents)
    dear, cheap = np.maximum(mine[:, None], theirs), np.minimum(mine[:, None], theirs)
    far = np.maximum(dear / np.maximum(cheap, 1e-9) - 1 - min(rules.tolerance, 1e9), 0.0)
    far += 1e3 * _share(rules, teams, opponents)
    order = np.argsort(far, axis=1, kind="stable")
    chosen = np.take_along_axis(order, np.arange(many)[None] % order.shape[1], axis=1)
    both = np.stack([np.broadcast_to(teams[:, None], (len(teams), many, teams.shape[1])), opponents[chosen]], axis=2)
    return np.ascontiguousarray(both, np.int32)


def _share(rules: CompiledRules, teams: Rows, opponents: Rows) -> NDArray[np.bool_]:
    """Which teams have a piece in common with which opponents that a lineup has only once."""
    found = np.zeros((len(teams), len(opponents)), np.bool_)
    slots = np.flatnonzero(~rules.is_count)
    for s in slots:
        mine = teams[:, s]
        scope = np.where(mine >= 0, rules.scope[rules.category[mine]], -1)
        for k in slots:
            same = (mine[:, None] == opponents[None, :, k]) & (mine[:, None] >= 0)
            found |= same & (scope == IN_LINEUP)[:, None]
    return found


def legal(rules: CompiledRules, teams: Rows) -> Rows:
    """Those of some teams that keep the rules of one team."""
    if not len(teams):
        return np.empty((0, len(rules.is_count)), np.int32)
    spent = costs(rules, teams)
    keep = (spent >= rules.budget[0]) & (spent <= rules.budget[1])
    held = teams[:, ~rules.is_count]
    for one, other in rules.apart:
        keep &= ~((held == one).any(axis=1) & (held == other).any(axis=1))
    return np.asarray(teams[keep])

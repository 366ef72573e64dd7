"""How often each team would be seen if everybody picked optimally: the maximum-entropy Nash equilibrium.

Balduzzi, Tuyls, Pérolat and Graepel (2018, "Re-evaluating evaluation"), "Nash averaging": the match-ups form a
symmetric zero-sum game; of its equilibria take the one of largest entropy. It depends on every match-up, and copies of
a team do not change it.

The equilibria are the polytope {p: payoff @ p <= 0, p >= 0, sum(p) = 1}: nobody gains by another pick. A linear
program finds a vertex; while some team is neither picked nor strictly worse than the picks, another program looks for a
vertex where it is either. The average of all vertices found lies in the polytope's relative interior (Goldman and
Tucker 1956: at such a point every team is picked or strictly worse). So it is known which coordinates and slacks are
always 0. The remaining free directions are usually none; otherwise the entropy is maximised over them.

Departures:

1. Payoffs are shares of wins above even, not log odds: the actual gain from a pick, finite where a match-up always has
   the same result.
2. The entropy is that of distinct teams: teams with equal rows (to ``ALIKE``) count as one and split its share evenly.
   Otherwise, where there are several equilibria, duplicating a team would move the choice among them towards it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import null_space
from scipy.optimize import LinearConstraint, linprog, minimize
from scipy.special import xlogy

from engine.errors import Cancelled, EngineError
from engine.metagame.matchups import Matchups, redrawn
from engine.problem import ShouldStop

Floats = NDArray[np.float64]
ALIKE = 1e-9
_ZERO, _KEPT = 1e-8, 1e-9
_EXACT = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
REDRAWN = 100
"""Number of redrawn tables for ranges."""


def shares(payoff: Floats) -> Floats:
    """How often each team is seen, float64[teams], of antisymmetric payoffs [teams, teams]."""
    kind, first = _kinds(payoff)
    small = payoff[np.ix_(first, first)]
    return np.asarray((_maximal(small) / np.bincount(kind))[kind], np.float64)


def ranges(
    found: Matchups, measured: Floats, rng: np.random.Generator, draws: int = REDRAWN,
    stopped: ShouldStop = lambda: False,
) -> tuple[Floats, Floats]:  # fmt: skip
    """Ends [teams] of the interval that holds each team's share in 95 of 100 tables redrawn within measurement error,
    and its share ``measured``: where match-ups are even, that is one which leaves more equilibria than redrawn tables
    do. Raises Cancelled once ``stopped()``."""
    drawn = np.empty((draws, len(found.payoff)))
    for i in range(draws):
        if stopped():
            raise Cancelled
        drawn[i] = shares(redrawn(found, rng))
    low, high = np.quantile(drawn, (0.025, 0.975), axis=0)
    return np.minimum(low, measured), np.maximum(high, measured)


def _kinds(payoff: Floats) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The kind int64[teams] of each team, where equal rows are one kind, and the first team of each kind."""
    alike = np.abs(payoff[:, None] - payoff).max(axis=2, initial=0.0) <= ALIKE
    leader = alike.argmax(axis=1)
    first, kind = np.unique(leader, return_inverse=True)
    return kind.astype(np.int64), first.astype(np.int64)


def _maximal(payoff: Floats) -> Floats:
    """The equilibrium of largest entropy, for distinct teams."""
    inside, slack = _inside(payoff)
    held = inside > _ZERO
    tight = payoff[np.ix_(slack <= _ZERO, held)]
    free = null_space(np.vstack([tight, np.ones((1, int(held.sum())))]), rcond=_KEPT)
    start = inside[held] / inside[held].sum()
    best = np.zeros(len(payoff))
    best[held] = _entropic(start, free, payoff[np.ix_(slack > _ZERO, held)]) if free.size else start
    return np.asarray(best / best.sum())


def _inside(payoff: Floats) -> tuple[Floats, Floats]:
    """An equilibrium with as many positive coordinates and slacks as possible, and its slacks."""
    found = [_vertex(payoff, np.zeros(len(payoff)))]
    while True:
        inside = np.mean(found, axis=0)
        slack = -payoff @ inside
        unclear = ((inside <= _ZERO) & (slack <= _ZERO)).astype(np.float64)
        if not unclear.any():
            return inside, slack
        gain = unclear - unclear @ payoff
        more = _vertex(payoff, gain)
        if gain @ more <= _ZERO * len(payoff):
            return inside, slack
        found.append(more)


def _vertex(payoff: Floats, gain: Floats) -> Floats:
    """An equilibrium that maximises ``gain @ p``. Raises EngineError."""
    n = len(payoff)
    found = linprog(
        -gain, A_ub=payoff, b_ub=np.zeros(n), A_eq=np.ones((1, n)), b_eq=[1.0], method="highs", options=_EXACT
    )
    if found.x is None:
        raise EngineError(f"No equilibrium of these match-ups was found: {found.message}")
    return np.asarray(np.maximum(found.x, 0.0))


def _entropic(start: Floats, free: Floats, loose: Floats) -> Floats:
    """The point of largest entropy from ``start`` along the ``free`` directions, where no coordinate is negative and
    the ``loose`` payoffs are not positive."""

    def negative(z: Floats) -> float:
        p = np.maximum(start + free @ z, 0.0)
        return float(xlogy(p, p).sum())

    def slope(z: Floats) -> Floats:
        return np.asarray(free.T @ (np.log(np.maximum(start + free @ z, 1e-300)) + 1.0))

    rows = np.vstack([free, -loose @ free])
    limits = LinearConstraint(rows, np.concatenate([-start, loose @ start]), np.inf)
    found = minimize(
        negative, np.zeros(free.shape[1]), jac=slope, method="SLSQP", constraints=[limits],
        options={"ftol": 1e-15, "maxiter": 500},
    )  # fmt: skip
    return np.asarray(np.maximum(start + free @ found.x, 0.0))

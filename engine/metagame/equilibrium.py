"""Which teams would be seen how often if everybody picked as well as can be: the maximum-entropy Nash equilibrium.

Balduzzi, Tuyls, Pérolat and Graepel (2018, "Re-evaluating evaluation"), "Nash averaging": of the equilibria of the
symmetric zero-sum game that the match-ups are, the one of largest entropy. It depends on every match-up and on no copy.

The equilibria are the polytope {p: payoff @ p <= 0, p >= 0, sum(p) = 1}: nobody gains by another pick. A linear
program finds a vertex; while some team is neither picked nor worse than what is picked, another one looks for a vertex
where it is, and the average of all vertices found lies inside the polytope (Goldman and Tucker 1956: in such a point
every team is one or the other, unless it never can be). So it is known which coordinates and slacks are always 0. What
is left are the free directions: usually none; otherwise the entropy is maximised over them.

Departures:

1. Payoffs are shares of wins above even, not log odds: that is what somebody who picks a team gains, and it stays
   finite where a match-up always ends alike.
2. The entropy is that of distinct teams: those that fare alike against everybody (the same row, to ``ALIKE``) are one,
   and share evenly what falls to it. Otherwise doubling a team would, where there are several equilibria, move the
   choice among them towards the doubled one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import null_space
from scipy.optimize import LinearConstraint, linprog, minimize
from scipy.special import xlogy

from engine.errors import EngineError
from engine.metagame.matchups import Matchups, redrawn

Floats = NDArray[np.float64]
ALIKE = 1e-9
_ZERO, _KEPT = 1e-8, 1e-9
_EXACT = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
REDRAWN = 100
"""Tables that are redrawn for ranges."""


def shares(payoff: Floats) -> Floats:
    """How often each team is seen, float64[teams], of antisymmetric payoffs [teams, teams]."""
    kind, first = _kinds(payoff)
    small = payoff[np.ix_(first, first)]
    return np.asarray((_maximal(small) / np.bincount(kind))[kind], np.float64)


def ranges(found: Matchups, rng: np.random.Generator, draws: int = REDRAWN) -> tuple[Floats, Floats]:
    """Between which shares [teams] each team has in 95 of 100 tables as another round robin might have measured."""
    drawn = np.stack([shares(redrawn(found, rng)) for _ in range(draws)])
    low, high = np.quantile(drawn, (0.025, 0.975), axis=0)
    return low, high


def _kinds(payoff: Floats) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The kind int64[teams] of each team, those with the same row being one, and the first team of each kind."""
    alike = np.abs(payoff[:, None] - payoff).max(axis=2, initial=0.0) <= ALIKE
    leader = alike.argmax(axis=1)
    first, kind = np.unique(leader, return_inverse=True)
    return kind.astype(np.int64), first.astype(np.int64)


def _maximal(payoff: Floats) -> Floats:
    """The equilibrium of largest entropy, all teams being distinct."""
    inside, slack = _inside(payoff)
    held = inside > _ZERO
    tight = payoff[np.ix_(slack <= _ZERO, held)]
    free = null_space(np.vstack([tight, np.ones((1, int(held.sum())))]), rcond=_KEPT)
    start = inside[held] / inside[held].sum()
    best = np.zeros(len(payoff))
    best[held] = _entropic(start, free, payoff[np.ix_(slack > _ZERO, held)]) if free.size else start
    return np.asarray(best / best.sum())


def _inside(payoff: Floats) -> tuple[Floats, Floats]:
    """An equilibrium with as many positive coordinates and slacks as there can be, and the slacks."""
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
    """An equilibrium that makes ``gain @ p`` largest. Raises EngineError."""
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

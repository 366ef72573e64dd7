"""How much of the match-ups is a ladder of strength (transitive), and how much goes in rings (cyclic).

Balduzzi, Tuyls, Pérolat and Graepel (2018, "Re-evaluating evaluation") and Balduzzi et al. (2019, "Open-ended learning
in symmetric zero-sum games") split the log odds of all match-ups, an antisymmetric matrix, into differences of ratings
(transitive) and a remainder without sources or sinks (cyclic): the combinatorial Hodge split, by least squares with a
weight for each match-up (Jiang, Lim, Yao and Ye 2011, "Statistical ranking and combinatorial Hodge theory").

Departures:

1. Ratings are in log odds, the remainder in shares of wins. Log odds of match-ups with a constant result are infinite,
   and clipped they make a third of a ladder of sure wins look cyclic. So ratings are maximum-likelihood ratings of the
   Bradley-Terry model. There, too, the remainder (shares minus those that the ratings expect) has no sources or sinks:
   that is what the likelihood equations state; near even it is the split of the papers. Ratings have a wide normal
   prior (``PRIOR`` in log odds), so that a team that never lost has one, too.
2. Chance creates apparent rings: squares of measured shares exceed those of the true ones by their variance. This bias
   is subtracted from the total and, in its part, from the remainder; the result is unbiased near the fit, and 0 where
   it would be negative.
3. The range: all cyclic shares s for which "cyclic - s * total" does not differ significantly from 0 (Fieller 1954), by
   normal approximation with the errors of ``matchups``; all of [0, 1] where the total is not known to differ from 0.
4. All match-ups that were played weigh alike, as in standings, and not by their counts of meetings: how many meetings
   broke off must not change what is estimated. Each counts as the mean number of meetings in the fit of ratings, so
   these are of maximum likelihood where counts are equal.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, ndtri

from engine.confidence import Range
from engine.metagame.matchups import DOUBT, Matchups, Pairs, pairs_of

Floats = NDArray[np.float64]
PRIOR = 12.0
ELO = 400 / math.log(10)
"""Elo points per unit of log odds."""
_STEPS, _SHARES = 100, 501


class Split(NamedTuple):
    """``ratings`` float64[teams] in log odds, of mean 0; ``cyclic``: cyclic share of the differences between teams, of
    which the rest is strength; NaN where there are none. ``range``: of that share."""

    ratings: Floats
    cyclic: float
    range: Range


class _Fit(NamedTuple):
    """Ratings; the remainder float64[pairs]; its derivatives by the shares."""

    ratings: Floats
    rest: Floats
    rest_by: Floats


def split(found: Matchups) -> Split:
    """The split of a table in which a chain of meetings connects every two teams."""
    pairs = pairs_of(found.teams)
    met = found.meetings[pairs] > 0
    edges = _edges(found.teams, Pairs(pairs.first[met], pairs.second[met]))
    counts = np.full(len(edges), found.meetings[pairs][met].mean() if len(edges) else 0.0)
    even, variance, error = (table[pairs][met] for table in (found.payoff, found.variance, found.error))
    fit = _fitted(edges, counts, even)
    if len(edges) < found.teams:
        nothing = not even.any()
        return Split(fit.ratings, math.nan if nothing else 0.0, Range(0.0, 1.0 if nothing else 0.0))
    return Split(fit.ratings, *_cyclic(fit, even, variance, error))


def expected(ratings: Floats) -> Floats:
    """The shares float64[teams, teams] that ratings alone predict."""
    return np.asarray(expit(ratings[:, None] - ratings))


def _edges(players: int, met: Pairs) -> Floats:
    """A row for each match-up: 1 at its first player, -1 at its second."""
    edges = np.zeros((len(met.first), players))
    at = np.arange(len(edges))
    edges[at, met.first], edges[at, met.second] = 1.0, -1.0
    return edges


def _fitted(edges: Floats, counts: Floats, even: Floats) -> _Fit:
    """Bradley-Terry ratings, the remainder, and how that depends on the shares."""
    ratings, chance = _fit(edges, counts, even)
    rating_by = _rating_by(edges, counts, chance)
    rest_by = np.eye(len(edges)) - (chance * (1 - chance))[:, None] * (edges @ rating_by)
    return _Fit(ratings, even + 0.5 - chance, rest_by)


def _fit(edges: Floats, counts: Floats, even: Floats) -> tuple[Floats, Floats]:
    """Ratings by Newton's method, with steps of at most 1, and the shares that they expect."""
    ratings, teams = np.zeros(edges.shape[1]), edges.shape[1]
    for _ in range(_STEPS):
        chance = expit(edges @ ratings)
        slope = edges.T @ (counts * (even + 0.5 - chance)) - ratings / PRIOR**2
        curved = (edges.T * (counts * chance * (1 - chance))) @ edges + np.eye(teams) / PRIOR**2
        step = np.linalg.solve(curved, slope)
        ratings = ratings + step / max(1.0, float(np.abs(step).max()))
        if np.abs(step).max() < 1e-12:
            break
    ratings = ratings - ratings.mean()
    return ratings, expit(edges @ ratings)


def _rating_by(edges: Floats, counts: Floats, chance: Floats) -> Floats:
    """The derivatives of ratings by shares, [players, match-ups]."""
    weight = counts * (chance * (1 - chance))
    curved = (edges.T * weight) @ edges + np.eye(edges.shape[1]) / PRIOR**2
    return np.asarray(np.linalg.solve(curved, edges.T * counts))


def _cyclic(fit: _Fit, even: Floats, variance: Floats, error: Floats) -> tuple[float, Range]:
    """The cyclic share and its range, from means of squares over the match-ups."""
    many = len(even)
    own = fit.rest_by.T @ fit.rest_by / many
    cyclic = float((fit.rest**2).mean() - np.diag(own) @ variance)
    total = float((even**2).mean() - variance.mean())
    s, z, noise = np.linspace(0, 1, _SHARES), float(ndtri(1 - DOUBT / 2)), error**2
    slope = 2 * (fit.rest_by.T @ fit.rest - s[:, None] * even) / many
    crossed = own**2 * noise[:, None] * noise
    mixed = float(np.diag(own) @ noise**2) / many
    bent = 2 * (crossed.sum() - 2 * s * mixed + s**2 * float((noise**2).sum()) / many**2)
    spread = np.sqrt(np.maximum(slope**2 @ noise - bent, bent))
    possible = np.abs(cyclic - s * total) <= z * spread
    best = min(max(cyclic / total, 0.0), 1.0) if total > 0 else math.nan
    if not total > 0:
        return best, Range(0.0, 1.0)
    inside = s[possible]
    low, high = (float(inside.min()), float(inside.max())) if len(inside) else (best, best)
    return best, Range(min(low, best), max(high, best))

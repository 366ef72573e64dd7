"""Whether what an experiment tells is true: its effects, measured anew with battles of their own.

What a finding is compared with is measured anew, too: for a piece or an amount, teams with as many of any piece of its
category; for a pair, teams with each half. Battles are played in steps until every claim of the finding is clearly
beyond what it needs, or one of them clearly is not, or no more may be played.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.bench.worth_experiments import wins
from engine.games.herobattle import HeroBattle
from engine.worth.experiment import Experiment
from engine.worth.proof import Finalist, Finding
from engine.worth.screen import WIN

STEP = 50_000
"""Battles of each kind of team at a time."""
CLEARLY = 4.0
"""Standard errors."""
Index = NDArray[np.int64]


class MeasuredEffect(NamedTuple):
    """The effect of a trait beyond its line and its standard error, as win probabilities; whether every claim of the
    finding is ``true``, as far as so many ``battles`` tell."""

    effect: float
    error: float
    true: bool
    battles: int


def measured(game: HeroBattle, x: Experiment, finding: Finding, most: int, step: int = STEP) -> MeasuredEffect:
    """What is true of a finding, by at most so many battles."""
    finalist = next(f for f in x.analysis.finalists if f.trait == finding.trait)
    teams = [np.array([finding.trait]), *_beside(x, finding.trait)]
    won, played, sign = np.zeros(len(teams)), 0, 1 if finding.worth > 0 else -1
    while True:
        each = min(step, (most - played) // len(teams))
        mean = [_won(game, x, of, each, played) for of in teams]
        won, played = won + each * np.array(mean), played + each * len(teams)
        found = _claims(finalist, won * len(teams) / played, 0.25 * len(teams) / played)
        far = min((sign * effect - more * x.analysis.matters) / error for effect, error, more in found)
        if abs(far) >= CLEARLY or most - played < step * len(teams):
            return MeasuredEffect(*found[0][:2], far > 0, played)


def _beside(x: Experiment, trait: int) -> list[Index]:
    """The teams that a trait is compared with: those with any of these traits, of a pair
    the pairs of its kind, as often as teams hold each, then each half and the average piece for it."""
    one, every = x.traits.all[trait], [*x.traits.single, *x.traits.amounts]
    if len(one.pieces) > 1:
        halves = [next(i for i, t in enumerate(x.traits.single) if t.pieces == (p,)) for p in one.pieces]
        return [_alike(x, trait), *(each for i in halves for each in (np.array([i]), *_beside(x, i)))]
    kind, met = x.rules.category, x.analysis.screen.rest[WIN].many > 1
    alike = (kind[t.pieces[0]] == kind[one.pieces[0]] and t.least == one.least for t in every)
    return [np.flatnonzero(np.fromiter(alike, np.bool_, len(every)) & met)]


def _alike(x: Experiment, pair: int) -> Index:
    """Pairs of the same kind, in a random order, as often as teams on the screen hold each."""
    kinds, first = x.traits.kinds, len(x.traits.all) - len(x.traits.pairs)
    own = np.flatnonzero(kinds == kinds[pair - first])
    single = {t.pieces[0]: i for i, t in enumerate(x.traits.single)}
    halves = np.array([[single[p] for p in x.traits.pairs[i].pieces] for i in own])
    many = x.analysis.screen.pairs[0].many[halves[:, 0], halves[:, 1]].astype(np.int64)
    return np.random.default_rng(0).permutation(np.repeat(own + first, many))


def _won(game: HeroBattle, x: Experiment, traits: Index, battles: int, first: int) -> float:
    return wins(game, x.rules, *x.traits.asked(np.resize(traits, battles)), first=first)


def _claims(finalist: Finalist, won: NDArray[np.float64], variance: float) -> list[tuple[float, float, int]]:
    """Effects with their standard errors, and whether they have to matter (1) or only to be there (0)."""
    average = float(won[0] - won[1]), math.sqrt(variance * 2), 1
    if math.isnan(finalist.other):
        return [average]
    beyond = float(won[0] - won[1] - won[2::2].sum() + won[3::2].sum()), math.sqrt(variance * len(won))
    return [(*beyond, 1), average] if finalist.margin > 0 else [average, (*beyond, 0)]

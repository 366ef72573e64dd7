"""The analysis of an experiment: how much each trait is worth, how sure that is, and what to look at next.

Effects are differences of win probability: 0.03 is three points. A piece's worth is how much more reference teams that
hold it win than teams with the same amount of the average piece of its category. A pair's worth is how much more teams
win that hold both than teams with the average pair of the same two categories; it is reported only if that matters and
the pair is worth more than its pieces separately (each beyond the average piece, both added to the average pair) and,
where one of these may matter by itself, only if that *extra* alone matters. What has nothing to be compared with, or is
not to be told from another piece, is not tested (``Screen.tested``).

Findings are proved by battles that had no part in selecting them (``proof``).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from engine.worth.changed_prices import ChangedPrices, Read
from engine.worth.estimates import by_group, surprise
from engine.worth.hidden_prices import Moves
from engine.worth.prices import Curve
from engine.worth.proof import OFFSET_ERROR, Finalist, Finding, is_open, needed, proved
from engine.worth.screen import LEAD, WIN, Screen
from engine.worth.stages import PRICES, PROOFS, Chosen, Floats, PlayedStage
from engine.worth.traits import Traits

ROUGHLY, CLOSELY = 2_000, 10_000
"""Pairings drawn for the expected forecast of each pair that is looked at, the first and the second time."""
EXPECTED, LEADERS = (160_000, 20_000), 8
"""The same for each of the LEADERS, the finalists that are surest to matter, and for each other one. What these leave
open is a doubt that no battle takes away: where a small effect matters, it may hide it."""
FEWEST, CLOSER, RARE = 192, 4, 8
"""FEWEST battles for each trait that is looked at, CLOSER times as many the second time; fewer than RARE are
ignored."""
FINALISTS, ABREAST = 24, 4
"""Largest number of traits to prove, and how many to play at a time when none looks provable."""
NEAR = 0.7
"""A finalist falls short of what matters by less than so many standard errors."""


class WorthAnalysis:
    """``played``: the completed stages. ``bounds`` float64[pieces, 2]: lowest and highest permitted cost of each."""

    def __init__(
        self, traits: Traits, matters: float, seed: int, bounds: Floats, stopped: Callable[[], bool] = lambda: False
    ) -> None:
        self.traits, self.matters, self.seed, self.stopped = traits, matters, seed, stopped
        self.bounds = bounds
        self.played: list[PlayedStage] = []
        self._findings: tuple[int, list[Finding]] = (0, [])
        self._first, self._halves = len(traits.single) + len(traits.amounts), traits.halves

    @cached_property
    def screen(self) -> Screen:
        """The screen, from the first stage."""
        first = self.played[0]
        return Screen(self.traits, first.rows, first.ahead, self.seed, self.stopped)

    @cached_property
    def prices(self) -> ChangedPrices:
        """What is done with prices."""
        return ChangedPrices(self.screen, self.bounds, self.seed)

    @property
    def proving(self) -> bool:
        """Whether a stage of the proof is complete."""
        return any(p.stage.name in PROOFS for p in self.played)

    def take(self, played: PlayedStage) -> None:
        """Add a completed stage."""
        self.played.append(played)

    def chosen(self, name: str, battles: int) -> tuple[int, ...]:
        """The traits for a stage of so many battles; empty where there is nothing to look at. Raises Cancelled."""
        if name == "narrow":
            return self._narrow(max(battles // FEWEST, 1))
        if name == "closer":
            return self._closer(max(battles // (CLOSER * FEWEST), 1))
        if name == PRICES:
            return self.prices.pieces()
        left = battles * sum(each >= name for each in PROOFS)
        return self._provable(left)

    @property
    def curves(self) -> dict[int, Curve]:
        """By category, the curve of the outcome over price changes; empty before the prices stage is complete."""
        return self._prices_read.curves if self._priced else {}

    @property
    def off(self) -> dict[int, Moves]:
        """By category with battles at changed prices that the game did not finish, how far its curve may be off."""
        return self._prices_read.off if self._priced else {}

    @property
    def _priced(self) -> bool:
        return any(p.stage.name == PRICES for p in self.played)

    @cached_property
    def _prices_read(self) -> Read:
        return self.prices.read(next(p for p in self.played if p.stage.name == PRICES))

    def _provable(self, battles: int) -> tuple[int, ...]:
        """The open finalists that should be proved soonest: as many as ``battles`` may prove, but at least the first
        ABREAST."""
        pairs, many = zip(self.finalists, self.findings, strict=True), len(self.finalists)
        order = sorted(
            (needed(f, finding, many, self.matters), f.trait)
            for f, finding in pairs
            if is_open(finding, many, self.matters)
        )
        ends = np.cumsum([needed for needed, _ in order])
        return tuple(trait for (_, trait), end in zip(order, ends.tolist(), strict=True) if end <= battles) or tuple(
            trait for _, trait in order[:ABREAST]
        )

    def _narrow(self, most: int) -> tuple[int, ...]:
        """The pairs whose effect beyond their halves, in the residuals of forecasts, is most surprising."""
        rest, pairs = self.screen.rest[LEAD], self.screen.pairs[LEAD].at(*self._halves.T)
        spread = float(rest.squares.sum() / max(rest.many.sum(), 1))
        extra = pairs.mean - rest.mean[self._halves].sum(axis=1)
        good = (pairs.many >= RARE) & self.screen.tested[self._first :]
        variance = np.where(good, spread / np.maximum(pairs.many, 1), np.inf)
        return self._leading(np.arange(len(extra)) + self._first, surprise(extra, variance, 2 * self.matters), most)

    def _closer(self, most: int) -> tuple[int, ...]:
        """Of these the pairs that are still most surprising, by all battles so far."""
        looked = np.array(self._looked("narrow"), np.int64)
        if not len(looked):
            return ()
        _, extra = self._pairs(looked)
        return self._leading(looked, surprise(extra.mean, extra.variance, 2 * self.matters), most)

    def _leading(self, traits: Chosen, surprises: Floats, most: int) -> tuple[int, ...]:
        order = np.argsort(-surprises, kind="stable")[:most]
        order = order[np.isfinite(surprises[order])]
        found = traits[order]
        if len(found):
            found = found[self.screen.expectations.possible(found)]
        return tuple(found.tolist())

    def _looked(self, name: str) -> tuple[int, ...]:
        return next((p.stage.traits for p in self.played if p.stage.name == name), ())

    def _pairs(self, pairs: Chosen) -> tuple[_Effects, _Effects]:
        """Effects of pairs on teams that hold both, beyond the average pair, and the part of these beyond their halves:
        from the screen and the stages since. Measured by the lead, which suffices to see what is worth proving."""
        halves = self._halves[pairs - self._first]
        groups = np.full(len(self.traits.all), -1, np.int64)
        groups[pairs] = np.arange(len(pairs))
        rest = self.screen.pairs[LEAD].at(*halves.T)
        for played in self.played[1:]:
            if played.stage.name in ("narrow", "closer"):
                values, own = self.screen.left(played.rows, played.ahead)[:, LEAD], groups[played.dealt]
                good = np.isfinite(values) & (own >= 0)
                rest = rest.plus(by_group(values[good], own[good], len(pairs)))
        expected = self.screen.expectations.given(pairs, CLOSELY if self._looked("closer") else ROUGHLY, 1)
        mean, variance = rest.mean + expected[LEAD].mean, rest.variance + expected[LEAD].variance
        base, spread, of_halves, both = self.lines(pairs, LEAD)
        return _Effects(mean - base, variance + spread), _Effects(mean - of_halves, variance + both)

    def lines(self, pairs: Chosen, j: int) -> tuple[Floats, Floats, Floats, Floats]:
        """What pairs are compared with, and the variance of each: the average pair; and this with the halves, each as
        far as it is beyond the average piece."""
        screen, halves = self.screen, self._halves[pairs - self._first]
        base, spread = (each[pairs - self._first] for each in screen.pair_base(j))
        beyond, doubt = screen.outcome(j) - screen.average(j)[0], screen.variance(j) + screen.average(j)[1]
        beyond, doubt = (np.where(screen.compared, each, 0.0)[halves].sum(axis=1) for each in (beyond, doubt))
        return base, spread, base + beyond, spread + doubt

    def hidden(self, pairs: Chosen) -> tuple[Floats, Floats]:
        """How far battles that were not finished may have moved what pairs are compared with: the average pair; and
        this with the halves."""
        screen, halves = self.screen, self._halves[pairs - self._first]
        base = screen.hidden_pair_base[pairs - self._first]
        beyond = np.where(screen.compared, screen.hidden + screen.hidden_base, 0.0)
        return base, base + beyond[halves].sum(axis=1)

    @cached_property
    def finalists(self) -> list[Finalist]:
        """The traits to prove: those that may well matter by all battles before the proof."""
        found = sorted([*self._single_candidates(), *self._pair_candidates()], reverse=True)
        chosen = [candidate for _, candidate in found[:FINALISTS]]
        if not chosen:
            return []
        expected = [
            self.screen.expectations.given(np.array([c.trait for c in some], np.int64), each, 2)[WIN]
            for some, each in zip((chosen[:LEADERS], chosen[LEADERS:]), EXPECTED, strict=True) if some
        ]  # fmt: skip
        mean, variance = (
            np.concatenate(each).tolist() for each in zip(*((e.mean, e.variance) for e in expected), strict=True)
        )
        rows = zip(chosen, mean, variance, strict=True)
        errors = NormalDist().inv_cdf(1 - OFFSET_ERROR / (2 * len(chosen)))
        return [self._finalist(candidate, mean, variance, errors) for candidate, mean, variance in rows]

    def _single_candidates(self) -> list[tuple[float, _Candidate]]:
        """Pieces; and, of each piece's amounts that matter clearly more than any amount does, the surest one, because
        "5 or more" and "6 or more" are nearly the same claim."""
        worth, variance = self.screen.outcome() - self.screen.base, self.screen.variance()
        place = {t.pieces[0]: i for i, t in enumerate(self.traits.single)}
        found: dict[tuple[int, bool], tuple[float, _Candidate]] = {}
        for i, (w, v) in enumerate(zip(worth.tolist(), variance.tolist(), strict=True)):
            piece, amount = self.traits.all[i].pieces[0], i >= len(self.traits.single)
            clearly = not amount or abs(w) > abs(float(worth[place[piece]])) + self.matters / 3
            if self.screen.tested[i] and clearly and (score := self._score(w, v)) > -NEAR:
                found[piece, amount] = max(found.get((piece, amount), (-math.inf, _NONE)), (score, _Candidate(i, w, v)))
        return list(found.values())

    def _pair_candidates(self) -> list[tuple[float, _Candidate]]:
        looked = np.array(self._looked("closer") or self._looked("narrow"), np.int64)
        if not len(looked):
            return []
        worth, extra = self._pairs(looked)
        found = []
        for k, trait in enumerate(looked.tolist()):
            own = extra if self._half_matters(trait) else worth
            candidate = _Candidate(trait, float(own.mean[k]), float(own.variance[k]))
            both = np.sign(worth.mean[k]) == np.sign(extra.mean[k])
            if both and (score := self._score(candidate.effect, candidate.variance)) > -NEAR:
                found.append((score, candidate))
        return found

    def _score(self, effect: float, variance: float) -> float:
        """By how many standard errors an effect exceeds what matters."""
        return (abs(effect) - self.matters) / math.sqrt(variance) if 0 < variance < math.inf else -math.inf

    def _half_matters(self, pair: int) -> bool:
        """Whether a half of a pair may matter by itself, as one may that has nothing to be compared with."""
        halves = self._halves[pair - self._first]
        if not self.screen.compared[halves].all():
            return True
        worth = np.abs(self.screen.outcome()[halves] - self.screen.base[halves])
        worth += (self.screen.hidden + self.screen.hidden_base)[halves]
        return bool((worth + 1.65 * np.sqrt(self.screen.variance()[halves]) > self.matters).any())

    def _finalist(self, candidate: _Candidate, expected: float, variance: float, errors: float) -> Finalist:
        """The finalist; ``errors``: standard errors, on each side, of the value its effect is compared with."""
        trait, stays = candidate.trait, errors * math.sqrt(variance)
        if trait < self._first:
            base, own = float(self.screen.base[trait]), float(self.screen.base_variance[trait])
            hides = float(self.screen.hidden_base[trait])
            doubt = errors * math.sqrt(variance + own) + hides
            return Finalist(*candidate, expected, base, doubt, stays=stays, hidden=hides)
        at = np.array([trait])
        base, own, of_halves, both = (float(each[0]) for each in self.lines(at, WIN))
        hides, more = (float(each[0]) for each in self.hidden(at))
        average = base, errors * math.sqrt(variance + own) + hides
        halves = of_halves, errors * math.sqrt(variance + both) + more
        if self._half_matters(trait):
            return Finalist(*candidate, expected, *halves, *average, self.matters, stays, more)
        return Finalist(*candidate, expected, *average, *halves, stays=stays, hidden=hides)

    def halves(self, pairs: Chosen) -> Chosen:
        """The places among the traits of the two pieces of each pair, int64[n, 2]."""
        return self._halves[pairs - self._first]

    @property
    def findings(self) -> list[Finding]:
        """The proof's results so far, one for each finalist."""
        if self._findings[0] != len(self.played):
            proofs = [p for p in self.played if p.stage.name in PROOFS]
            self._findings = len(self.played), proved(self.screen, self.finalists, proofs, self.matters)
        return self._findings[1]


class _Candidate(NamedTuple):
    """A trait that may be worth proving: its effect so far, and its variance."""

    trait: int
    effect: float
    variance: float


_NONE = _Candidate(-1, 0.0, math.inf)


class _Effects(NamedTuple):
    """Means and their variances, float64[n]."""

    mean: Floats
    variance: Floats

"""What an experiment does with prices: how far it changes each, and the curve of each category that this gives."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from engine.confidence import Range
from engine.worth.hidden import LOST, WON
from engine.worth.hidden_prices import Moves, Priced, moves
from engine.worth.prices import LEAST, WIDER, Curve, Reach, curve, leans
from engine.worth.screen import WIN, Screen
from engine.worth.stages import Chosen, Floats, PlayedStage
from engine.worth.verdicts import NEEDED

TURNS = 200_000
"""Pairings drawn at changed prices for expected forecasts."""
OFFSET = 2.58
"""Standard errors on both sides, of a row by itself, for ``engine.worth.proof.OFFSET_ERROR``."""


class Read(NamedTuple):
    """By category, the curve of the outcome over price changes; and, where the game did not finish battles at changed
    prices, how far that may be off."""

    curves: dict[int, Curve]
    off: dict[int, Moves]


class ChangedPrices:
    """Of the pieces that a ``screen`` met. ``bounds`` float64[pieces, 2]: lowest and highest permitted cost of each."""

    def __init__(self, screen: Screen, bounds: Floats, seed: int) -> None:
        self._screen, self._bounds, self._seed = screen, bounds, seed
        self._kinds = screen.rules.category[[t.pieces[0] for t in screen.traits.single]]

    def pieces(self) -> tuple[int, ...]:
        """The pieces whose prices are changed, with equal frequency for small and large categories."""
        kinds: dict[int, list[int]] = {}
        for i, trait in enumerate(self._screen.traits.single):
            if (reach := self.reach(i)) and reach.low < reach.high:
                kinds.setdefault(int(self._screen.rules.category[trait.pieces[0]]), []).append(i)
        most = max(map(len, kinds.values()), default=0)
        return tuple(pieces[turn % len(pieces)] for turn in range(most) for pieces in kinds.values())

    def reach(self, piece: int) -> Reach | None:
        """The price changes of a piece that are tried; None where the effect of its price is unknown. Raises
        Cancelled."""
        return self._reaches[piece]

    @cached_property
    def _reaches(self) -> list[Reach | None]:
        wished = [self._wished(i) for i in range(len(self._screen.traits.single))]
        known = np.array([i for i, ends in enumerate(wished) if ends], np.int64)
        low, high = np.array([wished[i] for i in known]).reshape(-1, 2).T
        least, most = (self._screen.expectations.fielded(known, end) for end in (low, high))
        found: list[Reach | None] = [None] * len(wished)
        for k, i in enumerate(known.tolist()):
            ends = float(least[k]), float(most[k])
            found[i] = Reach(*ends, least=bool(least[k] > low[k]), most=bool(most[k] < high[k]))
        return found

    def _wished(self, piece: int) -> Range | None:
        """The same, whether teams can field it or not."""
        screen, (p,) = self._screen, self._screen.traits.all[piece].pieces
        slope, units = screen.slopes[int(screen.rules.category[p])], float(screen.units[piece])
        if not slope.known(OFFSET) or not units or not screen.rest[WIN].many[piece]:
            return None
        half = max(LEAST, WIDER * self._farthest[int(screen.rules.category[p])]) / (slope.size * units)
        least, most = (self._bounds[p] - screen.rules.price[p]).tolist()
        return Range(max(-half, min(least, 0.0)), min(half, max(most, 0.0)))

    @cached_property
    def _farthest(self) -> dict[int, float]:
        """By category, the largest distance from even of teams with one of its pieces, of those that met often enough:
        few battles of a rare one would have prices tried that are far off."""
        kinds, often = self._kinds, self._screen.rest[WIN].many[: len(self._kinds)] >= NEEDED
        far = np.where(often, np.abs(self._screen.outcome()[: len(kinds)]), 0.0)
        return {k: float(far[kinds == k].max()) for k in set(kinds.tolist())}

    def dearer(self, dealt: Chosen, marks: Floats) -> Floats:
        """Price changes of the dealt pieces, uniform within reach, from random ``marks`` in [0, 1)."""
        reach = np.array([(each.low, each.high) if each else (0.0, 0.0) for each in self._reaches])
        return np.asarray(reach[dealt, 0] + marks * (reach[dealt, 1] - reach[dealt, 0]))

    @cached_property
    def leans(self) -> Floats:
        """By piece, how much of its team's gold it takes beyond the middle of its category (``prices.leans``)."""
        pieces = np.array([t.pieces[0] for t in self._screen.traits.single], np.int64)
        kinds, found = self._screen.rules.category[pieces], np.zeros(len(pieces))
        gold = self._screen.units[: len(pieces)] * self._screen.rules.price[pieces]
        for k in set(kinds.tolist()):
            found[kinds == k] = leans(gold[kinds == k])
        return found

    def read(self, played: PlayedStage) -> Read:
        """What the stage that played them says of prices. Raises Cancelled."""
        marks = (np.arange(TURNS) + 0.5) / TURNS
        dealt = np.resize(np.array(played.stage.traits, np.int64), TURNS)
        dearer = self.dearer(dealt, np.random.default_rng(self._seed).permutation(marks))
        forecast, found = self._screen.expectations.priced(dealt, dearer)
        curves, off = dict[int, Curve](), dict[int, Moves]()
        for k, priced in self._priced(played).items():
            other, ended = (self._kinds[dealt] == k) & found, priced.ended()
            second = dealt[other]
            drawn, scale = self._screen.units[second] * dearer[other], float(np.abs(ended.gold).max(initial=0.0)) or 1.0
            rest = curve(ended.pieces, ended.gold, ended.lean, ended.low, scale)
            expected = curve(second, drawn, self.leans[second], forecast[other], scale)
            if rest and expected:
                curves[k] = rest.plus(expected)
            if may := moves(priced, rest.weights if rest else None, scale):
                off[k] = may
        return Read(curves, off)

    def _priced(self, played: PlayedStage) -> dict[int, Priced]:
        """The battles at changed prices, by category."""
        rest = self._screen.left(played.rows, played.ahead)[:, WIN]
        finished = np.isfinite(rest)
        lost, won = rest.copy(), rest.copy()
        if not finished.all():
            forecast = self._screen.forecast(played.rows[~finished])[:, WIN]
            lost[~finished], won[~finished] = LOST - forecast, WON - forecast
        of, gold = played.dealt, self._screen.units[played.dealt] * played.dearer
        every, kinds = Priced(of, gold, self.leans[of], lost, won, finished), self._kinds[of]
        return {k: every.at(kinds == k) for k in set(kinds.tolist())}

"""How large the effect of a pattern is, measured on battles of its own.

An effect is what teams with the pattern win beyond even, less the pattern's *line*: of a piece or an amount, what teams
win with the average piece of its category in that amount; of several pieces, what the pieces bring each by itself,
added up, or 0 where that would be in the other direction. So a pair or a triple has an effect of 5 points only where
both what it wins and what it brings beyond its parts are 5 points or more: an experiment claims both.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.config.worth import WorthConfig
from engine.errors import Cancelled
from engine.lineups.pairing_evaluator import PairingEvaluator
from engine.lineups.pairings import draw
from engine.lineups.rules import CompiledRules
from engine.problem import Request, ShouldStop
from engine.rng import combine64, mix64
from engine.sensitivity.planted import Break, PlantedGame
from engine.simulators.contract import LineupSimulator
from engine.worth.estimates import by_traits
from engine.worth.traits import Traits
from engine.worth.verdicts import NEEDED

Floats = NDArray[np.float64]
Rows = NDArray[np.int32]
SURE = 1.959964
"""Standard errors on each side of a range of 95 %."""
SHORT_S, FEW, LARGEST = 0.5, 16, 65_536
"""Battles are played in parts that take about so long, from FEW to LARGEST: a stop waits for one of them."""
_DRAWN, _TURNED = 0x5E46, 0x5E47


class Effect(NamedTuple):
    """An effect, with the ends of its range of 95 %, as shares."""

    size: float
    low: float
    high: float


class Outcome(NamedTuple):
    """A mean beyond even, and its variance."""

    mean: float
    variance: float

    @classmethod
    def of(cls, won: Floats) -> Outcome:
        """From battles; those that were not finished are left out."""
        good = won[np.isfinite(won)]
        return cls(float(good.mean()), float(good.var()) / len(good)) if len(good) > 1 else cls(math.nan, math.inf)


class Compared(NamedTuple):
    """What teams with a pattern win, and those that it is compared with: with the average piece, or with each of its
    pieces by itself, added up; ``alone``: it is a single piece or an amount of it."""

    own: Outcome
    line: Outcome
    alone: bool

    def effect(self, sign: int) -> Effect:
        """How far the pattern is beyond its line, in the direction of ``sign``."""
        line = self.line if self.alone or sign * self.line.mean > 0 else Outcome(0.0, 0.0)
        size, half = self.own.mean - line.mean, SURE * math.sqrt(self.own.variance + line.variance)
        return Effect(size, size - half, size + half)

    def toward(self, other: Compared, share: float) -> Compared:
        """Between this (0) and another one (1): outcomes are linear in the chance with which battles are turned."""
        pairs = ((self.own, other.own), (self.line, other.line))
        own, line = (Outcome(a.mean + share * (b.mean - a.mean), a.variance) for a, b in pairs)
        return Compared(own, line, self.alone)


class PartSize:
    """How many pairings a part has, so that each takes about SHORT_S."""

    def __init__(self) -> None:
        self.many = FEW

    def took(self, many: int, seconds: float) -> None:
        """A part took so long."""
        wanted = int(many * SHORT_S / max(seconds, 1e-6))
        self.many = min(max(wanted, FEW), 4 * self.many, LARGEST)


class Ground:
    """A game whose effects are measured: ``player`` makes evaluators of it with breaks. Of the battles that were
    ``played`` so far, the game left ``unfinished``."""

    def __init__(self, config: WorthConfig, simulator: LineupSimulator, rules: CompiledRules) -> None:
        self.config, self.simulator, self.rules = config, simulator, rules
        self.traits, self.played, self.unfinished = Traits(rules), 0, 0
        spec = simulator.describe()
        self.win = [metric.name for metric in spec.side_metrics].index(spec.win)
        self.pace = PartSize()

    def player(self, broken: Break) -> PairingEvaluator:
        """What plays pairings of the game with a break."""
        return PairingEvaluator(self.config, PlantedGame(self.simulator, self.rules, broken, self.win))

    def drawn(self, pieces: tuple[int, ...], least: int, many: int, seed: int, should_stop: ShouldStop) -> Rows:
        """Pairings whose first team holds the pieces (none: any team). Raises Cancelled."""
        keys = combine64(combine64(seed, _DRAWN), np.arange(many, dtype=np.uint64))
        wanted = np.tile(np.array(pieces or (-1,), np.int32), (many, 1))
        rows, found = draw(self.rules, keys, wanted, np.full_like(wanted, least), stopped=should_stop)
        return np.asarray(rows[found])

    def won(self, broken: Break, rows: Rows, seed: int, should_stop: ShouldStop) -> Floats:
        """By how much more than half the first team of each pairing wins; NaN where its battle was not finished. The
        same seed and teams have the same luck, whatever is broken. Raises Cancelled."""
        marks = mix64(combine64(combine64(seed, _TURNED), np.arange(len(rows), dtype=np.uint64)))
        turned = (marks & np.uint64(1)).astype(np.bool_)
        seated = np.where(turned[:, None, None], rows[:, ::-1], rows)
        player, parts = self.player(broken), [np.empty(0)]
        for at, many in self._parts(len(rows), should_stop):
            own = slice(at, at + many)
            request = Request(0, seated[own], at, at + len(seated[own]), seed)
            (answer,) = player.evaluate([request], should_stop)
            assert answer.values is not None
            parts.append(np.where(turned[own], -1.0, 1.0) * answer.values[:, 0])
        won = np.concatenate(parts)
        self.played += len(rows)
        self.unfinished += int(np.isnan(won).sum())
        return won

    def effect(
        self, pieces: tuple[int, ...], least: int, sign: int, broken: Break, many: int, seed: int,
        should_stop: ShouldStop,
    ) -> Effect:  # fmt: skip
        """The effect of a pattern; ``sign``: the direction that is claimed. Raises Cancelled."""
        return self.compared(pieces, least, broken, many, seed, should_stop).effect(sign)

    def compared(
        self, pieces: tuple[int, ...], least: int, broken: Break, many: int, seed: int, should_stop: ShouldStop
    ) -> Compared:
        """A pattern and what it is compared with, by ``many`` battles of each. Raises Cancelled."""
        held = self.drawn(pieces, least, many, seed, should_stop)
        own = Outcome.of(self.won(broken, held, seed, should_stop))
        if len(pieces) == 1:
            return Compared(own, self._average(pieces[0], least, broken, many, seed + 1, should_stop), alone=True)
        parts = []
        for k, piece in enumerate(pieces, 1):
            rows = self.drawn((piece,), 1, many, seed + k, should_stop)
            parts.append(Outcome.of(self.won(broken, rows, seed + k, should_stop)))
        both = Outcome(sum(part.mean for part in parts), sum(part.variance for part in parts))
        return Compared(own, both, alone=False)

    def _average(self, piece: int, least: int, broken: Break, many: int, seed: int, should_stop: ShouldStop) -> Outcome:
        """Of teams with the average piece of a category, in the same amount; not a number where none of their battles
        was finished."""
        rows = self.drawn((), 1, many, seed, should_stop)
        won = self.won(broken, rows, seed, should_stop)
        good = np.isfinite(won)
        teams = np.concatenate([rows[good, 0], rows[good, 1]])
        (means,) = by_traits(self.traits.held(teams), np.concatenate([won[good], -won[good]])[:, None])
        every = [*self.traits.single, *self.traits.amounts]
        kind = self.rules.category[piece]
        of = [i for i, t in enumerate(every) if self.rules.category[t.pieces[0]] == kind and t.least == least]
        own = np.array([i for i in of if means.many[i] >= NEEDED], np.int64)
        if not len(own):
            return Outcome(math.nan, math.inf)
        return Outcome(float(means.mean[own].mean()), float(means.careful[own].sum()) / len(own) ** 2)

    def _parts(self, many: int, should_stop: ShouldStop) -> Iterator[tuple[int, int]]:
        """First numbers and sizes of parts that take about as long as one another. Raises Cancelled."""
        at = 0
        while at < many:
            if should_stop():
                raise Cancelled("The battles were asked to stop")
            size, began = self.pace.many, time.monotonic()
            yield at, size
            self.pace.took(size, time.monotonic() - began)
            at += size

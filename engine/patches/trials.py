"""Battles that tell what a patch does: the same teams, numbers and seats with the patch and without it.

Of a pairing whose first team has a trait there is d = outcome - forecast, the forecast being the one of the experiment
(``engine.worth``): it says of a patched game as little that is wrong as of the game, for it is only a control variate.
The shift of the trait's outcome is the mean of d with the patch less d without it, plus what the forecast expects of
such pairings with the patch less without it, from pairings that nobody plays. Numbers that act in battle alone leave
all pairings as they are, so both forecasts fall out; prices and rules change who can be fielded. Common random numbers
leave little chance in these differences, and the battles without a patch are shared by all patches.

A worth shifts by less where the average piece of the category moves along. The battles of a piece tell that, too: its
numbers matter only where it is fielded, and what changes there counts in the outcome of every piece on either side, as
often as the experiment's battles say that these meet. A price is taken to leave that average where it is, and so are
the changes of other pieces; the proof measures it anew.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.config.patch import FIRST
from engine.lineups.pairings import draw
from engine.lineups.rules import CompiledRules
from engine.patches.numbers import COST, Number
from engine.patches.space import Patch
from engine.rng import combine64, mix64
from engine.worth.estimates import Grouped, Means, by_traits
from engine.worth.screen import WIN, Screen
from engine.worth.traits import Traits
from engine.worth.verdicts import NEEDED

Rows = NDArray[np.int32]
Floats = NDArray[np.float64]
EXPECTED, REFERENCE = 16_000, 120_000
"""Pairings that are drawn for what forecasts expect of a trait, and of all of them, under other prices or rules. Of a
trait that is for the battles of one suspect; where more are played as many times more are drawn, since the error of
what is expected would otherwise be wider than that of the battles."""
_DRAWN, _TURNED = 0x9A7C, 0x9A7D


class Shift(NamedTuple):
    """By how much a patch moves a worth, and the variance of that."""

    size: float
    variance: float


class Drawn(NamedTuple):
    """Pairings int32[n, 2, slots], the first team of each having what was asked for, and which could be drawn."""

    rows: Rows
    found: NDArray[np.bool_]

    @property
    def whole(self) -> bool:
        """Whether all could."""
        return bool(self.found.all())


class Trials:
    """Draws pairings under a patch, and reads what battles of them say."""

    def __init__(
        self, rules: CompiledRules, traits: Traits, screen: Screen, numbers: Sequence[Number], seed: int,
        stopped: Callable[[], bool], battles: int = FIRST,
    ) -> None:  # fmt: skip
        self.expected = EXPECTED * max(battles, FIRST) // FIRST
        self.rules, self.traits, self.screen, self.numbers = rules, traits, screen, numbers
        self.seed, self.stopped = seed, stopped
        self._drawn: dict[tuple[object, ...], Drawn] = {}
        self._expected: dict[tuple[object, ...], Floats] = {}
        self._reference: dict[object, Means] = {}

    def changed(self, patch: Patch) -> Mapping[str, float]:
        """Its numbers by path."""
        return {self.numbers[place].path: self.numbers[place].at(level) for place, level in patch.levels}

    def ruled(self, patch: Patch) -> CompiledRules:
        """The rules under a patch: other prices, and pairs that are kept apart."""
        price = self.rules.price.copy()
        for place, level in self._prices(patch):
            price[self.numbers[place].piece] = self.numbers[place].at(level)
        apart = np.array([*self.rules.apart.tolist(), *patch.apart], np.int32).reshape(-1, 2)
        return self.rules._replace(price=price, apart=apart)

    def fields(self, patch: Patch) -> tuple[object, ...]:
        """What of a patch decides who can be fielded; empty: nothing."""
        prices = self._prices(patch)
        return (prices, patch.apart) if prices or patch.apart else ()

    def draw(self, patch: Patch, trait: int, many: int, purpose: int) -> Drawn:
        """So many pairings with a trait (-1: any) for a purpose, the same ones under patches that field the same."""
        key = (self.fields(patch), trait, purpose)
        if key not in self._drawn or len(self._drawn[key].found) < many:
            self._drawn[key] = self._draw(patch, trait, self.keys(trait, many, purpose))
        drawn = self._drawn[key]
        return Drawn(drawn.rows[:many], drawn.found[:many])

    def _draw(self, patch: Patch, trait: int, keys: NDArray[np.uint64]) -> Drawn:
        """A pairing for each key; none where the first cannot be drawn, since looking for each takes long."""
        rules, (pieces, least) = self.ruled(patch), self.traits.asked(np.full(len(keys), trait, np.int64))
        first = draw(rules, keys[:1], pieces[:1], least[:1], stopped=self.stopped)
        if not first.found.all():
            return Drawn(np.full((len(keys), 2, len(rules.is_count)), -1, np.int32), np.zeros(len(keys), np.bool_))
        return Drawn(*draw(rules, keys, pieces, least, stopped=self.stopped))

    def keys(self, trait: int, many: int, purpose: int) -> NDArray[np.uint64]:
        """Of the pairings of a trait."""
        first = combine64(combine64(self.seed & 0xFFFFFFFFFFFFFFFF, _DRAWN), purpose)
        return combine64(combine64(first, trait + 1), np.arange(many, dtype=np.uint64))

    def turned(self, trait: int, many: int, purpose: int) -> NDArray[np.bool_]:
        """Which pairings are played with the seats exchanged."""
        return (mix64(combine64(self.keys(trait, many, purpose), _TURNED)) & np.uint64(1)).astype(np.bool_)

    def shift(self, patch: Patch, trait: int, purpose: int, ahead: Floats, before: Floats, outcome: int) -> Shift:
        """Of a worth, by the battles [n, 2] with a patch and those without."""
        scale = self.screen.scale[outcome]
        rest = (ahead[:, outcome] - before[:, outcome]) * scale
        expected = Shift(0.0, 0.0)
        many = len(ahead)
        if not self.fields(patch):
            rest = rest * self._of_worth(trait, self.draw(patch, trait, many, purpose).rows)
        else:
            with_it, without = (self.draw(p, trait, many, purpose).rows for p in (patch, Patch()))
            rest = rest - (self.screen.forecast(with_it) - self.screen.forecast(without))[:, outcome]
            apart = (self._forecast(patch, trait) - self._forecast(Patch(), trait))[:, outcome]
            expected = Shift(float(apart.mean()), float(apart.var() / len(apart)))
        good = rest[np.isfinite(rest)]
        if len(good) < 2:
            return Shift(0.0, np.inf)
        return Shift(float(good.mean()) + expected.size, float(good.var() / len(good)) + expected.variance)

    def _of_worth(self, trait: int, rows: Rows) -> Floats:
        """How much the change of each battle of a piece counts in its worth: wholly in its outcome, less what it counts
        in that of the average piece of its category. Where both teams hold it, it is met twice as often as others."""
        many = self.screen.rest[WIN].many
        if trait >= len(self.traits.single) or many[trait] < NEEDED:
            return np.ones(len(rows))
        of = np.flatnonzero((self.screen.group == self.screen.group[trait]) & (many >= NEEDED))
        one, other = (self.traits.held(rows[:, side]) for side in (0, 1))
        twice = np.where(other[:, [trait]].toarray().ravel() > 0, 0.5, 1.0)
        counts = (one[:, of] - other[:, of]) @ (many[trait] / many[of])
        return np.asarray(1.0 - twice * counts / len(of))

    def expectation(self, patch: Patch, trait: int) -> tuple[float, float]:
        """What the forecast expects of the WIN of teams with a trait under a patch, and the variance of that."""
        if not self.fields(patch) and trait < len(self.screen.base):
            expected = self.screen.expected[WIN]
            return float(expected.mean[trait]), float(expected.variance[trait])
        values = self._forecast(patch, trait)[:, WIN]
        return float(values.mean()), float(values.var() / len(values))

    def base(self, trait: int) -> tuple[float, float]:
        """What the outcome of teams with a trait is compared with in the game as it is, and the variance of that: the
        average piece of its category in that amount, and of a pair an even battle."""
        screen = self.screen
        if trait >= len(screen.base):
            return 0.0, 0.0
        return float(screen.base[trait]), float(screen.base_variance[trait])

    def reference(self, patch: Patch) -> Means | Grouped:
        """What the forecast expects of every piece and amount under a patch."""
        if not self.fields(patch):
            return self.screen.expected[WIN]
        key = self.fields(patch)
        if key not in self._reference:
            drawn = self.draw(patch, -1, REFERENCE, 9)
            rows = drawn.rows[drawn.found]
            held = self.traits.held(np.concatenate([rows[:, 0], rows[:, 1]]))
            forecast = self.screen.forecast(rows)[:, WIN]
            self._reference[key] = by_traits(held, np.concatenate([forecast, -forecast])[:, None])[0]
        return self._reference[key]

    def _forecast(self, patch: Patch, trait: int) -> Floats:
        """Of pairings with a trait that nobody plays."""
        key = (self.fields(patch), trait)
        if key not in self._expected:
            drawn = self.draw(patch, trait, self.expected, 8)
            values = self.screen.forecast(drawn.rows)
            values[~drawn.found] = 0.0
            self._expected[key] = values
        return self._expected[key]

    def _prices(self, patch: Patch) -> tuple[tuple[int, int], ...]:
        return tuple((place, level) for place, level in patch.levels if self.numbers[place].name == COST)

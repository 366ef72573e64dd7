"""Fair prices on games whose fair prices are known: how many ranges hold them, and how wide the ranges are.

Teams of a ``Market`` hold one of its pieces; what a price leaves to the rest of the team is worth so much. ``plain``:
all pieces cost the same, and gold is worth the same everywhere. ``costs``: they differ by a factor of five, and what is
left is worth the more the less of it there is. ``amounts``: teams hold one to nine of a piece. ``interactions``: what
gold buys goes with one piece better than with another. ``rare``: of some pieces there are fifty battles, of others four
thousand. ``all``: all of that together. ``bounds``: as ``plain``, but of a game that permits only prices near the
present ones, so that many fair ones lie near its bounds or beyond them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.bench.row import row
from engine.confidence import Range, bounds_once
from engine.indicators import wilson
from engine.worth.prices import WIDER, Fair, Held, Reach, curve, fair, leans
from engine.worth.verdicts import PRICED

Floats = NDArray[np.float64]
PIECES, BATTLES, CHANGED = 40, 4_000, 40_000
SPREAD = 2.58
"""Standard errors of the curve: 1 % of the error; outcomes have the other 4."""
MARKETS = ("plain", "costs", "amounts", "interactions", "rare", "all", "bounds")
LUCK = ("wins", "draws", "tails")
GOLD, PRICE, SLOPE = 400.0, 100.0, 0.001
"""What a team may cost, what a piece costs as a rule, and what gold is worth there."""
GAMES, QUICK_GAMES = 30, 3


class Market(NamedTuple):
    """By piece: how much teams with it have beyond even, its price, how many ``units`` a team holds, how well gold goes
    with it, and the number of battles; ``bend``: whether what is left is worth more the less of it there is;
    ``bounds`` [n, 2]: the permitted prices."""

    worth: Floats
    price: Floats
    units: Floats
    suits: Floats
    battles: NDArray[np.int64]
    bend: bool
    bounds: Floats

    @classmethod
    def drawn(cls, kind: str, rng: np.random.Generator) -> Market:
        """A market of a kind (MARKETS)."""
        each: Floats = np.ones(PIECES)
        units = np.asarray(np.arange(PIECES) % 9 + 1.0, np.float64) if kind in ("amounts", "all") else each
        gold = (
            np.asarray(40 * 5 ** rng.permutation(np.linspace(0, 1, PIECES)))
            if kind in ("costs", "all")
            else PRICE * each
        )
        suits = (
            np.asarray(np.exp(0.25 * rng.standard_normal(PIECES)), np.float64)
            if kind in ("interactions", "all")
            else each
        )
        battles = np.full(PIECES, BATTLES)
        if kind in ("rare", "all"):
            battles = np.geomspace(50, BATTLES, PIECES)[rng.permutation(PIECES)].astype(np.int64)
        worth = np.asarray(np.clip(0.03 * rng.standard_t(4, PIECES), -0.08, 0.08), np.float64)
        bounds = np.tile([0.0, 1e6], (PIECES, 1))
        if kind == "bounds":
            bounds = PRICE + rng.uniform(0, 60, (PIECES, 2)) * [-1, 1]
        return cls(worth, gold / units, units, suits, battles, kind in ("costs", "all"), bounds)

    def moved(self, i: NDArray[np.int64], change: Floats) -> Floats:
        """What a change of the price of pieces ``i`` does to the outcome of their teams."""
        more, left = self.units[i] * change, GOLD - self.units[i] * self.price[i]
        usual = SLOPE * (GOLD - PRICE)
        return np.asarray(self.suits[i] * (usual * np.log((left - more) / left) if self.bend else -SLOPE * more))

    def reach(self, i: int) -> Reach:
        """How far the price of a piece is changed."""
        low, high = self._wished(i)
        least, most = (self.bounds[i] - self.price[i]).tolist()
        return Reach(max(low, least), min(high, most))

    def _wished(self, i: int) -> Range:
        """The same, whatever the game permits."""
        half = max(0.09, WIDER * float(np.abs(self.worth).max())) / SLOPE / float(self.units[i])
        half = min(half, 0.45 * (GOLD / float(self.units[i]) - float(self.price[i])))
        return Range(-min(half, float(self.price[i])), half)

    def fair(self, i: int) -> float:
        """The fair price of a piece, permitted or not; at an end of what is wished for where none within it is."""
        ends = np.array(self._wished(i))
        for _ in range(60):
            middle = ends.mean()
            above = self.worth[i] + self.moved(np.array([i]), np.array([middle]))[0] > 0
            ends[0 if above else 1] = middle
        return float(self.price[i] + ends.mean())


def outcomes(rng: np.random.Generator, mean: Floats, luck: str) -> Floats:
    """Of battles whose chances to win are ``mean`` beyond even."""
    if luck == "wins":
        return np.asarray((rng.random(len(mean)) < 0.5 + mean) - 0.5, np.float64)
    if luck == "draws":  # seven of ten battles are drawn
        return np.where(rng.random(len(mean)) < 0.7, 0.0, np.sign(0.5 + mean / 0.3 - rng.random(len(mean))) / 2)
    return np.clip(mean + 0.2 * rng.standard_t(3, len(mean)), -1, 1)


def measured(rng: np.random.Generator, market: Market, luck: str, changed: int = CHANGED) -> tuple[list[Fair], Floats]:
    """The price of each piece by its battles and ``changed`` ones at other prices; and the widths of plain intervals of
    a sample's mean at a slope that is known."""
    dealt, reach = np.resize(np.arange(PIECES), changed), np.array([market.reach(i)[:2] for i in range(PIECES)])
    change = rng.uniform(reach[dealt, 0], reach[dealt, 1])
    lean = leans(market.units * market.price)
    true = market.worth[dealt] + market.moved(dealt, change)
    gold = market.units[dealt] * change
    found = curve(dealt, gold, lean[dealt], outcomes(rng, true, luck), float(np.abs(gold).max()))
    assert found is not None
    prices, widths = [], []
    for i, worth in enumerate(market.worth):
        sample = outcomes(rng, np.full(market.battles[i], worth), luck)
        ends, bounds, held = (
            bounds_once(sample, -1.0, 1.0, 0.04),
            Range(*market.bounds[i].tolist()),
            Held(market.units[i], lean[i], i),
        )
        mean = float(sample.mean())
        prices.append(fair(float(market.price[i]), market.reach(i), bounds, mean, ends, found, SPREAD, held))
        here = -float(market.moved(np.array([i]), np.array([1e-3]))[0]) / 1e-3
        widths.append(3.92 * float(sample.std()) / math.sqrt(len(sample)) / here)
    return prices, np.array(widths)


class Covered(NamedTuple):
    """Of so many prices, how many were measured, how many of their ranges hold the true one, and the median of their
    widths in those of plain intervals."""

    pieces: int
    many: int
    inside: int
    width: float


def covered(kind: str, luck: str, games: int, seed: int, changed: int = CHANGED) -> Covered:
    """How prices of so many games of a kind are covered."""
    rng, inside, ratios = np.random.default_rng(seed), 0, list[float]()
    for _ in range(games):
        market = Market.drawn(kind, rng)
        prices, plain = measured(rng, market, luck, changed)
        for i, (price, width) in enumerate(zip(prices, plain.tolist(), strict=True)):
            if price.why == PRICED:
                inside += price.holds(market.fair(i))
                ratios.append((price.high - price.low) / width)
    return Covered(games * PIECES, len(ratios), inside, float(np.median(ratios)) if ratios else math.nan)


def synthetic(bench: str, case: str, quick: bool) -> Iterator[dict[str, Any]]:
    """A row for each kind of market."""
    for kind in MARKETS:
        found = [covered(kind, luck, QUICK_GAMES if quick else GAMES, 12) for luck in LUCK]
        many, inside = sum(f.many for f in found), sum(f.inside for f in found)
        low, high = wilson(inside, many)
        width = max(f.width for f in found)
        missed = 3 * math.sqrt(0.05 * 0.95 / max(many, 1))
        meets = inside >= (0.95 - missed) * many and width <= 2
        detail = (
            f"{inside:,} of {many:,} ({low:.3f} to {high:.3f}), {sum(f.pieces for f in found):,} pieces; median width "
            + ", ".join(f"{f.width:.2f} ({luck})" for f, luck in zip(found, LUCK, strict=True))
            + " times that of a fixed sample at a known worth of gold"
        )
        yield row(bench, f"{case} {kind}", inside / max(many, 1), "of the ranges hold the fair price",
                  goal=">= 0.95, width <= 2", meets=meets, seeds=(12,), detail=detail)  # fmt: skip

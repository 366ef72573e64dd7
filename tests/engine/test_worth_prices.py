"""Fair prices hold what they promise, on games whose fair prices are known."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.confidence import Range, bounds_once
from engine.config import LineupConfig
from engine.lineups.pairings import draw
from engine.lineups.rules import compile_rules
from engine.rng import combine64
from engine.worth.prices import NONE, Curve, Fair, cost_bounds, curve, fair
from tests.engine.sample_simulators import SPEC

Floats = NDArray[np.float64]
PIECES, PRICE, REACH = 40, 100.0, Range(-90.0, 90.0)
SPREAD = 2.58
"""Standard errors of the curve: 1 % of the error; outcomes have the other 4."""


class Market(NamedTuple):
    """A game: how much teams with each piece have beyond even, and what a price does to that."""

    worth: Floats
    slope: float
    bend: float

    def moved(self, change: Floats) -> Floats:
        return -self.slope * change + self.bend * change**2

    def fair(self, i: int) -> float:
        roots = np.roots([self.bend, -self.slope, self.worth[i]]) if self.bend else [self.worth[i] / self.slope]
        return PRICE + float(min((r.real for r in np.atleast_1d(roots)), key=abs))


def outcomes(rng: np.random.Generator, mean: Floats, luck: str) -> Floats:
    """Of battles whose chances to win are ``mean`` beyond even."""
    if luck == "wins":
        return (rng.random(len(mean)) < 0.5 + mean) - 0.5
    if luck == "draws":  # seven of ten battles are drawn
        return np.where(rng.random(len(mean)) < 0.7, 0.0, np.sign(0.5 + mean / 0.3 - rng.random(len(mean))) / 2)
    return np.clip(mean + 0.2 * rng.standard_t(3, len(mean)), -1, 1)


def measured(
    rng: np.random.Generator, market: Market, luck: str, n: int, changed: int
) -> tuple[list[Fair], list[float]]:
    """The prices that ``n`` battles of each piece and ``changed`` ones at other prices say; and the widths of plain
    intervals of a sample's mean at a slope that is known."""
    dealt = np.resize(np.arange(PIECES), changed)
    change = rng.uniform(*REACH, changed)
    own = market.worth[dealt] + market.moved(change)
    found = curve(dealt, change, outcomes(rng, own, luck), REACH.high)
    assert found is not None
    prices, widths = [], []
    for worth in market.worth:
        sample = outcomes(rng, np.full(n, worth), luck)
        ends, bounds = bounds_once(sample, -1.0, 1.0, 0.04), Range(0.0, 1e6)
        prices.append(fair(PRICE, REACH, bounds, float(sample.mean()), ends, found, SPREAD))
        widths.append(3.92 * float(sample.std()) / math.sqrt(n) / market.slope)
    return prices, widths


@pytest.mark.parametrize("luck", ["wins", "draws", "tails"])
@pytest.mark.parametrize("bend", [0.0, 2e-6])
def test_ranges_hold_the_fair_price_and_are_not_twice_as_wide_as_those_of_a_plain_sample(
    luck: str, bend: float
) -> None:
    rng, inside, ratios, many = np.random.default_rng(12), 0, [], 0
    for _ in range(25):
        market = Market(np.clip(0.015 * rng.standard_t(4, PIECES), -0.04, 0.04), 0.001, bend)
        prices, plain = measured(rng, market, luck, 4_000, 40_000)
        for i, (price, width) in enumerate(zip(prices, plain, strict=True)):
            if price is not NONE:
                many, inside = many + 1, inside + (price.low <= market.fair(i) <= price.high)
                ratios.append((price.high - price.low) / width)
    assert many >= 900
    assert inside >= 0.95 * many - 3 * math.sqrt(0.05 * 0.95 * many)
    assert np.median(ratios) <= 2


@pytest.mark.parametrize("worth", [0.0, 0.03])
def test_where_prices_do_nothing_there_is_no_fair_price(worth: float) -> None:
    rng = np.random.default_rng(3)
    prices, _ = measured(rng, Market(np.full(PIECES, worth), 1e-12, 0.0), "wins", 2_000, 8_000)
    assert prices == [NONE] * PIECES


def test_a_piece_that_no_price_within_reach_makes_fair_has_none() -> None:
    flat = Curve(np.array([-0.02, 0.0]), np.zeros((2, 2)), 90.0)
    assert fair(PRICE, REACH, Range(0, 1e6), 0.3, Range(0.28, 0.32), flat, SPREAD) is NONE


def test_a_price_goes_no_lower_than_the_game_lets_it() -> None:
    steep = Curve(np.array([-0.09, 0.0]), np.zeros((2, 2)), 90.0)
    found = fair(30.0, Range(-30.0, 90.0), Range(0.0, 1e6), -0.02, Range(-0.05, 0.01), steep, SPREAD)
    assert found.low == 0.0
    assert found.price == pytest.approx(10.0, abs=0.1)
    assert found.high == pytest.approx(40.0, abs=0.3)


def test_teams_at_a_changed_price_are_those_of_the_game_with_that_price() -> None:
    piece = 2
    config = LineupConfig(teams=2, cost_tolerance=0.1)
    keys = combine64(np.arange(3_000, dtype=np.uint64), 5)
    asked = np.full((3_000, 1), piece, np.int32)
    patched = SPEC.patched({f"{SPEC.pieces[piece].id}.cost": SPEC.pieces[piece].cost + 4.0})
    changed = draw(compile_rules(SPEC, config), keys, asked, np.ones_like(asked), np.full(3_000, 4.0))
    expected = draw(compile_rules(patched, config), keys, asked, np.ones_like(asked))
    np.testing.assert_array_equal(changed.rows, expected.rows)
    present = draw(compile_rules(SPEC, config), keys, asked, np.ones_like(asked))
    assert (changed.rows != present.rows).any()


def test_prices_stay_within_what_the_game_says_of_a_category() -> None:
    bounds = cost_bounds(SPEC)
    kinds = {c.id: c for c in SPEC.categories}
    assert bounds.shape == (len(SPEC.pieces), 2)
    assert bounds[0].tolist() == [kinds[SPEC.pieces[0].category].cost_low, kinds[SPEC.pieces[0].category].cost_high]

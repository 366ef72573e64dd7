"""Fair prices hold what they promise, on games whose fair prices are known."""

from __future__ import annotations

import math

import numpy as np
import pytest

from engine.bench.worth_prices import LUCK, MARKETS, PIECES, SPREAD, Market, covered, measured
from engine.confidence import Range
from engine.config import LineupConfig
from engine.lineups.pairings import draw
from engine.lineups.rules import compile_rules
from engine.rng import combine64
from engine.worth.prices import Curve, Held, Own, Reach, cost_bounds, curve, fair
from engine.worth.verdicts import ANYWHERE, BEYOND, PRICED, UNFIELDED, UNTRIED
from tests.engine.sample_simulators import SPEC

REACH = Reach(-90.0, 90.0)
ALONE = Held(1.0, 0.0)


@pytest.mark.parametrize("luck", LUCK)
@pytest.mark.parametrize("kind", MARKETS)
def test_ranges_hold_the_fair_price_on_markets_of_every_kind(kind: str, luck: str) -> None:
    found = covered(kind, luck, 5, seed=12)
    assert found.many >= 50
    assert found.inside >= 0.95 * found.many - 3 * math.sqrt(0.05 * 0.95 * found.many)
    assert found.width <= 2.1, "times that of a plain sample at a known worth of gold: 2, and the luck of five games"


@pytest.mark.parametrize("worth", [0.0, 0.03])
def test_where_prices_do_nothing_there_is_no_fair_price(worth: float) -> None:
    rng = np.random.default_rng(3)
    market = Market.drawn("plain", rng)._replace(worth=np.full(PIECES, worth), suits=np.full(PIECES, 1e-9))
    prices, _ = measured(rng, market, "wins", 8_000)
    assert [price.why for price in prices] == [BEYOND] * PIECES


def test_how_much_slopes_differ_beyond_luck_is_found() -> None:
    rng = np.random.default_rng(4)
    dealt, gold = np.resize(np.arange(40), 40_000), rng.uniform(-1, 1, 40_000)
    own = 0.1 * rng.standard_normal(40)
    for differ in (0.0, 1.0):
        outcome = (-0.2 + differ * own[dealt]) * gold + 0.3 * rng.standard_normal(len(gold))
        found = curve(dealt, gold, np.zeros_like(gold), outcome, 1.0)
        assert found is not None
        assert found.own == pytest.approx(differ * own.std(), abs=0.03)


def test_how_far_a_piece_departs_from_the_others_is_told_by_its_own_battles_as_far_as_these_tell_it() -> None:
    rng = np.random.default_rng(4)
    dealt = np.repeat(np.arange(40), np.resize([20, 4_000], 40))
    gold, own = rng.uniform(-1, 1, len(dealt)), 0.1 * rng.standard_normal(40)
    outcome = (-0.2 + own[dealt]) * gold + 0.3 * rng.standard_normal(len(gold))
    found = curve(dealt, gold, np.zeros_like(gold), outcome, 1.0)
    assert found is not None
    off = np.array([found.of(i).shift + float(found.weights[0]) for i in range(40)]) - own + 0.2
    doubt = np.array([found.of(i).doubt for i in range(40)])
    few, many = doubt[::2], doubt[1::2]
    assert few.min() > 0.65 * found.own
    assert many.max() < 0.2 * found.own
    assert (np.abs(off) <= 1.96 * doubt + 0.05).mean() >= 0.9
    assert found.of(99)[:2] == (0.0, found.own), "a piece without battles departs as any may"


def test_a_curve_says_the_same_of_gold_and_of_the_price_of_what_comes_in_amounts() -> None:
    covariance = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 2.0]]) * 1e-4
    one = Curve(np.array([-0.1, 0.02, -0.03]), covariance, 90.0, 0.05, {7: Own(0.01, 0.02, covariance / 2)})
    held = Held(3.0, 0.5, 7)
    (a, b), spread = one.of_price(20.0, held)
    moved, error, own = one.at(np.array([3.0 * 20.0 * 0.5]), held)
    times = np.array([0.5, 0.25])
    assert moved[0] == pytest.approx(a * times[0] + b * times[1])
    assert float(times @ spread @ times) == pytest.approx(error[0] ** 2 + own[0] ** 2)


def test_a_piece_that_no_price_within_reach_makes_fair_has_none_and_why_is_said() -> None:
    flat = Curve(np.array([-0.02, 0.0, 0.0]), np.zeros((3, 3)), 90.0)

    def of(reach: Reach, outcome: float = 0.3) -> int:
        ends = Range(outcome - 0.02, outcome + 0.02)
        return fair(100.0, reach, Range(0, 1e6), outcome, ends, flat, SPREAD, ALONE).why

    assert of(REACH) == of(REACH._replace(least=True)) == BEYOND, "it would have to be dearer"
    assert of(REACH._replace(most=True)) == UNFIELDED
    assert of(REACH._replace(least=True), -0.3) == UNFIELDED, "it would have to be cheaper"
    assert of(Reach(0.0, 0.0, True, True)) == UNFIELDED
    assert of(REACH, math.nan) == UNTRIED
    assert of(REACH, 0.0) == BEYOND, "its range goes beyond"
    steep = flat._replace(weights=np.array([-0.09, 0.0, 0.0]))
    assert fair(100.0, REACH, Range(0, 1e6), 0.0, Range(-0.02, 0.02), steep, SPREAD, ALONE).why == PRICED


def test_a_price_goes_no_lower_than_the_game_lets_it_and_its_range_is_open_there() -> None:
    steep = Curve(np.array([-0.09, 0.0, 0.0]), np.zeros((3, 3)), 90.0)
    found = fair(30.0, Reach(-30.0, 90.0), Range(0.0, 1e6), -0.02, Range(-0.05, 0.01), steep, SPREAD, ALONE)
    assert found.low == 0.0
    assert found.price == pytest.approx(10.0, abs=0.1)
    assert found.high == pytest.approx(40.0, abs=0.3)
    assert (found.below, found.above) == (True, False), "by its battles it may as well be below 0"
    assert [found.holds(price) for price in (-5.0, 20.0, 41.0)] == [True, True, False]


def test_a_range_that_covers_every_price_that_the_game_permits_is_none() -> None:
    steep = Curve(np.array([-0.09, 0.0, 0.0]), np.zeros((3, 3)), 90.0)

    def why(bounds: Range) -> int:
        reach = Reach(bounds.low - 20.0, bounds.high - 20.0)
        return fair(20.0, reach, bounds, 0.0, Range(-0.03, 0.03), steep, SPREAD, ALONE).why

    assert why(Range(5.0, 40.0)) == ANYWHERE
    assert why(Range(5.0, 60.0)) == PRICED, "some of what is dearer is ruled out"


@pytest.mark.parametrize(("low", "high", "least"), [(2.9, 100.0, -0.03), (1.7, 100.0, -0.03), (0.0, 26.4, -0.005)])
def test_a_range_ends_at_a_bound_whatever_the_rounding_on_the_way_there(low: float, high: float, least: float) -> None:
    steep, price = Curve(np.array([-0.09, 0.0, 0.0]), np.zeros((3, 3)), 90.0), 9.5
    reach = Reach(low - price, high - price)
    found = fair(price, reach, Range(low, high), 0.0, Range(least, 0.03), steep, SPREAD, ALONE)
    assert found.why == PRICED
    assert (found.low, found.high) == pytest.approx((max(low, price + 1_000 * least), min(high, 39.5)), abs=0.3)
    assert (found.below, found.above) == (low == found.low, high == found.high)
    assert found.below != found.above


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

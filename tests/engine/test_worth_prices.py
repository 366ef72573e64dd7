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
from engine.worth.prices import NONE, Curve, Held, cost_bounds, curve, fair
from tests.engine.sample_simulators import SPEC

REACH = Range(-90.0, 90.0)
ALONE = Held(1.0, 0.0)


@pytest.mark.parametrize("luck", LUCK)
@pytest.mark.parametrize("kind", MARKETS)
def test_ranges_hold_the_fair_price_on_markets_of_every_kind(kind: str, luck: str) -> None:
    found = covered(kind, luck, 5, seed=12)
    assert found.many >= 50
    assert found.inside >= 0.95 * found.many - 3 * math.sqrt(0.05 * 0.95 * found.many)
    if kind == "plain":
        assert found.width <= 2, "times that of a plain sample at a known worth of gold"


@pytest.mark.parametrize("worth", [0.0, 0.03])
def test_where_prices_do_nothing_there_is_no_fair_price(worth: float) -> None:
    rng = np.random.default_rng(3)
    market = Market.drawn("plain", rng)._replace(worth=np.full(PIECES, worth), suits=np.full(PIECES, 1e-9))
    prices, _ = measured(rng, market, "wins", 8_000)
    assert prices == [NONE] * PIECES


def test_how_much_slopes_differ_beyond_luck_is_found() -> None:
    rng = np.random.default_rng(4)
    dealt, gold = np.resize(np.arange(40), 40_000), rng.uniform(-1, 1, 40_000)
    own = 0.1 * rng.standard_normal(40)
    for differ in (0.0, 1.0):
        outcome = (-0.2 + differ * own[dealt]) * gold + 0.3 * rng.standard_normal(len(gold))
        found = curve(dealt, gold, np.zeros_like(gold), outcome, 1.0)
        assert found is not None
        assert found.own == pytest.approx(differ * own.std(), abs=0.03)


def test_a_piece_that_no_price_within_reach_makes_fair_has_none() -> None:
    flat = Curve(np.array([-0.02, 0.0, 0.0]), np.zeros((3, 3)), 90.0)
    assert fair(100.0, REACH, Range(0, 1e6), 0.3, Range(0.28, 0.32), flat, SPREAD, ALONE) is NONE


def test_a_price_goes_no_lower_than_the_game_lets_it() -> None:
    steep = Curve(np.array([-0.09, 0.0, 0.0]), np.zeros((3, 3)), 90.0)
    found = fair(30.0, Range(-30.0, 90.0), Range(0.0, 1e6), -0.02, Range(-0.05, 0.01), steep, SPREAD, ALONE)
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

"""Teams that random draws hardly ever give are drawn with the chances of these."""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec
import numpy as np
import pytest

from engine.config import LineupConfig
from engine.lineups.drawing import Chances, costs
from engine.lineups.pairings import draw
from engine.lineups.rules import CompiledRules, compile_rules
from engine.lineups.scarce import can_prepare, draw_scarce, prepared
from engine.simulators.contract import Distinct, Piece, Rules
from engine.worth.expectations import Expectations
from engine.worth.traits import Traits
from tests.engine.test_pairings import RULES, SMALL, amounts, keys, teams

KINDS = 150
"""Soldiers, and charms, of which two are cheap."""


def crowded() -> CompiledRules:
    """Rules of a game whose first hero costs 10, and the rest of a team 4 where it is one of the four cheapest: once in
    42,000 random draws."""
    kinds = ("soldier", "charm")
    crowd = [Piece(f"{k}-{i}", f"{k} {i}", k, 2.0 + 3.0 * (i > 1), {"power": 1.0}) for k in kinds for i in range(KINDS)]
    rules = msgspec.structs.replace(SMALL.rules, budget_low=10.0, budget_high=60.0)
    spec = msgspec.structs.replace(SMALL, pieces=(*SMALL.pieces[:3], *crowd), rules=rules)
    return compile_rules(spec, LineupConfig(teams=2, cost_tolerance=3.0))


def drawn(rules: CompiledRules, price: Any, piece: int, least: int, n: int) -> Any:
    """n teams that hold a piece, int32[n, slots]."""
    (shares, inside), asked, many = Chances.of(rules), np.array([piece, -1], np.int32), np.array([least, 1], np.int32)
    left, cost, rows = prepared(rules, shares, inside, price, piece), np.zeros(1), np.empty((n, 5), np.int32)
    assert can_prepare(rules, price, asked)
    state = np.array([7], np.uint64)
    for i in range(n):
        while not draw_scarce(state, rows[i : i + 1], rules, 0, asked, many, shares, inside, price, left, cost):
            pass
    return rows


@pytest.mark.parametrize(
    ("piece", "least", "dearer"), [(1, 1, 0.0), (1, 1, 7.3), (4, 2, 2.5), (5, 1, 3.9), (6, 2, -1.7)]
)
def test_scarce_teams_come_with_the_chances_of_random_ones(piece: int, least: int, dearer: float) -> None:
    price = RULES.price.copy()
    price[piece] += dearer
    expected = Counter[tuple[int, ...]]()
    for own, _, _, chance in teams(RULES._replace(price=price)):
        expected[own] += chance * (own[piece] >= least)
    total, n = sum(expected.values()), 20_000
    seen = Counter(amounts(drawn(RULES, price, piece, least, n)))
    assert set(seen) <= {own for own, chance in expected.items() if chance}
    squares = [(seen[own] - n * p / total) ** 2 / (n * p / total) for own, p in expected.items() if n * p / total >= 5]
    assert sum(squares) < len(squares) + 5 * np.sqrt(2 * len(squares))


def test_a_price_that_hardly_any_team_can_pay_is_paid_and_its_team_keeps_the_budget() -> None:
    rules, n = crowded(), 300
    hero = np.zeros((n, 1), np.int32)
    rows, found = draw(rules, keys(n), hero, np.ones_like(hero), np.full(n, 45.9))
    assert found.all()
    price = rules.price.copy()
    price[0] += 45.9
    assert (costs(rules._replace(price=price), rows[:, 0]) <= 60).all()
    assert (rows[:, 0, 0] == 0).all()
    assert len({tuple(row) for row in rows[:, 0].tolist()}) == 4, "each of two soldiers with each of two charms"
    assert len({tuple(row) for row in rows[:, 1].tolist()}) > 200, "whom they meet is as random as ever"


def test_a_price_that_only_a_repeated_piece_could_pay_is_not_paid_and_the_search_ends() -> None:
    """The cheapest team would hold its cheapest soldier twice."""
    slots = [
        msgspec.structs.replace(slot, category="soldier") if slot.id == "charm-1" else slot for slot in SMALL.slots
    ]
    once = Distinct("hero", "lineup"), Distinct("soldier", "team")
    spec = msgspec.structs.replace(SMALL, slots=tuple(slots[:4]), rules=Rules(distinct=once, budget_high=20.0))
    rules = compile_rules(spec, LineupConfig(teams=2, cost_tolerance=None))
    hero = np.zeros((50, 1), np.int32)
    for dearer, may in ((4.9, True), (5.9, False)):
        _, found = draw(rules, keys(50), hero, np.ones_like(hero), np.full(50, dearer))
        assert found.all() == found.any() == may


def test_prices_are_tried_as_far_as_teams_can_field_the_piece() -> None:
    """With its first hero at 56 the cheapest team costs 60, all that one may."""
    rules = crowded()
    drawn = Expectations(
        Traits(rules, pairs=False), lambda rows, first, second: np.zeros((len(first), 2)), 1, lambda: False
    )
    hero = np.zeros(3, np.int64)
    np.testing.assert_allclose(drawn.fielded(hero, np.array([80.0, 20.0, -5.0])), [46.0, 20.0, -5.0], atol=0.1)


def test_without_a_highest_budget_or_with_prices_below_nothing_teams_are_drawn_as_ever() -> None:
    one = np.array([0, -1], np.int32)
    assert not can_prepare(RULES._replace(budget=np.array([0.0, np.inf])), RULES.price, one)
    assert not can_prepare(RULES, RULES.price - 20.0, one)
    assert not can_prepare(RULES, RULES.price, np.array([0, 5], np.int32))

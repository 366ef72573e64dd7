"""Teams that random draws hardly ever give are drawn with the chances of these."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any, NamedTuple

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import chi2

from engine.config import LineupConfig
from engine.lineups.drawing import EMPTY, Chances, costs
from engine.lineups.groups import teams
from engine.lineups.pairings import draw
from engine.lineups.rules import FREE, IN_TEAM, CompiledRules, compile_rules
from engine.lineups.scarce import draw_scarce, prepared
from engine.simulators.contract import Distinct, Piece, Rules
from engine.worth.expectations import Expectations
from engine.worth.traits import Traits
from tests.engine.broken_rules import violations
from tests.engine.test_pairings import RULES, SMALL, keys

KINDS = 150
"""Soldiers, and charms, of which some are cheap."""
Rows = NDArray[np.int32]
Floats = NDArray[np.float64]


def crowded(cheap: int = 2, hero: float = 10.0) -> CompiledRules:
    """Rules of a game whose first hero costs 10, unless told otherwise, and the rest of a team 4 if its soldier and its
    charm are of the ``cheap`` ones: once in 42,000 random draws where there are two of each."""
    crowd = [
        Piece(f"{kind}-{i}", f"{kind} {i}", kind, 2.0 if i < cheap else 5.0, {"power": 1.0})
        for kind in ("soldier", "charm")
        for i in range(KINDS)
    ]
    rules = msgspec.structs.replace(SMALL.rules, budget_low=10.0, budget_high=60.0)
    spec = msgspec.structs.replace(SMALL, pieces=(*SMALL.pieces[:3], *crowd), rules=rules)
    found = compile_rules(spec, LineupConfig(teams=2, cost_tolerance=3.0))
    return found._replace(price=np.concatenate([[hero], found.price[1:]]))


class Asked(NamedTuple):
    """Some rules, and what a team is to hold: an amount of ``least`` or more of each of ``pieces``. ``price``: the
    prices, which may differ from those of the rules; ``whole``: whether they are multiples of one amount."""

    rules: CompiledRules
    pieces: NDArray[np.int32]
    least: NDArray[np.int32]
    whole: bool


@st.composite
def asked(draw: Any) -> Asked:
    """Small rules of any shape: optional slots, slots with counts, pieces that repeat or not, some that are kept apart,
    least and most gold and units; and one or two given pieces."""
    slots, partner = list[int](), list[int]()
    for _ in range(draw(st.integers(2, 3))):
        slots.append(len(partner))
        counted = draw(st.booleans())
        partner += [len(partner) + 1, len(partner)] if counted else [-1]
    count, size = np.array([s not in slots for s in range(len(partner))]), len(partner)
    pools = {s: draw(st.lists(st.integers(0, 4), min_size=1, max_size=3, unique=True)) for s in slots}
    pool = np.array([(pools.get(s, []) + [-1] * 3)[:3] for s in range(size)], np.int32)
    step, off = draw(st.sampled_from([(1.0, 0.0), (0.25, 0.0), (0.37, 0.5), (np.pi / 3, 0.5)]))
    price = step * np.array(draw(st.lists(st.integers(0, 9), min_size=5, max_size=5)), float)
    few, many = draw(st.integers(0, 2)), draw(st.integers(1, 3))
    low, units = draw(st.integers(0, 12)), draw(st.integers(0, 3))
    given = draw(st.lists(st.integers(0, 4), min_size=1, max_size=2, unique=True))
    dearer = draw(st.sampled_from([0.0, 0.0, 0.3 * step]))
    price[given[0]] += dearer
    rules = RULES._replace(
        is_count=count, partner=np.array(partner, np.int32), low=np.where(count, few, 1).astype(np.int32),
        optional=np.array([not c and draw(st.booleans()) for c in count]), group=np.full(size, -1, np.int32),
        high=np.where(count, few + many, 1).astype(np.int32), pool=pool, price=price,
        pool_size=np.array([len(pools.get(s, [])) for s in range(size)], np.int32),
        category=np.array([0, 0, 0, 1, 1], np.int32), scope=np.array(draw(st.permutations([FREE, IN_TEAM])), np.int32),
        apart=np.array(draw(st.sampled_from([[], [[0, 3]], [[1, 2]]])), np.int32).reshape(-1, 2),
        budget=step * (np.array([low, low + draw(st.integers(1, 25))]) + off) * draw(st.sampled_from([1, 1, 1e6])),
        units=np.array([units, units + draw(st.integers(1, 5))], np.int32),
    )  # fmt: skip
    if rules.budget[0] > 1e5:
        rules = rules._replace(budget=np.array([0.0, np.inf]))
    least = [draw(st.integers(1, 3)) for _ in given]
    return Asked(
        rules, *np.array([[*given, -1][:2], [*least, 1][:2]], np.int32), bool(step != np.pi / 3 and not dearer)
    )


def every(rules: CompiledRules) -> tuple[Rows, Floats]:
    """All teams slot by slot, whether they keep the rules or not, and the chance of each among random draws."""
    shares, choices = Chances.of(rules).shares, list[list[tuple[list[int], float]]]()
    for s in np.flatnonzero(~rules.is_count):
        mate = int(rules.partner[s])
        amounts = range(rules.low[mate], rules.high[mate] + 1) if mate >= 0 else [0]
        own = [([p, n], shares[s] / len(amounts)) for p in rules.pool[s, : rules.pool_size[s]] for n in amounts]
        choices.append(own + [([-1, 0], EMPTY)] * bool(rules.optional[s]))
        if mate < 0:
            choices[-1] = [(option[:1], share) for option, share in choices[-1]]
    found = list(itertools.product(*choices))
    rows = np.array([[value for option, _ in team for value in option] for team in found], np.int32)
    return rows, np.array([np.prod([share for _, share in team]) for team in found])


def holds(rules: CompiledRules, rows: Rows, pieces: NDArray[np.int32], least: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Which teams hold all that is asked for, what they may not hold twice once."""
    slots = np.flatnonzero(~rules.is_count)
    many = np.where(rules.partner[slots] >= 0, rows[:, rules.partner[slots]], 1)
    good = np.ones(len(rows), np.bool_)
    for piece, few in zip(pieces.tolist(), least.tolist(), strict=True):
        there = rows[:, slots] == piece
        once = rules.scope[rules.category[piece]] != FREE
        good &= (piece < 0) | (((many * there).sum(axis=1) >= few) & ((there.sum(axis=1) == 1) | (not once)))
    return good


def weighs(rules: CompiledRules, rows: Rows) -> NDArray[np.bool_]:
    """Which teams keep budget and number of units."""
    cost, units = costs(rules, rows), rows[:, rules.is_count].sum(axis=1)
    good = (cost >= rules.budget[0] - 1e-9) & (cost <= rules.budget[1] + 1e-9)
    return np.asarray(good & (units >= rules.units[0]) & (units <= rules.units[1]))


@settings(max_examples=150, deadline=None)
@given(asked())
def test_a_table_knows_the_chance_of_a_team_that_holds_what_it_should(one: Asked) -> None:
    """Where prices are not multiples of one amount it may think too many teams cheap enough."""
    rows, chance = every(one.rules)
    table = prepared(one.rules, Chances.of(one.rules).shares, one.rules.price, one.pieces, one.least)
    good = holds(one.rules, rows, one.pieces, one.least)
    true, known = chance[good & weighs(one.rules, rows)].sum(), table.left[0, 0, 0, 0]
    assert table.known
    assert table.possible == (known > 0)
    assert known >= true * (1 - 1e-9)
    assert known <= chance[good].sum() * (1 + 1e-9)
    if one.whole:
        assert known == pytest.approx(true)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(asked())
def test_scarce_teams_come_with_the_chances_of_random_ones(one: Asked) -> None:
    rows, chance = every(one.rules)
    good = holds(one.rules, rows, one.pieces, one.least) & ~(violations(rows[:, None], one.rules) > 0)
    table = prepared(one.rules, Chances.of(one.rules).shares, one.rules.price, one.pieces, one.least)
    if not table.possible:
        assert not chance[good].any()
        return
    seen = Counter(tuple(row) for row in drawn(one.rules, table, 3_000))
    fits({tuple(row): p for row, p in zip(rows[good].tolist(), chance[good], strict=True)}, seen)


def drawn(rules: CompiledRules, table: Any, tries: int) -> list[list[int]]:
    """The teams that so many draws give."""
    state, cost, row, found = np.array([7], np.uint64), np.zeros(1), np.empty((1, len(rules.is_count)), np.int32), []
    for _ in range(tries):
        if draw_scarce(state, row, rules, 0, table, rules.price, cost):
            found.append(row[0].tolist())
            assert cost[0] == pytest.approx(costs(rules, row)[0])
    return found


def fits(expected: dict[Any, float], seen: Counter[Any]) -> None:
    """Whether what is seen has these chances, up to a factor: Pearson's test, that fails once in a million times."""
    n, total = sum(seen.values()), sum(expected.values())
    assert set(seen) <= {key for key, p in expected.items() if p > 0}
    common = {key: n * p / total for key, p in expected.items() if n * p / total >= 5} if total else {}
    squares = sum((seen[key] - many) ** 2 / many for key, many in common.items())
    assert squares <= chi2.isf(1e-6, max(len(common) - 1, 1))


def held(n: int) -> tuple[Rows, Rows]:
    """Requests for the first hero."""
    return np.array([[0, -1]] * n, np.int32), np.ones((n, 2), np.int32)


@pytest.mark.parametrize("cheap", [2, 6, 12], ids=["hardly-any", "some", "many"])
def test_a_pairing_that_is_rare_at_usual_prices_is_as_likely_as_the_rules_say(cheap: int) -> None:
    """The first hero leaves 4.1 for a soldier and a charm. Random draws find hardly any, some or many of these."""
    rules, n = crowded(cheap, 55.9), 4_000
    rows, found = draw(rules, keys(n), *held(n))
    alone = teams(rules, keys(n), *held(n))
    assert found.all()
    assert alone.found.all()
    for own in (rows[:, 0], alone.rows):
        seen = Counter(tuple(team) for team in own.tolist())
        rest = range(3, 3 + cheap), range(3 + KINDS, 3 + KINDS + cheap)
        fits({(0, soldier, 1, charm, -1): 1.0 for soldier, charm in itertools.product(*rest)}, seen)
    fits(opponents(rules, cheap), Counter(tuple(team) for team in classes(rules, rows[:, 1]).tolist()))


def classes(rules: CompiledRules, rows: Rows) -> Floats:
    """Hero, cost of the soldier, number of them, and costs of the charms, the cheaper one first."""
    price = np.append(rules.price, 0.0)[rows]
    return np.column_stack([rows[:, 0], price[:, 1], rows[:, 2], np.sort(price[:, 3:], axis=1)])


def opponents(rules: CompiledRules, cheap: int) -> dict[tuple[float, ...], float]:
    """The chance of each class of teams that may meet one that costs 59.9, up to a factor."""
    share, chances = {2.0: cheap / KINDS, 5.0: 1 - cheap / KINDS}, Counter[tuple[float, ...]]()
    second = {0.0: EMPTY, **{cost: (1 - EMPTY) * p for cost, p in share.items()}}
    for hero, soldier, many, charm, other in itertools.product((1, 2), share, (1, 2, 3), share, second):
        cost = rules.price[hero] + soldier * many + charm + other
        if cost * 4 >= 59.9:
            least, most = min(charm, other), max(charm, other)
            chances[float(hero), soldier, float(many), least, most] += share[soldier] * share[charm] * second[other]
    return chances


def test_a_rare_pairing_depends_on_its_own_seed_alone() -> None:
    """Whether others ask for the same, and in what order."""
    rules, n = crowded(6, 55.9), 60
    pieces, least = held(n)
    pieces[::3, 0], pieces[1::7, 1] = 1, 3
    dearer = np.where(np.arange(n) % 5 == 0, 0.05, 0.0)
    rows, found = draw(rules, keys(n), pieces, least, dearer)
    order = np.random.default_rng(5).permutation(n)[: n // 2]
    again = draw(rules, keys(n)[order], pieces[order], least[order], dearer[order])
    np.testing.assert_array_equal(again.found, found[order])
    np.testing.assert_array_equal(again.rows[again.found], rows[order][found[order]])
    whole = teams(rules, keys(n), pieces, least)
    one = teams(rules, keys(n)[order], pieces[order], least[order])
    np.testing.assert_array_equal(one.rows[one.found], whole.rows[order][whole.found[order]])


def test_what_a_table_shows_to_be_impossible_is_not_looked_for() -> None:
    """Thousands of them would take minutes if each was: two of the second hero's soldiers cost too much."""
    rules, n = crowded(2, 55.9), 4_000
    pieces, least = held(n)
    pieces[:, 1], least[:, 1] = 3, 2
    assert not draw(rules, keys(n), pieces, least).found.any()
    assert not teams(rules, keys(n), pieces, least).found.any()


def test_a_game_too_large_for_a_table_and_a_piece_given_twice_are_drawn_at_random() -> None:
    large = RULES._replace(
        high=np.where(RULES.is_count, 30_000, 1).astype(np.int32), units=np.array([2, 29_999], np.int32)
    )
    shares = Chances.of(RULES).shares
    asked = np.array([[0, 5], [5, 5]], np.int32), np.ones((2, 2), np.int32)
    assert not prepared(large, shares, RULES.price, asked[0][0], asked[1][0]).known
    assert not prepared(RULES, shares, RULES.price, asked[0][1], asked[1][1]).known
    assert not prepared(RULES, shares, RULES.price - 20.0, asked[0][0], asked[1][0]).known
    (row,), found = draw(RULES, keys(1), asked[0][1:], asked[1][1:])
    assert found.all()
    assert row[0, 3:].tolist() == [5, 5]


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

"""Random pairings: those that the rules allow, with the chances of their draws, whatever the first team is to hold."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from engine.config import LineupConfig
from engine.errors import ConfigError
from engine.games.herobattle import HeroBattle
from engine.lineups.drawing import EMPTY
from engine.lineups.encoding import LineupSpace
from engine.lineups.pairings import PairingSpace, draw
from engine.lineups.rules import CompiledRules, compile_rules
from engine.rng import combine64
from engine.simulators.contract import Distinct, Piece, Rules, Slot
from tests.engine.broken_rules import violations
from tests.engine.sample_simulators import SPEC

SMALL = msgspec.structs.replace(
    SPEC,
    pieces=(
        Piece("hero-0", "Hero 0", "hero", 10.0, {"power": 1.0}),
        Piece("hero-1", "Hero 1", "hero", 12.0, {"power": 1.0}),
        Piece("hero-2", "Hero 2", "hero", 15.0, {"power": 1.0}),
        Piece("soldier-0", "Soldier 0", "soldier", 2.0, {"power": 1.0}),
        Piece("soldier-1", "Soldier 1", "soldier", 3.0, {"power": 1.0}),
        Piece("charm-0", "Charm 0", "charm", 1.0, {"power": 1.0}),
        Piece("charm-1", "Charm 1", "charm", 4.0, {"power": 1.0}),
    ),
    slots=(
        Slot("hero", "Hero", category="hero"),
        Slot("soldier", "Soldier", category="soldier"),
        Slot("soldiers", "How many", kind="count", of="soldier", low=1, high=3),
        Slot("charm-1", "First charm", category="charm", group="charms"),
        Slot("charm-2", "Second charm", category="charm", optional=True, group="charms"),
    ),
    rules=Rules(distinct=(Distinct("hero", "lineup"),), budget_low=14.0, budget_high=24.0),
)
"""Charms may repeat in a team, the two teams never share a hero."""
RULES = compile_rules(SMALL, LineupConfig(teams=2, cost_tolerance=0.2))
NOTHING = -1
Key = tuple[tuple[int, ...], tuple[int, ...]]


def teams(rules: CompiledRules) -> list[tuple[tuple[int, ...], int, float, float]]:
    """Every team slot by slot: amounts of its pieces, hero, cost, and the chance of drawing it."""
    found = []
    for hero, soldier, many, one, two in itertools.product(range(3), (3, 4), (1, 2, 3), (5, 6), (NOTHING, 5, 6)):
        counts = Counter({hero: 1, soldier: many})
        counts.update([one] if two == NOTHING else [one, two])
        cost = sum(float(rules.price[p]) * n for p, n in counts.items())
        chance = 1 / 3 / 2 / 3 / 2 * (EMPTY if two == NOTHING else (1 - EMPTY) / 2)
        if rules.budget[0] <= cost <= rules.budget[1]:
            found.append((tuple(counts[p] for p in range(7)), hero, cost, chance))
    return found


def amounts(rows: NDArray[np.int32]) -> list[tuple[int, ...]]:
    """Of each piece of SMALL in teams int32[n, slots]."""
    found = []
    for hero, soldier, many, one, two in rows.tolist():
        counts = Counter({hero: 1, soldier: many})
        counts.update([one] if two == NOTHING else [one, two])
        found.append(tuple(counts[p] for p in range(7)))
    return found


def chances(held: dict[int, int]) -> dict[Key, float]:
    """The chance of each pairing, given that its first team holds so many of these pieces."""
    every, found = teams(RULES), Counter[Key]()
    for (a, hero_a, cost_a, p), (b, hero_b, cost_b, q) in itertools.product(every, every):
        near = max(cost_a, cost_b) <= min(cost_a, cost_b) * (1 + RULES.tolerance)
        if hero_a != hero_b and near and all(a[piece] >= least for piece, least in held.items()):
            found[a, b] += p * q
    total = sum(found.values())
    return {key: chance / total for key, chance in found.items()}


def keys(n: int) -> NDArray[np.uint64]:
    return combine64(1, np.arange(n, dtype=np.uint64))


def drawn(held: dict[int, int], n: int) -> Any:
    pieces, least = np.full((n, 2), NOTHING, np.int32), np.ones((n, 2), np.int32)
    for k, (piece, many) in enumerate(held.items()):
        pieces[:, k], least[:, k] = piece, many
    return draw(RULES, keys(n), pieces, least)


@pytest.mark.parametrize("held", [{}, {0: 1}, {5: 1}, {6: 2}, {3: 2}, {1: 1, 6: 1}, {4: 3, 5: 2}], ids=str)
def test_pairings_come_with_the_chances_of_their_draws_whatever_the_first_team_is_to_hold(held: dict[int, int]) -> None:
    n, expected = 40_000, chances(held)
    rows, found = drawn(held, n)
    assert found.all()
    sides = [amounts(rows[:, side]) for side in (0, 1)]
    seen = Counter(zip(*sides, strict=True))
    assert set(seen) <= set(expected)
    common = [key for key in expected if n * expected[key] >= 5]
    squares = sum((seen[key] - n * expected[key]) ** 2 / (n * expected[key]) for key in common)
    assert squares < len(common) + 5 * np.sqrt(2 * len(common))


@pytest.mark.parametrize(("piece", "most"), [(1, 9.0), (3, 11.0), (5, 11.0), (6, 8.0)])
def test_a_piece_may_be_as_dear_as_its_cheapest_team_can_pay_and_is_not_looked_for_beyond(
    piece: int, most: float
) -> None:
    """Thousands at a price that nobody can pay would take minutes if each was looked for."""
    pieces = np.full((4_000, 1), piece, np.int32)
    for dearer, may in ((most, True), (most + 0.01, False)):
        changes = np.full(4_000, dearer)
        _, found = draw(RULES, keys(4_000), pieces, np.ones_like(pieces), changes)
        assert found.all() == found.any() == may


def test_each_pairing_depends_on_its_own_seed_alone() -> None:
    rows, _ = drawn({5: 1}, 200)
    pieces = np.array([[5, NOTHING]], np.int32)
    for i in (0, 7, 199):
        alone = draw(RULES, keys(200)[i : i + 1], pieces, np.ones_like(pieces))
        np.testing.assert_array_equal(alone.rows[0], rows[i])


@settings(max_examples=15, deadline=None)
@given(
    config=st.sampled_from(
        [
            LineupConfig(teams=2),
            LineupConfig(teams=2, cost_tolerance=None, units_low=7),
            LineupConfig(teams=2, budget_low=1500, budget_high=1520, repeat=("hero",)),
            LineupConfig(teams=2, required=("warhorn",), cost_tolerance=0.02),
            LineupConfig(teams=2, apart=(("pikes", "bows"), ("frost-captain", "warhorn"))),
        ]
    ),
    seed=st.integers(0, 2**32),
)
def test_every_pairing_of_a_real_game_keeps_its_rules(config: LineupConfig, seed: int) -> None:
    rules = compile_rules(HeroBattle().describe(), config)
    rows = PairingSpace(rules).sample(np.random.default_rng(seed), 300)
    assert not violations(sorted_teams(rows, rules), rules).any()


def sorted_teams(rows: NDArray[np.int32], rules: CompiledRules) -> NDArray[np.int32]:
    """As lineups stand, whose teams have no order."""
    return LineupSpace(rules).canonical(rows)


def test_what_the_rules_leave_no_team_for_is_not_found_and_ends() -> None:
    assert not drawn({0: 1, 1: 1}, 2).found.any()
    dear = RULES._replace(budget=np.array([1000.0, 1001.0]))
    with pytest.raises(ConfigError, match="hardly any two teams keep these rules"):
        PairingSpace(dear).sample(np.random.default_rng(1), 1)

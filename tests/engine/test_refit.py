"""Teams that new prices make illegal are brought back within the rules by the least change."""

from __future__ import annotations

from itertools import product

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from engine.change.refit import fits, refit
from engine.config import LineupConfig
from engine.lineups.encoding import LineupSpace
from engine.lineups.rules import CompiledRules, compile_rules
from tests.engine.sample_simulators import SPEC

CONFIG = LineupConfig(teams=2, cost_tolerance=0.1, budget_high=30)


def rules(**prices: float) -> CompiledRules:
    patch = {f"{piece.replace('_', '-')}.cost": price for piece, price in prices.items()}
    return compile_rules(SPEC.patched(patch), CONFIG)


def lineups(n: int, seed: int = 1) -> NDArray[np.int32]:
    return LineupSpace(rules()).sample(np.random.default_rng(seed), n)


def unlike(a: NDArray[np.int32], b: NDArray[np.int32]) -> int:
    return int((a != b).sum())


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), hero=st.integers(0, 5), price=st.floats(1.0, 28.0))
def test_what_was_valid_is_valid_again_after_any_change_of_price(seed: int, hero: int, price: float) -> None:
    lineup, new = lineups(1, seed)[0], rules(**{f"hero_{hero}": price})
    found = lineup if fits(new, lineup) else refit(new, lineup, frozenset({hero}))
    if found is not None:
        assert fits(new, found)


def test_no_change_in_one_slot_is_overlooked_and_the_least_gold_moves() -> None:
    new = rules(hero_2=24.0)
    seen = 0
    for lineup in lineups(60):
        if fits(new, lineup) or not (lineup[:, 0] == 2).any():
            continue
        found = refit(new, lineup, frozenset({2}))
        best = one_slot(new, lineup)
        if best is not None:
            seen += 1
            assert found is not None
            slots = [s for s in np.argwhere(found != lineup).tolist() if not new.is_count[s[1]]]
            assert len(slots) <= 1
            assert moved(new, lineup, found) == pytest.approx(best)
    assert seen


def one_slot(new: CompiledRules, lineup: NDArray[np.int32]) -> float | None:
    """The least gold that another piece or another count in one slot moves to keep the rules; by trying all."""
    found = []
    for t, s in np.ndindex(lineup.shape):
        if lineup[t, s] == 2 and s == 0:
            continue
        values = range(1, 6) if new.is_count[s] else [*new.pool[s, : new.pool_size[s]].tolist(), -1]
        for value in values:
            other = lineup.copy()
            other[t, s] = value
            if (value == -1 and not new.optional[s]) or value == lineup[t, s] or (s == 0 and value == 2):
                continue
            if fits(new, other):
                found.append(moved(new, lineup, other))
    return min(found, default=None)


def moved(new: CompiledRules, a: NDArray[np.int32], b: NDArray[np.int32]) -> float:
    price = np.append(new.price, 0.0)

    def gold(x: NDArray[np.int32]) -> NDArray[np.float64]:
        out = price[x] * ~new.is_count
        out[:, 1] *= x[:, 2]
        return np.asarray(out)

    return float(np.abs(gold(a) - gold(b)).sum())


def test_the_piece_whose_price_is_tried_stays_unless_nothing_else_helps() -> None:
    new, stayed = rules(hero_1=22.0), 0
    for lineup in lineups(80, 3):
        if (lineup[:, 0] == 1).any() and not fits(new, lineup):
            found = refit(new, lineup, frozenset({1}))
            stayed += found is not None and bool((found[:, 0] == 1).any())
    assert stayed
    alone = rules(hero_1=30.0)  # a team of it and the cheapest soldier is beyond 30: it has to go
    for lineup in lineups(80, 3):
        if (lineup[:, 0] == 1).any():
            found = refit(alone, lineup, frozenset({1}))
            assert found is None or not (found[:, 0] == 1).any()


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), hero=st.integers(0, 5), price=st.floats(1.0, 28.0))
def test_nothing_changed_in_price_is_put_into_a_lineup(seed: int, hero: int, price: float) -> None:
    new, lineup = rules(**{f"hero_{hero}": price}), lineups(1, seed)[0]
    found = None if fits(new, lineup) else refit(new, lineup, frozenset({hero}))
    if found is not None:
        assert not ((found[:, 0] == hero) & (lineup[:, 0] != hero)).any()


def test_the_same_lineup_is_refitted_alike_each_time() -> None:
    new = rules(hero_2=24.0)
    wrong = [each for each in lineups(40) if not fits(new, each)]
    assert wrong
    for each in wrong:
        once, again = (refit(new, each.copy(), frozenset({2})) for _ in range(2))
        assert (once is None) == (again is None)
        if once is not None and again is not None:
            assert once.tolist() == again.tolist()


def test_what_cannot_be_refitted_is_none() -> None:
    dear = rules(**{f"hero_{i}": 29.0 for i in range(1, 6)})  # only one hero is left that a team can pay
    assert all(refit(dear, each, frozenset()) is None for each in lineups(3))


def test_repetitions_units_and_required_pieces_break_the_rules_too() -> None:
    plain = rules()
    lineup = lineups(1)[0]
    assert fits(plain, lineup)
    twice = lineup.copy()
    twice[1, 0] = twice[0, 0]
    assert not fits(plain, twice)
    strict = msgspec.structs.replace(SPEC, rules=msgspec.structs.replace(SPEC.rules, units_high=2))
    many = compile_rules(strict, CONFIG)
    assert all(fits(many, each) == bool((each[:, 2] <= 2).all()) for each in lineups(20))
    missing = sorted(set(range(6)) - set(lineup[:, 0].tolist()))[0]
    wanted = compile_rules(SPEC, CONFIG.model_copy(update={"required": (f"hero-{missing}",)}))
    assert not fits(wanted, lineup)


@pytest.mark.parametrize(("hero", "price"), list(product([0, 3, 5], [5.0, 20.0])))
def test_cheaper_pieces_are_refitted_too_where_costs_must_lie_near_each_other(hero: int, price: float) -> None:
    new = rules(**{f"hero_{hero}": price})
    for lineup in lineups(30, hero):
        if not fits(new, lineup):
            found = refit(new, lineup, frozenset({hero}))
            assert found is None or (fits(new, found) and 1 <= unlike(found, lineup) <= 8)

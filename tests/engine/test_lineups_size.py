"""How many lineups the rules leave: the same number as counting them all, and honest where counting takes too long."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

from engine.config import LineupConfig
from engine.games.herobattle import HeroBattle
from engine.lineups import size
from engine.lineups.encoding import LineupSpace
from engine.lineups.rules import CompiledRules, compile_rules
from engine.lineups.size import space_size
from engine.simulators.contract import Category, Distinct, GameSpec, Metric, Piece, Rules, Slot
from tests.engine.broken_rules import violations

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")

SMALL = GameSpec(
    name="small",
    title="Small",
    version="1",
    categories=(
        Category("hero", "Hero", "Heroes"),
        Category("item", "Item", "Items"),
        Category("pike", "Pike", "Pikes"),
    ),
    pieces=(
        *(Piece(f"hero-{i}", f"Hero {i}", "hero", 100 + 7.5 * i) for i in range(4)),
        *(Piece(f"item-{i}", f"Item {i}", "item", 10.0 * i) for i in range(3)),
        *(Piece(f"pike-{i}", f"Pike {i}", "pike", 20 + i) for i in range(2)),
    ),
    slots=(
        Slot("hero", "Hero", category="hero"),
        Slot("item_1", "Item", category="item", group="items"),
        Slot("pikes", "Pikes", category="pike"),
        Slot("count", "How many", kind="count", of="pikes", low=1, high=3),
        Slot("item_2", "Item", category="item", group="items", optional=True),
    ),
    side_metrics=(Metric("strength", "Strength"), Metric("resources", "Resources"), Metric("win", "Win")),
    rules=Rules(distinct=(Distinct("hero", "lineup"), Distinct("item", "team"))),
)
RULES = [
    LineupConfig(teams=1),
    LineupConfig(teams=1, budget_low=150, budget_high=180, units_low=2),
    LineupConfig(teams=2),
    LineupConfig(teams=2, cost_tolerance=None, banned=("hero-3", "item-0")),
    LineupConfig(teams=2, cost_tolerance=0.0, repeat=("hero",)),
    LineupConfig(teams=2, required=("hero-2", "item-1"), budget_high=200),
    LineupConfig(teams=2, cost_tolerance=0.02, units_low=3, units_high=3, repeat=("hero",)),
    LineupConfig(teams=2, cost_tolerance=None, apart=(("hero-1", "item-2"), ("item-0", "item-1"))),
]


def brute(rules: CompiledRules) -> int:
    """Every lineup there is, brought into canonical form, checked by the operators' own checker, counted once."""
    choices = [[0, *range(1, 4)] if c else [-1, *p[:n]] for c, p, n in zip(
        rules.is_count, rules.pool.tolist(), rules.pool_size.tolist(), strict=True)]  # fmt: skip
    space = LineupSpace(rules)
    teams = np.array(list(product(*choices)), dtype=np.int32)
    alone = LineupSpace(rules._replace(teams=1, required=rules.required[:0]))
    teams = teams[violations(teams[:, None], alone.rules) == 0]
    one, other = (i.ravel() for i in np.indices((len(teams), len(teams))))
    lineups = teams[:, None] if rules.teams == 1 else np.stack([teams[one], teams[other]], axis=1)
    return len(np.unique(space.canonical(lineups[violations(lineups, space.rules) == 0]), axis=0))


@pytest.mark.parametrize("config", RULES, ids=range(len(RULES)))
def test_it_is_what_counting_every_lineup_gives(config: LineupConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    rules = compile_rules(SMALL, config)
    true = brute(rules)
    assert space_size(rules) == (true, true, true, "counted")
    monkeypatch.setattr(size, "COUNTED", 0)
    for half in (size.HALF, 0):  # with teams in order of cost, and with plain draws
        monkeypatch.setattr(size, "HALF", half)
        drawn = space_size(rules)
        assert drawn.kind == "estimated"
        assert drawn.low - 0.02 * true < true < drawn.high + 0.02 * true


@pytest.mark.parametrize("teams", [3, 4])
def test_estimates_hold_for_more_teams_that_may_be_equal(teams: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rules = compile_rules(
        SMALL, LineupConfig(teams=teams, cost_tolerance=None, repeat=("hero",), banned=("hero-0", "hero-1", "item-2"))
    )
    n = space_size(rules._replace(teams=1)).lineups
    true = math.comb(int(n) + teams - 1, teams)
    monkeypatch.setattr(size, "COUNTED", n)
    drawn = space_size(rules)
    assert drawn.kind == "estimated"
    assert drawn.low < true < drawn.high


def test_a_large_space_is_estimated_with_a_narrow_interval_the_same_each_time() -> None:
    rules = compile_rules(HeroBattle().describe(), LineupConfig())
    found = space_size(rules)
    assert found == space_size(rules)
    assert found.kind == "estimated"
    assert 1e22 < found.low < found.lineups < found.high < 1e24
    assert found.high < 1.5 * found.low


def test_too_few_lineups_to_be_drawn_are_told_as_a_bound() -> None:
    spec = HeroBattle().describe()
    required = tuple(p.id for p in spec.pieces if p.category == "equipment")[:6]
    found = space_size(compile_rules(spec, LineupConfig(required=required)))
    assert found.kind == "bound"
    assert found.low == 0
    assert found.lineups > 1e20


def test_rules_that_each_can_be_met_but_not_together_leave_none() -> None:
    rules = compile_rules(SMALL, LineupConfig(teams=2, cost_tolerance=0.0, banned=("hero-0", "hero-2", "item-1")))
    assert brute(rules) == 0
    assert space_size(rules) == (0, 0, 0, "counted")

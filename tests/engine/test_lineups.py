"""Lineups: rules told at once, operators that never give an invalid lineup, battles that depend on nothing else."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.config import LineupConfig, TeamRow
from engine.errors import ConfigError
from engine.games.herobattle import HeroBattle
from engine.lineups.encoding import LineupSpace
from engine.lineups.rules import compile_rules, feasibility
from engine.lineups.schema import check_patch, did_you_mean, team_costs, team_parts, team_row, team_slots
from engine.simulators.contract import Distinct, GameSpec, content_hash
from tests.engine.broken_rules import violations


@cache
def spec() -> GameSpec:
    return HeroBattle().describe()


def heroes(count: int) -> tuple[str, ...]:
    return tuple(p.id for p in spec().pieces if p.category == "hero")[:count]


VARIED = [
    LineupConfig(),
    LineupConfig(teams=1, cost_tolerance=None),
    LineupConfig(teams=5, cost_tolerance=0.02),
    LineupConfig(teams=2, required=("warhorn", "frost-captain"), banned=heroes(45)[1:]),
    LineupConfig(teams=4, units_low=9, units_high=9, repeat=("hero",)),
    LineupConfig(apart=(("pikes", "bows"), ("warhorn", "coil-bow"), ("frost-captain", "warhorn"))),
    LineupConfig(budget_low=1500, budget_high=1510),
]


def space(config: LineupConfig) -> LineupSpace:
    return LineupSpace(compile_rules(spec(), config))


@pytest.mark.parametrize(
    ("config", "generations"), [*zip(VARIED, (34, 34, 8, 34, 8, 34, 8), strict=True)], ids=range(len(VARIED))
)
def test_hundreds_of_thousands_of_operator_calls_give_no_invalid_lineup(config: LineupConfig, generations: int) -> None:
    """The seven configurations together make 400,000 calls of crossover with mutation, chained over generations;
    those whose lineups take ten times as long to mend make fewer of them."""
    lineups, rng = space(config), np.random.default_rng(7)
    parents = lineups.sample(rng, 2_500)
    assert not violations(parents, lineups.rules).any()
    for _ in range(generations):
        mothers, fathers = rng.permutation(len(parents)), rng.permutation(len(parents))
        children = lineups.offspring(rng, parents[mothers], parents[fathers])
        assert not violations(children, lineups.rules).any()
        parents = children


def test_the_checker_of_that_test_does_see_what_is_wrong() -> None:
    lineups, rng = space(LineupConfig()), np.random.default_rng(1)
    good = lineups.sample(rng, 1)
    slot = {s.id: i for i, s in enumerate(spec().slots)}
    broken = {}
    for name in ("hero twice", "equipment twice", "wrong category", "count without soldiers", "too dear"):
        broken[name] = good.copy()
    broken["hero twice"][0, 1, slot["hero"]] = good[0, 0, slot["hero"]]
    broken["equipment twice"][0, 0, slot["equipment_2"]] = good[0, 0, slot["equipment_1"]]
    broken["wrong category"][0, 0, slot["skill"]] = 0
    broken["count without soldiers"][0, 0, [slot["soldiers_2"], slot["count_2"]]] = -1, 3
    broken["too dear"][0, 0, slot["count_1"]] = 40
    for name, lineup in broken.items():
        assert violations(lineup, lineups.rules)[0] > 0, name


def test_crossover_keeps_what_both_parents_share() -> None:
    lineups, rng = (
        LineupSpace(compile_rules(spec(), LineupConfig()), crossover=1.0, mutation=0.0),
        np.random.default_rng(3),
    )
    parents = lineups.sample(rng, 300)
    np.testing.assert_array_equal(lineups.offspring(rng, parents, parents), parents)


@pytest.mark.parametrize(("grouping", "whole"), [(1.0, True), (0.0, False)])
def test_whole_teams_are_injected_as_often_as_asked(grouping: float, whole: bool) -> None:
    """By whole teams a child holds a team of its father as it stood; slot by slot that is rare."""
    rules = compile_rules(spec(), LineupConfig(cost_tolerance=None))
    lineups, rng = LineupSpace(rules, crossover=1.0, mutation=0.0, grouping=grouping), np.random.default_rng(3)
    mothers, fathers = lineups.sample(rng, 300), lineups.sample(rng, 300)
    children = lineups.offspring(rng, mothers, fathers)
    inherited = [
        bool((child[:, None] == father).all(axis=2).any()) for child, father in zip(children, fathers, strict=True)
    ]
    assert bool(np.mean(inherited) > 0.5) is whole


def test_changes_that_swap_between_teams_keep_the_pieces_of_the_lineup() -> None:
    """Unless a rule is then broken and mended; changes of the other kind bring in others."""
    rules = compile_rules(spec(), LineupConfig(cost_tolerance=None))
    kept = {}
    for share in (1.0, 0.0):
        lineups, rng = LineupSpace(rules, crossover=0.0, mutation=1.0, swapping=share), np.random.default_rng(3)
        mothers = lineups.sample(rng, 300)
        children = lineups.offspring(rng, mothers, mothers)
        pieces = [np.sort(some[..., ~rules.is_count].reshape(300, -1), axis=1) for some in (mothers, children)]
        assert (mothers != children).any(axis=(1, 2)).mean() > 0.5
        kept[share] = (pieces[0] == pieces[1]).all(axis=1).mean()
    assert kept[1.0] > 0.5
    assert kept[0.0] < 0.2


def test_mutation_reaches_every_piece_from_a_small_start() -> None:
    lineups, rng = space(LineupConfig()), np.random.default_rng(5)
    parents = np.repeat(lineups.sample(rng, 1), 400, axis=0)
    seen: set[int] = set()
    for _ in range(30):
        parents = lineups.offspring(rng, parents, parents[::-1].copy())  # a view would be compiled for apart
        seen |= set(np.unique(parents[..., [0, 1, 2, 3, 4, 6]]).tolist())
    assert set(range(len(spec().pieces))) <= seen


@given(seed=st.integers(0, 2**32), shuffle=st.randoms(use_true_random=False))
@settings(max_examples=50, deadline=None)
def test_the_canonical_form_forgets_the_order_of_teams_and_of_interchangeable_slots(seed, shuffle) -> None:  # type: ignore[no-untyped-def]
    lineups = space(LineupConfig())
    original = lineups.sample(np.random.default_rng(seed), 1)
    other = original.copy()[:, shuffle.sample(range(3), 3)]
    for team in other[0]:
        if shuffle.random() < 0.5:
            team[[2, 3]] = team[[3, 2]]
        if shuffle.random() < 0.5:
            team[[4, 5, 6, 7]] = team[[6, 7, 4, 5]]
    again = lineups.canonical(other)
    np.testing.assert_array_equal(again, original)
    assert lineups.keys(again) == lineups.keys(original)
    np.testing.assert_array_equal(lineups.canonical(again), again)


def test_children_do_not_depend_on_how_the_batch_is_cut() -> None:
    from engine.lineups import operators

    lineups = space(LineupConfig())
    parents = lineups.sample(np.random.default_rng(1), 64)
    seeds = np.arange(64, dtype=np.uint64)
    whole = operators.offspring(seeds, parents, parents[::-1].copy(), lineups.rules, *lineups.shares)
    alone = [
        operators.offspring(
            seeds[i : i + 1], parents[i : i + 1], parents[::-1][i : i + 1].copy(), lineups.rules, *lineups.shares
        )
        for i in range(64)
    ]
    np.testing.assert_array_equal(whole, np.concatenate(alone))


@pytest.mark.parametrize(
    ("config", "place", "words"),
    [
        (LineupConfig(budget_high=100), "budget_high", "cheapest team costs"),
        (LineupConfig(budget_low=90_000), "budget_low", "dearest team costs"),
        (LineupConfig(units_low=50, units_high=60), "units_low", "a team can have"),
        (LineupConfig(required=("frostcaptain",)), "required", "not a piece"),
        (LineupConfig(teams=1, required=heroes(2)), "required", "room for 1"),
        (LineupConfig(teams=8, banned=heroes(45)), "banned", "8 heroes are needed"),
        (LineupConfig(repeat=("heroes",)), "repeat", "not a category"),
        (LineupConfig(apart=(("pikes", "bow"),)), "apart", "not a piece"),
        (LineupConfig(teams=1, required=("pikes", "bows"), apart=(("bows", "pikes"),)), "apart", "kept apart"),
    ],
)
def test_impossible_rules_are_told_at_once_with_the_reason(config: LineupConfig, place: str, words: str) -> None:
    reasons = feasibility(spec(), config)
    assert reasons
    assert reasons[0][0] == place
    assert words in reasons[0][1]
    with pytest.raises(ConfigError) as error:
        compile_rules(spec(), config)
    assert error.value.problems[0].place == f"lineups.{place}"


def test_rules_that_only_fail_when_tried_say_what_to_widen() -> None:
    tight = LineupConfig(teams=8, cost_tolerance=0.0, budget_low=1400.0, budget_high=1400.0)
    with pytest.raises(ConfigError, match="widen the cost range"):
        LineupSpace(compile_rules(spec().patched({"pikes.cost": 95.37, "bows.cost": 101.01}), tight)).sample(
            np.random.default_rng(1), 50
        )


def test_a_team_survives_the_way_to_words_and_back() -> None:
    lineups = space(LineupConfig()).sample(np.random.default_rng(2), 50)
    for row in lineups.reshape(-1, lineups.shape[-1]):
        slots = team_slots(spec(), row.tolist())
        np.testing.assert_array_equal(team_row(spec(), TeamRow(slots=slots)), row)
        assert len(team_parts(spec(), row.tolist())) >= 5


def test_what_is_counted_keeps_the_name_that_the_game_gave_it() -> None:
    """Names are plural in one game and singular in the next, so no number stands before them."""
    at = {slot.id: s for s, slot in enumerate(spec().slots)}
    counted = next(slot for slot in spec().slots if slot.kind == "count")
    row = space(LineupConfig()).sample(np.random.default_rng(2), 1)[0, 0]
    name = spec().pieces[row[at[counted.of]]].name
    for many in (1, 6):
        row[at[counted.id]] = many
        assert f"{name} ×{many}" in team_parts(spec(), row.tolist())


def test_a_team_with_a_misspelt_piece_is_told_what_was_meant() -> None:
    with pytest.raises(ConfigError, match="did you mean Frost Captain"):
        team_row(spec(), TeamRow(slots={"hero": "Frost Captin"}), "slots.")


def test_a_patch_is_checked_for_unknown_paths_and_for_bounds() -> None:
    found = dict(check_patch(spec(), {"frost-captain.hit_point": 3, "frost-captain.hit_points": 1e9}))
    assert "did you mean frost-captain.hit_points" in found["frost-captain.hit_point"]
    assert did_you_mean("nobody.cost", ["bows.cost", "pikes.cost"], []) == "", "alike in the second part alone"
    assert did_you_mean("bow.cost", ["bows.cost", "pikes.cost"], []) == "; did you mean bows.cost?"
    assert "outside" in found["frost-captain.hit_points"]


def test_a_patched_cost_counts() -> None:
    row = space(LineupConfig()).sample(np.random.default_rng(2), 1)[0]
    name = spec().pieces[row[0, 0]].id
    before, after = (team_costs(s, row)[0] for s in (spec(), spec().patched({f"{name}.cost": 1000.0})))
    assert after - before == 1000 - spec().pieces[row[0, 0]].cost


def test_a_spec_hash_depends_on_content_only() -> None:
    assert content_hash(spec()) == content_hash(HeroBattle().describe())
    assert content_hash(spec()) != content_hash(spec().patched({"warhorn.cost": 1.0}))
    assert Distinct("hero", "lineup") in spec().rules.distinct

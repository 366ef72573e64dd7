"""herobattle: each battle depends on its own row alone, no side is better, and what a designer changes counts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from engine.bench.herobattle_teams import equal_cost_pairs
from engine.bench.lineup_battles import planted_worth
from engine.errors import SimulatorError
from engine.games.herobattle import HeroBattle, kernel
from engine.games.herobattle.planted import planted_pieces
from engine.simulators.contract import Battles, content_hash
from tests.contracts.simulator import SimulatorContract

N = 3_000
LEFT, RIGHT = equal_cost_pairs(N, 1)
SEEDS = np.arange(N, dtype=np.uint64)


@pytest.fixture(scope="module")
def game() -> HeroBattle:
    return HeroBattle()


@pytest.fixture(scope="module")
def played(game: HeroBattle) -> Battles:
    return game.battles(LEFT, RIGHT, SEEDS, {})


class TestHeroBattle(SimulatorContract):
    @pytest.fixture(scope="class")
    @classmethod
    def simulator(cls) -> HeroBattle:
        return HeroBattle()


class TestPlantedHeroBattle(SimulatorContract):
    @pytest.fixture(scope="class")
    @classmethod
    def simulator(cls) -> HeroBattle:
        return HeroBattle(planted_seed=3)


def same(a: Battles, b: Battles) -> bool:
    return all(np.array_equal(x, y) for x, y in zip(a, b, strict=True))


def test_it_is_at_the_paper_s_scale(game: HeroBattle) -> None:
    count = {c.id: sum(p.category == c.id for p in game.describe().pieces) for c in game.describe().categories}
    assert (count["hero"], count["soldier"], count["equipment"]) == (51, 3, 79)
    assert count["skill"] >= 4


def test_a_battle_is_worth_balancing(game: HeroBattle) -> None:
    found = game.play(LEFT, RIGHT, *kernel.streams(SEEDS), {})
    ticks = found.battles.battle[:, 0]
    assert np.median(ticks) >= 60
    assert np.median(found.tallies[:, 1] / ticks) >= 0.5, "somebody attacks in half of the ticks"
    assert (LEFT[:, 5] + LEFT[:, 7] + 1).min() >= 6, "units a side"


@given(cut=st.lists(st.integers(1, 400), min_size=1, max_size=6), seed=st.integers(0, 2**32))
@settings(max_examples=25, deadline=None)
def test_a_battle_does_not_depend_on_its_batch(cut: list[int], seed: int) -> None:
    game, order = HeroBattle(), np.random.default_rng(seed).permutation(400)
    whole = game.battles(LEFT[:400], RIGHT[:400], SEEDS[:400], {})
    parts = np.split(order, np.minimum(np.cumsum(cut), 400))
    for part in parts:
        again = game.battles(LEFT[part], RIGHT[part], SEEDS[part], {})
        assert same(again, Battles(*(a[part] for a in whole)))


def test_exchanging_teams_and_their_luck_exchanges_the_result_exactly(game: HeroBattle) -> None:
    first, second = kernel.streams(SEEDS)
    one = game.play(LEFT, RIGHT, first, second, {}).battles
    other = game.play(RIGHT, LEFT, second, first, {}).battles
    np.testing.assert_array_equal(one.side, other.side[:, ::-1])
    np.testing.assert_array_equal(one.battle, other.battle)


def test_no_side_is_better(game: HeroBattle) -> None:
    left, right = equal_cost_pairs(20_000, 5)
    won = game.battles(left, right, np.arange(20_000, dtype=np.uint64), {}).side[:, 0, 2]
    assert abs(won.mean() - 0.5) < 4 * 0.5 / np.sqrt(20_000)
    mirror = game.battles(left, left, np.arange(20_000, dtype=np.uint64), {}).side[:, 0, 2]
    assert abs(mirror.mean() - 0.5) < 4 * 0.5 / np.sqrt(20_000)


def test_results_lie_where_the_spec_says(played: Battles) -> None:
    strength, resources, win = (played.side[..., k] for k in range(3))
    assert strength.min() >= 0
    assert strength.max() <= 100
    assert resources.min() >= 0
    assert set(np.unique(win)) <= {0.0, 0.5, 1.0}
    np.testing.assert_array_equal(win.sum(axis=1), 1.0)
    assert (played.status == 0).all()


@pytest.mark.parametrize("path", ["frost-captain.hit_points", "pikes.hit_points", "warhorn.cost", "pikes.cost"])
def test_a_changed_cost_or_hit_point_changes_the_battles_of_those_who_have_the_piece(
    path: str, game: HeroBattle, played: Battles
) -> None:
    spec = game.describe()
    piece = spec.piece_index()[path.split(".")[0]]
    tunable = spec.tunables()[path]
    changed = game.battles(LEFT, RIGHT, SEEDS, {path: min(tunable.default * 1.3, tunable.high)})
    slots = [s for s, slot in enumerate(spec.slots) if slot.kind == "piece"]
    has = (LEFT[:, slots] == piece).any(axis=1) | (RIGHT[:, slots] == piece).any(axis=1)
    differs = (changed.side != played.side).any(axis=(1, 2))
    assert not differs[~has].any()
    assert differs[has].mean() > 0.9
    if path.endswith("cost"):
        np.testing.assert_array_equal(changed.side[..., [0, 2]], played.side[..., [0, 2]])


def test_a_changed_game_runs_what_was_compiled_for_the_plain_one(game: HeroBattle) -> None:
    """Whole numbers alone used to be integers: the first game with half a number compiled everything anew."""
    left, right = equal_cost_pairs(2, 1)
    seeds = np.arange(2, dtype=np.uint64)
    game.battles(left, right, seeds, {})
    compiled = len(kernel.play.signatures)
    game.battles(left, right, seeds, {"battle.field": 6.5})
    assert len(kernel.play.signatures) == compiled


def test_salvage_is_what_a_lost_team_keeps(game: HeroBattle) -> None:
    lost = game.battles(LEFT, RIGHT, SEEDS, {"battle.salvage": 0.0}).side
    assert lost[..., 1][lost[..., 0] == 0].max() == 0
    kept = game.battles(LEFT, RIGHT, SEEDS, {"battle.salvage": 100.0}).side[:, 0, 1]
    prices = np.array([p.cost for p in game.describe().pieces] + [0.0])
    cost = prices[LEFT[:, [0, 1, 2, 3]]].sum(axis=1) + prices[LEFT[:, 4]] * LEFT[:, 5] + prices[LEFT[:, 6]] * LEFT[:, 7]
    np.testing.assert_allclose(kept, cost)


@pytest.mark.parametrize(("slot", "value"), [(0, 154), (0, -1), (1, 3), (2, 10_000), (4, -7), (5, 0), (5, 99), (7, -2)])
def test_a_row_that_is_no_team_is_named_with_its_slot(slot: int, value: int, game: HeroBattle) -> None:
    rows = LEFT[:5].copy()
    rows[3, slot] = value
    with pytest.raises(SimulatorError, match="3"):
        game.battles(rows, RIGHT[:5], SEEDS[:5], {})


def test_an_unknown_or_impossible_patch_is_named(game: HeroBattle) -> None:
    for patch in ({"frost-captain.hat": 3.0}, {"frost-captain.hit_points": -1.0}):
        with pytest.raises(SimulatorError, match="frost-captain"):
            game.battles(LEFT[:1], RIGHT[:1], SEEDS[:1], patch)


def test_a_replay_is_the_battle_itself(game: HeroBattle, played: Battles) -> None:
    for i in range(10):
        frames = game.replay(LEFT[i], RIGHT[i], int(SEEDS[i]), {})
        assert frames[-1].tick == played.battle[i, 0]
        for side, name in enumerate(("left", "right")):
            alive = any(u["life"] > 0 for u in frames[-1].units if u["side"] == name)
            assert alive == (played.side[i, side, 0] > 0)


def test_planting_is_drawn_by_the_seed_and_seen_in_the_version_alone() -> None:
    assert planted_pieces(1) == planted_pieces(1) != planted_pieces(2)
    singles, pair = planted_pieces(1)
    assert len({*singles, *pair}) == 6
    plain, *specs = (HeroBattle(planted_seed=seed).describe() for seed in (None, 1, 2))
    assert [spec.version for spec in specs] == [f"{plain.version}+planted-1", f"{plain.version}+planted-2"]
    assert len({content_hash(spec) for spec in (plain, *specs)}) == 3
    assert all(replace(spec, version=plain.version) == plain for spec in specs)


@pytest.mark.parametrize("seed", [1, 4])
def test_planted_pieces_are_worth_five_to_eight_points_and_the_halves_of_the_pair_nothing(seed: int) -> None:
    values, alone = planted_worth(seed, 20_000)
    assert min(values) > 5  # the standard error of a gain on common seeds is about 0.25 points
    assert max(values) < 9
    assert max(map(abs, alone)) < 0.5

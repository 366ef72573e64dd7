"""herobattle with commanders: the same battle as in lineups where nobody gives orders, and no side is better."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.bench.herobattle_teams import equal_cost_pairs
from engine.errors import ConfigError
from engine.games.herobattle import HeroBattle, layout
from engine.games.herobattle.commanders import HeroBattleCommanders
from engine.games.herobattle.commanders.scripts import COMMANDERS, Commander, HeroHunter, orders
from engine.games.herobattle.layout import SIDE
from engine.games.pong import VectorPong
from engine.mdp.interface import MDP
from engine.mdp.trajectory import Batch
from engine.mdp.vector import VectorMDP, VectorStep
from engine.rng import combine64
from tests.contracts.coroutines import mdp_from_vector
from tests.contracts.mdp import VectorContract, Walk

GOLDEN = Path(__file__).parents[1] / "golden" / "commanders.json"
SEEDS = combine64(5, np.arange(200, dtype=np.uint64))
EVERYTHING = ("score", "win", "dealt", "taken", "walked", "idle", "ground", "waited")


class TestTwoCommanders(VectorContract):
    rounds = 120

    def make(self) -> VectorMDP:
        return HeroBattleCommanders(seats=(0, 1), rewards=EVERYTHING)

    def mdp(self) -> MDP:
        return mdp_from_vector(lambda seats: HeroBattleCommanders(seats=seats, rewards=EVERYTHING), self.make().spec)


class TestOneCommander(VectorContract):
    rounds = 120

    def make(self) -> VectorMDP:
        return HeroBattleCommanders(seats=(1,), every=7, same_teams=True)


def first_ends(game: HeroBattleCommanders, step: VectorStep, left: str, right: str) -> dict[str, np.ndarray]:
    """What the first episode of every battle ended with, under these commanders."""
    n = len(step.terminated)
    found: dict[str, np.ndarray] = {"win": np.full((n, 2), np.nan), "score": np.zeros((n, 2))}
    found |= {name: np.zeros((n, 2)) for name in game.spec.seats[0].signals}
    while np.isnan(found["win"]).any():
        seen = [step.observations[seat]["battle"] for seat in (0, 1)]
        step = game.step([orders(left, seen[0]), orders(right, seen[1])])
        if step.ended is not None:
            new = np.isnan(found["win"][step.ended.battles, 0])
            at = step.ended.battles[new]
            found["win"][at], found["score"][at] = step.ended.win[new], step.ended.score[new]
            for seat, table in enumerate(step.ended.signals):
                for name, column in zip(game.spec.seats[seat].signals, table.T, strict=True):
                    found[name][at, seat] = column[new]
    return found


@pytest.mark.parametrize("every", [1, 4, 50])
def test_without_orders_a_battle_is_the_lineup_battle_bit_for_bit(every: int) -> None:
    left, right = equal_cost_pairs(len(SEEDS), 1)
    battles = HeroBattle().battles(left, right, SEEDS, {})
    game = HeroBattleCommanders(seats=(0, 1), every=every)
    found = first_ends(game, game.begin_with(left, right, SEEDS), "script", "script")
    np.testing.assert_array_equal(found["win"], battles.side[..., 2])
    strength = battles.side[..., 0]
    np.testing.assert_array_equal(found["score"], (strength - strength[:, ::-1]) / 200 + 0.5)


@pytest.mark.parametrize("rule", ["hunt", "skirmish", "wave", "sit-on-a-lead", "skill-late"])
def test_exchanged_commanders_teams_and_luck_give_the_exchanged_battle_exactly(rule: str) -> None:
    one, other = HeroBattleCommanders(seats=(0, 1)), HeroBattleCommanders(seats=(0, 1), mirror=True)
    a = first_ends(one, one.reset(SEEDS), rule, "focus-strongest")
    b = first_ends(other, other.reset(SEEDS), "focus-strongest", rule)
    for name in a:
        np.testing.assert_array_equal(a[name], b[name][:, ::-1], err_msg=name)


def test_a_seat_that_is_not_played_gives_no_orders() -> None:
    alone, both = HeroBattleCommanders(seats=(0,)), HeroBattleCommanders(seats=(0, 1))
    a, b = alone.reset(SEEDS), both.reset(SEEDS)
    for _ in range(30):
        seen = a.observations[0]["battle"]
        np.testing.assert_array_equal(seen, b.observations[0]["battle"])
        order = orders("hunt", seen)
        a, b = alone.step([order]), both.step([order, np.zeros_like(order)])
        np.testing.assert_array_equal(a.rewards[:, 0], b.rewards[:, 0])


def test_both_sides_may_lead_the_same_team_and_otherwise_never_have_the_same_hero() -> None:
    for same in (True, False):
        game = HeroBattleCommanders(seats=(0, 1), same_teams=same)
        game.reset(SEEDS)
        rows = game.teams
        assert (rows[:, 0] == rows[:, 1]).all() == same
        assert same or (rows[:, 0, 0] != rows[:, 1, 0]).all()
        HeroBattle().battles(rows[:, 0], rows[:, 1], SEEDS, {})  # which checks them


def test_rewards_and_signals_add_up() -> None:
    rewards = (*EVERYTHING, "waiting", "explored", "forward")
    game = HeroBattleCommanders(seats=(0, 1), rewards=rewards)
    step, sums, ends, forward = game.reset(SEEDS), np.zeros((len(SEEDS), 2, len(rewards))), 0, []
    for _ in range(80):
        seen = [step.observations[seat]["battle"] for seat in (0, 1)]
        step = game.step([orders("hunt", seen[0]), orders("ambush", seen[1])])
        sums += step.rewards
        if step.ended is None:
            continue
        over, e = step.ended.battles, step.ended
        ends += len(over)
        for seat in (0, 1):
            told = dict(zip(rewards, sums[over, seat].T, strict=True))
            signal = dict(zip(game.spec.seats[seat].signals, e.signals[seat].T, strict=True))
            np.testing.assert_allclose(told["score"] / 2 + 0.5, e.score[:, seat], atol=1e-5)
            np.testing.assert_allclose(told["win"], 2 * e.win[:, seat] - 1)
            np.testing.assert_allclose(told["dealt"], signal["dealt"], atol=1e-5)
            np.testing.assert_allclose(told["taken"], signal["taken"], atol=1e-5)
            np.testing.assert_allclose(told["ground"], signal["ground"])
            np.testing.assert_allclose(told["explored"], signal["explored"], atol=1e-6)
            np.testing.assert_allclose(signal["explored"], np.minimum(signal["ground"], 144) / 144)
            assert (signal["first_attack"] > 0).all()
            assert (signal["first_attack"] <= 1).all()
            assert (signal["first_attack"] == 1)[signal["dealt"] == 0].all()
            np.testing.assert_allclose(told["waiting"] * game.spec.frame_skip, told["waited"], atol=4)
            assert (told["waited"] <= signal["first_blow"] + game.spec.frame_skip).all()
            assert (signal["walked"] + signal["idle"] <= 1 + 1e-9).all()
            assert ((signal["forward"] >= 0) & (signal["forward"] <= 1)).all()
        forward.append([e.signals[seat][:, 9].mean() for seat in (0, 1)])
        np.testing.assert_allclose(e.signals[0][:, 0], e.signals[1][:, 1])
        sums[over] = 0
    assert ends > len(SEEDS)
    hunting, lying_in_wait = np.mean(forward, axis=0)
    assert hunting > 0.4 > lying_in_wait + 0.2, "who goes to meet the enemy, and who lets the enemy come"


def test_orders_do_what_they_say() -> None:
    """Each beside a team that fights by itself, on the same seeds and teams."""
    game = HeroBattleCommanders(seats=(0, 1), same_teams=True)
    found = {rule: first_ends(game, game.reset(SEEDS), rule, "script") for rule in ("script", "hold", "hunt", "ambush")}
    assert found["hold"]["walked"][:, 0].max() == 0.0
    assert found["hold"]["ground"][:, 0].mean() < found["script"]["ground"][:, 0].mean()
    assert found["hold"]["explored"][:, 0].mean() < found["script"]["explored"][:, 0].mean()
    assert found["ambush"]["first_attack"][:, 0].mean() > found["script"]["first_attack"][:, 0].mean()
    assert found["ambush"]["first_blow"][:, 0].mean() > found["script"]["first_blow"][:, 0].mean()
    assert found["hunt"]["win"][:, 0].mean() > 0.6
    game.reset(SEEDS)
    for _ in range(3):
        step = game.step([np.tile(np.float32([0, 3, 3, 3, 1]), (len(SEEDS), 1))] * 2)
    fields = step.observations[0]["battle"][:, 1 + 2 * 17 :].reshape(-1, 2, SIDE, 14)
    assert (fields[..., 0, 3][:, 0] < -0.6).all(), "both heroes withdraw"
    assert np.abs(fields[..., 3]).max() <= 1.2 + 1e-6, "but nobody leaves the field"


def test_in_a_battle_of_one_decision_what_it_is_paid_for_is_what_the_battle_tells() -> None:
    paid = ("walked", "idle", "forward", "dealt", "taken")
    game = HeroBattleCommanders(every=100, rewards=paid, changes=("battle.time_limit=100",))
    step = game.reset(SEEDS)
    step = game.step([orders("skirmish", step.observations[0]["battle"])])
    assert step.ended is not None
    for name, reward in zip(paid, step.rewards[:, 0].T, strict=True):
        told = step.ended.signals[0][:, game.spec.seats[0].signals.index(name)]
        np.testing.assert_allclose(reward[step.ended.battles], told, atol=1e-6)


def test_a_skill_that_is_held_back_is_not_used() -> None:
    game = HeroBattleCommanders(seats=(0, 1))
    step = game.reset(SEEDS)
    held, once = (np.tile(np.float32([0, 0, 0, 0, use]), (len(SEEDS), 1)) for use in (layout.HELD, layout.AT_ONCE))
    waits = []
    for _ in range(6):
        step = game.step([held, once])
        waits.append(step.observations[0]["battle"][:, [1 + 2, 1 + 17 + 2]])
    own, other = np.moveaxis(np.array(waits), 2, 0)
    assert (np.diff(own, axis=0) <= 0).all()
    assert (np.diff(other, axis=0) > 0).any(axis=0).mean() > 0.5


@pytest.mark.parametrize("rule", COMMANDERS)
def test_every_commander_gives_legal_orders(rule: str) -> None:
    game = HeroBattleCommanders(seats=(0, 1))
    step = game.reset(SEEDS[:20])
    for _ in range(20):
        step = game.step([orders(rule, step.observations[seat]["battle"]) for seat in (0, 1)])


def test_scripts_play_herobattle_and_refuse_other_games() -> None:
    game = HeroBattleCommanders()
    step = game.reset(SEEDS[:2])
    batch = Batch(step.observations[0], None, SEEDS[:2])
    np.testing.assert_array_equal(Commander(game.spec.seats[0])(batch).actions, np.zeros((2, layout.ORDERS)))
    assert HeroHunter(game.spec.seats[0])(batch).actions[0].tolist() == [layout.ON_HERO, 0, 0, 0, layout.AT_ONCE]
    with pytest.raises(ConfigError, match="another game"):
        Commander(VectorPong().spec.seats[0])


def test_battles_are_fought_with_a_projects_own_numbers() -> None:
    plain, changed = HeroBattleCommanders(), HeroBattleCommanders(changes=("battle.time_limit=40.0",))
    a, b = plain.reset(SEEDS), changed.reset(SEEDS)
    np.testing.assert_array_equal(a.observations[0]["battle"][:, 1:], b.observations[0]["battle"][:, 1:])
    assert (plain.spec.max_ticks, changed.spec.max_ticks) == (75, 10)
    idle = [np.zeros((len(SEEDS), layout.ORDERS), np.float32)]
    for _ in range(10):
        step = changed.step(idle)
    assert step.terminated.sum() > 100
    for wrong in ("battle.speed=1", "battle.time_limit", "battle.time_limit=1e9"):
        with pytest.raises(ConfigError, match="changes"):
            HeroBattleCommanders(changes=(wrong,))


@pytest.mark.parametrize("settings", [{"seats": (2,)}, {"every": 0}, {"rewards": ("gold",)}, {"same_teams": 1}])
def test_settings_that_do_not_exist_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=next(iter(settings))):
        HeroBattleCommanders(**settings)


def test_commanders_play_today_what_they_played_when_their_version_was_named() -> None:
    """A changed digest means results stored under this version are of another game: raise ``game.VERSION``."""
    game = HeroBattleCommanders(seats=(0, 1), rewards=EVERYTHING)
    walk, whole = Walk(game, SEEDS[:4]), hashlib.sha256()
    for _ in range(60):
        step = walk.step()
        for seen in step.observations:
            whole.update(np.ascontiguousarray(seen["battle"]).tobytes())
        whole.update(np.ascontiguousarray(step.rewards).tobytes())
    assert whole.hexdigest() == json.loads(GOLDEN.read_text())[game.spec.name]

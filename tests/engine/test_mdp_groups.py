"""Several seats steered as one: the same game, with fewer seats."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from engine.errors import ConfigError
from engine.games.navigation import Navigation
from engine.games.navigation.game import NavigationChoices
from engine.games.tanks import Tanks
from engine.mdp.groups import HERE, Group, Grouped, grouped
from engine.mdp.interface import GroupSpec, members_of
from engine.mdp.vector import VectorStep
from tests.contracts.mdp import VectorContract
from tests.engine.squad_game import SquadSignals

SEEDS = np.arange(5, dtype=np.uint64)


class TestGroupOfThreeAndOneAlone(VectorContract):
    """Its seats are three entities together, and the fourth."""

    def make(self) -> Any:
        return Grouped(Navigation(entities=4, max_ticks=9), [Group((0, 2, 3)), Group((1,))])


def test_a_group_sees_does_and_earns_what_its_members_do() -> None:
    alone, game = Navigation(max_ticks=6), Navigation(max_ticks=6)
    whole, apart = (
        Grouped(game, [Group((2, 0)), Group((1,))]),
        Grouped(Navigation(max_ticks=6), [Group((0, 1, 2), True)]),
    )
    rng = np.random.default_rng(1)
    mine, each, told = alone.reset(SEEDS), whole.reset(SEEDS), apart.reset(SEEDS)
    for _ in range(8):
        actions = [rng.uniform(-1, 1, (5, 2)).astype(np.float32) for _ in range(3)]
        mine = alone.step(actions)
        each = whole.step([np.concatenate([actions[2], actions[0]], axis=1), actions[1]])
        told = apart.step([np.concatenate(actions, axis=1)])
        np.testing.assert_array_equal(each.observations[0]["view 1"], mine.observations[2]["view"])
        np.testing.assert_array_equal(each.observations[0]["view 2"], mine.observations[0]["view"])
        np.testing.assert_array_equal(each.observations[1]["view"], mine.observations[1]["view"])
        np.testing.assert_allclose(each.rewards[:, 0, 0], mine.rewards[:, [0, 2], 0].sum(axis=1), rtol=1e-6)
        np.testing.assert_array_equal(each.rewards[:, 1, 0], mine.rewards[:, 1, 0])
        np.testing.assert_array_equal(told.rewards[:, 0], mine.rewards[:, :, 0])
        if mine.ended is not None:
            assert each.ended is not None
            np.testing.assert_allclose(each.ended.score[:, 0], mine.ended.score[:, 0], rtol=1e-12)
            np.testing.assert_allclose(each.ended.returns[:, 0, 0], mine.ended.returns[:, [0, 2], 0].sum(axis=1))
            np.testing.assert_allclose(each.ended.signals[0], (mine.ended.signals[0] + mine.ended.signals[2]) / 2)
            np.testing.assert_array_equal(each.ended.observations[0]["view 1"], mine.ended.observations[2]["view"])
    assert apart.spec.seats[0].rewards == ("score 1", "score 2", "score 3")
    assert whole.spec.seats[0].rewards == ("score",)
    assert isinstance(whole.spec.seats[0], GroupSpec)
    assert members_of(whole.spec.seats[0]) == (alone.spec.seats[2], alone.spec.seats[0])
    np.testing.assert_array_equal(whole.positions(0), game.positions(0))


def test_a_member_that_is_out_sees_nothing_and_its_group_knows_it() -> None:
    game = Grouped(SquadSignals(leaves=2), [Group((0, 1))])
    step, ends = game.reset(SEEDS), []
    for _ in range(9):
        out = step.observations[0][HERE][:, 1] == 0
        assert (step.observations[0]["signal 2"].any(axis=1) != out).all()
        assert (step.observations[0][HERE][:, 0] == 255).all()
        assert step.alive.all(), "the group is there while any of it is"
        before = out
        step = game.step([np.zeros((5, 2), np.float32)])
        if step.ended is not None:
            there = step.ended.observations[0][HERE][:, 1] > 0
            np.testing.assert_array_equal(there, ~before[step.ended.battles])
            ends += there.tolist()
    assert not all(ends)


class DarkAtTimes(SquadSignals):
    """The second sees zeros in every third decision, and is there all the same."""

    ticks = 0

    def _joined(self, steps: list[VectorStep]) -> VectorStep:
        self.ticks += 1
        step = super()._joined(steps)
        first, second = step.observations
        return step._replace(observations=(first, {"signal": second["signal"] * (self.ticks % 3 != 0)}))


def test_who_sees_nothing_but_zeros_counts_as_out_in_training_as_in_play() -> None:
    """In play nothing else tells who is out (``engine.rl.squads``)."""
    game, told = Grouped(DarkAtTimes(), [Group((0, 1))]), []
    step = game.reset(SEEDS)
    for _ in range(8):
        seen = step.observations[0]
        np.testing.assert_array_equal(seen[HERE][:, 1] > 0, seen["signal 2"].any(axis=1))
        assert (seen[HERE][:, 0] == 255).all()
        assert step.alive.all()
        told.append(bool(seen[HERE][0, 1]))
        step = game.step([np.zeros((5, 2), np.float32)])
    assert set(told) == {True, False}


def test_sides_of_several_seats_remain_sides_of_equally_many_groups() -> None:
    teams = Tanks(sides=(0, 1))
    two = [Group(tuple(range(5))), Group(tuple(range(5, 10)))]
    four = [Group((0, 1, 2)), Group((3, 4)), Group((5, 6)), Group((7, 8, 9))]
    mixed = [*(Group((i,)) for i in range(5)), two[1]]
    assert [Grouped(teams, groups).spec.squad for groups in (two, four, mixed)] == [1, 2, 1]


def test_seats_in_no_group_or_in_two_and_choices_are_refused() -> None:
    for groups in ([Group((0, 1))], [Group((0, 1)), Group((1, 2))], [Group((0, 1, 2)), Group((3,))]):
        with pytest.raises(ConfigError, match="each of the 3 seats belongs to one group"):
            Grouped(Navigation(), groups)
    with pytest.raises(ConfigError, match="on seat 0 one of several actions is chosen"):
        Grouped(NavigationChoices(), [Group((0, 1, 2))])
    game = Navigation()
    assert grouped(game, [Group((0,)), Group((1,)), Group((2,))]) is game

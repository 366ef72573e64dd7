"""Cooperative navigation: what is paid is what is covered, and scripts are as good as what they know."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

from engine.errors import ConfigError
from engine.games.navigation import Navigation, NavigationChoices, kernel
from engine.games.navigation.game import WAYS
from engine.games.navigation.scripts import RULES, Nearest, Optimal, Still, chosen
from engine.mdp.interface import MDP, Discrete, SeatSpec
from engine.mdp.trajectory import Batch
from engine.mdp.vector import VectorMDP, VectorStep
from engine.rng import combine64
from tests.contracts.coroutines import mdp_from_vector
from tests.contracts.mdp import VectorContract, Walk, snapshot

GOLDEN = Path(__file__).parents[1] / "golden" / "navigation.json"
SEEDS = combine64(3, np.arange(64, dtype=np.uint64))
EVERYTHING = ("score", "own", "shared", "moved")


class TestNavigation(VectorContract):
    rounds = 60

    def make(self) -> VectorMDP:
        return Navigation(max_ticks=25, rewards=EVERYTHING)

    def mdp(self) -> MDP:
        return mdp_from_vector(lambda seats: self.make(), self.make().spec)


class TestNavigationChoices(VectorContract):
    rounds = 60

    def make(self) -> VectorMDP:
        return NavigationChoices(entities=2, hard=True, max_ticks=25)


def views(step: VectorStep) -> list[np.ndarray]:
    return [seen["view"].copy() for seen in step.observations]


def parts(view: np.ndarray, count: int = 3) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The others, the targets and whether they are covered, as an entity sees them."""
    targets = view[:, 2 * count - 2 :].reshape(len(view), count, 3)
    return view[:, : 2 * count - 2].reshape(len(view), -1, 2), targets[..., :2], targets[..., 2] > 0


def played(game: Navigation, rule: str) -> np.ndarray:
    """Scores of the first episodes, the rule on every seat."""
    step = game.reset(SEEDS)
    while step.ended is None:
        step = game.step([RULES[rule](view, i) for i, view in enumerate(views(step))])
    assert step.ended.battles.tolist() == list(range(64))
    return step.ended.score[:, 0]


def test_targets_lie_on_the_square_and_never_overlap() -> None:
    game = Navigation(entities=6)
    game.reset(SEEDS)
    for battle in range(64):
        at, targets = game.positions(battle)[:24].reshape(2, 6, 2)
        gaps = np.abs(targets[:, None] - targets[None]).max(axis=2)[~np.eye(6, dtype=bool)]
        assert gaps.min() >= kernel.TARGET
        assert ((targets >= kernel.TARGET / 2) & (targets <= 1 - kernel.TARGET / 2)).all()
        assert ((at >= kernel.BODY / 2) & (at <= 1 + kernel.BODY / 2)).all()


def test_a_target_counts_as_covered_where_somebodys_middle_is_inside_and_all_are_paid_alike() -> None:
    game = Navigation(rewards=EVERYTHING)
    step = game.reset(SEEDS)
    found = 0
    for _ in range(40):
        step = game.step([RULES["nearest"](view, i) for i, view in enumerate(views(step))])
        inside = np.stack([(np.abs(parts(view)[1]) < kernel.TARGET / 2).all(axis=2) for view in views(step)], 1)
        crowds = inside.sum(axis=1)
        np.testing.assert_array_equal(parts(step.observations[0]["view"])[2], crowds > 0)
        resting = (step.rewards[:, :, 3] == 0).all(axis=1)
        np.testing.assert_allclose(step.rewards[resting, :, 0], (crowds > 0).mean(axis=1)[resting, None] * np.ones(3))
        np.testing.assert_allclose(step.rewards[resting, :, 1], inside.any(axis=2)[resting])
        np.testing.assert_allclose(step.rewards[resting, :, 2], (inside & (crowds > 1)[:, None]).any(axis=2)[resting])
        assert (step.rewards[:, 1:, 0] == step.rewards[:, :1, 0]).all()
        found += int(resting.sum())
    assert found > 100


def test_an_entity_goes_its_way_and_no_farther_than_the_square() -> None:
    game = Navigation()
    step = game.reset(SEEDS)
    before = parts(views(step)[0])[1]
    right = np.tile(np.float32([1.0, 0.5]), (64, 1))
    rest = np.zeros((64, 2), np.float32)
    after = parts(views(game.step([right, rest, rest]))[0])[1]
    gone = before - after
    assert np.isclose(gone, [kernel.SPEED, kernel.SPEED / 2], atol=1e-6).all(axis=(1, 2)).sum() > 40
    for _ in range(30):
        game.step([7 * right, rest, rest])
    assert all(game.positions(battle)[0] == 1 + kernel.BODY / 2 for battle in range(64))


def test_an_episode_is_cut_by_time_and_tells_the_covered_share_of_it() -> None:
    game = Navigation(max_ticks=20, rewards=EVERYTHING)
    step, paid = game.reset(SEEDS), np.zeros((64, 3, 4))
    while step.ended is None:
        step = game.step([RULES["nearest"](view, i) for i, view in enumerate(views(step))])
        paid += step.rewards
    assert step.truncated.all()
    assert not step.terminated.any()
    np.testing.assert_allclose(step.ended.score, paid[:, :, 0] / 20, atol=1e-6)
    np.testing.assert_allclose(np.stack(step.ended.signals, 1), paid[:, :, 1:] / 20, atol=1e-6)
    assert np.isnan(step.ended.win).all()


def test_in_the_hard_game_each_sees_the_same_targets_in_an_order_of_its_own() -> None:
    plain, hard = (views(Navigation(hard=hard).reset(SEEDS)) for hard in (False, True))
    orders = []
    for one, other in zip(plain, hard, strict=True):
        np.testing.assert_array_equal(one[:, :4], other[:, :4])
        same = (parts(one)[1][:, :, None] == parts(other)[1][:, None]).all(axis=3)
        assert (same.sum(axis=2) == 1).all()
        orders.append(same.argmax(axis=1))
    counts = np.unique(np.concatenate(orders), axis=0, return_counts=True)[1]
    assert len(counts) == 6
    assert counts.min() > 15, "each order comes as often as any other: 32 of 192"
    assert (orders[0] != orders[1]).any(axis=1).mean() > 0.6


def test_scripts_are_as_good_as_what_they_know() -> None:
    game, hard = Navigation(), Navigation(hard=True)
    score = {rule: 900 * played(game, rule).mean() for rule in RULES}
    assert score["still"] < 120 < 500 < score["nearest"] < 700
    assert 870 < score["numbered"] < score["optimal"] < 900
    assert 900 * played(hard, "numbered").mean() < 720, "a number says nothing where targets are shuffled"
    assert 900 * played(hard, "optimal").mean() > 880


def test_players_do_what_their_rules_say_by_ways_and_by_choices() -> None:
    step = NavigationChoices().reset(SEEDS)
    seat = NavigationChoices().spec.seats[0]
    batch = Batch(step.observations[1], None, SEEDS)
    for player, rule in ((Still, "still"), (Nearest, "nearest"), (Optimal, "optimal")):
        way = RULES[rule](step.observations[1]["view"], 1)
        np.testing.assert_array_equal(player(Navigation().spec.seats[0])(batch).actions, way)
        np.testing.assert_array_equal(player(seat)(batch).actions, chosen(way))
    np.testing.assert_array_equal(chosen(WAYS), np.arange(9))
    with pytest.raises(ConfigError, match="covers targets"):
        Nearest(SeatSpec(seat.observations * 2, Discrete(2)))


@pytest.mark.parametrize(
    ("given", "said"), [({"entities": 7}, "must be 2 to 6"), ({"hard": 1}, "hard"), ({"max_ticks": 0}, "must be 1 to")]
)
def test_a_game_that_cannot_be_is_refused(given: dict[str, int], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        Navigation(**given)  # type: ignore[arg-type]


@pytest.mark.parametrize("hard", [False, True])
def test_navigation_plays_today_what_it_played_when_its_version_was_named(hard: bool) -> None:
    """A changed digest means results stored under this version are of another game: raise ``game.VERSION``."""
    walk, whole = Walk(Navigation(hard=hard, max_ticks=25, rewards=EVERYTHING), SEEDS[:4]), hashlib.sha256()
    for _ in range(60):
        for array in snapshot(walk.step()):
            whole.update(np.ascontiguousarray(array).tobytes())
    assert whole.hexdigest() == json.loads(GOLDEN.read_text())["hard" if hard else "plain"]

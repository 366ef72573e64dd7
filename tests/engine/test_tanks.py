"""Tanks: damage is somebody's, weights are only weights, what is seen is what is there, scripts play as they say."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.errors import ConfigError
from engine.games.tanks import Tanks, TanksPictures, kernel, picture, sight
from engine.games.tanks.scripts import Aggressive, Passive, Static
from engine.mdp.interface import MDP
from engine.mdp.trajectory import Batch
from engine.mdp.vector import VectorMDP, VectorStep, seat_ends
from engine.rng import combine64
from tests.contracts.coroutines import mdp_from_vector
from tests.contracts.mdp import VectorContract, Walk, snapshot

GOLDEN = Path(__file__).parents[1] / "golden" / "tanks.json"
SEEDS = combine64(3, np.arange(24, dtype=np.uint64))
EVERYTHING = ("score", "dealt", "friendly", "neutral", "taken", "win")


class TestTanks(VectorContract):
    rounds = 60

    def make(self) -> VectorMDP:
        return Tanks(max_ticks=40, rewards=EVERYTHING)


class TestTanksOfTwoTeams(VectorContract):
    rounds = 60
    battles = 4

    def make(self) -> VectorMDP:
        return Tanks(sides=(0, 1), obstacles=3, max_ticks=25)

    def mdp(self) -> MDP:
        return mdp_from_vector(lambda seats: self.make(), self.make().spec)


class TestTanksPictures(VectorContract):
    rounds = 12
    battles = 2

    def make(self) -> VectorMDP:
        return TanksPictures(max_ticks=6)


def played(game: Tanks, *players: Any, salt: int = 0) -> list[VectorStep]:
    """All steps until every battle's first episode is over: a player for each side, None acts at random."""
    step, found, over = game.reset(SEEDS), [], np.zeros(len(SEEDS), np.bool_)
    rng = np.random.default_rng(salt)
    while not over.all():
        actions = []
        for seat, seen in enumerate(step.observations):
            player = players[seat // kernel.SQUAD]
            drawn = rng.uniform(-1, 1, (len(SEEDS), 3)).astype(np.float32)
            actions.append(drawn if player is None else player(Batch(seen, None, SEEDS)).actions)
        step = game.step(actions)
        found.append(copied(step))
        if step.ended is not None:
            over[step.ended.battles] = True
    return found


def copied(step: VectorStep) -> VectorStep:
    seen = tuple({name: array.copy() for name, array in o.items()} for o in step.observations)
    flags = {name: getattr(step, name).copy() for name in ("rewards", "terminated", "truncated", "alive")}
    return step._replace(observations=seen, **flags)


def first_ends(steps: list[VectorStep]) -> dict[str, np.ndarray]:
    """Of the first episode of each battle: wins and scores [n, seats], signals [n, seats, S]."""
    found: dict[str, np.ndarray] = {}
    over = np.zeros(len(SEEDS), np.bool_)
    for step in steps:
        if step.ended is None:
            continue
        new = ~over[step.ended.battles]
        told = {"win": step.ended.win, "score": step.ended.score, "signals": np.stack(step.ended.signals, 1)}
        for name, array in told.items():
            found.setdefault(name, np.zeros((len(SEEDS), *array.shape[1:])))[step.ended.battles[new]] = array[new]
        over[step.ended.battles] = True
    return found


def player(kind: type[Static]) -> Static:
    return kind(Tanks().spec.seats[0])


def alone(*places: tuple[int, float, float, float]) -> np.ndarray:
    """Tanks that all are dead but those with (number, x, y, angle)."""
    tanks = np.zeros((kernel.TANKS, 5))
    for number, x, y, angle in places:
        tanks[number] = x, y, angle, kernel.LIFE, 0.0
    return tanks


def shot(tanks: np.ndarray, stones: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Tank 0 shoots once: where its shell detonates, and the tallies."""
    shells, tally = np.zeros((kernel.FIGHTERS, 4)), np.zeros((kernel.FIGHTERS, kernel.TALLIES))
    orders = np.zeros((kernel.TANKS, 3), np.float32)
    orders[0, 2] = 1.0
    kernel.shoot(orders, tanks, shells, tally)
    while not kernel.fly(0, tanks, shells, stones):
        pass
    kernel.blast(0, tanks, shells, tally)
    return shells[0, :2], tally


def test_a_shell_detonates_at_what_it_meets_first_and_at_the_end_of_its_range() -> None:
    nothing = np.empty((0, 3))
    here, tally = shot(alone((0, -45.0, 0.0, 0.0)), nothing)
    assert here[0] == pytest.approx(-45.0 + kernel.MUZZLE + kernel.RANGE)
    assert tally[0, kernel.SHOTS] == 1
    here, tally = shot(alone((0, 0.0, 0.0, 0.0), (5, 20.0, 0.5, 0.0)), nothing)
    gap = np.hypot(here[0] - 20.0, 0.5)
    assert gap == pytest.approx(kernel.BODY)
    assert tally[0, kernel.DEALT] == pytest.approx(kernel.DAMAGE * (1 - gap / kernel.BLAST))
    here, tally = shot(alone((0, 0.0, 0.0, 0.0), (5, 20.0, 0.0, 0.0)), np.array([[10.0, 1.0, 2.0]]))
    assert here[0] == pytest.approx(10.0 - np.sqrt(3.0))
    assert tally[0, kernel.DEALT] == 0
    here, _ = shot(alone((0, 40.0, 0.0, 0.0)), nothing)
    assert here[0] >= kernel.HALF


def test_a_blast_counts_by_who_is_hurt_and_also_hurts_who_shot() -> None:
    tanks = alone((0, 0.0, 0.0, 0.0), (1, 6.0, 2.0, 0.0), (5, 6.0, 0.0, 0.0), (10, 6.0, -3.0, 0.0))
    here, tally = shot(tanks, np.empty((0, 3)))
    hurt = {i: kernel.LIFE - tanks[i, kernel.HEALTH] for i in (0, 1, 5, 10)}
    assert hurt[0] > 0, "it stood too near"
    assert tally[0, kernel.DEALT] == pytest.approx(hurt[5])
    assert tally[0, kernel.FRIENDLY] == pytest.approx(hurt[0] + hurt[1])
    assert tally[0, kernel.NEUTRAL] == pytest.approx(hurt[10])
    assert [tally[i, kernel.TAKEN] for i in (0, 1, 5)] == pytest.approx([hurt[i] for i in (0, 1, 5)])
    tanks[5, kernel.HEALTH] = 1.0
    before = tally.copy()
    shells = np.zeros((kernel.FIGHTERS, 4))
    shells[0, :2] = here
    kernel.blast(0, tanks, shells, tally)
    assert (tally - before)[0, [kernel.DEALT, kernel.KILLS]].tolist() == [1.0, 1.0]
    assert (tally - before)[5, [kernel.TAKEN, kernel.DIED]].tolist() == [0.0, 1.0]


def test_what_a_team_loses_is_what_was_dealt_to_it() -> None:
    game = Tanks(sides=(0, 1))
    told = first_ends(played(game, player(Aggressive), player(Aggressive)))["signals"]
    red, blue = told[:, 0], told[:, 5]
    np.testing.assert_array_equal(told[:, 3], red)
    for one, other in ((red, blue), (blue, red)):
        np.testing.assert_allclose(one[:, 3], one[:, 1] + other[:, 0], atol=1e-9)
    assert (red[:, :3] > 0).any(axis=0).all()


def test_the_reward_is_its_parts_with_their_weights() -> None:
    whole = [played(Tanks(penalty=p, reward=2.0, rewards=EVERYTHING), player(Aggressive)) for p in (0.0, 0.3, 1.0)]
    for free, some, full in zip(*whole, strict=True):
        np.testing.assert_array_equal(free.rewards[..., 1:], full.rewards[..., 1:])
        wrong = free.rewards[..., 0] - full.rewards[..., 0]
        np.testing.assert_allclose(some.rewards[..., 0], free.rewards[..., 0] - 0.3 * wrong, atol=1e-5)
        assert (wrong >= full.rewards[..., 2:4].sum(axis=2) - 1e-5).all()
        kills = free.rewards[..., 0] / 2.0 - free.rewards[..., 1]
        np.testing.assert_allclose(kills, kills.round(), atol=1e-5)


def test_the_dead_are_out_and_see_and_earn_nothing() -> None:
    before, deaths = np.ones((len(SEEDS), 5), np.bool_), 0
    for step in played(Tanks(rewards=EVERYTHING), player(Static)):
        assert not step.rewards[~before].any()
        for seat in range(5):
            dead = ~step.alive[:, seat]
            assert not step.observations[seat]["view"][dead].any()
            assert step.observations[seat]["view"][~dead, 4].all()
            deaths += int(dead.sum())
        before = step.alive
    assert deaths


def test_nobody_leaves_the_field_or_drives_into_obstacles() -> None:
    game = Tanks(sides=(0, 1), obstacles=6, max_ticks=60)
    game.reset(SEEDS)
    orders = np.random.default_rng(1).uniform(-1, 1, (10, len(SEEDS), 3)).astype(np.float32)
    orders[..., 0], orders[..., 2] = 1.0, -1.0
    for _ in range(60):
        game.step(list(orders))
        orders[..., 1] *= -0.9
    for battle in range(len(SEEDS)):
        told = game.last_positions(battle)
        at, stones = told[:60].reshape(12, 5)[:10, :2], told[90:].reshape(-1, 3)
        assert (np.abs(at) <= kernel.HALF - kernel.BODY + 1e-9).all()
        deep = stones[:, 2] + kernel.BODY - np.hypot(*(at[:, None] - stones[None, :, :2]).T).T
        assert (deep > 0.5).sum() <= 1, "only two obstacles side by side can press somebody in"
        gaps = np.hypot(*(at[:, None] - at[None]).T)[~np.eye(10, dtype=bool)]
        assert gaps.min() >= 2 * kernel.BODY - 1e-9


def test_a_tank_sees_everybody_where_they_are() -> None:
    game = Tanks(sides=(0, 1))
    view = game.reset(SEEDS).observations[1]["view"][2]
    told = game.positions(2)[:60].reshape(12, 5)
    assert [sight.number(7, k) for k in range(11)] == [5, 6, 8, 9, 0, 1, 2, 3, 4, 10, 11]
    for k, j in enumerate([0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]):
        (x, y), (cos, sin) = told[j, :2] - told[1, :2], told[1, 2:4]
        other = view[sight.OWN + 8 * k : sight.OWN + 8 * (k + 1)]
        np.testing.assert_allclose(other[:2] * kernel.HALF, [x * cos + y * sin, x * sin - y * cos], atol=1e-4)
        assert other[4] == 1.0


def test_a_picture_shows_the_tank_in_the_middle_and_enemies_where_its_numbers_say() -> None:
    numbers, pictures = Tanks(obstacles=0), TanksPictures(obstacles=0)
    one, other = numbers.reset(SEEDS), pictures.reset(SEEDS)
    walls = other.observations[2]["map"][:, picture.WALLS]
    assert walls[:, -1].all(), "a wall is behind it"
    assert not walls[:, 64, 64].any()
    on = [np.tile(np.float32([1.0, 0.0, -1.0]), (len(SEEDS), 1))] * 5
    for _ in range(6):
        one, other = numbers.step(on), pictures.step(on)
    found = 0
    for view, seen in zip(one.observations[2]["view"], other.observations[2]["map"], strict=True):
        for at in range(sight.ENEMIES, sight.BYSTANDERS, sight.EACH):
            front, right = view[at : at + 2] * kernel.HALF * picture.SCALE
            row, col, life = int(64 - front), int(64 + right), view[at + sight.LIVES]
            if view[4] and life and 2 < row < 125 and 2 < col < 125:
                shades = {int(127 + 128 * view[k + sight.LIVES]) for k in range(sight.ENEMIES, sight.BYSTANDERS, 8)}
                assert set(seen[picture.ENEMIES, row - 1 : row + 2, col - 1 : col + 2].ravel()) & (shades | {255})
                found += 1
    assert found > 30


@pytest.mark.parametrize(("name", "kind"), [("static", Static), ("passive", Passive), ("aggressive", Aggressive)])
def test_a_script_on_seats_plays_as_the_games_own_side_does(name: str, kind: type[Static]) -> None:
    own = played(Tanks(opponent=name), player(Aggressive))
    seated = played(Tanks(sides=(0, 1)), player(Aggressive), player(kind))
    for one, other in zip(own, seated, strict=True):
        np.testing.assert_array_equal(one.rewards, other.rewards[:, :5])
        np.testing.assert_array_equal(one.observations[3]["view"], other.observations[3]["view"])


def test_who_attacks_beats_who_stands_still_and_hurts_its_friends_doing_so() -> None:
    found = {name: first_ends(played(Tanks(opponent=name), player(Aggressive))) for name in ("static", "random")}
    assert found["static"]["win"][:, 0].mean() > 0.9
    assert found["random"]["win"][:, 0].mean() > 0.55
    assert found["static"]["signals"][:, 0, 1].mean() > 0.1
    still = first_ends(played(Tanks(opponent="static"), player(Static)))
    assert not still["signals"].any()
    assert (still["win"] == 0.5).all()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"sides": (0, 2)}, "sides 0 and 1"), ({"sides": ()}, "sides"), ({"penalty": -0.1}, "penalty"),
        ({"opponent": "brave"}, "opponent"), ({"obstacles": 41}, "must be 0 to 40"), ({"reward": "much"}, "reward"),
    ],
)  # fmt: skip
def test_tanks_that_cannot_be_are_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        Tanks(**given)


def test_who_has_more_life_when_time_is_up_wins_and_is_not_rewarded_for_it() -> None:
    """Values go on where time cuts a battle off: a reward for standing there was added up without end."""
    cut = played(Tanks(opponent="static", max_ticks=12, rewards=("win",)), player(Aggressive))
    won = paid = 0
    for step in cut:
        if step.ended is not None:
            timed = step.truncated[step.ended.battles]
            won += int((step.ended.win[timed, 0] == 1).sum())
            paid += int((step.ended.returns[timed] != 0).sum())
            assert (step.ended.returns[~timed][:, 0] != 0).all()
    assert won > 0
    assert paid == 0


def test_scripts_refuse_what_they_cannot_see() -> None:
    with pytest.raises(ConfigError, match="drives tanks by numbers"):
        Aggressive(TanksPictures().spec.seats[0])


@pytest.mark.parametrize("kind", [Tanks, TanksPictures])
def test_tanks_play_today_what_they_played_when_their_version_was_named(kind: type[Tanks]) -> None:
    """A changed digest means results stored under this version are of another game: raise ``game.VERSION``."""
    walk, whole = Walk(kind(max_ticks=25, rewards=EVERYTHING), SEEDS[:2]), hashlib.sha256()
    for _ in range(40):
        for array in snapshot(walk.step()):
            whole.update(np.ascontiguousarray(array).tobytes())
    assert whole.hexdigest() == json.loads(GOLDEN.read_text())[walk.game.spec.name]


def test_who_is_destroyed_in_the_decision_in_which_time_is_up_has_terminated_and_the_others_are_cut_off() -> None:
    game = Tanks(sides=(0, 1), max_ticks=3)
    game.reset(np.array([1, 2], np.uint64))
    idle = [np.zeros((2, 3), np.float32)] * 10
    for _ in range(2):
        before = game.step(idle).alive.copy()
    game._tanks[0, 2, kernel.HEALTH] = 0.0
    step = game.step(idle)
    assert step.truncated.all()
    ends = [seat_ends(before, step, seat) for seat in range(10)]
    assert [end.terminated.tolist() for end in ends] == [[seat == 2, False] for seat in range(10)]
    assert [end.truncated.tolist() for end in ends] == [[seat != 2, True] for seat in range(10)]

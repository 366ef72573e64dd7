"""Half-field offence: the soccer server's movements, HFO's features and ends, and a script as good as the best one."""

from __future__ import annotations

import hashlib
import json
import math
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import ConfigError
from engine.games.half_field import HalfField, HalfFieldGoalkeeper, field, goalkeeper, kernel, sight
from engine.games.half_field.game import WITH_TACKLE
from engine.games.half_field.scripts import Attacker, seen
from engine.mdp.interface import MDP
from engine.mdp.trajectory import Batch
from engine.mdp.vector import VectorMDP, VectorStep, noise_keys
from engine.rl.players import RandomPlayer
from engine.rng import combine64
from tests.contracts.coroutines import mdp_from_vector
from tests.contracts.mdp import VectorContract, Walk, snapshot

GOLDEN = Path(__file__).parents[1] / "golden" / "parameterised.json"
SEEDS = combine64(3, np.arange(400, dtype=np.uint64))
EVERYTHING = ("score", "shaped", "approached", "reached", "advanced")
NEAR = {"ball_x_min": 0.6, "ball_x_max": 0.9, "apart": 0.2}
WORD = np.uint64(7)


class TestHalfField(VectorContract):
    rounds = 60

    def make(self) -> VectorMDP:
        return HalfField(max_ticks=40, untouched=25, rewards=EVERYTHING)


class TestHalfFieldGoalkeeper(VectorContract):
    rounds = 60

    def make(self) -> VectorMDP:
        return HalfFieldGoalkeeper(**NEAR, max_ticks=25, rewards=EVERYTHING)  # type: ignore[arg-type]

    def mdp(self) -> MDP:
        return mdp_from_vector(lambda seats: self.make(), self.make().spec)


def acted(game: HalfField, player: Any, step: VectorStep, tick: int, seeds: np.ndarray = SEEDS) -> VectorStep:
    keys = noise_keys(seeds, np.full(len(seeds), tick), 0)
    return game.step([player(Batch(step.observations[0], None, keys)).actions])


HOW = {"out": 1, "caught": 2, "late": 3}


def played(game: HalfField, player: Any, seeds: np.ndarray = SEEDS) -> np.ndarray:
    """Of the first episode of each battle [n, 3 + R]: the win, its length, how it ended, and its returns."""
    found, step, tick = np.full((len(seeds), 3 + game.spec.rewards), np.nan), game.reset(seeds), 0
    while np.isnan(found).any():
        step = acted(game, player, step, tick, seeds)
        tick += 1
        if step.ended is not None:
            ended, new = step.ended, np.isnan(found[step.ended.battles, 0])
            how = ended.signals[0][new] @ [HOW.get(name, 0) for name in game.spec.seats[0].signals]
            rows = [ended.win[new, 0], ended.lengths[new], how, ended.returns[new, 0]]
            found[ended.battles[new]] = np.column_stack(rows)
    return found


@pytest.mark.parametrize("game", [HalfField, HalfFieldGoalkeeper])
def test_random_play_is_what_it_was(game: type[HalfField]) -> None:
    walk, whole = Walk(game(**NEAR, rewards=EVERYTHING), SEEDS[:16]), hashlib.sha256()  # type: ignore[arg-type]
    for _ in range(60):
        for array in snapshot(walk.step()):
            whole.update(np.ascontiguousarray(array).tobytes())
    assert whole.hexdigest() == json.loads(GOLDEN.read_text())[walk.game.spec.name]


def test_the_scripted_attacker_scores_about_as_often_as_helios_and_random_play_hardly_ever() -> None:
    many = combine64(3, np.arange(4000, dtype=np.uint64))  # the shares are within 0.02 of what they are in all episodes
    alone = played(HalfField(), Attacker(HalfField().spec.seats[0]), many)
    against = played(HalfFieldGoalkeeper(), Attacker(HalfFieldGoalkeeper().spec.seats[0]), many)
    assert 0.92 <= alone[:, 0].mean() <= 0.98, "Helios: 0.962"
    assert 0.75 <= against[:, 0].mean() <= 0.87, "Helios: 0.814"
    assert 65 < alone[alone[:, 0] == 1, 1].mean() < 80, "Helios: 72 steps"
    assert (against[:, 2] == 2).mean() > 0.05, "the keeper stops some"
    nobody = played(HalfField(), RandomPlayer(HalfField().spec.seats[0]), many)
    assert nobody[:, 0].mean() < 0.01
    chance = played(HalfFieldGoalkeeper(), RandomPlayer(HalfFieldGoalkeeper().spec.seats[0]))
    assert chance[:, 0].mean() < 0.01
    assert (chance[:, 2] == 3).mean() > 0.9


def still(**more: float) -> np.ndarray:
    """A state with the player in the middle of the field, looking at the goal, and everything at rest."""
    s = np.zeros(field.STATE)
    told = {"x": 20.0, "ball_x": 30.0, "goalkeeper_x": 52.5, "body": 0.0, **more}
    s[0], s[4], s[field.BALL], s[field.GOALKEEPER] = told["x"], told["body"], told["ball_x"], told["goalkeeper_x"]
    s[field.BALL + 1] = told.get("ball_y", 0.0)
    return s


@pytest.mark.parametrize(("degrees", "rate"), [(0, 1.0), (20, 1.0), (45, 0.7), (-90, 0.4), (135, 0.5), (180, 0.6)])
def test_a_dash_is_strongest_forwards_and_goes_one_of_eight_ways(degrees: float, rate: float) -> None:
    accel, way = np.zeros(2), math.radians(45 * round(degrees / 45))
    field.dash(still(), field.PLAYER, 100.0, math.radians(degrees), accel)
    np.testing.assert_allclose(accel, 0.6 * rate * np.array([math.cos(way), math.sin(way)]), atol=1e-12)


def test_who_runs_on_gets_as_fast_as_the_server_lets() -> None:
    s = still()
    gone = []
    for k in range(30):
        accel, before = np.zeros(2), s[0]
        field.dash(s, field.PLAYER, 100.0, 0.0, accel)
        field.move(s, field.PLAYER, accel, False, np.uint64(k), 0)
        gone.append(s[0] - before)
    assert abs(np.mean(gone[10:]) - 1.0) < 0.05, "0.6 / (1 − 0.4) a cycle"
    assert max(gone) <= 1.05 * 1.1 + 1e-9


def test_a_turn_is_smaller_the_faster_one_runs_and_errs_by_a_tenth_at_most() -> None:
    for speed in (0.0, 0.4):
        errs = []
        for k in range(50):
            s = still()
            s[2] = speed
            field.turn(s, field.PLAYER, 1.0, np.uint64(k), 0)
            errs.append(s[4] * (1 + 5 * speed))
        assert 0.9 <= min(errs) < 0.95
        assert 1.05 < max(errs) <= 1.1


@pytest.mark.parametrize(("far", "body", "share"), [(0.385, 0.0, 1.0), (1.085, 0.0, 0.75), (0.385, math.pi, 0.75)])
def test_a_kick_is_weaker_from_afar_and_from_the_side_and_errs_as_published(
    far: float, body: float, share: float
) -> None:
    found = []
    for k in range(200):
        accel = np.zeros(2)
        s = still(ball_x=20.0 + far - 1e-9, body=body)
        assert field.kick(s, field.PLAYER, 100.0, -body, accel, np.uint64(k), 0)
        found.append(accel)
    off = np.hypot(*(np.array(found) - [2.7 * share, 0.0]).T)
    most = 0.1 * (0.5 + 0.25 * (1 - share) / 0.25 + 0.5)
    assert 0.9 * most < off.max() <= most + 1e-6
    assert not field.kick(still(ball_x=21.09), field.PLAYER, 100.0, 0.0, np.zeros(2), WORD, 0)


@pytest.mark.parametrize(
    ("x", "y", "body", "hits"),
    [(1.0, 0.0, 0.0, 1.0), (1.9, 0.0, 0.0, 1 - 0.95**6), (1.0, 1.2, 0.0, 1 - 0.5**6 - 0.96**6), (2.1, 0.0, 0.0, 0.0),
     (-0.5, 0.0, 0.0, 0.0), (0.0, 1.9, math.pi / 2, 1 - 0.95**6)],
)  # fmt: skip
def test_a_tackle_misses_the_more_often_the_farther_off_the_ball_is_and_always_behind(
    x: float, y: float, body: float, hits: float
) -> None:
    found = []
    for k in range(2000):
        s = still(x=20.0, body=body, ball_x=20.0 + x, ball_y=y)
        found.append(field.tackle(s, field.PLAYER, 0.0, np.zeros(2), np.uint64(k), 10))
    assert abs(np.mean(found) - hits) < 0.04


@pytest.mark.parametrize(("degrees", "strength"), [(0, 2.7), (90, 1.35), (-90, 1.35), (180, 0.0)])
def test_a_tackle_is_strongest_ahead_and_weaker_from_the_side(degrees: float, strength: float) -> None:
    for y, share in ((0.0, 1.0), (0.5, 1 - 0.5 * 0.25)):
        s = still(ball_x=20.5, ball_y=y)
        mean = tackled(s, math.radians(degrees)).mean(axis=0)
        expected = strength * share * np.array([math.cos(math.radians(degrees)), math.sin(math.radians(degrees))])
        np.testing.assert_allclose(mean, expected, atol=0.01)


def tackled(s: Any, direction: float) -> np.ndarray:
    """What tackles give the ball, those of many that do not miss it."""
    pushes = np.zeros((4000, 2))
    hits = [field.tackle(s, field.PLAYER, direction, push, np.uint64(k), 10) for k, push in enumerate(pushes)]
    return pushes[hits]


@pytest.mark.parametrize(("x", "speed"), [(0.5, 0.0), (0.5, 2.82), (1.6, 0.0)])
def test_a_tackle_errs_as_published_twice_as_much_as_a_kick_and_the_more_the_faster_the_ball_is(
    x: float, speed: float
) -> None:
    s = still(ball_x=20.0 + x)
    s[field.BALL + 2] = speed
    misses = (x / 2.0) ** 6
    found = tackled(s, 0.0) - [2.7, 0.0]
    off = np.hypot(*found.T)
    most = 0.2 * (0.5 + 0.5 * (1 - misses) + 0.5 + 0.5 * speed / 2.82)
    assert 0.98 * most < off.max() <= most
    assert off.mean() == pytest.approx(most / 2, rel=0.05), "any size up to there is as likely"
    assert np.abs(found.mean(axis=0)).max() < 0.02, "in any direction"


def test_whoever_tackled_does_nothing_for_nine_further_cycles_and_sees_that() -> None:
    game = HalfField(ball_x_min=0.5, ball_x_max=0.5, apart=0.0, tackle=True)
    assert game.spec.seats[0].action == WITH_TACKLE
    rows, seen_frozen, speeds = np.zeros((len(SEEDS), 7), np.float32), [], []
    rows[:, 6] = 180.0  # backwards, so that the ball stays
    game.reset(SEEDS)
    for cycle in range(12):
        rows[:, 0], rows[:, 1] = (field.TACKLE if cycle == 0 else field.DASH), 100.0
        step = game.step([rows])
        assert step.ended is None
        seen_frozen.append(step.observations[0]["view"][:, 8].mean())
        speeds.append(np.hypot(game._states[:, 2], game._states[:, 3]).max())
    assert seen_frozen == [1.0] * 9 + [-1.0] * 3
    assert speeds[9] < 0.2 < speeds[10], "only then it runs"
    plain = HalfField()
    with pytest.raises(ConfigError, match="actions"):
        plain.reset(SEEDS), plain.step([rows])


def test_a_ball_rolls_as_far_as_its_decay_lets_it() -> None:
    ends = []
    for k in range(50):
        s = still()
        for cycle in range(150):
            field.move(s, field.BALL, np.array([9.0 * (cycle == 0), 0.0]), True, np.uint64(1000 * k + cycle), 0)
        ends.append(s[field.BALL] - 30.0)
    assert abs(np.mean(ends) - 2.7 / 0.06) < 1.5, "2.7 is the most that a ball gains in a cycle; 6 % are lost in each"


def test_features_are_those_of_hfo_in_their_places() -> None:
    s = still(x=30.0, ball_x=30.5, body=math.pi / 2)
    out = np.zeros(66, np.float32)
    sight.see(s, True, 0, out)
    far = math.hypot(52.5, 68.0)
    assert out.shape[0] == sight.ALONE + sight.EACH
    assert out[[0, 1, 7, 12, 50, 54]].tolist() == [1.0] * 6
    assert out[8:12].tolist() == [-1.0] * 4
    np.testing.assert_allclose(out[5:7], [1, 0], atol=1e-6)  # the body, to the right
    np.testing.assert_allclose(out[13:16], [-1, 0, 1 - 2 * 22.5 / far], atol=1e-6)  # the goal, to the left
    np.testing.assert_allclose(out[51:54], [-1, 0, 1 - 2 * 0.5 / far], atol=1e-6)  # the ball, too
    np.testing.assert_allclose(
        out[46:50], 1 - 2 * np.array([30 / 57.75, 22.5 / 57.75, 34 / 71.4, 34 / 71.4]), atol=1e-6
    )
    np.testing.assert_allclose(out[58:61], [-1, 0, 1 - 2 * 22.5 / far], atol=1e-6)  # the keeper is in the goal
    assert [out[k] for k in (4, 55, 63)] == [-1.0] * 3, "nothing moves"
    top, bottom = out[16:18], out[19:21]
    assert top[1] < 0 < bottom[1], "the body looks towards larger y, which is the goal's lower post in drawings"


def test_speeds_are_shares_of_those_that_hfo_takes_for_the_largest() -> None:
    s, out = still(ball_x=40.0), np.zeros(66, np.float32)
    s[2], s[field.BALL + 2], s[field.GOALKEEPER + 3] = 0.23, 2.5, -0.375
    sight.see(s, True, 0, out)
    assert [out[k] for k in (4, 55, 63)] == [0.0] * 3, "0.46, 5 and 0.75 m a cycle are 1"


def test_the_attacker_reads_from_its_features_what_is() -> None:
    game = HalfFieldGoalkeeper()
    step = game.reset(SEEDS)
    for tick in range(12):
        step = acted(game, RandomPlayer(game.spec.seats[0]), step, tick)
    told, s = seen(step.observations[0]["view"].astype(np.float64)), game._states
    inside = s[:, 0] >= 0
    np.testing.assert_allclose(told.at[inside], s[inside, :2], atol=1e-3)
    np.testing.assert_allclose((told.at + told.ball)[inside], s[inside, field.BALL : field.BALL + 2], atol=1e-2)
    np.testing.assert_allclose(told.goalkeeper[inside], s[inside, field.GOALKEEPER : field.GOALKEEPER + 2], atol=1e-2)


def test_rewards_are_equations_5_and_6_of_the_paper() -> None:
    game = HalfField(**NEAR, rewards=EVERYTHING)  # type: ignore[arg-type]
    player, step = Attacker(game.spec.seats[0]), game.reset(SEEDS)
    goals = 0.0
    for tick in range(60):
        before = [game._states[:, [0, 1]] - game._states[:, [10, 11]], [52.5, 0.0] - game._states[:, [10, 11]]]
        begun = game._counts[:, kernel.HAD] == 0
        step = acted(game, player, step, tick)
        score, shaped, approached, first, advanced = step.rewards[:, 0].T
        np.testing.assert_allclose(shaped, approached + first + 3 * advanced + score, atol=1e-5)
        going = ~step.terminated & ~step.truncated
        after = [game._states[:, [0, 1]] - game._states[:, [10, 11]], [52.5, 0.0] - game._states[:, [10, 11]]]
        for told, one, other in zip((approached, advanced), before, after, strict=True):
            gained = (np.hypot(*one.T) - np.hypot(*other.T)) / kernel.UNIT
            np.testing.assert_allclose(told[going], gained[going], atol=1e-5)
        assert not first[~begun].any()
        goals += score.sum() / 5
        if step.ended is not None:
            assert set(step.ended.returns[:, 0, 3].tolist()) <= {0.0, 1.0}, "once an episode"
    assert goals > 300


@pytest.mark.parametrize(
    ("x", "y", "vx", "vy", "ends"),
    [
        (52.0, 6.0, 2.0, 0.0, (kernel.GOAL,)), (52.55, 6.0, 2.0, 0.0, (kernel.GOAL,)),
        (52.55, 6.0, 0.0, 0.0, (kernel.OUT,)), (52.0, 7.03, 2.0, 0.0, (kernel.GOAL,)),
        (52.0, 7.3, 2.0, 0.0, (kernel.GOES_ON, kernel.OUT)), (40.0, 33.5, 0.0, 2.0, (kernel.GOES_ON, kernel.OUT)),
        (0.5, 0.0, -2.0, 0.0, (kernel.GOES_ON, kernel.OUT)), (30.0, 0.0, 1.0, 0.0, (kernel.GOES_ON, kernel.GOES_ON)),
        (52.55, 7.2, 2.0, -2.0, (kernel.OUT,)),
    ],
)  # fmt: skip
def test_cycles_end_an_episode_where_the_ball_leaves_the_field(
    x: float, y: float, vx: float, vy: float, ends: tuple[int, ...]
) -> None:
    """A goal is one once the whole ball is behind the line; a ball that is out is told in the next cycle, as by HFO."""
    s, counts = still(), np.zeros(kernel.COUNTS, np.int64)
    s[field.BALL : field.BALL + 4] = x, y, vx, vy
    for end in ends:
        kernel.cycle(s, counts, np.zeros(6, np.float32), False, np.uint64(3))
        kernel.judge(s, counts, False)
        assert counts[kernel.ENDED] == end


def parted(places: dict[int, Any], sizes: dict[int, float]) -> tuple[dict[int, Any], set[frozenset[int]]]:
    """Where the server puts what overlaps (``Stadium::collisions``), and who ran into whom; in vectors."""
    met = set()
    for _ in range(10):
        goals: dict[int, list[Any]] = {at: [] for at in places}
        for a, b in combinations(sorted(places), 2):
            apart, way = sizes[a] + sizes[b], places[b] - places[a]
            if (near := np.linalg.norm(way)) < apart:
                middle, half = (places[a] + places[b]) / 2, way / near * (apart / 2 + 1e-10)
                goals[a].append(middle - half)
                goals[b].append(middle + half)
                met.add(frozenset((a, b)))
        if not any(goals.values()):
            break
        places = {at: np.mean(goals[at], axis=0) if goals[at] else place for at, place in places.items()}
    return places, met


@given(st.integers(0, 2**32 - 1), st.floats(0.05, 0.5), st.booleans())
def test_what_overlaps_is_parted_as_the_server_does_and_loses_its_speed_once(
    seed: int, spread: float, guarded: bool
) -> None:
    rng, s = np.random.default_rng(seed), np.zeros(field.STATE)
    things = (field.PLAYER, field.GOALKEEPER, field.BALL) if guarded else (field.PLAYER, field.BALL)
    for at in things:
        s[at : at + 4] = [*rng.normal(30.0, spread, 2), *rng.normal(size=2)]
    before = s.copy()
    sizes = {field.PLAYER: 0.3, field.GOALKEEPER: 0.3, field.BALL: 0.085}
    expected, met = parted({at: s[at : at + 2].copy() for at in things}, {at: sizes[at] for at in things})
    ran = field.collisions(s, guarded)
    assert ran == (frozenset((field.PLAYER, field.BALL)) in met, frozenset((field.PLAYER, field.GOALKEEPER)) in met)
    for at in things:
        np.testing.assert_allclose(s[at : at + 2], expected[at], atol=1e-9)
        share = -0.1 if any(at in pair for pair in met) else 1.0
        np.testing.assert_allclose(s[at + 2 : at + 4], share * before[at + 2 : at + 4])


def test_what_rests_after_a_collision_is_seen_as_resting_ahead() -> None:
    """The server's angle of a zero velocity is 0; atan2 of negative zeros is −π."""
    s = still()
    s[field.PLAYER], s[field.BALL] = 10.0, 10.1
    assert field.collisions(s, False) == (True, False)
    assert np.signbit(s[field.BALL + 2])
    out = np.zeros(sight.ALONE, np.float32)
    sight.see(s, False, kernel.HIT_BALL, out)
    assert out[sight.BALL_SPEED + 1 : sight.BALL_SPEED + 3].tolist() == [0.0, 1.0]
    assert out[2:4].tolist() == [0.0, 1.0]


@pytest.mark.parametrize(
    ("x", "off", "catches", "ends"),
    [
        (45.0, 1.15, True, kernel.GOES_ON), (20.0, 1.15, False, kernel.GOES_ON), (45.0, 1.25, False, kernel.GOES_ON),
        (20.0, 1.0, False, kernel.CAUGHT),
    ],
)  # fmt: skip
def test_the_goalkeeper_has_the_ball_that_it_could_kick_and_catches_from_farther_in_its_area(
    x: float, off: float, catches: bool, ends: int
) -> None:
    s, counts = still(x=5.0, ball_x=x, ball_y=off, goalkeeper_x=x), np.zeros(kernel.COUNTS, np.int64)
    assert goalkeeper.holds(s) == catches
    kernel.judge(s, counts, True)
    assert counts[kernel.ENDED] == ends


def test_the_goalkeeper_lets_some_cycles_pass_before_it_answers_a_shot() -> None:
    s = still(ball_x=40.0, goalkeeper_x=50.0)
    s[field.BALL + 2], s[field.BALL + 3] = 2.5, 0.6
    assert goalkeeper.shot(s)
    for since in range(goalkeeper.REACTION):
        assert goalkeeper.wanted(s, since) == (50.0, 0.0)
    assert goalkeeper.wanted(s, goalkeeper.REACTION)[1] > 1.0


def test_an_episode_begins_where_it_is_said_and_around_the_ball() -> None:
    game = HalfFieldGoalkeeper(ball_x_min=0.4, ball_x_max=0.6, ball_y_min=0.1, ball_y_max=0.2)
    game.reset(SEEDS)
    s = game._states
    assert ((s[:, 10] >= 21) & (s[:, 10] <= 31.5) & (s[:, 11] >= 3.4) & (s[:, 11] <= 6.8)).all()
    far = np.abs(s[:, :2] - s[:, 10:12])
    assert 25 < far[:, 0].max() <= 31.5
    assert (s[:, 5:7] == [52.5, 0.0]).all()
    near = HalfField(apart=0.0)
    near.reset(SEEDS)
    np.testing.assert_allclose(near._states[:, 10] - near._states[:, 0], kernel.FEET)
    assert (near._counts[:, kernel.HAD] == 1).all(), "who begins at the ball is paid nothing for getting there"


@pytest.mark.parametrize("settings", [{"ball_x_min": 0.5}, {"apart": 1.5}, {"ball_y_min": -1.0}, {"untouched": 0}])
def test_settings_with_which_no_episode_can_begin_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(ConfigError) as caught:
        HalfField(**settings)
    assert caught.value.problems[0].place in (*settings, "ball_x_max")


def test_the_script_refuses_another_game() -> None:
    from engine.games.platform import Platform

    with pytest.raises(ConfigError, match="this is another game"):
        Attacker(Platform().spec.seats[0])

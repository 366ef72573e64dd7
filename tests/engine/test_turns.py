"""Games whose seats take turns: the sampler, examinations, and studies that train in one."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from engine.channel import Weights
from engine.config import TrainConfig
from engine.config.rl import NetworkConfig
from engine.errors import Cancelled, ConfigError
from engine.events import AnyEvent, Failed, Finished, Paused, Progressed
from engine.games.connect_four import SPEC, ConnectFour, connect_four, four_in_a_line
from engine.games.pong import VectorPong
from engine.mdp.battle import SteppedMDP, Tick
from engine.mdp.checks import check_state, game_problems
from engine.mdp.interface import MDP, ArraySpec, Discrete, MDPSpec, Result, SeatSpec, State
from engine.rl.cast import Candidate, Cast
from engine.rl.examine import examine
from engine.rl.players import RandomPlayer
from engine.rl.policy import Policy, PolicySpec
from engine.rl.sampler import Sampler
from engine.rl.turns import TurnSampler
from engine.store import FolderStore
from engine.studies import load
from engine.study import run
from tests.contracts.coroutines import mdp_from_vector
from tests.contracts.mdp import flat
from tests.contracts.turns import TurnsContract
from tests.engine.test_evolve_config import settings as evolution
from tests.engine.test_train import control
from tests.engine.test_train_policies import curve

SMALL = NetworkConfig(policy=(16,), critic=(16,))
FOUR = connect_four().spec.seats[0]


class TestConnectFour(TurnsContract):
    def make(self) -> MDP:
        return connect_four()


class TestConnectFourFromAnEmptyBoard(TurnsContract):
    def make(self) -> MDP:
        return connect_four(opening=0)


def weights(spec: PolicySpec, version: int = 5, policy: str = "agent") -> Weights:
    return Weights(policy, 0, 0, version, {"actor": spec.model().initial(np.random.default_rng(version))})


def sampler(battles: int = 4, length: int = 10, seed: int = 3, game: Any = None, **more: Any) -> TurnSampler:
    spec = PolicySpec(FOUR, SMALL)
    made = TurnSampler(game or connect_four(), {"agent": spec.model()}, battles, length, seed, **more)
    made.load(weights(spec))
    return made


def test_four_in_a_line_are_seen_in_every_direction_and_never_around_an_edge() -> None:
    def discs(*cells: tuple[int, int]) -> int:
        return sum(1 << (column * 7 + row) for column, row in cells)

    for c, r, dc, dr in ((0, 0, 0, 1), (3, 2, 1, 0), (3, 2, 1, 1), (0, 5, 1, -1)):
        line = [(c + i * dc, r + i * dr) for i in range(4)]
        assert four_in_a_line(discs(*line))
        assert not four_in_a_line(discs(*line[:3]))
    assert not four_in_a_line(discs((0, 4), (0, 5), (1, 0), (1, 1)))


def test_seats_take_turns_and_see_the_board_from_their_own_side() -> None:
    battle = connect_four(opening=0).reset(seed=4)
    first, second = sorted(battle.controllers, key=lambda controller: not controller.acting)
    assert not second.acting
    ticks = battle.ticks.__await__()
    first(3)
    next(ticks)
    assert (first.acting, second.acting) == (False, True)
    cell = 3 * 6
    assert first.get_state().observations["board"][cell] == 1
    assert second.get_state().observations["board"][42 + cell] == 1
    for controller in battle.controllers:
        check_state("connect four", controller.spec, controller.get_state())
        assert controller.get_state().observations["board"].sum() == 1
    battle.close()


def test_a_column_that_is_full_is_masked_and_refused() -> None:
    game = ConnectFour(opening=0)
    game.begin(1, (0, 1))
    for _ in range(6):
        game.step([0, 0])
    assert game.state(0).mask is not None
    assert game.state(0).mask.tolist() == [False] + [True] * 6  # type: ignore[union-attr]
    with pytest.raises(ConfigError, match="column 0 cannot be chosen"):
        game.step([0, 0])
    with pytest.raises(ConfigError, match="opening: must be 0 to 6, not 7"):
        connect_four(opening=7)


def test_a_seat_that_nobody_plays_is_played_by_the_rules() -> None:
    game = ConnectFour()
    acting = game.begin(8, (1,))
    for _ in range(21):
        assert tuple(acting) == (False, True)
        mask = game.state(1).mask
        assert mask is not None
        if game.step([None, int(np.argmax(mask))]).terminated:
            break
    assert game.result(0).win + game.result(1).win == 1


def test_who_begins_and_the_opening_follow_from_the_seed() -> None:
    boards = set()
    for seed in range(40):
        game = ConnectFour()
        mover = game.begin(seed, (0, 1))
        boards.add((mover, game.state(0).observations["board"].tobytes()))
        assert game.state(0).observations["board"].sum() == 2
    assert len(boards) > 25
    assert {mover for mover, _ in boards} == {(True, False), (False, True)}


def test_no_program_may_be_a_game_in_turns() -> None:
    assert game_problems(SPEC) == ["it is played in turns, and a program of its own steps all seats together"]


PAIR = MDPSpec("pair", "1", (SeatSpec((ArraySpec("n", (1,)),), Discrete(2)),) * 2, in_turns=True)


class Pair:
    """Seat 0 moves, then seat 1, then it is over. Every tick pays seat 0 one and seat 1 ten, the last one twice."""

    def begin(self, seed: int, played: Any) -> tuple[bool, bool]:
        self.tick = 0
        return True, False

    def state(self, seat: int) -> State:
        return State({"n": np.array([self.tick], np.float32)})

    def step(self, actions: Any) -> Tick:
        self.tick += 1
        pay = [np.array([self.tick * amount], np.float32) for amount in (1, 10)]
        return Tick(pay, terminated=self.tick == 2, acting=(False, True))

    def result(self, seat: int) -> Result:
        return Result(0.5, 0.0, {})

    def close(self) -> None:
        pass


class TestPair(TurnsContract):
    def make(self) -> MDP:
        return SteppedMDP(PAIR, Pair)


def test_what_comes_between_a_seat_s_turns_belongs_to_its_decision_before() -> None:
    spec = PolicySpec(PAIR.seats[0], SMALL)
    made = TurnSampler(SteppedMDP(PAIR, Pair), {"agent": spec.model()}, 1, 3, 1)
    made.load(weights(spec))
    found = made.sample()["agent"]
    assert found.rewards[:, :, 0].tolist() == [[3, 20]] * 3, "what seat 1 got before its first turn is nobody's"
    assert found.terminated.all()
    told = {(e.seat, e.length, e.returns.tolist()[0]) for e in made.finished()}
    assert told == {(0, 1, 3.0), (1, 1, 30.0)}


def test_the_loser_s_last_decision_is_told_that_it_lost() -> None:
    made = sampler(battles=6, length=30)
    found = made.sample()["agent"]
    assert found.terminated.any()
    assert set(found.rewards[found.terminated][:, 0].tolist()) >= {-1.0, 1.0}
    assert not found.rewards[~found.terminated].any()
    episodes = made.finished()
    assert {e.returns[0] for e in episodes} >= {-1.0, 1.0}
    for e in episodes:
        assert e.win == e.score == 0.5 + 0.5 * e.returns[0]
        assert 0 <= e.signals[0] - e.length <= 1, "one disc of the opening is its own"
        assert e.others == ("agent",)


def rows(found: dict[str, Any], stream: int) -> dict[str, np.ndarray]:
    return flat([found["agent"]], stream)


def test_a_battle_plays_the_same_whatever_plays_beside_it() -> None:
    alone, many = (sampler(battles, length=40) for battles in (1, 3))
    one, three = alone.sample()["agent"], many.sample()["agent"]
    assert one.streams == 2
    for stream in range(2):
        seen = one.observations["board"][:, stream]
        boards = [i for i in range(three.streams) if np.array_equal(three.observations["board"][:, i], seen)]
        assert len(boards) == 1
        np.testing.assert_array_equal(three.actions[:, boards[0]], one.actions[:, stream])
        np.testing.assert_allclose(three.log_probs[:, boards[0]], one.log_probs[:, stream], rtol=1e-5)


def test_the_same_weights_at_the_same_moments_give_the_same_trajectories() -> None:
    def played(seed: int) -> list[Any]:
        made, found, round_ = sampler(seed=seed), [], 0

        def before() -> None:
            nonlocal round_
            round_ += 1
            if round_ % 7 == 0:
                made.load(weights(PolicySpec(FOUR, SMALL), 5 + round_ // 7))

        for _ in range(3):
            found.append(made.sample(before)["agent"])
        return found

    one, two, other = played(3), played(3), played(4)
    for a, b in zip(one, two, strict=True):
        for field in ("actions", "log_probs", "rewards", "versions", "terminated"):
            np.testing.assert_array_equal(getattr(a, field), getattr(b, field))
    assert not all(np.array_equal(a.actions, b.actions) for a, b in zip(one, other, strict=True))
    versions = np.concatenate([a.versions for a in one])
    assert (np.diff(versions, axis=0) >= 0).all()
    assert len(np.unique(versions)) > 3


def test_weights_that_come_between_two_samples_make_all_that_is_decided_after_them() -> None:
    made = sampler(game=connect_four(opening=0))
    made.sample()
    made.load(weights(PolicySpec(FOUR, SMALL), 6))
    decided = made.sample()["agent"].versions
    assert (decided[4:] == 6).all(), "no stream is more than a few decisions ahead of the slowest"


def test_a_beginning_depends_on_its_number_alone() -> None:
    one, two = sampler(), sampler()
    one.begin(0), one.sample(), one.begin(2)
    two.begin(2)
    np.testing.assert_array_equal(one.sample()["agent"].actions, two.sample()["agent"].actions)


@pytest.mark.parametrize("drawn", [False, True])
def test_where_all_act_at_once_its_streams_are_those_of_the_sampler(drawn: bool) -> None:
    settings: dict[str, Any] = {"points": 1, "max_ticks": 50}
    game = VectorPong(seats=(0, 1), **settings)
    spec = PolicySpec(game.spec.seats[0], SMALL)
    agent, script = Candidate("agent", learns=True), Candidate("script")
    cast = Cast([[agent], [agent, script]]) if drawn else None
    more: dict[str, Any] = {"cast": cast, "players": lambda name: RandomPlayer(spec.seat)}
    mdp = mdp_from_vector(lambda seats: VectorPong(seats=seats, **settings), game.spec)
    arrays = Sampler(game, {"agent": spec.model()}, 3, 120, 9, **more)
    turns = TurnSampler(mdp, {"agent": spec.model()}, 3, 60 if drawn else 120, 9, **more)
    for made in (arrays, turns):
        made.load(weights(spec))
    one, two = arrays.sample()["agent"], turns.sample()["agent"]
    if not drawn:
        assert two.streams == one.streams
    compared = 0
    whole = [flat([one], i) for i in range(one.streams)]
    for j in range(two.streams):
        mine = flat([two], j)
        for theirs in whole:
            n = min(len(mine["actions"]), len(theirs["actions"]))
            if not np.array_equal(mine["observation field"][:n], theirs["observation field"][:n]):
                continue
            compared += 1
            for name in ("actions", "rewards", "terminated", "truncated", "versions"):
                np.testing.assert_array_equal(mine[name][:n], theirs[name][:n], err_msg=name)
            np.testing.assert_allclose(mine["log_probs"][:n], theirs["log_probs"][:n], rtol=1e-5)
    assert compared >= (two.streams if not drawn else 4)
    key = lambda e: (e.seed, e.seat)  # noqa: E731
    theirs_by = {key(e): e for e in arrays.finished()}
    both = [(e, theirs_by[key(e)]) for e in turns.finished() if key(e) in theirs_by]
    assert both
    for mine_e, their_e in both:
        np.testing.assert_equal(mine_e, their_e)


def test_episodes_that_begin_after_snapshots_came_may_meet_them() -> None:
    agent, past = Candidate("agent", learns=True), Candidate("past", of="agent")
    spec, asked = PolicySpec(FOUR, SMALL), set[str]()

    def players(name: str) -> RandomPlayer:
        asked.add(name)
        return RandomPlayer(spec.seat)

    made = TurnSampler(connect_four(), {"agent": spec.model()}, 2, 20, 9, cast=Cast([[agent], [past]]), players=players)
    made.begin()
    made.load(weights(spec)._replace(snapshots=("abc",)))
    found = made.sample()["agent"]
    assert asked == {"agent@abc"}, "before there were any, the agent itself played"
    assert set(found.others) == {("agent",), ("agent@abc",)}
    assert {e.others for e in made.finished() if e.seat == 0} == set(found.others)


def test_an_examination_plays_whole_first_episodes_and_can_be_stopped() -> None:
    spec = PolicySpec(FOUR, SMALL)
    policy = Policy(spec, spec.model().initial(np.random.default_rng(1)), 1)
    found = examine({0: policy}, connect_four(), 12, 5)[0]
    again = examine({0: policy}, connect_four(), 5, 5, first=7)[0]
    np.testing.assert_array_equal(found.returns[7:], again.returns)
    assert set(found.win.tolist()) <= {0.0, 0.5, 1.0}
    np.testing.assert_array_equal(found.returns[:, 0], 2 * found.win - 1)
    assert ((found.lengths >= 2) & (found.lengths <= 21)).all()
    with pytest.raises(Cancelled):
        examine({0: policy}, connect_four(), 4, 5, stopped=lambda: True)


def settings(**more: Any) -> dict[str, Any]:
    network = {"policy": [16], "critic": [16]}
    learner = {"kind": "ppo", "batch": 128, "fragment": 16, "minibatch": 64, "network": network}
    return {
        "kind": "train", "game": "connect-four", "learner": learner, "steps": 1024, "samplers": 2, "environments": 4,
        "checkpoint_every": 256, "evaluate_every": 2, "episodes": 4, "pool": {"kind": "local"},
        "policies": {"agent": {"seats": [0, 1]}}, **more,
    }  # fmt: skip


def study(**more: Any) -> TrainConfig:
    config = load(settings(**more))
    assert isinstance(config, TrainConfig)
    return config


def events(config: Any, store: FolderStore, **more: Any) -> list[AnyEvent]:
    return list(run(config, store, **more))


EACH: dict[str, Any] = {"one": {"seats": [0]}, "two": {"seats": [1]}}
LEAGUE: dict[str, Any] = {
    "agent": {"seats": [0, 1], "against": ["random"]},
    "past": {"kind": "snapshots", "of": "agent", "seats": [0, 1]},
    "random": {"kind": "scripted", "player": "random", "seats": [1], "share": 0.5},
}


@pytest.mark.parametrize("policies", [EACH, LEAGUE])
def test_a_training_in_turns_that_was_paused_goes_on_with_the_same_curve(
    store: FolderStore, policies: dict[str, Any]
) -> None:
    config = study(policies=policies)
    whole = events(config, store)
    assert isinstance(whole[-1], Finished), whole[-1]
    before = events(config, store, control=control("pause", random.Random(len(policies)).randint(4, 9)))
    end = before[-1]
    assert isinstance(end, Paused)
    after = events(config, store, resume=end.artifacts["checkpoint"])
    assert curve(before) + curve(after) == curve(whole)
    assert curve(whole)


@pytest.mark.parametrize("kind", ["ppo", "a3c", "impala", "dqn"])
def test_asynchronous_battles_train_every_learner(store: FolderStore, kind: str) -> None:
    own: dict[str, Any] = {"warmup": 100, "capacity": 500} if kind == "dqn" else {}
    own |= {"batch": 128} if kind in ("ppo", "impala") else {}
    learner = {"kind": kind, "fragment": 16, "network": {"policy": [16], "critic": [16]}, **own}
    found = events(study(sampling="asynchronous", learner=learner, policies=EACH), store)
    assert isinstance(found[-1], Finished), found[-1]
    rounds = [e for e in found if isinstance(e, Progressed)]
    assert rounds[-1].metrics["one/updates" if "one/updates" in rounds[-1].metrics else "updates"] > 0
    assert {"one/win", "two/win"} <= rounds[-1].metrics.keys()


def test_both_seats_learn_to_beat_the_random_script(store: FolderStore) -> None:
    network = {"policy": [64], "critic": [64]}
    learner = {"kind": "ppo", "batch": 1024, "fragment": 32, "minibatch": 256, "rate": 0.001, "network": network}
    policies = {
        "agent": {"seats": [0, 1], "against": ["random"]},
        "random": {"kind": "scripted", "player": "random", "share": 0},
    }
    config = study(
        learner=learner, policies=policies, steps=40_960, samplers=1, environments=16, checkpoint_every=0,
        evaluate_every=0, episodes=200,
    )  # fmt: skip
    last = [e for e in events(config, store) if isinstance(e, Progressed)][-1].metrics
    assert last["evaluation_win"] > 0.7


def test_policies_play_each_other_in_turns(store: FolderStore) -> None:
    players = {name: {"kind": "scripted", "player": "random"} for name in ("one", "two")}
    found = events(load({"kind": "evaluate", "game": "connect-four", "episodes": 40, "policies": players}), store)
    assert isinstance(found[-1], Finished), found[-1]
    (told,) = [e.metrics for e in found if isinstance(e, Progressed)]
    assert 0.2 < told["share"] < 0.8
    assert found[-1].counters.steps > 40 * 5


@pytest.mark.parametrize(("game", "name"), [("connect-four", "connect-four"), ("pong-two-seats", "pong")])
def test_a_search_for_settings_says_that_it_needs_a_game_with_one_seat(
    store: FolderStore, game: str, name: str
) -> None:
    task = {"game": game, "learner": {"kind": "ppo", "rate": [0.0001, 0.001]}}
    config = load(evolution(task=task, algorithm={"kind": "ga"}))
    (*_, end) = events(config, store)
    assert isinstance(end, Failed)
    assert f"task.game.name: {name} has 2 seats, and a search for training settings trains one agent" in end.message

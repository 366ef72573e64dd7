"""Saved agents as opponents: their own reaction delay, pace and way to choose hold wherever they sit, and for nobody
else."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.catalog import PLAYERS
from engine.config.limits import LimitsConfig
from engine.config.study import study_hash
from engine.errors import ConfigError
from engine.events import Failed, Finished
from engine.evorl.self_play_evaluator import SelfPlayEvaluator
from engine.evorl.trainings import opened
from engine.games.connect_four import connect_four
from engine.games.pong import VectorPong
from engine.mdp.groups import Group, seat_of
from engine.mdp.interface import Array, Continuous, SeatSpec
from engine.mdp.limits import Limited
from engine.mdp.trajectory import Batch
from engine.mdp.vector import VectorStep
from engine.problem import Request, SelfPlayContext
from engine.rl.cast import Candidate, Cast
from engine.rl.opposition import Opposition
from engine.rl.players import RandomPlayer
from engine.rl.policy import Policy
from engine.rl.seats import Player, Seats, Slowed, nobody_else, slowed
from engine.rl.stream_hands import StreamHands
from engine.rng import combine64
from engine.store import FolderStore
from engine.studies import load
from engine.study import run
from engine.study.casting import players_of
from engine.study.course_artifacts import entrants
from engine.study.meetings import meet
from tests.engine.test_saved_agents import kept, untrained
from tests.engine.test_self_play import LEARNER, settings
from tests.engine.test_train_policies import pong

NEVER = {"delay": 200, "apart": 1}
"""Longer than these battles last: hands that have these limits never do anything."""
GAME = {"name": "pong-two-seats", "settings": {"points": 1, "max_ticks": 60}}


class Played(list[tuple[Array, Array, Any]]):
    """What was done on both seats in each decision of a game, and which battles it ended; where all begin anew, None
    instead."""

    def idle(self, battles: int) -> set[tuple[bool, bool]]:
        """Of each episode of a game with so many battles: whether each seat never did anything."""
        found, done = set(), np.zeros((2, battles), np.int64)
        for left, right, ended in self:
            if len(left) != battles:
                continue
            done = np.zeros_like(done) if ended is None else done + np.stack([left, right])
            ended = ended or ()
            for battle in ended:
                found.add((not done[0, battle], not done[1, battle]))
                done[:, battle] = 0
        return found


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> Played:
    """What reaches the game of Pong for two."""
    found, plain, anew = Played(), VectorPong.step, VectorPong.reset

    def step(game: VectorPong, actions: Any) -> VectorStep:
        after = plain(game, actions)
        if len(actions) == 2:
            ended = [] if after.ended is None else after.ended.battles.tolist()
            found.append((actions[0].copy(), actions[1].copy(), ended))
        return after

    def reset(game: VectorPong, seeds: Any) -> VectorStep:
        found.append((seeds, seeds, None))
        return anew(game, seeds)

    monkeypatch.setattr(VectorPong, "step", step)
    monkeypatch.setattr(VectorPong, "reset", reset)
    return found


def script(name: str = "pong-follower") -> Player:
    made: Player = PLAYERS[name].load()(VectorPong(seats=(0, 1)).spec.seats[0])
    return made


def test_who_has_limits_of_its_own_plays_as_in_a_game_that_limits_its_seat() -> None:
    limits = LimitsConfig(delay=3, apart=5)
    cast = Cast([[Candidate("me", learns=True)], [Candidate("slow", learns=True)]])
    seeds = combine64(3, np.arange(5, dtype=np.uint64))
    seen = []
    plain, late = (VectorPong(points=1, max_ticks=37, seats=(0, 1)) for _ in range(2))
    games: list[tuple[Player, Any]] = [(Slowed(script(), limits), plain), (script(), Limited(late, limits, (1,)))]
    for other, game in games:
        seats = Seats(game.spec, cast, {"me": RandomPlayer(game.spec.seats[0]), "slow": other}, nobody_else)
        step, rows = game.reset(seeds), []
        seats.begin(seeds)
        for _ in range(150):
            step = game.step(seats.act(step)[0])
            seats.ends(step)
            seats.move(step.ended)
            rows.append(step.observations[0]["field"].copy())
        seen.append(np.array(rows))
    np.testing.assert_array_equal(seen[0], seen[1])


def test_hands_go_with_the_player_from_seat_to_seat_and_begin_every_episode_anew() -> None:
    """Each battle by a queue and a counter of its own, on whichever seat the slow one sits, beside another one."""
    limits, n = LimitsConfig(delay=2, apart=3), 6
    game, slow = VectorPong(points=1, max_ticks=23, seats=(0, 1)), script()
    others = {"slow": Slowed(slow, limits), "quick": script("random")}
    cast = Opposition("me", {"slow": 2.0, "quick": 1.0})
    seats = Seats(game.spec, cast, {"me": RandomPlayer(game.spec.seats[0])}, others.__getitem__)
    seeds = combine64(9, np.arange(n, dtype=np.uint64))
    step = game.reset(seeds)
    seats.begin(seeds)
    lines: list[deque[int]] = [deque([0] * 2) for _ in range(n)]
    now, since, met = [0] * n, [3] * n, set()
    for _ in range(200):
        actions, who = seats.act(step)[0], seats.who
        for b in range(n):
            for seat in (0, 1):
                if seats.names[who[b, seat]] != "slow":
                    continue
                met.add(seat)
                seen = {"field": step.observations[seat]["field"][b : b + 1]}
                lines[b].append(int(slow(Batch(seen, None, np.zeros(1, np.uint64))).actions[0]))
                due = lines[b].popleft()
                if due != now[b] and since[b] >= 3:
                    now[b], since[b] = due, 0
                since[b] += 1
                assert actions[seat][b] == now[b]
        step = game.step(actions)
        seats.ends(step)
        for b in step.ended.battles.tolist() if step.ended is not None else ():
            lines[b], now[b], since[b] = deque([0] * 2), 0, 3
        seats.move(step.ended)
    assert met == {0, 1}


def test_where_the_game_holds_everybody_back_already_only_what_is_left_is_added() -> None:
    own, game = LimitsConfig(delay=8, apart=4), LimitsConfig(delay=3, apart=4)
    assert own.beyond(game) == LimitsConfig(delay=5, apart=1)
    assert own.beyond(LimitsConfig()) == own
    player = script()
    assert slowed(player, game, own) is player
    assert slowed(player, None, own) is player
    once, twice = (Limited(VectorPong(points=1, max_ticks=40), each, (0,)) for each in (own, game))
    left, ways = StreamHands(once.spec.seats[0], 2, own.beyond(game)), np.random.default_rng(2)
    seeds = np.arange(2, dtype=np.uint64)
    for each in (once, twice):
        each.reset(seeds)
    for _ in range(100):
        wanted = ways.integers(0, 3, 2)
        a, b = once.step([wanted]), twice.step([left._do(wanted, None)])
        np.testing.assert_array_equal(a.observations[0]["field"], b.observations[0]["field"])
        if a.ended is not None:
            left.restart(a.ended.battles)


def test_each_member_of_a_group_has_hands_of_its_own() -> None:
    seat = SeatSpec(VectorPong().spec.seats[0].observations, Continuous((-1.0,) * 2, (1.0,) * 2, (2,)))
    hands = StreamHands(seat_of([seat, seat], Group((0, 1))), 1, LimitsConfig(apart=3))
    first, second = np.array([[1, 1, 0, 0]], np.float32), np.array([[0, 0, 1, 1]], np.float32)
    assert hands._do(first, None).tolist() == [[1, 1, 0, 0]]
    assert hands._do(second, None).tolist() == [[1, 1, 1, 1]], "the second one had not acted yet, the first one had"


def opponent(store: Any, **ways: Any) -> dict[str, Any]:
    return {"kind": "frozen", "policy": kept(untrained(), store), **ways}


@pytest.mark.parametrize("choose", [None, True, False])
def test_in_self_play_a_saved_agent_is_held_back_in_training_and_in_the_ladder_and_the_member_is_not(
    choose: bool | None, tmp_path: Path, played: Played, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = FolderStore(tmp_path)
    ways, plain = list[bool](), Policy.actor

    def actor(own: Policy, explore: bool = True) -> Any:
        ways.append(explore)
        return plain(own, explore)

    monkeypatch.setattr(Policy, "actor", actor)
    for limits, idle in ((NEVER, {(True, False), (False, True)}), (None, {(False, False)})):
        trainings = opened(store, f"study {limits}")
        ada = opponent(trainings.lease, limits=limits, sampled=choose)
        task = {"game": GAME, "learner": LEARNER, "steps": 1024, "environments": 4, "checkpoint_every": 10_000}
        config: Any = load(settings(task=task, opponents={"others": {"ada": ada}}))
        players = SelfPlayEvaluator(config, trainings)
        genome = players.initialize(np.random.default_rng(1))
        request = Request(0, genome, 0, 6, 3, SelfPlayContext(opponents={"ada": ("", 1.0, 1.0)}))
        played.clear()
        ways.clear()
        (answer,) = players.evaluate([request], lambda: False)
        assert isinstance(answer.context, SelfPlayContext)
        assert answer.context.met["ada"][0] > 0
        assert played.idle(4) == idle, "where it learns; it sits on either seat in turn"
        assert played.idle(6) == idle, "where it is measured"
        assert ways.count(False) == (2 if choose is False else 0), "once in training and once in measuring"
        players.close()


def test_a_whole_self_play_with_a_late_agent_ends_and_rates_it(tmp_path: Path) -> None:
    store = FolderStore(tmp_path)
    task = {"game": GAME, "learner": LEARNER, "steps": 64, "environments": 4}
    *_, end = run(
        load(settings(task=task, ticks=1, opponents={"others": {"ada": opponent(store, limits=NEVER)}})), store
    )
    assert isinstance(end, Finished), end


@pytest.mark.parametrize(("ways", "idle"), [({"limits": NEVER}, True), ({}, False)])
def test_in_a_training_an_opponent_is_held_back_on_its_seat_and_the_learner_is_not(
    ways: dict[str, Any], idle: bool, tmp_path: Path, played: Played
) -> None:
    """Where decisions are learned from, and in the evaluations."""
    store = FolderStore(tmp_path)
    policies = {"me": {"seats": [0]}, "ada": {"seats": [1], **opponent(store, **ways)}}
    config: Any = pong(policies, steps=512, checkpoint_every=512, episodes=3, evaluate_every=0)
    *_, end = run(config, store)
    assert isinstance(end, Finished), end
    assert played.idle(config.environments) == {(False, idle)}
    assert played.idle(3) == {(False, idle)}


@pytest.mark.parametrize(("ways", "idle"), [({"limits": NEVER}, True), ({}, False)])
def test_in_a_course_and_its_tournament_a_saved_agent_is_held_back_too(
    ways: dict[str, Any], idle: bool, tmp_path: Path, played: Played
) -> None:
    store = FolderStore(tmp_path)
    roster = {"me": {"learner": {**LEARNER, "rate": 0.01}}, "ada": opponent(store, **ways)}
    config: Any = load({"kind": "arena", "game": GAME, "roster": roster, "environments": 4, "pool": {"kind": "local"},
                        "lessons": [{"matches": [["me", "ada"]], "steps": 1024}], "copies": 1, "fragment": 8,
                        "tournament": {"episodes": 10}})  # fmt: skip
    *_, end = run(config, store)
    assert isinstance(end, Finished), end
    assert played.idle(4) == {(False, idle)}
    alone = config.model_copy(update={"roster": {"ada": config.roster["ada"]}})
    game = VectorPong(points=1, max_ticks=60, seats=(0, 1))
    met, other = entrants(alone, {}, [], game, store)["ada"], RandomPlayer(game.spec.seats[0])
    for seated in (("ada", "other"), ("other", "ada")):
        played.clear()
        meet(game, seated, {"ada": met, "other": other}, np.arange(7, dtype=np.uint64), lambda: False)
        assert {pair[seated.index("ada")] for pair in played.idle(7)} == {idle}, "in the tournament"


@pytest.mark.parametrize(("sampled", "learning", "measuring"), [(None, True, False), (True, True, True), (False,) * 3])
def test_an_opponent_chooses_as_its_agent_does_where_that_is_said(
    sampled: bool | None, learning: bool, measuring: bool, tmp_path: Path
) -> None:
    store = FolderStore(tmp_path)
    policies = {"me": {"seats": [0]}, "ada": {"seats": [1], **opponent(store, sampled=sampled)}}
    config: Any = pong(policies)
    seats = VectorPong(seats=(0, 1)).spec.seats
    found: list[Any] = [players_of(config, seats, store, {}, explore=each)("ada") for each in (True, False)]
    assert [each.explore for each in found] == [learning, measuring]


@pytest.mark.parametrize(
    ("study", "place"),
    [
        (lambda own: {"kind": "train", "game": "connect-four", "steps": 1000,
                      "policies": {"me": {"seats": [0]}, "ada": {"seats": [1], **own}}}, "policies.ada.limits"),
        (lambda own: {"kind": "arena", "game": "connect-four", "roster": {"me": "ppo", "ada": own},
                      "lessons": [{"matches": [["me", "ada"]], "steps": 1000}]}, "roster.ada.limits"),
    ],
    ids=["train", "arena"],
)  # fmt: skip
def test_in_a_game_in_turns_limits_are_refused_at_the_opponent(
    study: Callable[[dict[str, Any]], dict[str, Any]], place: str, tmp_path: Path
) -> None:

    store = FolderStore(tmp_path)
    own = {"kind": "frozen", "policy": kept(untrained(connect_four().spec.seats[0]), store), "limits": {"delay": 2}}
    *_, end = run(load({**study(own), "pool": {"kind": "local"}}), store)
    assert isinstance(end, Failed), end
    assert place in end.message
    assert "wait for each other's turns" in end.message


def test_a_game_that_forbids_actions_is_refused_before_anything_is_held_back() -> None:
    hands = StreamHands(VectorPong().spec.seats[0], 2, LimitsConfig(delay=1))
    with pytest.raises(ConfigError, match="forbids actions now and then"):
        hands.held(script()(Batch({"field": np.zeros((2, 8), np.float32)}, None, np.zeros(2, np.uint64))),
                   np.ones((2, 3), np.bool_), None)  # fmt: skip


def test_studies_that_say_nothing_of_it_keep_their_hash() -> None:
    digest = "d" * 64
    learner = {**LEARNER, "network": {"policy": [8], "critic": [8]}}
    learner.pop("entropy_weight")
    task = {"game": "pong-two-seats", "learner": learner, "steps": 64, "environments": 4}
    others = {"a": {"kind": "frozen", "policy": digest, "title": "x"}, "b": {"kind": "scripted", "player": "random"}}
    policies = {"me": {"seats": [0]}, "a": {"kind": "frozen", "seats": [1], "policy": digest}}
    rivals = {
        "a": {"kind": "frozen", "policy": digest},
        "b": {"kind": "frozen", "policy": digest, "limits": {"delay": 3}},
    }
    studies: list[dict[str, Any]] = [
        {"kind": "self-play", "task": task, "opponents": {"others": others}},
        {"kind": "train", "game": "pong-two-seats", "learner": "pong-ppo", "policies": policies},
        {"kind": "evaluate", "game": "pong-two-seats", "policies": rivals},
    ]
    assert [study_hash(load(study))[:12] for study in studies] == ["55d65c37bc79", "88c9b65ac5b0", "0e126355c7ad"]

"""One agent that learns a hard start from easier ones: rounds, what is told of each start, stop, pause, kill and
resume, a Redis that dies, and errors that name the field."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import threading
import time
from collections import deque
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from redis import Redis

from engine.arrays import unpack
from engine.channel import Frame, Weights, encode_weights
from engine.confidence import Range
from engine.config.policies import AGENT
from engine.config.rl import PRESETS
from engine.config.starts import StartsConfig
from engine.config.study import study_hash
from engine.errors import ConfigError, SimulatorError
from engine.events import AnyEvent, Failed, Finished, Incident, Paused, Progressed, Started, Stopped
from engine.experience import NOTHING, Lost, Parcel, decode
from engine.games.platform import Platform
from engine.means import range_of
from engine.rl.dpcer import Scheduler
from engine.rl.examine import Examination
from engine.rl.policy import Policy
from engine.rl.task_actor import ACTIVE, RETURNS, SCORE, WIN, TaskActor
from engine.rl.task_learner import successes
from engine.rng import generator
from engine.runtime import redis_server
from engine.runtime.redis_check import reachable
from engine.runtime.redis_experience import Place, RedisActor, RedisLearner
from engine.store import FolderStore
from engine.studies import load, reading
from engine.study import run, start_actors_here
from engine.study.start_actor import StreamedEnd, build, make_actor
from engine.study.start_actors import open_actors
from engine.study.start_actors_over_redis import OverRedis, _Redis
from engine.study.start_tasks import seat_of_all
from engine.study.starts import QUIET_S, SLICE, TaskTraining, _Starts
from engine.study.starts_curve import MISSES, Difficulty, StartsCurve, Success, success_of
from tests.engine.rounds_told import curve

GOLDEN = Path(__file__).parent.parent / "golden" / "starts.json"
TASKS = [
    {"name": "The last platform", "settings": {"first": 3}},
    {"name": "From the second", "settings": {"first": 2}},
    {"name": "All three", "hard": True},
]


LONGER = {"iterations": 400, "checkpoint_every": 50, "evaluate_every": 0, "episodes": 2, "ahead": 1}
"""So long that rounds end while experience is on its way."""


def settings(**more: Any) -> dict[str, Any]:
    """Three starts of Platform, four rounds: about a second."""
    small = {"policy": [8], "critic": [8]}
    learner = {"preset": "platform-mpdqn", "warmup": 64, "minibatch": 8, "updates": 0.25, "capacity": 200}
    return {
        "kind": "starts", "game": {"name": "platform", "settings": {"max_ticks": 30}}, "tasks": TASKS,
        "learner": learner | {"network": small} | more.pop("learner", {}), "iterations": 80, "checkpoint_every": 20,
        "evaluate_every": 2, "episodes": 4, "environments": 4, "pool": {"kind": "local"}, **more,
    }  # fmt: skip


def study(**more: Any) -> StartsConfig:
    config = load(settings(**more))
    assert isinstance(config, StartsConfig)
    return config


def until(ticks: int, command: str, config: StartsConfig, store: FolderStore) -> list[AnyEvent]:
    """A study to which a command comes after so many rounds."""
    seen: list[AnyEvent] = []
    for event in run(
        config, store, control=lambda: command if sum(isinstance(e, Progressed) for e in seen) >= ticks else ""
    ):
        seen.append(event)
    return seen


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[AnyEvent], FolderStore]:
    """A study from its beginning to its end."""
    store = FolderStore(tmp_path_factory.mktemp("store"))
    return list(run(study(), store)), store


Whole = tuple[list[AnyEvent], FolderStore]


def test_a_study_tells_its_rounds_and_leaves_its_agent(whole: Whole) -> None:
    found, store = whole
    assert isinstance(found[0], Started)
    assert (found[0].ticks, found[0].workers) == (4, 1)
    rounds = [event for event in found if isinstance(event, Progressed)]
    assert [event.tick for event in rounds] == [1, 2, 3, 4]
    assert rounds[-1].metrics["iterations"] == 80
    end = found[-1]
    assert isinstance(end, Finished)
    assert {"policy", "onnx", "table", "checkpoint"} < end.artifacts.keys()
    assert Policy.stored(store, end.artifacts["policy_description"]).version > 0


def test_a_round_tells_of_each_start_what_was_learned_from_it_and_evaluations_how_often_it_succeeds(
    whole: Whole,
) -> None:
    rounds = [event.metrics for event in whole[0] if isinstance(event, Progressed)]
    for metrics in rounds:
        assert sum(metrics[f"task-{i}/practised"] for i in (1, 2, 3)) == pytest.approx(1)
        assert sum(metrics[f"task-{i}/chance"] for i in (1, 2, 3)) == pytest.approx(1)
        assert {"task-1/td", "task-2/score", "task-3/win", "task-1/max_q", "task-3/max_q"} < metrics.keys()
    assert ["task-3/success" in metrics for metrics in rounds] == [False, True, False, True]
    last = rounds[-1]
    for i in (1, 2, 3):
        assert 0 <= last[f"task-{i}/success_low"] <= last[f"task-{i}/success"] <= last[f"task-{i}/success_high"] <= 1
        assert last[f"task-{i}/forgotten"] == 0
    assert last["evaluation_win"] == last["task-3/success"], "the agent's own evaluation is that of the hard start"


def test_its_table_has_a_row_for_each_start_the_easiest_first(whole: Whole) -> None:
    found, store = whole
    meta, columns = unpack(store.get(found[-1].artifacts["table"]))
    assert meta["tasks"] == ["The last platform", "From the second", "All three"]
    assert {len(column) for column in columns.values()} == {3}
    reached = columns["low"] >= 0.9
    assert (columns["surely"][~reached] == -1).all()


def test_a_study_gives_the_same_numbers_as_ever(whole: Whole) -> None:
    golden = json.loads(GOLDEN.read_text())
    rounds = [event.metrics for event in whole[0] if isinstance(event, Progressed)]
    found = [{name: metrics[name] for name in golden[0]} for metrics in rounds]
    for mine, recorded in zip(found, golden, strict=True):
        assert mine == pytest.approx(recorded, rel=1e-3, abs=1e-5)


def test_the_same_study_gives_the_same_rounds_however_often(whole: Whole, store: FolderStore) -> None:
    assert curve(list(run(study(), store))) == curve(whole[0])


@pytest.mark.parametrize(("command", "last"), [("stop", Stopped), ("pause", Paused)])
def test_what_is_stopped_or_paused_goes_on_as_if_it_had_never_been_interrupted(
    command: str, last: type[AnyEvent], whole: Whole, store: FolderStore
) -> None:
    begun = until(2, command, study(), store)
    assert isinstance(begun[-1], last)
    rest = list(run(study(), store, resume=begun[-1].artifacts["checkpoint"]))
    assert isinstance(rest[0], Started)
    assert rest[0].resumed
    assert curve(begun) + curve(rest) == curve(whole[0])


def test_a_study_that_is_killed_after_any_round_ends_with_the_same_agent(whole: Whole) -> None:
    found, store = whole
    saved = [event.artifacts["checkpoint"] for event in found if isinstance(event, Progressed)]
    for k in (1, 3):
        assert curve(list(run(study(), store, resume=saved[k - 1]))) == curve(found)[k:]


def test_an_evaluation_that_is_broken_off_is_made_up_for(
    whole: Whole, store: FolderStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken: list[int] = []
    monkeypatch.setattr("engine.study.starts.evaluate", lambda *_: broken.append(1))
    begun = list(run(study(), store, control=lambda: "pause" if broken else ""))
    monkeypatch.undo()
    assert isinstance(begun[-1], Paused)
    rest = list(run(study(), store, resume=begun[-1].artifacts["checkpoint"]))
    assert curve(begun) + curve(rest) == curve(whole[0])


@pytest.mark.parametrize(
    ("kind", "signal", "whole"),
    [("uniform", "progress", {0, 1, 2}), ("exp3", "return", {0, 1, 2}), ("exp3", "td", {0, 1, 2}),
     ("db", "progress", {2}), ("dbc", "progress", {0, 1, 2}), ("drc", "progress", {0, 1, 2})],
)  # fmt: skip
def test_every_scheduler_learns_from_all_starts_and_the_hard_one_alone_is_played_alone(
    kind: str, signal: str, whole: set[int], store: FolderStore
) -> None:
    config = study(scheduler={"kind": kind, "signal": signal}, iterations=40, evaluate_every=0, episodes=2)
    found = list(run(config, store))
    assert isinstance(found[-1], Finished)
    rounds = [event.metrics for event in found if isinstance(event, Progressed)]
    practised = {i for metrics in rounds for i in range(3) if metrics[f"task-{i + 1}/practised"]}
    assert practised == whole
    assert config.samplers == len(whole)
    assert "task-1/success" in rounds[-1], "it is evaluated in all of them all the same"


@pytest.mark.parametrize("kind", ["pdqn", "paddpg"])
def test_other_learners_of_choices_with_numbers_learn_too(kind: str, store: FolderStore) -> None:
    config = study(learner={"preset": f"platform-{kind}"}, iterations=20, evaluate_every=0, episodes=2)
    found = list(run(config, store))
    assert isinstance(found[-1], Finished)
    assert any(np.isfinite(e.metrics["task-3/max_q"]) for e in found if isinstance(e, Progressed))


def test_a_start_that_is_practised_no_more_still_tells_the_largest_value_so_that_forgetting_shows(
    store: FolderStore,
) -> None:
    config = study(scheduler={"kind": "dbc"}, iterations=80, evaluate_every=0, episodes=2)
    last = [event.metrics for event in run(config, store) if isinstance(event, Progressed)][-1]
    assert not last["task-1/practised"]
    assert "task-1/q" not in last
    assert np.isfinite(last["task-1/max_q"])


@pytest.mark.parametrize(("kind", "game"), [("dqn", "cartpole"), ("td3", "pendulum"), ("sac", "pendulum")])
def test_ordinary_learners_with_a_replay_learn_where_choices_have_no_numbers(
    kind: str, game: str, store: FolderStore
) -> None:
    learner = {"kind": kind, "warmup": 16, "minibatch": 8, "capacity": 100, "updates": 0.25, "fragment": 4,
               "network": {"policy": [8], "critic": [8]}}  # fmt: skip
    tasks = [{"name": "one"}, {"name": "two", "hard": True}]
    config = load({**settings(), "game": game, "tasks": tasks, "learner": learner, "iterations": 20,
                   "checkpoint_every": 10, "evaluate_every": 0, "episodes": 2, "environments": 2})  # fmt: skip
    found = list(run(config, store))
    assert isinstance(found[-1], Finished), found[-1]
    assert all(np.isfinite(e.metrics["task-2/max_q"]) for e in found if isinstance(e, Progressed))


@pytest.mark.parametrize("where", ["memory", "redis"])
def test_a_study_that_does_not_wait_goes_on_from_a_checkpoint(where: str, store: FolderStore) -> None:
    config = study(sampling="asynchronous", replay={"where": where}, **LONGER)
    begun = until(2, "pause", config, store)
    assert isinstance(begun[-1], Paused)
    rest = list(run(config, store, resume=begun[-1].artifacts["checkpoint"]))
    assert isinstance(rest[-1], Finished)
    assert [e.metrics["iterations"] for e in rest if isinstance(e, Progressed)][-1] == 400


def test_attempts_at_a_job_share_its_keys_in_a_redis_and_what_a_killed_one_left_is_removed(
    store: FolderStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = redis_server.RedisServer(64)
    client, more = Redis.from_url(server.url), {"where": "redis", "address": server.url}
    config = study(sampling="asynchronous", replay=more, **LONGER)
    monkeypatch.setattr(RedisLearner, "close", lambda learner: None)
    killed = until(1, "pause", config, store)[-1].artifacts["checkpoint"]
    monkeypatch.undo()
    left = {*client.keys("*")}
    other = _Starts(config, store, lambda: "")
    other._prepare(begun=False)
    assert left
    assert {key.split(b":")[1] for key in left}.isdisjoint({other.job.encode()}), "the same study as another job"
    assert isinstance(list(run(config, store, resume=killed))[-1], Finished)
    assert client.keys("*") == []
    server.close()


OVER_REDIS = {"sampling": "asynchronous", "replay": {"where": "redis", "megabytes": 64},
              **LONGER | {"ahead": 50, "iterations": 1500}}  # fmt: skip


def test_when_redis_is_killed_training_goes_on_and_what_was_lost_is_said(
    store: FolderStore, servers: list[redis_server.RedisServer]
) -> None:
    found: list[AnyEvent] = []
    for event in run(study(**OVER_REDIS), store):
        found.append(event)
        if isinstance(event, Progressed) and event.tick == 1:
            os.kill(servers[0].pid, signal.SIGKILL)
    assert isinstance(found[-1], Finished)
    said = [event.message for event in found if isinstance(event, Incident)]
    assert any("had ended or hung. It was started again, empty" in each for each in said), said
    assert any("could not be sent because Redis did not answer" in each for each in said), said
    last = [event.metrics for event in found if isinstance(event, Progressed)][-1]
    assert last["missing_unsent"] > 0
    assert len(servers) == 1


def test_when_redis_is_emptied_training_goes_on_and_what_was_lost_is_counted_and_said(
    store: FolderStore, servers: list[redis_server.RedisServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    emptied, take = [], RedisLearner.take

    def look(learner: RedisLearner) -> list[Parcel]:
        if found and not emptied and learner._waiting():
            emptied.append(learner._waiting())
            Redis.from_url(servers[0].url).flushall()
            learner._look_at = 0.0
        return take(learner)

    monkeypatch.setattr(RedisLearner, "take", look)
    found: list[AnyEvent] = []
    for event in run(study(**OVER_REDIS), store):
        found += [event] if found or isinstance(event, Progressed) else []
    assert isinstance(found[-1], Finished)
    last = [event.metrics for event in found if isinstance(event, Progressed)][-1]
    assert last["iterations"] == 1500
    assert last["missing_gone"] > 0, f"{emptied[0]} parcels of decisions waited"
    said = [event.message for event in found if isinstance(event, Incident)]
    assert any("were no longer there when the learner came for them" in each for each in said), said


def test_when_redis_is_full_training_says_so_and_goes_on_once_there_is_room(
    store: FolderStore, servers: list[redis_server.RedisServer]
) -> None:
    found: list[AnyEvent] = []
    for event in run(study(**OVER_REDIS), store):
        found.append(event)
        if isinstance(event, Progressed) and event.tick == 1:
            Redis.from_url(servers[0].url).config_set("maxmemory", 1)
        if isinstance(event, Incident) and "no room for the newest network" in event.message:
            Redis.from_url(servers[0].url).config_set("maxmemory", "64mb")
    assert isinstance(found[-1], Finished)
    said = [event.message for event in found if isinstance(event, Incident)]
    assert [each for each in said if "answers again, has room" in each], said
    last = [event.metrics for event in found if isinstance(event, Progressed)][-1]
    assert last["iterations"] == 1500
    assert last["missing_refused"] > 0
    assert [each for each in said if "were refused because Redis had no room" in each], said


def test_when_redis_refuses_what_a_study_needs_it_says_so_with_how_much_waits_and_when_that_is_over() -> None:
    server = redis_server.RedisServer(16)
    client = Redis.from_url(server.url)
    client.execute_command("ACL", "SETUSER", "poor", "on", ">word", "~*", "+@all", "-lpop")
    place = Place(server.url.replace("unix://", "unix://poor:word@"), "job", "a")
    config = study(sampling="asynchronous", replay={"where": "redis", "address": server.url})
    actors = OverRedis(config, RedisLearner(place, 1), _Redis(config))
    actor = RedisActor(place, 0)
    actor.add({"a": np.zeros(3)})
    assert actors.end.take() == []
    (said,) = actors.incidents()
    assert actors.blocked
    assert "Redis refuses what the study needs: what actors sent cannot be taken (“" in said.message
    assert said.message.endswith("Parcels of decisions that wait there so far: 1.")
    assert actors.incidents() == [], "once"
    client.execute_command("ACL", "SETUSER", "poor", "+lpop")
    actors.end._look_at = 0.0
    assert [parcel.size for parcel in actors.end.take()] == [3]
    assert [each.message for each in actors.incidents()] == ["Redis answers again, has room, and refuses nothing."]
    assert not actors.blocked
    actor.close()
    actors.end.close()
    server.close()


def test_a_learner_whose_redis_lets_nothing_through_goes_on_with_what_it_has_and_elsewhere_waits(
    store: FolderStore,
) -> None:
    made = _Starts(study(sampling="asynchronous"), store, lambda: "")
    made._prepare(begun=False)
    agent = made.agent
    with open_actors(made.config, store, 0, NOTHING) as actors:
        actors.publish(Weights("agent", 0, 0, 0, agent.vectors))
        while agent.learner.steps < 64:
            agent.learn(actors.gather(0.0, 1))
    made._heard_at = time.monotonic()
    assert made._batches() == {}
    made._heard_at -= 2 * QUIET_S
    made.actors = SimpleNamespace(blocked=False, missing=NOTHING)  # type: ignore[assignment]
    assert made._batches() == {"agent": []}, "one update: actors may wait for a newer network"
    assert made._batches() == {}, "its replay ratio would be another one"
    made._heard_at -= 2 * QUIET_S
    made.actors = SimpleNamespace(blocked=True, missing=NOTHING)  # type: ignore[assignment]
    assert made._batches() == {"agent": []}
    before = agent.tasks.iterations
    assert made._batches() == {"agent": []}
    agent.learn([])
    assert agent.tasks.iterations > before
    assert agent.curve.totals["skipped"] == 0


@pytest.mark.parametrize("own", [{}, {"first": 1}, {"first": 1, "max_ticks": 30}])
def test_a_start_like_another_one_is_refused_when_it_is_written_and_read_where_it_was(own: dict[str, Any]) -> None:
    """The first platform is the usual one, and all tasks here take 30 decisions."""
    alike = settings(tasks=[{"name": "a", "settings": own}, {"name": "c", "settings": {"first": 2}},
                            {"name": "b", "hard": True}])  # fmt: skip
    with pytest.raises(ConfigError) as wrong:
        load(alike, new=True)
    assert [fault.place for fault in wrong.value.problems] == ["tasks.2.settings"]
    assert "begin as in “a”" in wrong.value.problems[0].message
    assert isinstance(load(alike), StartsConfig)


@pytest.mark.parametrize(
    ("more", "place", "why"),
    [
        ({"tasks": []}, "tasks", "at least 1"),
        ({"tasks": [{"name": "a"}]}, "tasks", "none of them is the hard one"),
        ({"tasks": [{"name": "a", "hard": True}, {"name": "b", "hard": True}]}, "tasks.1.hard", "one of them only"),
        ({"tasks": [{"name": "a", "hard": True}, {"name": "a"}]}, "tasks.1.name", "has this name"),
        ({"tasks": [{"name": "a", "hard": True, "settings": {"first": 9}}]}, "tasks.0.settings.first", "1 to 3"),
        ({"game": "goal", "tasks": [{"name": "a", "hard": True, "settings": {"x_min": 9.0, "x_max": 5.0}}]},
         "tasks.0.settings.x_max", "no episode can begin"),
        ({"learner": {"kind": "ppo"}}, "learner", "must be one of"),
        ({"learner": "cartpole-ppo"}, "learner", "must be one of"),
        ({"learner": {"kind": "pdqn", "normalise_observations": True}}, "learner.normalise_observations",
         "share no scale"),
        ({"replay": {"where": "redis"}}, "replay.where", "in step the learner would wait"),
        ({"replay": {"address": "redis://x"}}, "replay.address", "choose redis"),
        ({"scheduler": {"low": 2.0, "high": 1.0}}, "scheduler.high", "more than the least"),
        ({"scheduler": {"low": 2.0}}, "scheduler.high", "say the largest score, too"),
        ({"scheduler": {"high": 2.0}}, "scheduler.low", "say the least score, too"),
        ({"scheduler": {"kind": "best"}}, "scheduler.kind", "must be one of"),
        ({"scheduler": {"low": -1e308, "high": 1e308}}, "scheduler.high", ""),
        ({"scheduler": {"kind": "uniform", "signal": "td"}}, "scheduler.signal", "only exp3"),
        ({"scheduler": {"kind": "db", "gamma": 0.2}}, "scheduler.gamma", "only exp3"),
        ({"scheduler": {"kind": "exp3", "bar": 0.5}}, "scheduler.bar", "only dbc and drc"),
        ({"ahead": 3}, "ahead", "in step an actor plays one fragment"),
        ({"replay": {"megabytes": 64}}, "replay.megabytes", "no Redis of its own"),
        ({"learner": {"kind": "pdqn", "rate": [0.1, 0.2]}}, "learner.rate", "one number"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_at_its_field(more: dict[str, Any], place: str, why: str) -> None:
    given = settings(**{key: value for key, value in more.items() if key != "learner"})
    given["learner"] = more.get("learner", given["learner"])
    with pytest.raises(ConfigError) as wrong:
        load(given)
    assert place in {problem.place for problem in wrong.value.problems}, wrong.value.problems
    assert why in str(wrong.value)


@pytest.mark.parametrize(("megabytes", "why"), [(16, "give at least "), (65_536, "this machine has ")])
def test_a_redis_too_small_for_the_network_or_larger_than_the_machine_is_refused_before_anybody_plays(
    megabytes: int, why: str, store: FolderStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.machine.memory", lambda: 1 << 32)
    large = {"network": {"policy": [1800, 1800], "critic": [1800, 1800]}}
    config = study(
        sampling="asynchronous", replay={"where": "redis", "megabytes": megabytes}, learner=large
    )  # fmt: skip
    *_, last = run(config, store)
    assert isinstance(last, Failed)
    assert last.message.startswith("replay.megabytes: ")
    assert why in last.message


def test_what_a_name_or_an_end_of_a_range_hides_is_found_too_and_nothing_that_is_right_without_them() -> None:
    tasks = [
        {"name": "a", "settings": {"ball_y_min": [1], "ball_y_max": -0.9, "apart": 2}},
        {"name": "a", "settings": {"ball_x_min": 0.5, "ball_x_max": 0.3}},
        {"name": "hard", "settings": {"apart": 0.5}, "hard": True},
    ]
    found = reading({"kind": "starts", "game": "half-field", "learner": "half-field-mpdqn", "tasks": tasks})
    assert {place for place, _ in found.wrong} == {
        "tasks.0.settings.ball_y_min", "tasks.0.settings.apart", "tasks.1.name", "tasks.1.settings.ball_x_max",
    }  # fmt: skip
    assert isinstance(found.study, StartsConfig)
    assert found.study.tasks[2].settings == {"apart": 0.5}, "what is right is kept"


def test_presets_that_are_named_are_those_of_learners_that_these_studies_take() -> None:
    given = settings()
    given["learner"] = "dqn"
    with pytest.raises(ConfigError, match="there is no preset 'dqn'; there are ") as refused:
        load(given)
    named = str(refused.value).partition("there are ")[2].split(", ")
    assert {"platform-mpdqn", "cartpole-dqn"} < set(named)
    for name in named:
        load(given | {"learner": name})


@pytest.mark.parametrize("value", [float("inf"), float("nan"), None, {"a": 1}, [1, 2]])
def test_what_no_setting_can_be_is_told_once_at_its_place(value: Any) -> None:
    wrong = [{"name": "a", "hard": True, "settings": {"ball_x_min": value}}]
    with pytest.raises(ConfigError) as refused:
        load(settings(game="half-field", tasks=wrong))
    (problem,) = refused.value.problems
    assert problem.place == "tasks.0.settings.ball_x_min"
    assert problem.message.startswith("must be an ordinary number" if isinstance(value, float) else "must be a number,")


@pytest.mark.parametrize(
    ("more", "place", "why"),
    [
        ({"game": "pong", "tasks": [{"name": "a", "hard": True}]}, "game.name", "no easier starts"),
        ({"game": "half-field", "tasks": [{"name": "near", "settings": {"rewards": ["score", "shaped"]}},
                                          {"name": "far", "hard": True}]},
         "tasks.1.settings", "in “far” the agent is rewarded with something else than in “near”"),
        ({"learner": {"preset": "cartpole-dqn"}}, "learner.kind",
         "here it is a choice with numbers of its own; take MP-DQN or P-DQN or PA-DDPG"),
        ({"game": "gym:CartPole-v1", "learner": {"kind": "sac"}, "tasks": [{"name": "a", "hard": True}]},
         "learner.kind", "SAC needs numbers as action, and here it is a single choice; take DQN"),
        ({"tasks": [{"name": "a", "hard": True, "settings": {"where": 1}}]}, "tasks.0.settings.where", ""),
        ({"replay": {"where": "redis", "address": "nowhere"}, "sampling": "asynchronous"}, "replay.address",
         "must be an address"),
        ({"replay": {"where": "redis", "address": "unix:///nowhere"}, "sampling": "asynchronous"}, "replay.address",
         "no Redis answers there"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_told_at_its_place_before_anything_starts(
    more: dict[str, Any], place: str, why: str, store: FolderStore
) -> None:
    given = settings(**{key: value for key, value in more.items() if key != "learner"})
    given["learner"] = more.get("learner", given["learner"])
    (only,) = run(load(given), store)
    assert isinstance(only, Failed)
    assert place in only.message
    assert why in only.message


def test_a_start_in_which_no_episode_begins_is_named(store: FolderStore, monkeypatch: pytest.MonkeyPatch) -> None:
    begins = Platform.reset

    def reset(self: Platform, seeds: Any) -> Any:
        if len(seeds) and self._first == 1:
            raise SimulatorError("there is no ground here", permanent=True)
        return begins(self, seeds)

    monkeypatch.setattr(Platform, "reset", reset)
    (only,) = run(study(), store)
    assert isinstance(only, Failed)
    assert "tasks.1: no episode can begin here: there is no ground here" in only.message


@pytest.mark.parametrize(
    ("game", "at"),
    [
        ("goal", {"x_min": 12.0, "x_max": 12.0, "y_min": 0.0, "y_max": 0.0}),
        ("half-field-keeper", {"ball_x_min": 0.98, "ball_x_max": 0.98, "ball_y_min": 0.0, "ball_y_max": 0.0}),
    ],
)
def test_a_start_at_which_the_keeper_has_the_ball_already_is_named(
    game: str, at: dict[str, Any], store: FolderStore
) -> None:
    tasks = [{"name": "lost", "settings": at}, {"name": "as usual", "hard": True}]
    (only,) = run(study(game=game, tasks=tasks), store)
    assert isinstance(only, Failed)
    assert "tasks.0: no episode can begin here: by chance, all of 100 were lost at the first decision" in only.message
    assert "tasks.1" not in only.message


def test_what_was_learned_without_new_decisions_is_kept_when_a_command_comes(store: FolderStore) -> None:
    """As where a Redis is lost: the agent learns from what it remembers."""
    made = _Starts(study(sampling="asynchronous"), store, lambda: "")
    made._prepare(begun=False)
    made.saved = made.checkpoint()
    before = made.saved
    assert not list(made.keep("pause"))
    assert made.saved == before
    made.curve.iterations += 3
    assert not list(made.keep("pause"))
    assert made.saved != before
    again = _Starts(study(sampling="asynchronous"), store, lambda: "")
    again._prepare(begun=True)
    again.restore(made.saved)
    assert again.curve.iterations == 3


def test_the_hard_start_is_the_last_whereever_it_stands_in_the_list() -> None:
    config = study(tasks=[TASKS[2], TASKS[0], TASKS[1]])
    assert [task.name for task in config.ordered] == ["The last platform", "From the second", "All three"]
    assert [config.game_of(i).settings.get("first") for i in range(3)] == [3, 2, None]
    assert config.game_of(0).settings["max_ticks"] == 30


def test_difficulty_is_a_range_of_minibatches_and_only_sure_losses_are_forgotten() -> None:
    one = Difficulty()
    for mean, low, high, iterations in ((0.5, 0.4, 0.6, 10), (0.85, 0.8, 0.92, 20), (0.95, 0.91, 0.98, 30)):
        one.examined(Success(mean, low, high), iterations, Range(low - 0.01, high + 0.01))
        assert one.forgotten == 0
    assert (one.perhaps, one.surely) == (10, 30), "somewhere after 10, where it surely was not, and by 30"
    first = Difficulty()
    first.examined(Success(1.0, 0.95, 1.0), 10, Range(0.93, 1.0))
    assert (first.perhaps, first.surely) == (0, 10), "perhaps from the beginning"
    one.examined(Success(0.9, 0.85, 0.95), 40, Range(0.84, 0.96))
    assert one.forgotten == 0, "the ranges overlap"
    one.examined(Success(0.3, 0.2, 0.4), 50, Range(0.18, 0.42))
    assert one.forgotten == pytest.approx(0.90 - 0.42), "by the ranges that hold at once"
    again = Difficulty()
    again.load(json.loads(json.dumps(one.state())))
    assert again.state() == one.state()


@pytest.mark.parametrize("chance", [0.5, 0.97])
def test_nothing_is_called_forgotten_in_19_of_20_trainings_in_which_nothing_was(chance: float) -> None:
    """An agent that stays as it is, over 40 evaluations: the best of them flatters it."""
    rng, n, looks, trainings = np.random.default_rng(3), 100, 40, 200
    ranges = [range_of((np.arange(n) < wins).astype(float), 0.0, 1.0, MISSES / looks) for wins in range(n + 1)]
    claimed = 0
    for _ in range(trainings):
        one, told = Difficulty(), 0.0
        for look, wins in enumerate(rng.binomial(n, chance, looks)):
            one.examined(Success(wins / n, *ranges[wins]), look, ranges[wins])
            told = max(told, one.forgotten)
        claimed += told > 0
    assert claimed <= 0.05 * trainings


def test_a_curve_widens_ranges_of_what_is_forgotten_by_how_many_evaluations_there_are() -> None:
    config = study()
    assert config.evaluations == 1 + config.ticks // config.evaluate_every
    few = study(evaluate_every=0)
    assert few.evaluations == 1, "only the one at the end"
    won = scored(np.repeat([0.0, 1.0], [10, 90]))
    alone, all_of_them = success_of(won, (0.0, 1.0)), success_of(won, (0.0, 1.0), MISSES / 40)
    assert all_of_them.low < alone.low < alone.high < all_of_them.high


def scored(scores: Any) -> Examination:
    """Episodes with these scores, of which nothing tells whether they were won."""
    n = len(scores)
    return Examination(np.zeros((n, 1)), np.array(scores, float), np.full(n, np.nan), np.zeros((n, 0)), np.ones(n, int))


@pytest.mark.parametrize(
    ("ends", "scores", "success", "mastered"),
    [
        ((0.0, 500.0), np.linspace(8, 29, 100), 0.037, False),
        ((-2000.0, 0.0), np.linspace(-1600, -200, 100), 0.55, False),
        ((0.0, 500.0), np.full(100, 499.0), 0.998, True),
        ((0.0, 10.0), np.array([-50.0, 5.0, 5.0, 70.0] * 25), 0.5, False),
    ],
)  # fmt: skip
def test_a_game_without_wins_succeeds_by_how_far_its_score_is_between_the_ends(
    ends: tuple[float, float], scores: Any, success: float, mastered: bool
) -> None:
    (mean, low, high) = found = success_of(scored(scores), ends)
    assert mean == pytest.approx(success)
    assert 0 <= low < mean < high <= 1
    hard = Difficulty()
    hard.examined(found, 10, Range(low, high))
    assert (hard.surely == 10) == mastered
    assert (hard.perhaps == 0) == mastered


def test_what_success_is_the_first_evaluation_decides_for_all_tasks_and_for_ever() -> None:
    seat, _, ends = seat_of_all(study(), begun=True, should_stop=lambda: False)
    assert ends == (0.0, 1.0), "as Platform declares"

    def begun() -> StartsCurve:
        return StartsCurve(study(), seat, Scheduler(3, generator(1)), (0.0, 500.0))

    none = scored(np.full(4, 100.0))._replace(signals=np.zeros((4, len(seat.signals))))
    won, some = none._replace(win=np.ones(4)), none._replace(win=np.array([1.0, np.nan, 1.0, np.nan]))
    by_wins, by_scores = begun(), begun()
    by_wins.examined([won, some, none])
    by_wins.examined([none, some, none])
    told = by_wins.evaluations()
    assert [told[f"task-{i}/success"] for i in (1, 2, 3)] == [0, 0.5, 0], "whoever did not tell of a win had none"
    assert "least_score" not in told
    by_scores.examined([none] * 3)
    again = begun()
    again.load(json.loads(json.dumps(by_scores.state())))
    again.examined([won, some, none])
    told = again.evaluations()
    assert [told[f"task-{i}/success"] for i in (1, 2, 3)] == pytest.approx([0.2] * 3)
    assert all(told[f"task-{i}/forgotten"] == 0 for i in (1, 2, 3)), "nothing changed"
    assert (told["least_score"], told["largest_score"]) == (0, 500)
    lost = StartsCurve(study(), seat, Scheduler(3, generator(1)), None)
    with pytest.raises(SimulatorError, match="nobody says how far its scores go"):
        lost.examined([none] * 3)
    lost.by_score = None
    lost.examined([none, some, none])


def test_a_study_goes_on_through_another_redis_and_with_more_room_in_its_own() -> None:
    one = study(sampling="asynchronous", replay={"where": "redis"})
    others = ({"address": "redis://there:6379/0"}, {"megabytes": 512})
    assert {study_hash(study(sampling="asynchronous", replay={"where": "redis", **more})) for more in others} == {
        study_hash(one)
    }
    assert study_hash(study(sampling="asynchronous")) != study_hash(one)


def test_time_that_is_up_ends_a_study_though_nothing_ever_arrives(
    store: FolderStore, servers: list[redis_server.RedisServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.study.starts.QUIET_S", 0.2)
    monkeypatch.setattr(RedisLearner, "take", lambda learner: [])
    found = list(run(study(**OVER_REDIS, minutes=0.01), store))
    assert isinstance(found[-1], Finished), found[-1]
    assert found[-1].counters.steps == 0


def test_a_network_that_somebody_else_put_into_redis_is_none_and_the_learner_sends_its_own_again(
    store: FolderStore, servers: list[redis_server.RedisServer]
) -> None:
    found: list[AnyEvent] = []
    for event in run(study(**OVER_REDIS), store):
        found.append(event)
        if isinstance(event, Progressed) and event.tick in (1, 3):
            client = Redis.from_url(servers[0].url)
            (key,) = client.keys("*:network")
            other = {"actor": np.zeros(3, np.float32), ACTIVE: np.ones(3, np.float32)}
            frame = b"no network" if event.tick == 1 else encode_weights(Weights(AGENT, 0, 0, 77, other))
            client.mset({key: frame, key.replace(b":network", b":version"): 12345678})
    assert isinstance(found[-1], Finished), found[-1]
    last = [event.metrics for event in found if isinstance(event, Progressed)][-1]
    assert last["iterations"] == 1500


@pytest.mark.parametrize("greeting", [b"* OK IMAP4 ready\r\n", b":irc NOTICE\r\n", b"$abc\r\n", b"+OK POP3\r\n" * 9])
def test_whatever_answers_that_is_no_redis_is_said_to_be_none(greeting: bytes) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def greet() -> None:
            with contextlib.suppress(OSError):
                while True:
                    server.accept()[0].sendall(greeting)

        threading.Thread(target=greet, daemon=True).start()
        with pytest.raises(ConfigError, match=r"replay.address: (what answers there is no|no|the) Redis"):
            reachable(f"redis://127.0.0.1:{server.getsockname()[1]}/0", "replay.address")


def test_a_redis_that_finds_no_memory_to_start_again_leaves_the_learner_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    server = redis_server.RedisServer(16)
    os.kill(server.pid, signal.SIGKILL)
    server._process.wait()

    def full(*words: Any, **more: Any) -> None:
        raise OSError(12, "Cannot allocate memory")

    monkeypatch.setattr("subprocess.Popen", full)
    assert not server.mend(1)
    monkeypatch.undo()
    assert server.mend(2)
    server.close()


def cart(game: str = "gym:CartPole-v1", **scheduler: float) -> StartsConfig:
    """Two tasks of a game whose choices have no numbers, which are the same one."""
    learner = {"kind": "dqn", "warmup": 16, "minibatch": 8, "capacity": 100, "updates": 0.25, "fragment": 4,
               "network": {"policy": [8], "critic": [8]}}  # fmt: skip
    tasks = [{"name": "one"}, {"name": "two", "hard": True}]
    config = load({**settings(), "game": game, "tasks": tasks, "learner": learner, "iterations": 20,
                   "checkpoint_every": 10, "evaluate_every": 1, "episodes": 10, "environments": 2,
                   "scheduler": scheduler})  # fmt: skip
    assert isinstance(config, StartsConfig)
    return config


@pytest.mark.parametrize(("given", "ends"), [({}, (0, 500)), ({"low": 0.0, "high": 50.0}, (0, 50))])
def test_without_wins_scores_are_between_the_ends_that_the_study_says_or_the_game_declares(
    given: dict[str, float], ends: tuple[int, int], store: FolderStore
) -> None:
    found = list(run(cart(**given), store))
    assert isinstance(found[-1], Finished), found[-1]
    last = [event.metrics for event in found if isinstance(event, Progressed)][-1]
    assert (last["least_score"], last["largest_score"]) == ends
    assert 0 < last["task-2/success_low"] < last["task-2/success"] < last["task-2/success_high"] < 1


def test_a_game_with_neither_wins_nor_ends_is_refused_before_anything_starts(store: FolderStore) -> None:
    (only,) = run(cart("gym:Acrobot-v1"), store)
    assert isinstance(only, Failed)
    assert "scheduler.high: gym:Acrobot-v1 tells of no wins" in only.message
    assert isinstance(list(run(cart("gym:Acrobot-v1", low=-500.0, high=0.0), store))[-1], Finished)


class Published:
    """A subscriber that a test publishes to."""

    def __init__(self) -> None:
        self.frames: deque[Frame] = deque()

    def newest(self, timeout_s: float) -> Frame | None:
        return self.frames.pop() if self.frames else None


def test_an_actor_of_its_own_process_streams_one_parcel_for_each_network_and_rests_where_its_start_does(
    store: FolderStore,
) -> None:
    config = study()
    payload = json.dumps({"config": config.model_dump(mode="json"), "store": store.address, "number": 1}).encode()
    acting = build(payload)
    agent = TaskTraining(config, acting.actor.learner.spec.seat, None)
    subscriber, beats = Published(), []
    stream = acting.stream(subscriber, beats.append)
    assert next(stream) == []
    assert beats == [True], "it waits for a network"
    subscriber.frames.append(encode_weights(Weights("agent", 4, 0, 7, agent.vectors)))
    head, body = next(stream)
    parcel = decode(bytes(body))
    assert json.loads(bytes(head)) == [4]
    assert (parcel.task, parcel.version, parcel.size) == (1, 7, 4 * config.learner.fragment)
    assert next(stream) == [], "one for each network"
    resting = agent.vectors | {ACTIVE: np.array([1, 0, 1], np.float32)}
    subscriber.frames.append(encode_weights(Weights("agent", 4, 0, 8, resting)))
    assert next(stream) == []
    acting.close()


def test_an_actor_that_does_not_wait_plays_so_far_ahead_and_no_farther(store: FolderStore) -> None:
    config = study(sampling="asynchronous", ahead=3)
    actor, end = actor_of(config, store)
    vectors = TaskTraining(config, actor.learner.spec.seat, None).vectors
    end.subscriber = subscriber = Published()
    for version in (0, 1):
        subscriber.frames.append(encode_weights(Weights("agent", 0, version, version, vectors)))
        played = 0
        while actor.look() or actor.busy:
            actor.play()
            played += 1
        assert played == 3
    parcels = list(end.parcels)
    assert [parcel.version for parcel in parcels] == [0] * 3 + [1] * 3
    assert [parcel.first for parcel in parcels] == [32 * i for i in range(6)], "battles go on"
    actor.close()


def test_a_stop_is_heeded_while_actors_in_this_process_are_made(
    store: FolderStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[TaskActor] = []

    def counted(*order: Any) -> TaskActor:
        made.append(make_actor(*order))
        return made[-1]

    closed: list[TaskActor] = []
    monkeypatch.setattr(start_actors_here, "make_actor", counted)
    monkeypatch.setattr(TaskActor, "close", lambda actor: closed.append(actor))
    found = list(run(study(actors=50), store, control=lambda: "stop" if len(made) == 4 else ""))
    assert isinstance(found[-1], Stopped)
    assert len(made) == 4
    assert closed == made


def actor_of(config: StartsConfig, store: FolderStore) -> tuple[TaskActor, StreamedEnd]:
    end = StreamedEnd(0)
    return make_actor(config, store, 0, end), end


def test_episodes_travel_with_their_transitions(store: FolderStore) -> None:
    made = _Starts(study(), store, lambda: "")
    made._prepare(begun=False)
    with open_actors(made.config, store, 0, NOTHING) as actors:
        actors.publish(Weights("agent", 0, 0, 0, made.agent.vectors))
        arrivals = [arrival for _ in range(3) for arrival in actors.gather(0.0, 1)]
        assert actors.gather(0.0, 1) == [], "all wait for the next network"
    assert [arrival.work.task for arrival in arrivals] == [0, 1, 2]
    for arrival in arrivals:
        parcel: Parcel = arrival.work
        assert parcel.episodes[:, RETURNS].tolist() == parcel.returns.tolist()
        assert [e.length for e in arrival.episodes] == parcel.episodes[:, 0].tolist()
    assert sum(len(arrival.episodes) for arrival in arrivals) > 0


def test_the_scheduler_is_told_of_a_task_once_enough_of_its_episodes_have_ended(store: FolderStore) -> None:
    made = _Starts(study(scheduler={"episodes": 5}), store, lambda: "")
    made._prepare(begun=False)
    tasks, told = made.agent.tasks, []
    tasks.scheduler.played = lambda i, R, n: told.append((i, R, n))  # type: ignore[method-assign]
    for score in (0.0, 1.0):
        rows = np.full((2, RETURNS + 1), score)
        tasks._played(Parcel(1, {}, np.zeros(2), 0, "a", 0, episodes=rows))
    assert told == []
    tasks._played(Parcel(1, {}, np.zeros(1), 0, "a", 0, episodes=np.ones((1, RETURNS + 1))))
    assert told == [(1, 0.6, 5)]
    assert tasks.scores == [[], [], []]


def test_success_is_winning_and_only_where_no_win_is_told_how_high_the_score_is() -> None:
    rows = np.full((4, RETURNS + 1), np.nan)
    rows[:, SCORE], rows[:, WIN] = [0.2, 0.1, 7.0, -9.0], [1, 0, np.nan, np.nan]
    assert successes(rows, (0.0, 10.0)) == [1.0, 0.0, 0.7, 0.0]
    assert successes(rows, None) == [1.0, 0.0]
    assert successes(np.empty((0, 0)), (0.0, 1.0)) == []


def test_one_after_the_other_goes_on_from_a_late_start_that_is_won_though_it_scores_little(store: FolderStore) -> None:
    made = _Starts(study(scheduler={"kind": "dbc", "episodes": 5}), store, lambda: "")
    made._prepare(begun=False)
    tasks = made.agent.tasks
    rows = np.zeros((5, RETURNS + 1))
    rows[:, WIN], rows[:, SCORE] = 1.0, 0.3  # all of the way that was left
    for _ in range(10):
        assert tasks.scheduler.active == (True, False, False), "a stage ends by fifty episodes at least"
        tasks._played(Parcel(0, {}, np.zeros(5), 0, "a", 0, episodes=rows))
        tasks.scheduler.learned(0, 0.0)
    assert tasks.scheduler.active == (False, True, False)


def test_where_nobody_waits_minibatches_that_are_due_come_a_few_at_a_time_and_nobody_runs_ahead(
    store: FolderStore,
) -> None:
    made = _Starts(study(sampling="asynchronous", iterations=400), store, lambda: "")
    made._prepare(begun=False)
    agent, published = made.agent, []
    with open_actors(made.config, store, 0, NOTHING) as actors:
        made._publish(actors, [AGENT])
        while not (agent.tasks.iterations and agent.tasks.replays.sizes.all()):
            agent.learn(actors.gather(0.1, 1))
    began, agent.tasks.owed, agent.tasks.cut = agent.tasks.iterations, 3 * SLICE + 0.5, True
    pool: Any = SimpleNamespace(publish=lambda weights: published.append(weights.version))
    agent.learn([])
    made._publish(pool, [AGENT])
    assert agent.tasks.iterations == began + SLICE
    assert (agent.need, made._batches(), published) == (0, {AGENT: []}, []), "commands are heeded in between"
    while agent.tasks.cut:
        agent.learn([])
    assert (agent.tasks.iterations, agent.tasks.owed) == (began + 3 * SLICE, 0.5), "and all that are due are made"
    made._publish(pool, [AGENT])
    assert (agent.need, len(published)) == (1, 1)
    assert made._batches() == {}


def test_a_study_whose_last_round_is_a_short_one_ends_with_all_its_rounds(store: FolderStore) -> None:
    found = list(run(study(iterations=90, checkpoint_every=20, learner={"updates": 8.0}), store))
    started, last = found[0], [event for event in found if isinstance(event, Progressed)][-1]
    assert isinstance(started, Started)
    assert (started.ticks, last.tick) == (5, 5)


def test_decisions_lost_before_a_study_was_interrupted_are_not_forgotten(store: FolderStore) -> None:
    config = study(sampling="asynchronous")
    made = _Starts(config, store, lambda: "")
    made._prepare(begun=False)
    made.before = Lost(3, 4, 5)
    again = _Starts(config, store, lambda: "")
    again._prepare(begun=True)
    again.restore(made.checkpoint())
    assert again.missing == Lost(3, 4, 5)
    assert list(again._missing()) == []


def test_a_preset_leaves_out_the_scale_that_actors_cannot_share_and_who_asks_for_it_is_told() -> None:
    given = {name: value for name, value in settings().items() if name != "learner"}
    assert PRESETS["platform-mpdqn"].normalise_observations, "or this test says nothing"
    study = load(given | {"learner": "platform-mpdqn"})
    assert isinstance(study, StartsConfig)
    assert not study.learner.normalise_observations
    with pytest.raises(ConfigError, match="share no scale"):
        load(given | {"learner": {"preset": "platform-mpdqn", "normalise_observations": True}})

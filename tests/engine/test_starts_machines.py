"""Actors of starts that run on other machines than the learner: which Redis they can reach, and what is said of those
that reach none."""

from __future__ import annotations

import json
from collections import deque
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from engine.channel import Streamed, Weights, encode_weights
from engine.config.starts import StartsConfig
from engine.errors import ConfigError
from engine.events import Failed, Finished
from engine.runtime.redis_experience import Place, RedisActor, RedisLearner
from engine.runtime.redis_server import RedisServer
from engine.store import FolderStore
from engine.study import run, start_actor, start_actors_over_redis
from engine.study.start_actor import Acting, make_actor
from engine.study.start_actors_over_redis import ADDRESS, OverRedis, _Redis, named_redis
from engine.study.starts import TaskTraining
from tests.engine.test_starts import study

OVER_REDIS: dict[str, Any] = {"sampling": "asynchronous", "replay": {"where": "redis", "megabytes": 64}}
SEVERAL: Any = SimpleNamespace(hosts=["this machine", "another"])
ONE: Any = SimpleNamespace(hosts=["this machine"])


def over_redis(address: str = "") -> StartsConfig:
    """A study over its own Redis, or over the one at an address."""
    return study(**OVER_REDIS | ({"replay": {"where": "redis", "address": address}} if address else {}))


@pytest.fixture
def server() -> Any:
    server = RedisServer(16)
    yield server
    server.close()


def test_a_redis_at_a_path_of_this_machine_is_refused_where_ray_has_others(
    server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, at_path = _Redis(over_redis()), _Redis(over_redis(server.url))
    assert own.hosts(ONE) == at_path.hosts(ONE) == ["this machine"]
    with pytest.raises(ConfigError, match=r"replay\.where: Ray has 2 machines, .* or choose memory"):
        own.hosts(SEVERAL)
    with pytest.raises(ConfigError, match=r"replay\.address: Ray has 2 machines"):
        at_path.hosts(SEVERAL)
    own.close()
    monkeypatch.setattr("engine.runtime.redis_check.reachable", lambda address, field: None)
    assert _Redis(over_redis("redis://10.0.0.1:6379/0")).hosts(SEVERAL) == SEVERAL.hosts


def test_a_study_that_names_no_redis_takes_the_one_that_its_operator_names(
    server: RedisServer, store: FolderStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert named_redis(over_redis().replay) == ("", "")
    monkeypatch.setenv(ADDRESS, server.url)
    assert named_redis(over_redis().replay) == (server.url, ADDRESS)
    assert named_redis(over_redis("redis://x").replay) == ("redis://x", "replay.address")
    monkeypatch.setattr(RedisServer, "__init__", lambda *_: pytest.fail("it begins one of its own"))
    small = over_redis().model_copy(update={"iterations": 80})
    assert isinstance(list(run(small, store))[-1], Finished)
    monkeypatch.setenv(ADDRESS, "unix:///nowhere")
    (only,) = run(small, store)
    assert isinstance(only, Failed)
    assert f"{ADDRESS}: no Redis answers there" in only.message


def test_an_actor_says_once_that_it_is_cut_off_from_its_redis_and_once_that_it_no_longer_is(
    server: RedisServer, store: FolderStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    config, place = over_redis(), Place(server.url, "job", "a")
    end, now = RedisActor(place, 0), [0.0]
    acting = Acting(make_actor(config, store, 0, end), None, end)
    monkeypatch.setattr(start_actor, "time", SimpleNamespace(monotonic=lambda: now[0], sleep=lambda _: None))

    def after(seconds: float) -> list[bool]:
        now[0] += seconds
        acting.actor.look()
        return [json.loads(bytes(frames[0])) for frames in acting._changes()]

    assert [after(seconds) for seconds in (0, 59, 2, 100)] == [[], [], [True], []], "nobody has published a network"
    learner = RedisLearner(place, 3)
    vectors = TaskTraining(config, acting.actor.learner.spec.seat, None).vectors
    learner.publish(encode_weights(Weights("agent", 0, 0, 0, vectors)), 0)
    assert [after(seconds) for seconds in (1, 1000)] == [[False], []]
    server._process.kill()
    server._process.wait()
    end.add({"a": np.zeros(1)})
    assert [after(seconds) for seconds in (1, 61)] == [[], [True]], "it has a network, and nothing of it arrives"
    acting.close()
    learner.close()


class Workers:
    """Actors elsewhere, of which a test says what they stream."""

    def __init__(self) -> None:
        self.said: deque[Streamed] = deque()

    def say(self, number: int, *, cut_off: bool) -> None:
        self.said.append(Streamed([json.dumps(cut_off).encode()], worker=number))

    def gather(self, timeout_s: float, most: int) -> list[Streamed]:
        return [self.said.popleft()] if self.said else []

    def incidents(self) -> list[Any]:
        return []


def test_actors_that_get_no_network_from_a_redis_that_answers_the_learner_are_an_incident(
    server: RedisServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config, now, begun = study(**OVER_REDIS, actors=2), [0.0], list[tuple[int, str]]()
    monkeypatch.setattr(start_actors_over_redis, "time", SimpleNamespace(monotonic=lambda: now[0]))
    workers: Any = Workers()
    ended: Any = SimpleNamespace(take=lambda: [begun.pop() for _ in range(len(begun))])
    redis = _Redis(config)
    actors = OverRedis(config, RedisLearner(Place(redis.url, "job", "a"), 3), redis, workers=workers, ended=ended)

    def said(after_s: float) -> list[str]:
        now[0] += after_s
        actors.gather(0.0, 1)
        return [trouble.message for trouble in actors.incidents()]

    workers.say(0, cut_off=True)
    assert said(1) == [], "Redis may just have begun"
    workers.say(5, cut_off=True)
    (first,) = said(100)
    assert first.startswith("2 actors of “The last platform”, “All three” got no network from Redis for 60 s")
    assert said(1) == [], "once"
    workers.say(0, cut_off=False)
    assert said(1) == []
    begun.append((5, str(tmp_path / "none")))  # another process took its place
    assert said(1) == ["All actors get networks from Redis again."]
    workers.say(1, cut_off=True)
    monkeypatch.setattr(RedisLearner, "silent", True)
    assert [each[:22] for each in said(1)] == ["Redis does not answer."], "which is why they get none"
    actors.end.close()
    redis.close()

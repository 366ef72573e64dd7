"""What does not fit a learner is left out and counted, whoever sent it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast

import numpy as np
import pytest
from redis import Redis

from engine.arrays import MAGIC, pack
from engine.channel import Weights
from engine.config.starts import StartsConfig
from engine.errors import StoreError
from engine.events import AnyEvent, Finished, Incident, Progressed
from engine.experience import NOTHING, Lost, Parcel, decode, encode
from engine.rl.learnable_parcels import LearnableParcels
from engine.rl.task_actor import LENGTH, RETURNS, SCORE, WIN
from engine.runtime import redis_server
from engine.store import FolderStore
from engine.studies import load
from engine.study import run
from engine.study.start_actors import open_actors
from engine.study.starts import _Starts
from tests.engine.test_starts import OVER_REDIS, settings, study


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[LearnableParcels, Parcel]:
    """What fits the learner of a small study, and one of its actors' parcels in which episodes end."""
    store = FolderStore(tmp_path_factory.mktemp("store"))
    starts = _Starts(study(), store, lambda: "")
    starts._prepare(begun=False)
    with open_actors(starts.config, store, 0, NOTHING) as actors:
        actors.publish(Weights("agent", 0, 0, 0, starts.agent.vectors))
        parcels = [cast(Parcel, arrival.work) for _ in range(3) for arrival in actors.gather(0.0, 1)]
    return LearnableParcels(starts.agent.tasks.learner), next(parcel for parcel in parcels if len(parcel.episodes))


Made = tuple[LearnableParcels, Parcel]


def changed(parcel: Parcel, column: str, value: float) -> Parcel:
    """The parcel with another number at the beginning of a column."""
    columns = {name: array.copy() for name, array in parcel.columns.items()}
    columns[column].reshape(-1)[0] = value
    return parcel._replace(columns=columns)


TWO = {"a": np.zeros(2)}


def told(parcel: Parcel, column: int, value: float) -> Parcel:
    """The parcel with another number told of its first episode."""
    episodes = parcel.episodes.copy()
    episodes[0, column] = value
    return parcel._replace(episodes=episodes)


def test_what_an_actor_sends_fits(made: Made) -> None:
    fits, parcel = made
    assert parcel.size > 0
    assert fits(decode(encode(parcel)))
    assert fits(told(told(parcel, WIN, np.nan), SCORE, np.nan)), "some games tell of no wins"
    assert fits(parcel._replace(columns={}, returns=np.empty(0), episodes=np.empty((0, 0)))), (
        "its last says what it lost"
    )


SMALL = {"network": {"policy": [8], "critic": [8]}, "warmup": 16, "minibatch": 8, "capacity": 2000}


@pytest.mark.parametrize(
    ("game", "learner"),
    [("platform", {"kind": "pdqn", "beta": 0.5}), ("goal", {"kind": "mpdqn"}), ("half-field", {"kind": "paddpg"}),
     ("half-field-keeper", {"kind": "mpdqn", "beta": 0.2}), ("cartpole", {"kind": "dqn"}),
     ("pendulum", {"kind": "td3"}), ("pendulum", {"kind": "sac"})],
)  # fmt: skip
def test_what_actors_of_other_games_and_learners_send_fits_these(
    game: str, learner: dict[str, Any], store: FolderStore
) -> None:
    config = load({**settings(), "game": game, "tasks": [{"name": "a", "hard": True}], "learner": learner | SMALL,
                   "scheduler": {"low": 0.0, "high": 1.0}})  # fmt: skip
    assert isinstance(config, StartsConfig)
    starts = _Starts(config, store, lambda: "")
    starts._prepare(begun=False)
    fits = LearnableParcels(starts.agent.tasks.learner)
    with open_actors(config, store, 0, NOTHING) as actors:
        for epoch in range(30):
            actors.publish(Weights("agent", epoch, 0, epoch, starts.agent.vectors))
            (arrival,) = actors.gather(0.0, 1)
            assert fits(decode(encode(cast(Parcel, arrival.work))))


def test_a_parcel_without_a_decision_does_no_harm(made: Made) -> None:
    fits, parcel = made
    assert fits(parcel._replace(columns={name: column[:0] for name, column in parcel.columns.items()}))


def test_what_a_learner_cannot_learn_from_does_not_fit(made: Made) -> None:
    fits, parcel = made
    name = next(name for name in parcel.columns if name.startswith("s."))
    wide = parcel.columns[name]
    for column in ("action", "reward", "factor", name):
        assert not fits(changed(parcel, column, np.nan)), column
    for choice in (-1, 0.5, 3):
        assert not fits(changed(parcel, "action", choice)), "Platform has three choices"
    for columns in (
        {name: wide}, {**parcel.columns, "more": wide}, {**parcel.columns, "mask": wide},
        {**parcel.columns, name: wide.astype(np.float64)}, {**parcel.columns, name: wide[:, :-1]},
    ):  # fmt: skip
        assert not fits(parcel._replace(columns=columns))
    for bad in (told(parcel, LENGTH, np.nan), told(parcel, LENGTH, -1), told(parcel, LENGTH, 1e300),
                told(parcel, SCORE, np.inf),
                told(parcel, RETURNS, np.nan), parcel._replace(episodes=parcel.episodes[:, :-1]),
                parcel._replace(returns=np.full(len(parcel.returns), np.inf))):  # fmt: skip
        assert not fits(bad)


def written(arrays: Mapping[str, np.ndarray[Any, Any]] = TWO, **other: Any) -> bytes:
    """A parcel of two decisions, with other arrays or other entries in its header."""
    meta = {"task": 0, "version": 0, "actor": "a", "first": 0, "unsent": 0, "refused": 0, "why": "", "returns": []}
    return pack(meta | other, arrays)


def headed(header: bytes) -> bytes:
    return MAGIC + len(header).to_bytes(4, "little") + header


@pytest.mark.parametrize("data", [
    *(written(**other) for other in (
        {"first": 10**30}, {"first": float("inf")}, {"first": -1}, {"first": 1.5}, {"task": True}, {"version": None},
        {"unsent": 2, "refused": 1, "first": 2}, {"returns": [10**400]}, {"returns": 1.0}, {"returns": [[1.0]]},
    )),
    headed(b"[" * 100_000), headed(b"[]"), headed(b'{"meta":{},"arrays":[[]]}'), headed(b'{"meta":[],"arrays":[]}'),
    written({"a": np.zeros(())}),
    written({".told": np.zeros(3)}),
    written({".told": np.zeros((3, 4))}),
])  # fmt: skip
def test_no_message_is_worse_than_unreadable(data: bytes) -> None:
    with pytest.raises(StoreError):
        decode(data)
    assert decode(written(first=2**53 - 1, unsent=3)).size == 2


def test_a_job_whose_redis_is_sent_anything_goes_on_and_says_how_much_it_left_out(
    store: FolderStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = redis_server.RedisServer(64)
    client = Redis.from_url(server.url)
    found: list[AnyEvent] = []
    sent: Mapping[str, Any] = {"task": 0, "version": 0, "actor": "stranger", "first": 0, "returns": [1.0]}
    nan = np.full((1, 4), np.nan)
    strange = [written(), written(first=10**30), encode(Parcel(columns={}, episodes=nan, **sent)), b"anything"]
    for event in run(study(**OVER_REDIS | {"replay": {"where": "redis", "address": server.url}}), store):
        found.append(event)
        if isinstance(event, Progressed) and event.tick == 1:
            (key,) = {key.rsplit(b":", 1)[0] for key in cast("list[bytes]", client.keys("*:version"))}
            client.lpush(key + b":task:0", *strange)
    assert isinstance(found[-1], Finished)
    last = [event.metrics for event in found if isinstance(event, Progressed)][-1]
    assert last["missing_strange"] == len(strange)
    assert last["missing_gone"] < 10**6
    said = [event.message for event in found if isinstance(event, Incident) and event.what == "lost-experience"]
    assert any("4 of the messages that arrived are no experience of this study" in each for each in said), said
    server.close()


def test_what_was_left_out_is_not_forgotten_by_a_later_attempt() -> None:
    before = Lost(*json.loads(json.dumps(list(Lost(1, 2, 3, "why", 4)))))
    assert before == Lost(1, 2, 3, "why", 4)
    assert Lost(1, 2, 3, "why", 5).exceeds(before)
    assert not before.exceeds(before)

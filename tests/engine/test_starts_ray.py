"""Actors of starts as Ray actors: in step they give the same agent as in one process though one is killed; over Redis
nobody waits."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.events import AnyEvent, Failed, Finished, Incident, Progressed
from engine.runtime.cluster import Cluster
from engine.runtime.redis_server import RedisServer
from engine.store import FolderStore
from engine.study import run
from tests.contracts.ray_server import RayServer, all_gone, ray_server
from tests.engine.rounds_told import curve
from tests.engine.test_starts import study

RAY = {"kind": "ray"}
LONG = {"iterations": 640, "checkpoint_every": 160, "evaluate_every": 0, "episodes": 2}


@pytest.fixture(scope="module")
def ray() -> Iterator[RayServer]:
    """One Ray for all tests of this file; its two processors must do for three actors."""
    with ray_server(cpus=2) as server:
        yield server


def test_in_step_they_end_with_the_same_agent_though_one_is_killed(ray: RayServer, store: FolderStore) -> None:
    def without(found: list[AnyEvent]) -> list[object]:
        return [(*row[:3], {k: v for k, v in row[3].items() if k != "lost"}) for row in curve(found)]

    here = without(list(run(study(**LONG), store)))
    found: list[AnyEvent] = []
    for event in run(study(pool=RAY, **LONG), store):
        found.append(event)
        if isinstance(event, Progressed) and event.tick == 1:
            victim = ray.workers()[0]
            victim.kill()
            assert all_gone([victim])
    assert isinstance(found[-1], Finished), found[-1]
    assert [e.what for e in found if isinstance(e, Incident)] == ["lost-worker"]
    assert without(found) == here


@pytest.mark.parametrize("where", ["memory", "redis"])
def test_where_nobody_waits_they_play_on_without_the_one_that_is_killed(
    where: str, ray: RayServer, store: FolderStore, base: Path
) -> None:
    config = study(pool=RAY, sampling="asynchronous", replay={"where": where}, **LONG)
    found: list[AnyEvent] = []
    for event in run(config, store):
        found.append(event)
        if isinstance(event, Progressed) and event.tick == 1:
            victim = ray.workers()[0]
            victim.kill()
            assert all_gone([victim])
    assert isinstance(found[-1], Finished), found[-1]
    assert "lost-worker" in {e.what for e in found if isinstance(e, Incident)}
    last = [event.metrics for event in found if isinstance(event, Progressed)][-1]
    assert last["iterations"] == 640
    assert last["missing_unsent"] == last["missing_uncounted"] == 0
    assert not list(base.glob("equipoise-counts-*"))


def test_when_redis_is_killed_actors_in_processes_of_their_own_play_on_and_what_was_lost_is_said(
    ray: RayServer, store: FolderStore, servers: list[RedisServer]
) -> None:
    more = {"replay": {"where": "redis", "megabytes": 64}, "ahead": 50, **LONG, "iterations": 2000}
    found: list[AnyEvent] = []
    for event in run(study(pool=RAY, sampling="asynchronous", **more), store):
        found.append(event)
        if isinstance(event, Progressed) and event.tick == 1:
            os.kill(servers[0].pid, signal.SIGKILL)
    assert isinstance(found[-1], Finished), found[-1]
    said = [event.message for event in found if isinstance(event, Incident)]
    assert any("had ended or hung. It was started again, empty" in each for each in said), said
    assert not any(event.what == "lost-worker" for event in found if isinstance(event, Incident)), said
    last = [event.metrics for event in found if isinstance(event, Progressed)][-1]
    assert last["iterations"] == 2000
    assert sum(n for name, n in last.items() if name.startswith("missing_")) > 0, last


def test_a_redis_of_a_study_s_own_is_refused_before_anybody_plays_where_ray_has_other_machines(
    ray: RayServer, store: FolderStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin = Cluster.__init__

    def begun(cluster: Cluster) -> None:
        begin(cluster)
        cluster.hosts = 3 * cluster.hosts

    monkeypatch.setattr(Cluster, "__init__", begun)
    (only,) = run(study(pool=RAY, sampling="asynchronous", replay={"where": "redis"}, **LONG), store)
    assert isinstance(only, Failed)
    assert "replay.where: Ray has 3 machines" in only.message
    assert not ray.workers()

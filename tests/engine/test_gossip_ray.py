"""Agents that mix, as Ray actors linked to each other: whoever is killed, those that wait end with the same parameters,
and the others close their ranks meanwhile."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.arrays import unpack
from engine.events import AnyEvent, Finished, Incident, Progressed, decode
from engine.store import FolderStore
from engine.study import run
from tests.contracts.ray_server import RayServer, all_gone, eventually, ray_server
from tests.engine.rounds_told import curve
from tests.engine.test_gossip_study import settings, study

RAY = {"kind": "ray"}
LONG = {"agents": 3, "steps": 96 * 120, "checkpoint_every": 96 * 40, "evaluate_every": 0}
"""Three rounds of forty updates: an agent that is killed once the first is over is in the middle of another."""
PAIR = {**LONG, "agents": 2}


@pytest.fixture(scope="module")
def ray() -> Iterator[RayServer]:
    """One Ray for all tests of this file; its two processors must do for three agents."""
    with ray_server(cpus=2) as server:
        yield server


def killed(ray: RayServer, store: FolderStore, **more: object) -> list[AnyEvent]:
    """The events of a study of which an agent is killed after the first round."""
    found: list[AnyEvent] = []
    for event in run(study(pool=RAY, **LONG | more), store):
        found.append(event)
        if isinstance(event, Progressed) and event.tick == 1:
            victim = ray.workers()[0]
            victim.kill()
            assert all_gone([victim])
    assert isinstance(found[-1], Finished), found[-1]
    assert [e.what for e in found if isinstance(e, Incident)] == ["lost-worker"]
    return found


def test_agents_that_wait_end_with_the_same_parameters_though_one_is_killed(ray: RayServer, store: FolderStore) -> None:
    def without(found: list[AnyEvent]) -> list[object]:
        return [(*row[:3], {k: v for k, v in row[3].items() if k != "lost"}) for row in curve(found)]

    here = without(list(run(study(**LONG), store)))
    assert without(killed(ray, store)) == here


@pytest.mark.parametrize("staleness", [1, None])
def test_agents_that_do_not_wait_close_their_ranks_round_one_that_is_killed(
    ray: RayServer, store: FolderStore, staleness: int | None
) -> None:
    found = killed(ray, store, staleness=staleness, steps=4 * LONG["steps"])
    last = [event for event in found if isinstance(event, Progressed)][-1]
    assert last.counters.steps >= LONG["steps"]
    later = [event for event in found if isinstance(event, Progressed) and event.tick > 1]
    tables = [unpack(store.get(event.artifacts["table"])).arrays for event in later]
    closed = [{*links["sender"].tolist()} <= {*links["taker"].tolist()} for links in tables]
    assert any(closed), "in some round those that are there take from each other"
    assert staleness is None or all(links["age"].max(initial=0) <= staleness for links in tables)


def test_a_study_that_is_killed_with_all_its_processes_goes_on_to_the_same_parameters(
    ray: RayServer, store: FolderStore, tmp_path: Path
) -> None:
    folder = tmp_path / "job"
    (tmp_path / "study.json").write_text(json.dumps(settings(pool=RAY, **PAIR)))
    command = [sys.executable, "-m", "engine", "run", str(tmp_path / "study.json"), "--job-dir", str(folder)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout
    for line in process.stdout:
        if "round 2:" in line:
            break
    process.kill()
    process.wait()
    process.stdout.close()
    resume = [sys.executable, "-m", "engine", "resume", str(folder)]
    subprocess.run(resume, check=True, capture_output=True)
    events = [decode(line) for line in (folder / "events.jsonl").read_text().splitlines()]
    whole = curve(list(run(study(**PAIR), store)))
    assert curve(events) == whole
    assert eventually(lambda: not ray.workers())

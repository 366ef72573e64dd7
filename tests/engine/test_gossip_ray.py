"""Agents that mix, as Ray actors linked to each other: whoever is killed, those that wait end with the same parameters,
and the others close their ranks meanwhile."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from engine.arrays import unpack
from engine.events import AnyEvent, Finished, Incident, Logged, Progressed, Stopped, decode
from engine.rl.gossip_agent import Report
from engine.rl.policy import Policy
from engine.store import FolderStore
from engine.study import run
from engine.study.agent_pool import BOUND, RemoteAgents
from engine.study.control import Command, Control
from engine.study.evaluation import Found, MeasuredPolicies, evaluate
from tests.contracts.ray_server import RayServer, all_gone, eventually, ray_server
from tests.engine.rounds_told import curve
from tests.engine.test_gossip_study import settings, study

RAY = {"kind": "ray"}
LONG: dict[str, Any] = {"agents": 3, "steps": 96 * 120, "checkpoint_every": 96 * 40, "evaluate_every": 0}
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


@pytest.mark.parametrize("topology", ["exponential", "bipartite", "full", "tree"])
def test_processes_that_wait_end_as_one_process_does_whoever_is_linked_to_whom(
    topology: str, ray: RayServer, store: FolderStore
) -> None:
    length = {"steps": 4 * 32 * 20, "checkpoint_every": 4 * 32 * 10, "evaluate_every": 0}
    four: dict[str, Any] = {"topology": topology, "agents": 4, **length}
    there = list(run(study(pool=RAY, **four), store))
    assert isinstance(there[-1], Finished), there[-1]
    assert curve(there) == curve(list(run(study(**four), store)))


def test_who_does_not_wait_closes_ranks_in_a_tree_round_one_that_is_killed(ray: RayServer, store: FolderStore) -> None:
    killed(ray, store, topology="tree", staleness=None, agents=4)


@pytest.mark.parametrize("staleness", [1, None])
def test_agents_that_do_not_wait_close_their_ranks_round_one_that_is_killed_until_another_is_there(
    ray: RayServer, store: FolderStore, staleness: int | None
) -> None:
    """A round is one update of each: many are over before another process has even started."""
    rings, later = list[dict[int, int]](), list[dict[int, int]]()
    lost: list[Incident] = []
    config = study(pool=RAY, **LONG | {"staleness": staleness, "steps": 10**9, "checkpoint_every": 96})
    for event in run(config, store, control=lambda: "stop" if later and len(later[-1]) == 3 else ""):
        if isinstance(event, Incident):
            lost.append(event)
        if isinstance(event, Progressed):
            links = unpack(store.get(event.artifacts["table"])).arrays
            ring = dict(zip(links["taker"].tolist(), links["sender"].tolist(), strict=True))
            assert staleness is None or links["age"].max(initial=0) <= staleness
            (later if lost else rings).append(ring)
            if len(rings) == 2 and not lost:
                victim = ray.workers()[0]
                victim.kill()
                assert all_gone([victim])
    assert isinstance(event, Stopped), event
    assert [each.what for each in lost] == ["lost-worker"]
    assert any(len(ring) == 2 and {*ring.values()} == {*ring} for ring in later), later


def test_agents_go_on_during_an_evaluation_and_one_that_is_killed_then_is_replaced_then(
    ray: RayServer, store: FolderStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    updates: dict[int, list[int]] = {0: [], 1: [], 2: []}
    there = [3]

    def listen(agents: RemoteAgents) -> list[Report]:
        news = agents.gather(0.0)
        for report in news:
            updates[report.number].append(report.version)
        there.append(len(agents.present))
        return news

    def looking(measured: MeasuredPolicies, first: int, control: Control, beside: Callable[[], None]) -> Found | None:
        """The first evaluation takes until everything has happened."""
        if len(there) == 1:
            victim = ray.workers()[0]
            victim.kill()
            for many in (2, 3):
                assert eventually(lambda many=many: beside() or there[-1] == many)
                for reports in updates.values():
                    reports.clear()
                assert eventually(lambda many=many: beside() or sum(map(bool, map(risen, updates.values()))) >= many)
        return evaluate(measured, first, control, beside)

    monkeypatch.setattr(RemoteAgents, "listen", listen)
    monkeypatch.setattr("engine.study.gossip.evaluate", looking)
    *found, end = run(
        study(pool=RAY, **LONG | {"staleness": 1, "steps": 4 * LONG["steps"], "evaluate_every": 1}), store
    )
    assert isinstance(end, Finished), end
    assert [e.what for e in found if isinstance(e, Incident)] == ["lost-worker"]
    assert [e.tick for e in found if isinstance(e, Progressed)][-1] == 12


def risen(versions: Sequence[int]) -> bool:
    """Whether an agent has gone on by more updates than messages of it may wait."""
    return bool(versions) and versions[-1] - versions[0] > 2 * BOUND


@pytest.mark.parametrize("staleness", [0, 1, None])
@pytest.mark.parametrize("ends", ["in time", "by a stop"])
def test_a_round_that_would_last_for_days_ends_with_what_its_agents_have_learned(
    staleness: int | None, ends: str, ray: RayServer, store: FolderStore
) -> None:
    days = {"agents": 3, "steps": 10**10, "checkpoint_every": 10**9, "evaluate_every": 0}
    minutes = 0.05 if ends == "in time" else 0
    found: list[AnyEvent] = []

    def control() -> Command:
        return "stop" if not minutes and found and found[-1].counters.steps > 2000 else ""

    for event in run(study(pool=RAY, staleness=staleness, minutes=minutes, **days), store, control=control):
        found.append(event)
    assert isinstance(found[-1], Finished if minutes else Stopped), found[-1]
    left = Policy.stored(store, found[-1].artifacts["policy_description"])
    assert left.version > 0
    assert found[-1].counters.steps > 0
    assert not [e.message for e in found if isinstance(e, Incident)]
    if staleness == 0 and not minutes:
        assert any("has learned from the" in e.message for e in found if isinstance(e, Logged)), "all came together"


def test_nothing_that_agents_had_on_the_disk_outlives_them(
    ray: RayServer, store: FolderStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders, close = list[Path](), RemoteAgents.close

    def noted(agents: RemoteAgents) -> None:
        folders.extend(Path(member.endpoint.removeprefix("ipc://")).parent for member in agents._here.values())
        assert all(folder.is_dir() for folder in folders)
        close(agents)

    monkeypatch.setattr(RemoteAgents, "close", noted)
    *_, end = run(study(pool=RAY, **PAIR), store)
    assert isinstance(end, Finished), end
    assert len(folders) == 2
    assert not any(folder.exists() for folder in folders)


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

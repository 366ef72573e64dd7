"""Evolution with a shared critic on Ray's workers: whoever is killed, a player, one that learns, the critic or the
study, it goes on, and where all of a round wait it ends with the same weights."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import psutil
import pytest

from engine.config.aesrl import AESRLConfig
from engine.events import AnyEvent, Finished, Incident, Logged, decode
from engine.problem import Evaluation
from engine.runtime.pool import Pool
from engine.runtime.ray_workers import RayWorkers
from engine.store import FolderStore
from engine.study import run
from engine.study.aesrl import _AESRL
from tests.contracts.ray_server import RayServer, all_gone, ray_server
from tests.engine.test_aesrl import policy, settings, study

RAY = {"kind": "ray", "workers": 2}
WAITING = {"kind": "aes-rl", "waiting": True, "population": 4}
SLOW: dict[str, Any] = {
    "steps": 300, "evaluate_every": 0,
    "learner": {"warmup": 60, "minibatch": 256, "capacity": 400, "network": {"policy": [64, 64], "critic": [64, 64]}},
}  # fmt: skip
"""Learning takes long enough to be killed in its middle."""


@pytest.fixture(scope="module")
def ray() -> Iterator[RayServer]:
    """One Ray for the tests of this file."""
    with ray_server(cpus=2) as server:
        yield server


class Struck(_AESRL):
    """A study that loses a worker while it is at work on each of some ``roles``, whichever comes first. Workers are
    stopped before work is handed out, so that none can have ended it, and one that took its work later before it is
    killed, so that no answer is on its way."""

    def __init__(self, config: AESRLConfig, store: FolderStore, roles: list[str]) -> None:
        super().__init__(config, store, lambda: "")
        self.roles = roles

    def _hand_out(self, pool: Pool) -> None:
        assert isinstance(pool, RayWorkers)
        pids = {name: member.beat.pid for name, member in pool._members.items()}
        workers = {name: psutil.Process(pid) for name, pid in pids.items() if pid and psutil.pid_exists(pid)}
        for worker in workers.values():
            worker.suspend()
        super()._hand_out(pool)
        if (holder := self._holder(pool)) in workers:
            self._kill(workers.pop(holder), self._role(pool, holder))
        for worker in workers.values():
            worker.resume()

    def finished(self, pool: Pool) -> list[Evaluation]:
        assert isinstance(pool, RayWorkers)
        holder = self._holder(pool)
        if holder is None:
            return super().finished(pool)
        worker = psutil.Process(pool._members[holder].beat.pid)
        worker.suspend()
        found = super().finished(pool)
        if (role := self._role(pool, holder)) in self.roles:
            self._kill(worker, role)
        else:
            worker.resume()
        return found

    def _kill(self, worker: psutil.Process, role: str) -> None:
        self.roles = [each for each in self.roles if each != role]
        worker.kill()
        assert all_gone([worker])

    def _holder(self, pool: RayWorkers) -> bytes | None:
        return next((name for name in pool._members if self._role(pool, name) in self.roles), None)

    def _role(self, pool: RayWorkers, worker: bytes) -> str:
        """What a worker is at work on; empty where it waits."""
        held = pool._ledger.holds(worker)
        return self.schedule.role(held[0].requests[0]) if held else ""


def struck(store: FolderStore, roles: list[str], method: dict[str, Any]) -> Finished:
    """The last event of such a study."""
    disturbed = Struck(study(method=method, pool=RAY, **SLOW), store, roles)
    found = list(disturbed.events(""))
    assert not disturbed.roles, "nobody was at work on these"
    assert [event.what for event in found if isinstance(event, Incident)] == ["lost-worker"] * len(roles)
    assert isinstance(found[-1], Finished), found[-1]
    return found[-1]


@pytest.fixture(scope="module")
def undisturbed() -> Finished:
    """The end of the same study in this process."""
    with TemporaryDirectory() as folder:
        last = list(run(study(method=WAITING, **SLOW), FolderStore(folder)))[-1]
    assert isinstance(last, Finished), last
    return last


def alike(one: AnyEvent, other: Finished) -> bool:
    return (policy(one), one.counters.steps) == (policy(other), other.counters.steps)


@pytest.mark.usefixtures("ray")
def test_in_rounds_it_ends_alike_though_who_plays_who_learns_and_the_critic_are_killed(
    store: FolderStore, undisturbed: Finished
) -> None:
    assert alike(struck(store, ["es", "rl", "critic"], WAITING), undisturbed)


@pytest.mark.usefixtures("ray")
@pytest.mark.parametrize(
    ("method", "roles"),
    [
        ({"kind": "cem-rl", "population": 4}, ["es", "rl", "critic"]),
        ({"kind": "erl", "population": 4, "every": 2}, ["es", "rl", "agent"]),
    ],
)
def test_generations_end_alike_though_who_plays_and_who_learns_are_killed(
    store: FolderStore, tmp_path: Path, method: dict[str, Any], roles: list[str]
) -> None:
    whole = list(run(study(method=method, **SLOW), FolderStore(tmp_path / "undisturbed")))[-1]
    assert isinstance(whole, Finished), whole
    assert alike(struck(store, roles, method), whole)


@pytest.mark.usefixtures("ray")
def test_where_nobody_waits_another_worker_takes_over_the_critic_that_is_killed(store: FolderStore) -> None:
    last = struck(store, ["critic"], {"kind": "aes-rl", "least_lessons": 1})
    assert last.counters.steps >= SLOW["steps"]
    told = last.summary
    assert told["critic_steps"] > 0
    assert told["held"] > 0, "who would play waits for a critic that is behind"
    assert told["held"] + sum(share for name, share in told.items() if name.startswith("busy_")) <= 1


@pytest.mark.usefixtures("ray")
@pytest.mark.parametrize(("method", "said"), [
    ({"kind": "aes-rl"}, ["2 workers share 1 processors: each takes about 2 times as long as on one of its own."]),
    ({"kind": "cem-rl", "population": 4, "parallel": False}, []),
])  # fmt: skip
def test_more_workers_than_processors_are_told_of_where_they_play_side_by_side(
    store: FolderStore, monkeypatch: pytest.MonkeyPatch, method: dict[str, Any], said: list[str]
) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0})
    found = list(run(study(method=method, pool={"kind": "ray", "workers": 2}), store))
    assert isinstance(found[-1], Finished), found[-1]
    assert [event.message for event in found if isinstance(event, Logged) and "share" in event.message] == said


def test_a_study_that_is_killed_goes_on_to_the_same_end(tmp_path: Path, undisturbed: Finished) -> None:
    folder = tmp_path / "job"
    (tmp_path / "study.json").write_text(json.dumps(settings(method=WAITING, **SLOW)))
    command = [sys.executable, "-m", "engine", "run", str(tmp_path / "study.json"), "--job-dir", str(folder)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout
    assert any("round 1:" in line for line in process.stdout)
    process.kill()
    process.wait()
    process.stdout.close()
    subprocess.run([sys.executable, "-m", "engine", "resume", str(folder)], check=True, capture_output=True)
    last = decode((folder / "events.jsonl").read_text().splitlines()[-1])
    assert alike(last, undisturbed)

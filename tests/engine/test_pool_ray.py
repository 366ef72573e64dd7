"""The pool of Ray actors keeps every pool's promises while its processes are killed."""

from __future__ import annotations

import json
import os
import random
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from engine.config.pool import PoolConfig
from engine.errors import ActorLost, ConfigError
from engine.problem import Evaluation
from engine.runtime import niceness
from engine.runtime.members import WorkerLimits
from engine.runtime.pool import Pool, open_pool
from engine.runtime.ray_workers import RayWorkers, _how
from tests.contracts import evaluators
from tests.contracts.evaluators import dangerous, requests
from tests.contracts.pool import PoolContract, check, collect
from tests.contracts.ray_server import NICENESS, PATIENCE_S, RayServer, all_gone, eventually, ray_server, start_driver

FACTORY = "tests.contracts.evaluators:build"


@pytest.fixture(scope="module")
def ray() -> Iterator[RayServer]:
    """One Ray for the tests of this file that leave it alive."""
    with ray_server() as server:
        yield server


def pool(
    marks: Path | str = "", pause_s: float = 0.0, limits: WorkerLimits | None = None, factory: str = FACTORY
) -> RayWorkers:
    """A pool of two workers."""
    payload = json.dumps({"marks": str(marks), "pause_s": pause_s}).encode()
    return RayWorkers(factory, lambda number, life: payload, allowed=("tests.",), limits=limits)


@pytest.mark.usefixtures("ray")
class TestRayPool(PoolContract):
    def open(self, marks: Path | str = "", batch_ms: int = 100, pause_s: float = 0.0, succeeded: bool = False) -> Pool:
        payload = json.dumps({"marks": str(marks), "pause_s": pause_s}).encode()
        config = PoolConfig(kind="ray", batch_ms=batch_ms)
        return open_pool(config, FACTORY, payload, allowed=("tests.",), succeeded=succeeded)


@pytest.mark.parametrize("seed", [1, 2])
def test_killing_any_actor_in_the_middle_changes_no_answer(ray: RayServer, seed: int) -> None:
    asked = requests(300)
    rng = random.Random(seed)
    kill_at = rng.randint(60, 240)
    told: dict[int, Evaluation] = {}
    with pool(pause_s=0.003) as running:
        running.submit(asked)
        while len(told) < kill_at:
            told.update((evaluation.id, evaluation) for evaluation in running.finished(1.0))
        victim = rng.choice(ray.workers())
        victim.kill()
        assert eventually(lambda: victim not in ray.workers())
        assert len(told) < len(asked)
        told.update(collect(running, len(asked) - len(told)))
        troubles = running.incidents()
    check(told, asked)
    assert [trouble.what for trouble in troubles] == ["lost-worker"]


def test_workers_are_nice_to_other_sessions_and_their_daemons_are_not(ray: RayServer) -> None:
    """Where the kernel does not group processes by session, they have sessions of their own all the same."""

    def group(pid: int) -> str:
        file = Path(f"/proc/{pid}/autogroup")
        return file.read_text().split()[-1] if file.exists() else "none"

    nice, usual = (str(NICENESS), "0") if niceness.AUTOGROUP.exists() else ("none", "none")
    with pool():
        assert eventually(lambda: [group(w.pid) for w in ray.workers() if os.getsid(w.pid) == w.pid] == [nice, nice])
    assert group(ray.daemon("raylet").pid) == usual


def test_two_deaths_over_a_request_change_no_answer(ray: RayServer, tmp_path: Path) -> None:
    asked = requests(40)
    asked[20] = dangerous(asked[20], evaluators.DIES_AT_FIRST, 2)
    with pool(tmp_path) as running:
        running.submit(asked)
        check(collect(running, len(asked)), asked)
    assert len(set((tmp_path / "20").read_text().split())) == 3, "two processes died, a third one answered"


def test_a_poisonous_genome_fails_after_three_deaths_alone_and_harms_no_other(ray: RayServer, tmp_path: Path) -> None:
    asked = requests(40)
    asked[20] = dangerous(asked[20], evaluators.POISON)
    with pool(tmp_path) as running:
        running.submit(asked)
        told = collect(running, len(asked))
        what = [trouble.what for trouble in running.incidents()]
    check(told, asked[:20] + asked[21:])
    assert told[20].status == "failed"
    assert "Three attempts in a row" in told[20].reason
    assert what.count("lost-worker") == len((tmp_path / "20").read_text().split()) >= 4
    assert what[-1] == "failed-candidate"


@pytest.mark.parametrize("what", [evaluators.HANGS, evaluators.FREEZES])
def test_a_worker_that_hangs_is_replaced(ray: RayServer, tmp_path: Path, what: int) -> None:
    asked = requests(40)
    asked[20] = dangerous(asked[20], what, 1)
    limits = WorkerLimits(beat_s=0.2, silence_s=6.0, progress_s=5.0)
    with pool(tmp_path, limits=limits) as running:
        running.submit(asked)
        check(collect(running, len(asked)), asked)
        (trouble,) = running.incidents()
    assert ("no progress" if what == evaluators.HANGS else "no sign of life") in trouble.message
    (hung, _) = map(int, (tmp_path / "20").read_text().split())
    assert eventually(lambda: not psutil.pid_exists(hung))


def test_workers_that_are_stopped_for_a_while_are_not_lost(ray: RayServer) -> None:
    asked = requests(300)
    with pool(pause_s=0.01, limits=WorkerLimits(beat_s=0.1, silence_s=PATIENCE_S)) as running:
        assert eventually(lambda: running.gather(0.1) == [] and len(running.working) == 2)
        running.submit(asked)
        for process in ray.workers():
            process.send_signal(signal.SIGSTOP)
        told: dict[int, Evaluation] = {}
        until = time.monotonic() + PATIENCE_S
        while min(member.silent_s for member in running._members.values()) < 1.0:
            assert time.monotonic() < until
            told.update((evaluation.id, evaluation) for evaluation in running.finished(0.1))
        for process in ray.workers():
            process.send_signal(signal.SIGCONT)
        told.update(collect(running, len(asked) - len(told)))
        assert running.incidents() == []
    check(told, asked)


def test_a_driver_that_is_busy_elsewhere_blames_no_worker(ray: RayServer) -> None:
    asked = requests(100)
    with pool(pause_s=0.001, limits=WorkerLimits(beat_s=0.1, silence_s=2.0)) as running:
        running.submit(asked[:50])
        check(collect(running, 50), asked[:50])
        time.sleep(3.0)
        running.submit(asked[50:])
        check(collect(running, 50), asked[50:])
        assert running.incidents() == []


def test_a_wrong_configuration_found_by_a_worker_ends_the_work(ray: RayServer) -> None:
    with pool(factory="tests.contracts.evaluators:build_refused") as running:
        running.submit(requests(3))
        with pytest.raises(ConfigError, match="no hero 99"):
            collect(running, 3)


def test_workers_that_cannot_start_end_the_work(ray: RayServer) -> None:
    with pool(factory="tests.contracts.evaluators:build_dying") as running:
        running.submit(requests(3))
        with pytest.raises(ActorLost, match="before they could start"):
            collect(running, 3)


def test_two_jobs_on_two_processors_both_progress_and_a_fifth_worker_says_that_it_waits(ray: RayServer) -> None:
    asked = requests(20)
    with pool() as one:
        one.submit(asked)
        check(collect(one, len(asked)), asked)
        with RayWorkers(
            FACTORY, lambda number, life: b"{}", 3, allowed=("tests.",), limits=WorkerLimits(capacity_s=0.5)
        ) as two:
            two.submit(asked)
            check(collect(two, len(asked)), asked)
            one.submit([dangerous(asked[0], evaluators.SLOW, 1000)])
            collect(one, 1)
            two.submit([dangerous(asked[0], evaluators.SLOW, 1000)])
            collect(two, 1)
            assert [trouble.what for trouble in two.incidents()] == ["waiting-for-capacity"]


@pytest.mark.parametrize(
    ("told", "said"),
    [
        (
            "The actor died.\nWorker exit type: SYSTEM_ERROR Worker exit detail: (1) OOM killer (2) ray stop",
            "crashed or",
        ),
        ("Worker exit type: NODE_OUT_OF_MEMORY", "too little memory"),
        ("Worker exit type: INTENDED_USER_EXIT", "asked to end"),
        ("Something else.\nMore of it.", "Something else."),
    ],
)
def test_the_end_of_an_actor_is_said_in_a_few_words_and_not_in_those_of_ray(told: str, said: str) -> None:
    found = _how(RuntimeError(told))
    assert said in found
    assert "exit type" not in found


def test_a_killed_driver_takes_its_actors_along_and_the_next_pool_sweeps_its_folder(ray: RayServer, base: Path) -> None:
    driver = start_driver()
    (left,) = base.glob("equipoise-pool-*")
    actors = ray.workers()
    driver.kill()
    driver.communicate()
    assert all_gone(actors)
    asked = requests(10)
    with pool() as running:
        assert not left.exists()
        running.submit(asked)
        check(collect(running, len(asked)), asked)
    assert not list(base.iterdir())


def test_nothing_is_left_after_close(ray: RayServer, base: Path) -> None:
    running = pool(pause_s=0.05)
    assert len(list(base.iterdir())) == 1
    try:
        running.submit(requests(200))
        collect(running, 5)
        assert eventually(lambda: len(ray.workers()) == 2)
    finally:
        running.close()
    assert not list(base.iterdir())
    assert eventually(lambda: ray.workers() == [])


def test_the_handler_of_sigterm_stays_the_studys(ray: RayServer) -> None:
    def stop(number: int, frame: object) -> None: ...

    before = signal.signal(signal.SIGTERM, stop)
    try:
        with pool() as running:
            assert signal.getsignal(signal.SIGTERM) is stop
            asked = requests(2)
            running.submit(asked)
            collect(running, 2)
            assert signal.getsignal(signal.SIGTERM) is stop
    finally:
        signal.signal(signal.SIGTERM, before)

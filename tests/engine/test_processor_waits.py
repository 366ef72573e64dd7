"""Who is silent because its machine is overloaded is told apart from who hangs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import psutil
import pytest

from engine import processor_waits
from engine.processor_waits import ProcessorWaits, crowd
from engine.runtime.broadcast import Post
from engine.runtime.codec import Beat
from engine.runtime.members import Member, WorkerLimits
from tests.contracts.ray_server import eventually

LIMITS = WorkerLimits(beat_s=0.5, silence_s=15.0, progress_s=60.0)
Spinning = Callable[..., subprocess.Popen[bytes]]
STARVES = "import os, subprocess, sys; os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))\n"


@pytest.fixture
def spinning() -> Iterator[Spinning]:
    """Starts programs that share one processor, and run for ever unless they are given something else to do."""
    started: list[subprocess.Popen[bytes]] = []

    def start(code: str = "while True: pass") -> subprocess.Popen[bytes]:
        one = sorted(os.sched_getaffinity(0))[:1]
        pinned = f"import os; os.sched_setaffinity(0, {one})\n"
        started.append(subprocess.Popen([sys.executable, "-c", pinned + code]))
        return started[-1]

    yield start
    for process in started:
        for child in psutil.Process(process.pid).children():
            child.kill()
        process.kill()
        process.wait()


def share_waited(waits: ProcessorWaits, least_s: float) -> float:
    """The share of time that a process waited, once so many seconds have passed."""
    waits.since()
    began, waited = time.monotonic(), 0.0
    while (passed := time.monotonic() - began) < least_s:
        waited += waits.since()
    return waited / passed


def starves(process: subprocess.Popen[bytes]) -> bool:
    return os.sched_getscheduler(process.pid) == os.SCHED_IDLE


def test_a_process_that_others_leave_no_processor_waits(spinning: Spinning) -> None:
    victim, _ = spinning(STARVES + "while True: pass"), spinning()
    assert eventually(lambda: starves(victim))
    assert share_waited(ProcessorWaits(victim.pid), 2.0) > 0.5


def test_what_a_process_started_waits_for_it(spinning: Spinning) -> None:
    parent, _ = spinning(STARVES + "subprocess.run([sys.executable, '-c', 'while True: pass'])"), spinning()
    assert eventually(lambda: bool(psutil.Process(parent.pid).children()))
    assert share_waited(ProcessorWaits(parent.pid, below=True), 2.0) > 0.5


def test_without_the_system_s_count_its_state_tells(spinning: Spinning, monkeypatch: pytest.MonkeyPatch) -> None:
    read = processor_waits._read
    monkeypatch.setattr(processor_waits, "_read", lambda task: read(task)._replace(ready_s=0.0))
    victim, _ = spinning(STARVES + "while True: pass"), spinning()
    assert eventually(lambda: starves(victim))
    assert share_waited(ProcessorWaits(victim.pid), 2.0) > 0.25


def test_a_process_that_is_stopped_sleeps_or_has_ended_does_not_wait(spinning: Spinning) -> None:
    stopped, asleep, ended = spinning(), spinning("import signal; signal.pause()"), spinning("")
    stopped.send_signal(signal.SIGSTOP)
    for process, state in ((stopped, psutil.STATUS_STOPPED), (ended, psutil.STATUS_ZOMBIE)):
        assert eventually(lambda p=process, s=state: psutil.Process(p.pid).status() == s)  # type: ignore[misc]
    assert eventually(lambda: share_waited(ProcessorWaits(asleep.pid), 0.2) == 0.0), "once it has begun"
    for process in (stopped, ended):
        assert share_waited(ProcessorWaits(process.pid), 0.2) == 0.0


def test_where_nobody_has_to_wait_a_machine_is_not_crowded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    for load, expected in ((0.1, 1.0), (2.0, 1.0), (26.0, 13.0)):
        monkeypatch.setattr(os, "getloadavg", lambda load=load: (load, 0.0, 0.0))
        assert crowd() == expected


class Known:
    """A worker's process: the share of time that it waits for a processor, and whether it has ended."""

    def __init__(self, starved: float = 0.0) -> None:
        self.starved, self.ended, self.asked = starved, False, 0

    def came(self, pid: int) -> None: ...

    def kill(self) -> None: ...

    def waited(self, seconds: float) -> float:
        self.asked += 1
        return seconds * self.starved


def lost_after(known: Known, most: int = 10_000) -> tuple[int, str]:
    """How many heartbeats a silent worker misses until it is given up, and why; 0 if it never is."""
    member = Member(Post(0, 0), known, come=True, beat=Beat(1, True, 0.0))
    for missed in range(1, most):
        member.live(LIMITS.beat_s, LIMITS)
        if why := member.complaint(LIMITS, holds=True):
            return missed, why
    return 0, ""


def test_only_a_silent_worker_that_has_a_processor_is_given_up() -> None:
    assert lost_after(Known())[0] == 31
    assert "no sign of life for 15 s" in lost_after(Known())[1]
    assert 200 < lost_after(Known(0.9))[0] < 300, "the slower its machine, the longer it has"
    assert lost_after(Known(1.0)) == (0, "")


def test_a_worker_whose_process_has_ended_is_given_up_at_once_even_on_a_busy_machine() -> None:
    known = Known(1.0)
    known.ended = True
    missed, why = lost_after(known)
    assert missed == 3
    assert "ended suddenly" in why


def test_nobody_looks_into_a_worker_that_is_heard() -> None:
    known = Known()
    member = Member(Post(0, 0), known, come=True)
    for _ in range(100):
        member.live(LIMITS.beat_s, LIMITS)
        member.heard_at = member.age
    assert known.asked == 0

"""The supervisor, with the test playing the workers over the in-process channel."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from engine.errors import ActorLost, EngineError, SimulatorError
from engine.problem import Request
from engine.runtime import codec
from engine.runtime.broadcast import Post
from engine.runtime.channels import MAX_FRAME_BYTES, Source, Ticket
from engine.runtime.codec import Beat, Broken, Crashed, Done, Ready, Work
from engine.runtime.members import WorkerLimits
from engine.runtime.supervisor import Supervisor
from engine.runtime.worker import Worker
from tests.contracts.evaluators import answer, requests
from tests.contracts.inproc_channel import InprocHub, InprocSpoke
from tests.contracts.pool import check, collect

SECOND = 0.3  # limits of these tests, in what they call a second


class Hand:
    """A worker that does only what the test tells it to."""

    def __init__(self, ticket: Ticket, died: Callable[[str], None]) -> None:
        self._ticket, self.die = ticket, died
        self.killed = self.ended = False
        self.pid = 0
        self.starved = 0.0

    def came(self, pid: int) -> None:
        self.pid = pid

    def waited(self, seconds: float) -> float:
        return seconds * self.starved

    def kill(self) -> None:
        self.killed = True

    def come(self) -> Hand:
        """Dial, and build an evaluator."""
        self._spoke = InprocSpoke(self._ticket)
        self.say(Beat(42, True, 0.0))
        self.say(Ready(42, 2, 3, "lineup"))
        return self

    def say(self, header: codec.Header, *body: bytes) -> None:
        self._spoke.send(codec.message(header, *body), 1.0)

    def work(self) -> tuple[int, list[Request]]:
        """The next batch."""
        frames = self._spoke.receive(5.0)
        header = codec.header(frames)
        assert isinstance(header, Work)
        return header.batch, codec.decode_requests(frames[1])

    def answer(self, batch: int, asked: list[Request], seconds: float = 0.001) -> None:
        self.say(Done(batch, seconds), codec.encode_evaluations([answer(request) for request in asked]))

    def serve(self, batches: int = 1) -> None:
        for _ in range(batches):
            self.answer(*self.work())


class Hands:
    """A recruiter of such workers."""

    def __init__(self) -> None:
        self.started: list[Hand] = []
        self.short = ""
        self.dead = False

    def start(self, post: Post, life: int, ticket: Ticket, source: Source | None, died: Callable[[str], None]) -> Hand:
        self.started.append(Hand(ticket, died))
        return self.started[-1]

    def short_of_capacity(self) -> str:
        return self.short

    def check(self) -> None:
        if self.dead:
            raise ActorLost("Ray is gone.")


@pytest.fixture
def hands() -> Hands:
    """What the pool starts its workers with."""
    return Hands()


@pytest.fixture
def pool(hands: Hands) -> Iterator[Supervisor]:
    """A pool of two workers."""
    with Supervisor(InprocHub(), hands, 2) as pool:
        yield pool


@pytest.fixture
def hasty(hands: Hands) -> Iterator[Supervisor]:
    """A pool of two workers that loses patience soon."""
    limits = WorkerLimits(
        beat_s=0.1, silence_s=2 * SECOND, progress_s=3 * SECOND, start_s=2 * SECOND, capacity_s=SECOND
    )
    with Supervisor(InprocHub(), hands, 2, limits=limits) as pool:
        yield pool


def lost(pool: Supervisor, hands: Hands, n: int = 3) -> str:
    """Why a worker was lost, once a new one has been started in its place."""
    until = time.monotonic() + 20
    while len(hands.started) < n:
        assert time.monotonic() < until
        pool.finished(0.1)
    (trouble,) = pool.incidents()
    assert trouble.what == "lost-worker"
    return trouble.message


def test_what_a_lost_worker_says_later_is_ignored_and_its_work_is_done_by_another(
    pool: Supervisor, hands: Hands
) -> None:
    asked = requests(1)
    pool.submit(asked)
    first = hands.started[0].come()
    pool.finished(0.1)
    batch = first.work()
    first.die("it was killed")
    assert "it was killed" in lost(pool, hands)
    assert first.killed
    first.answer(*batch)
    assert pool.finished(0.2) == []
    hands.started[2].come()
    pool.finished(0.1)
    hands.started[2].serve()
    check(collect(pool, 1), asked)
    first.answer(*batch)
    assert pool.finished(0.2) == []


def test_results_may_come_out_of_order(pool: Supervisor, hands: Hands) -> None:
    asked = requests(2)
    one, two = hands.started[0].come(), hands.started[1].come()
    pool.submit(asked)
    pool.finished(0.0)
    first, second = one.work(), two.work()
    two.answer(*second)
    assert [evaluation.id for evaluation in pool.finished(1.0)] == [second[1][0].id]
    one.answer(*first)
    assert [evaluation.id for evaluation in pool.finished(1.0)] == [first[1][0].id]


def test_an_answer_that_is_repeated_is_told_once(pool: Supervisor, hands: Hands) -> None:
    asked = requests(1)
    pool.submit(asked)
    one = hands.started[0].come()
    pool.finished(0.1)
    batch = one.work()
    one.answer(*batch)
    one.answer(*batch)
    assert len(pool.finished(1.0)) == 1
    pool.submit([asked[0]._replace(last=99)])
    assert pool.finished(0.1) == []


def test_a_worker_without_a_sign_of_life_is_lost(hasty: Supervisor, hands: Hands) -> None:
    hasty.submit(requests(1))
    hands.started[0].come()
    hasty.finished(0.1)
    hands.started[1].come()
    until = time.monotonic() + 20
    while len(hands.started) < 3:
        hands.started[1].say(Beat(43, False, 0.0))
        hasty.finished(0.1)
        assert time.monotonic() < until
    assert "no sign of life for 0.6 s; the machine may be overloaded. " in hasty.incidents()[0].message
    assert hands.started[0].killed
    assert not hands.started[1].killed


@pytest.mark.parametrize(
    ("beat", "complaint"), [(Beat(1, True, 99.0), "no progress"), (Beat(1, False, 99.0), "does not know of the work")]
)
def test_a_worker_that_does_not_get_on_with_its_work_is_lost(
    hasty: Supervisor, hands: Hands, beat: Beat, complaint: str
) -> None:
    hasty.submit(requests(1))
    one = hands.started[0].come()
    hasty.finished(0.1)
    one.work()
    hands.started[1].come()
    until = time.monotonic() + 20
    while len(hands.started) < 3:
        one.say(beat)
        hands.started[1].say(Beat(2, False, 0.0))
        hasty.finished(0.05)
        assert time.monotonic() < until
    assert complaint in hasty.incidents()[0].message


def test_a_worker_that_never_starts_is_replaced_and_three_of_them_end_the_work(hasty: Supervisor, hands: Hands) -> None:
    hasty.submit(requests(1))
    with pytest.raises(ActorLost, match=r"did not start within .* s; the machine may be overloaded"):
        collect(hasty, 1, 20)
    assert all(hand.killed for hand in hands.started[:3])


def test_waiting_for_a_processor_is_told_once_and_never_held_against_a_worker(hasty: Supervisor, hands: Hands) -> None:
    hands.short = "Every processor is taken."
    hasty.submit(requests(1))
    until = time.monotonic() + 6 * SECOND
    while time.monotonic() < until:
        assert hasty.finished(0.1) == []
    assert [(trouble.what, trouble.message) for trouble in hasty.incidents()] == [
        ("waiting-for-capacity", "Every processor is taken.")
    ]
    assert len(hands.started) == 2
    hands.started[1].come()
    hasty.finished(0.1)
    hands.started[1].serve()
    assert len(collect(hasty, 1)) == 1


def test_workers_that_get_no_processor_before_they_can_begin_are_told_of_once_and_kept(
    hasty: Supervisor, hands: Hands
) -> None:
    hasty.submit(requests(1))
    for hand in hands.started:
        hand.starved = 1.0
    told: list[tuple[str, str]] = []
    until = time.monotonic() + 20
    while not told:
        assert hasty.finished(0.1) == []
        told += [(trouble.what, trouble.message) for trouble in hasty.incidents()]
        assert time.monotonic() < until
    (said,) = told
    assert said[0] == "waiting-for-capacity"
    assert said[1].startswith("Workers have waited for a processor for 0.6 s and could not begin")
    hasty.finished(3 * SECOND)
    assert hasty.incidents() == []
    assert len(hands.started) == 2
    hands.started[1].come()
    hasty.finished(0.1)
    hands.started[1].serve()
    assert len(collect(hasty, 1)) == 1


def test_one_worker_is_enough_to_go_on(pool: Supervisor, hands: Hands) -> None:
    asked = requests(3)
    pool.submit(asked)
    one = hands.started[0].come()
    told = {}
    while len(told) < 3:
        pool.finished(0.0)
        one.serve()
        told.update((evaluation.id, evaluation) for evaluation in pool.finished(1.0))
    check(told, asked)


def test_a_simulator_that_crashed_is_tried_again_by_whoever_is_free(pool: Supervisor, hands: Hands) -> None:
    asked = requests(1)
    pool.submit(asked)
    one = hands.started[0].come()
    pool.finished(0.1)
    batch, _ = one.work()
    one.say(Crashed(batch, "The simulator ended."))
    pool.finished(0.1)
    one.serve()
    check(collect(pool, 1), asked)
    assert [trouble.what for trouble in pool.incidents()] == ["lost-simulator"]


def test_what_no_worker_could_do_ends_the_work_again_and_again(pool: Supervisor, hands: Hands) -> None:
    pool.submit(requests(1))
    hands.started[0].come().say(Broken("SimulatorError", "There is no such game.", True))
    for _ in range(2):
        with pytest.raises(SimulatorError, match="no such game"):
            collect(pool, 1)


def test_the_end_of_ray_is_told_at_once(pool: Supervisor, hands: Hands) -> None:
    pool.submit(requests(1))
    hands.started[0].come()
    pool.finished(0.1)
    hands.dead = True
    with pytest.raises(ActorLost, match="Ray is gone"):
        collect(pool, 1, 10)


def test_a_worker_that_died_with_ray_is_not_dismissed_by_a_call_to_ray(pool: Supervisor, hands: Hands) -> None:
    pool.submit(requests(1))
    hands.started[0].come()
    pool.finished(0.1)
    hands.dead = True
    hands.started[0].die("its process has ended")
    with pytest.raises(ActorLost, match="Ray is gone"):
        collect(pool, 1, 10)
    assert not hands.started[0].killed


def test_junk_from_a_worker_is_told_as_such(pool: Supervisor, hands: Hands) -> None:
    pool.submit(requests(1))
    hands.started[0].come()._spoke.send([b"junk"], 1.0)
    with pytest.raises(EngineError, match="cannot be read"):
        collect(pool, 1, 10)


def test_weights_that_no_subscriber_would_accept_are_told_as_such(pool: Supervisor) -> None:
    """They were dropped without a word, and a training with such a network waited for ever."""
    with pytest.raises(EngineError, match="257 MiB have to be sent at once, and 256 can be: make networks smaller"):
        pool.publish(memoryview(np.zeros(MAX_FRAME_BYTES + 1, np.uint8)))


def test_a_worker_tells_that_a_fragment_is_too_large_to_be_sent() -> None:
    class Large:
        def stream(self, subscriber: Any, beat: Any) -> Iterator[list[memoryview]]:
            yield [memoryview(np.zeros(MAX_FRAME_BYTES + 1, np.uint8))]

    over = threading.Event()

    def alive() -> None:
        if over.is_set():
            raise ActorLost("The test is over.")

    subscriber: Any = object()
    hub = InprocHub()
    worker = Worker(InprocSpoke(hub.expect()), Large, 0.05, alive, lambda: None, subscriber)
    thread = threading.Thread(target=worker.run)
    thread.start()
    told: list[codec.Header] = []
    while not any(isinstance(header, codec.Broken) for header in told):
        told += [codec.header(frames) for _, frames in hub.receive(1.0) if frames]
    over.set()
    thread.join()
    hub.close()
    (broken,) = (header for header in told if isinstance(header, codec.Broken))
    assert broken.permanent
    assert "fragments shorter" in broken.message


@pytest.mark.parametrize("starved", [True, False])
def test_work_that_waits_for_a_processor_is_not_said_to_make_no_progress(
    starved: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.processor_waits.ProcessorWaits.since", lambda waits: float("inf") if starved else 0.0)
    over, hub = threading.Event(), InprocHub()

    def alive() -> None:
        if over.is_set():
            raise ActorLost("The test is over.")

    def build() -> object:
        over.wait()
        raise SimulatorError("The test is over.")

    worker = Worker(InprocSpoke(hub.expect()), build, 0.05, alive, lambda: None)
    thread = threading.Thread(target=worker.run)
    thread.start()
    beats: list[tuple[float, Beat]] = []
    while len(beats) < 30:
        heard = [codec.header(frames) for _, frames in hub.receive(1.0) if frames]
        beats += [(time.monotonic(), header) for header in heard if isinstance(header, Beat)]
    over.set()
    thread.join()
    hub.close()
    (began, before), (ended, after) = beats[10], beats[-1]
    grown, passed = after.quiet_s - before.quiet_s, ended - began
    assert grown < passed / 2 if starved else grown > passed / 2


def test_closing_kills_every_worker_whether_it_came_or_not(pool: Supervisor, hands: Hands) -> None:
    hands.started[0].come()
    pool.submit(requests(5))
    pool.close()
    assert [hand.killed for hand in hands.started] == [True, True]

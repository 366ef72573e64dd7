"""The worker's side: a line thread for the connection to the driver, and the main thread that works.

The line thread sends heartbeats while the main thread is busy in compiled code. A worker may answer requests, stream
unasked, or do both in turn.
"""

from __future__ import annotations

import itertools
import logging
import os
import queue
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, runtime_checkable

from engine.channel import Frame, Streamed, Subscriber
from engine.errors import ActorLost, EngineError, SimulatorError
from engine.problem import Evaluator, Request
from engine.processor_waits import ProcessorWaits
from engine.runtime import answering, codec
from engine.runtime.answering import Answerer
from engine.runtime.broadcast import Relay
from engine.runtime.channels import Spoke, sendable
from engine.runtime.codec import Beat, Crashed, Done, Ready, Stream, Work
from engine.runtime.members import MISSED

logger = logging.getLogger(__name__)
DRIVER_SILENT_S = 600.0  # a driver that examines a policy may not read for minutes
HUNGRY = 0.2  # of the time between two heartbeats


@runtime_checkable
class Streaming(Protocol):
    """An object run by a worker that works without requests."""

    def stream(self, subscriber: Subscriber, beat: Callable[[bool], None]) -> Iterator[Sequence[Frame]]:
        """Work for ever: yields the frames of one message after another, or none when it is time to look for requests.
        ``beat`` is called often, with True while waiting for weights."""
        ...


class Worker:
    """Serves one driver until its process is killed; there is no other end. ``build`` makes an ``Evaluator``, a
    ``Streaming`` object that gets weights from ``subscriber``, or both in one. When the driver stops reading, or
    ``check`` (called with every heartbeat) raises ActorLost, the worker calls ``abandon``, which must end the
    process."""

    def __init__(
        self, spoke: Spoke, build: Callable[[], object], beat_s: float, check: Callable[[], None],
        abandon: Callable[[], None], subscriber: Subscriber | None = None,
    ) -> None:  # fmt: skip
        self._spoke, self._build, self._beat_s, self._check, self._abandon = spoke, build, beat_s, check, abandon
        self._subscriber, self._streams = subscriber, False
        self._batches: queue.SimpleQueue[tuple[int, list[Request]]] = queue.SimpleQueue()
        self._out: deque[list[Frame]] = deque()
        self._room = threading.Semaphore(1)
        self._busy, self._progress_at, self._hungry_at = True, time.monotonic(), 0.0
        self._waits, self._looked_at, self._forgiven = ProcessorWaits(os.getpid()), time.monotonic(), (0.0, 0.0)

    def run(self) -> None:
        """Build the object and work. Errors that end the work are reported to the driver, and the worker then waits to
        be killed."""
        line = threading.Thread(target=self._keep_line, name="equipoise-line", daemon=True)
        line.start()
        try:
            self._serve()
        except EngineError as error:
            self._post(codec.broken(error))
        except Exception as error:  # the remote-actor boundary
            logger.error("A worker failed:\n%s", traceback.format_exc())
            self._post(codec.broken(EngineError(f"A worker failed: {type(error).__name__}: {error}")))
        line.join()

    def _serve(self) -> None:
        made = self._build()
        try:
            answerer = Answerer(made, self._stream) if isinstance(made, Evaluator) else None
            work = self._unasked(made)
            if not (answerer or self._streams):
                raise EngineError(f"A {type(made).__name__} neither evaluates nor streams; a worker cannot run it.")
            self._rest()
            self._post(_ready(made, answerer))
            for frames in work:
                if frames:
                    self._stream(Streamed(frames))
                if answerer:
                    self._answer(answerer)
        finally:
            answering.release(made)

    def _unasked(self, made: object) -> Iterator[Sequence[Frame]]:
        """The object's unasked work; without any, every turn is for requests."""
        if self._subscriber is None or not isinstance(made, Streaming):
            return itertools.repeat(())
        self._streams = True
        return made.stream(self._subscriber, self._beaten)

    def _answer(self, answerer: Answerer) -> None:
        """Answer the next batch; waits for one if there is nothing else to do."""
        try:
            batch, requests = self._batches.get(block=not self._streams)
        except queue.Empty:
            return
        self._busy, self._progress_at = True, time.monotonic()
        began = time.perf_counter()
        try:
            evaluations = answerer.answers(requests, self._should_stop)
        except SimulatorError as error:
            if error.permanent:
                raise
            self._rest()
            self._post(Crashed(batch, str(error)))
            return
        seconds = time.perf_counter() - began
        self._rest()
        self._post(Done(batch, seconds), codec.encode_evaluations(evaluations))

    def _rest(self) -> None:
        self._busy, self._progress_at = self._streams, time.monotonic()

    def _should_stop(self) -> bool:
        """Always False, because workers are stopped by killing them; but a call shows progress."""
        self._progress_at = time.monotonic()
        return False

    def _beaten(self, hungry: bool) -> None:
        """Record progress, or that the work waits for weights, which is reported to the driver at once."""
        self._progress_at = now = time.monotonic()
        if hungry and now >= self._hungry_at and self._room.acquire(blocking=False):
            self._hungry_at = now + HUNGRY * self._beat_s
            self._hand_over(codec.message(self._beat(hungry)))

    def _stream(self, streamed: Streamed) -> None:
        self._post(Stream(streamed.request, streamed.place), *streamed.frames)

    def _post(self, header: codec.Header, *body: Frame) -> None:
        """Send a message once the one before has left; waiting for a slow driver counts as progress. Raises EngineError
        for one that is too large."""
        sendable(body)
        while not self._room.acquire(timeout=self._beat_s):
            self._progress_at = time.monotonic()
        self._progress_at = time.monotonic()
        self._hand_over(codec.message(header, *body))

    def _hand_over(self, frames: list[Frame]) -> None:
        self._out.append(frames)
        self._spoke.wake()

    def _keep_line(self) -> None:
        """The line thread, the only one that uses the spoke."""
        beat_at = 0.0
        try:
            while True:
                frames = self._spoke.receive(max(0.0, beat_at - time.monotonic()))
                if frames:
                    self._accept(frames)
                self._flush()
                if time.monotonic() >= beat_at:
                    beat_at = time.monotonic() + self._beat_s
                    self._check()
                    self._send_beat()
        except ActorLost as error:
            logger.warning("%s This worker ends.", error)
            self._abandon()

    def _accept(self, frames: Sequence[memoryview]) -> None:
        header = codec.header(frames)
        if isinstance(header, Work):
            self._batches.put((header.batch, codec.decode_requests(frames[1])))

    def _flush(self) -> None:
        while self._out:
            self._spoke.send(self._out.popleft(), DRIVER_SILENT_S)
            self._room.release()

    def _send_beat(self) -> None:
        self._forgive_waits()
        try:
            self._spoke.send(codec.message(self._beat()), 0.0)
        except ActorLost:
            logger.debug("The driver is busy; it misses one heartbeat.")

    def _forgive_waits(self) -> None:
        """No progress is expected of work that waits for a processor. Where it gets on, nobody looks."""
        before, since, forgiven = self._looked_at, *self._forgiven
        self._looked_at, progress_at = time.monotonic(), self._progress_at
        forgiven = forgiven if since == progress_at else 0.0
        if before - progress_at > MISSED * self._beat_s:
            forgiven += min(self._looked_at - before, self._waits.since())
        self._forgiven = progress_at, forgiven

    def _beat(self, hungry: bool = False) -> Beat:
        progress_at, (since, forgiven) = self._progress_at, self._forgiven
        quiet_s = time.monotonic() - progress_at - (forgiven if since == progress_at else 0.0)
        return Beat(os.getpid(), self._busy, quiet_s, hungry)


def _ready(made: object, answerer: Answerer | None) -> Ready:
    if answerer:
        return Ready(os.getpid(), answerer.objectives, answerer.metrics, answerer.noun)
    return Ready(os.getpid(), sources=made.sources if isinstance(made, Relay) else ())

"""The worker's side: a thread that keeps the line to the driver, and the main thread that evaluates.

The line answers for the worker (heartbeats) while the main thread is busy in compiled code. ``EvaluationActor`` is the
thin Ray shell round it; ``RayLauncher`` starts and ends such actors.
"""

from __future__ import annotations

import contextlib
import logging
import os
import queue
import signal
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from engine.errors import ActorLost, EngineError, SimulatorError
from engine.problem import Evaluator, Request
from engine.runtime import answering, codec
from engine.runtime.answering import Answerer
from engine.runtime.channels import Spoke, Ticket
from engine.runtime.cluster import Cluster, load_ray
from engine.runtime.codec import Beat, Crashed, Done, Ready, Work
from engine.runtime.zmq_channel import ZmqSpoke

logger = logging.getLogger(__name__)
DRIVER_SILENT_S = 600.0
CPUS = 0.5  # two jobs on two processors both progress

Died = Callable[[str], None]


class Worker:
    """Serves one driver until its process is killed, which is the only end there is. When the driver does not read any
    more, or ``check`` (asked with every heartbeat) raises ActorLost, it calls ``abandon`` to that effect."""

    def __init__(
        self,
        spoke: Spoke,
        build: Callable[[], Evaluator],
        beat_s: float,
        check: Callable[[], None],
        abandon: Callable[[], None],
    ) -> None:
        self._spoke, self._build, self._beat_s, self._check, self._abandon = spoke, build, beat_s, check, abandon
        self._batches: queue.SimpleQueue[tuple[int, list[Request]]] = queue.SimpleQueue()
        self._out: deque[list[bytes]] = deque()
        self._busy, self._progress_at = True, time.monotonic()

    def run(self) -> None:
        """Build the evaluator, then answer batches. Permanent errors are told to the driver, and the worker waits for
        its end; raises SimulatorError only when the evaluator cannot be built now but perhaps later."""
        line = threading.Thread(target=self._keep_line, name="equipoise-line", daemon=True)
        line.start()
        try:
            self._serve()
        except EngineError as error:
            if isinstance(error, SimulatorError) and not error.permanent:
                raise
            self._post(codec.broken(error))
        except Exception as error:  # the remote-actor boundary
            logger.error("The evaluator could not be built or used:\n%s", traceback.format_exc())
            reason = f"{type(error).__name__}: {error}"
            self._post(codec.broken(EngineError(f"The evaluator could not be built or used: {reason}")))
        line.join()

    def _serve(self) -> None:
        evaluator = self._build()
        try:
            answerer = Answerer(evaluator)
            self._idle()
            self._post(Ready(answerer.objectives, answerer.metrics, answerer.noun))
            while True:
                self._answer(answerer, *self._batches.get())
        finally:
            answering.release(evaluator)

    def _answer(self, answerer: Answerer, batch: int, requests: Sequence[Request]) -> None:
        self._busy, self._progress_at = True, time.monotonic()
        began = time.perf_counter()
        try:
            evaluations = answerer.answers(requests, self._should_stop)
        except SimulatorError as error:
            if error.permanent:
                raise
            self._idle()
            self._post(Crashed(batch, str(error)))
            return
        seconds = time.perf_counter() - began
        self._idle()
        self._post(Done(batch, seconds), codec.encode_evaluations(evaluations))

    def _idle(self) -> None:
        self._busy, self._progress_at = False, time.monotonic()

    def _should_stop(self) -> bool:
        """Never: a worker is stopped by killing it. But whoever asks makes progress."""
        self._progress_at = time.monotonic()
        return False

    def _post(self, header: codec.Header, body: bytes = b"") -> None:
        self._out.append(codec.message(header, body))
        self._spoke.wake()

    def _keep_line(self) -> None:
        """The line thread; the only one that touches the spoke."""
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
                    self._beat()
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

    def _beat(self) -> None:
        beat = Beat(os.getpid(), self._busy, time.monotonic() - self._progress_at)
        try:
            self._spoke.send(codec.message(beat), 0.0)
        except ActorLost:
            logger.debug("The driver is busy; it misses one heartbeat.")


class EvaluationActor:
    """What Ray places: one evaluator in a process of its own."""

    def run(self, ticket: Sequence[Any], factory: str, payload: bytes, allowed: Sequence[str], beat_s: float) -> None:
        """Serve the driver. One actor is one processor's worth of work, also for what the evaluator compiles."""
        os.environ.setdefault("NUMBA_NUM_THREADS", "1")
        build = partial(answering.build, factory, payload, allowed)
        Worker(ZmqSpoke(Ticket(*ticket)), build, beat_s, not_orphaned, partial(os._exit, 1)).run()


class RayWorker:
    """One actor of a ``kind`` with a method ``run``, never detached and never restarted by Ray: whoever has it decides
    what its death means."""

    def __init__(
        self, cluster: Cluster, kind: type, placement: Mapping[str, Any], arguments: Sequence[Any], died: Died
    ) -> None:
        ray = load_ray()
        options: dict[str, Any] = {"num_cpus": CPUS, "max_restarts": 0, **placement}
        self._actor: Any = ray.remote(kind).options(**options).remote()
        run = self._actor.run.remote(*arguments)
        run.future().add_done_callback(lambda ended: died(_how(ended.exception())))
        self._cluster, self._process = cluster, -1

    def came(self, pid: int) -> None:
        """Hold on to the process where it is one of this machine's, so that its number cannot become another's."""
        if not self._cluster.host and self._process < 0:
            with contextlib.suppress(ProcessLookupError):
                self._process = os.pidfd_open(pid)

    def kill(self) -> None:
        """End the process, whatever it does, and whether or not Ray still lives to do it."""
        if self._process >= 0:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._process, signal.SIGKILL)
            os.close(self._process)
            self._process = -1
        if self._cluster.alive:
            load_ray().kill(self._actor, no_restart=True)


class RayLauncher:
    """Starts workers as actors of a Ray cluster."""

    def __init__(self, cluster: Cluster, factory: str, payload: bytes, allowed: Sequence[str], beat_s: float) -> None:
        self.factory, self.payload, self.allowed, self.beat_s = factory, payload, tuple(allowed), beat_s
        self.cluster = cluster
        self.placement = cluster.placement()

    def start(self, ticket: Ticket, died: Died) -> RayWorker:
        """Ask for one more worker; does not wait for it. ``died`` is called from another thread when it has ended."""
        arguments = tuple(ticket), self.factory, self.payload, self.allowed, self.beat_s
        return RayWorker(self.cluster, EvaluationActor, self.placement, arguments, died)

    def short_of_capacity(self) -> str:
        """Why workers may have to wait; empty when there is room for one."""
        return self.cluster.short_of(CPUS)

    def check(self) -> None:
        """Raises ActorLost when Ray is gone."""
        self.cluster.check()


def not_orphaned() -> None:
    """A worker that is busy does not notice by itself that its node's daemon, the parent of all actors, has died."""
    if os.getppid() != int(os.environ.get("RAY_RAYLET_PID", os.getppid())):
        raise ActorLost("The Ray daemon that started this worker has ended.")


def _how(error: BaseException | None) -> str:
    """A death in one line; Ray's own text is a page long."""
    if error is None:
        return "it ended by itself"
    text = str(getattr(error, "cause", None) or error)  # Ray wraps what an actor raised
    return next((line.strip() for line in text.splitlines() if "exit" in line.lower()), text.splitlines()[0])[:300]

"""Pools: requests in, evaluations out, each answered exactly once, wherever the work is done.

``LocalPool`` works in this process and needs neither Ray nor ZeroMQ; ``engine.runtime.ray_workers.RayWorkers`` are
processes. Both follow the same rules for lost work (``engine.runtime.ledger``), so the same requests give the same
answers.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, NamedTuple, Protocol, Self

from engine.channel import UNASKED, Streamed
from engine.errors import Cancelled, EvaluationError, SimulatorError
from engine.problem import Evaluation, Evaluator, Request, ShouldStop, failed
from engine.runtime.answering import ALLOWED, Answerer, build, check_factory, release
from engine.runtime.ledger import Condemned, Ledger

if TYPE_CHECKING:
    from engine.config.pool import PoolConfig

HERE = b"here"
HOPELESS = 5


class Trouble(NamedTuple):
    """Something went wrong and was dealt with; becomes an Incident event. ``what``: ``lost-worker``,
    ``lost-simulator``, ``waiting-for-capacity``, ``failed-candidate``."""

    what: str
    message: str


class Pool(Protocol):
    """A place where requests are evaluated. Use it as a context manager, or call ``close``."""

    @property
    def room(self) -> int:
        """How many more requests keep every worker busy (two batches each); more may be submitted."""
        ...

    def submit(self, requests: Sequence[Request]) -> None:
        """Accept requests. Raises EngineError for an id that is still unanswered."""
        ...

    def finished(self, timeout: float) -> list[Evaluation]:
        """Evaluations completed since the last call, in any order; waits up to ``timeout`` seconds for the first and
        not at all when nothing is outstanding. Raises SimulatorError (permanent), ConfigError or EvaluationError when
        the work cannot go on, ActorLost when the workers' cluster is gone (a new attempt can go on)."""
        ...

    def gather(self, timeout_s: float, most: int = 64) -> list[Streamed]:
        """Up to ``most`` of what was streamed, each once, in the order in which each worker sent it, and all that
        belongs to a request before its answer; waits up to ``timeout_s`` for the first. Who runs evaluators that stream
        gathers as often as it asks for what is finished. Raises as ``finished``."""
        ...

    def incidents(self) -> list[Trouble]:
        """What went wrong since the last call."""
        ...

    def close(self) -> None:
        """Stop the work and leave nothing behind. Safe to call twice."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class Closed:
    """The context manager of every pool."""

    def close(self) -> None:
        """Stop the work and leave nothing behind."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Verdicts:
    """Turns condemned requests into failed evaluations, tells about them, and sees when nothing works at all."""

    def __init__(self, noun: str = "candidate") -> None:
        self.noun = noun
        self._succeeded = False
        self._condemned = 0
        self.troubles: list[Trouble] = []

    def told(self) -> list[Trouble]:
        """Troubles since the last call."""
        told, self.troubles = self.troubles, []
        return told

    def passed(self, evaluations: Sequence[Evaluation]) -> None:
        """Remember that evaluations do succeed."""
        self._succeeded = self._succeeded or any(evaluation.status == "ok" for evaluation in evaluations)

    def condemn(self, condemned: Sequence[Condemned], objectives: int, metrics: int) -> list[Evaluation]:
        """The failed evaluations. Raises EvaluationError when five requests in a row died and none ever succeeded:
        then it is not the candidates."""
        evaluations = []
        for request, reason in condemned:
            self._condemned += 1
            if self._condemned >= HOPELESS and not self._succeeded:
                raise EvaluationError(
                    f"Not one {self.noun} could be evaluated; {self._condemned} of them ended every process that "
                    f"tried. The last one: {reason}"
                )
            why = f"Three processes in a row ended while they evaluated this {self.noun} alone. The last one: {reason}"
            self.troubles.append(
                Trouble("failed-candidate", f"{self.noun.capitalize()} {request.id} is left out. {why}")
            )
            evaluations.append(failed(request, why, objectives, metrics))
        return evaluations


class Streams:
    """What was streamed and not gathered yet: of each request everything once, however often it is begun."""

    def __init__(self) -> None:
        self._waiting: deque[Streamed] = deque()
        self._next: dict[int, int] = {}

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def add(self, streamed: Streamed) -> None:
        """Keep it, unless it came before, from a worker that was lost over the request."""
        if streamed.request != UNASKED:
            if streamed.place < self._next.get(streamed.request, 0):
                return
            self._next[streamed.request] = streamed.place + 1
        self._waiting.append(streamed)

    def answered(self, evaluations: Sequence[Evaluation]) -> None:
        """These requests are over; they may be asked again."""
        for evaluation in evaluations:
            self._next.pop(evaluation.id, None)

    def take(self, most: int) -> list[Streamed]:
        """Up to ``most``, in their order."""
        return [self._waiting.popleft() for _ in range(min(most, len(self._waiting)))]


class LocalPool(Closed):
    """Evaluates in this process, a batch of about ``batch_ms`` milliseconds in each call of ``finished``.

    ``should_stop`` is passed to the evaluator; what it left unfinished stays outstanding. The evaluator stays the
    caller's unless ``owned``.
    """

    def __init__(
        self, evaluator: Evaluator, *, batch_ms: int = 100, should_stop: ShouldStop = lambda: False, owned: bool = False
    ) -> None:
        self._evaluator, self._owned = evaluator, owned
        self._streams = Streams()
        self._answerer = Answerer(evaluator, self._streams.add)
        self._should_stop = should_stop
        self._ledger = Ledger(1, batch_ms / 1000)
        self._verdicts = Verdicts(self._answerer.noun)

    @property
    def room(self) -> int:
        """How many more requests make two batches."""
        return self._ledger.room

    def submit(self, requests: Sequence[Request]) -> None:
        """Accept requests; they are evaluated by the next calls of ``finished``."""
        self._ledger.add(requests)

    def finished(self, timeout: float) -> list[Evaluation]:
        """Evaluate one batch. ``timeout`` cannot interrupt it; a stop can."""
        batch = self._ledger.deal(HERE)
        if batch is None:
            return []
        began = time.perf_counter()
        try:
            evaluations = self._answerer.answers(batch.requests, self._should_stop)
        except Cancelled:
            self._ledger.put_back(HERE)
            return []
        except SimulatorError as error:
            if error.permanent:
                raise
            return self._lost(batch.number, str(error))
        self._ledger.finish(HERE, batch.number, time.perf_counter() - began)
        self._verdicts.passed(evaluations)
        self._streams.answered(evaluations)
        return evaluations

    def gather(self, timeout_s: float, most: int = 64) -> list[Streamed]:
        """What the batches streamed that were evaluated by ``finished``."""
        return self._streams.take(most)

    def incidents(self) -> list[Trouble]:
        """What went wrong since the last call."""
        return self._verdicts.told()

    def close(self) -> None:
        """Release the evaluator where this pool owns it."""
        if self._owned:
            self._owned = False
            release(self._evaluator)

    def _lost(self, number: int, reason: str) -> list[Evaluation]:
        self._verdicts.troubles.append(Trouble("lost-simulator", reason))
        condemned = self._ledger.hand_back(HERE, number, reason)
        failures = self._verdicts.condemn(condemned, self._answerer.objectives, self._answerer.metrics)
        self._streams.answered(failures)
        return failures


def open_pool(
    config: PoolConfig,
    factory: str,
    payload: bytes,
    *,
    should_stop: ShouldStop = lambda: False,
    allowed: Sequence[str] = ALLOWED,
) -> Pool:
    """The pool a study asks for. ``factory`` is ``module:function`` below one of ``allowed``; every worker builds its
    own evaluator with it from ``payload`` (JSON). Raises EngineError, ConfigError or SimulatorError when that fails
    here, ActorLost when there is no Ray at the address."""
    check_factory(factory, allowed)
    if config.kind == "local":
        evaluator = build(factory, payload, allowed)
        return LocalPool(evaluator, batch_ms=config.batch_ms, should_stop=should_stop, owned=True)
    from engine.runtime.ray_workers import RayWorkers  # a local study loads neither Ray nor ZeroMQ

    return RayWorkers(
        factory, lambda number, life: payload, config.workers, address=config.address, batch_ms=config.batch_ms,
        allowed=allowed,
    )  # fmt: skip

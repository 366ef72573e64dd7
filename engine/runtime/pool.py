"""Pools: requests in, evaluations out, each answered exactly once, wherever the work is done.

``LocalPool`` works in this process and needs neither Ray nor ZeroMQ; ``engine.runtime.ray_workers.RayWorkers`` are
processes. Both follow the same rules for lost work (``engine.runtime.ledger``), so the same requests give the same
answers.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol

from engine.channel import Streamed
from engine.errors import Cancelled, SimulatorError
from engine.problem import Evaluation, Evaluator, Request, ShouldStop
from engine.runtime.answering import ALLOWED, Answerer, build, check_factory, release
from engine.runtime.ledger import Ledger
from engine.runtime.outcomes import Closed, Streams, Trouble, Verdicts

if TYPE_CHECKING:
    from engine.config.pool import PoolConfig

HERE = b"here"


class Pool(AbstractContextManager["Pool"], Protocol):
    """A place where requests are evaluated. Use it as a context manager, or call ``close``."""

    @property
    def room(self) -> int:
        """How many more requests keep every worker busy (two batches each); more may be submitted."""
        ...

    def submit(self, requests: Sequence[Request]) -> None:
        """Accept requests. Raises EngineError for an id that is still unanswered."""
        ...

    def finished(self, timeout: float) -> list[Evaluation]:
        """Evaluations completed since the last call, in any order; waits up to ``timeout`` seconds for the first, and
        not at all when nothing is outstanding. Raises SimulatorError (permanent), ConfigError or EvaluationError when
        the work cannot continue, ActorLost when the workers' cluster is gone (a new attempt can continue)."""
        ...

    def gather(self, timeout_s: float, most: int = 64) -> list[Streamed]:
        """Up to ``most`` streamed items, each once, in the order in which each worker sent them; all items of a request
        come before its answer. Waits up to ``timeout_s`` for the first. With evaluators that stream, call it as often
        as ``finished``. Raises as ``finished``."""
        ...

    def incidents(self) -> list[Trouble]:
        """The incidents since the last call."""
        ...

    def close(self) -> None:
        """Stop the work and leave nothing behind. Safe to call twice."""
        ...


class LocalPool(Closed):
    """Evaluates in this process, a batch of about ``batch_ms`` milliseconds in each call of ``finished``.

    ``should_stop`` is passed to the evaluator; requests that it left unfinished stay outstanding. The caller owns the
    evaluator unless ``owned``. ``succeeded``: see ``open_pool``.
    """

    def __init__(
        self, evaluator: Evaluator, *, batch_ms: int = 100, should_stop: ShouldStop = lambda: False,
        owned: bool = False, succeeded: bool = False,
    ) -> None:  # fmt: skip
        self._evaluator, self._owned = evaluator, owned
        self._streams = Streams()
        self._answerer = Answerer(evaluator, self._streams.add)
        self._should_stop = should_stop
        self._ledger = Ledger(1, batch_ms / 1000)
        self._verdicts = Verdicts(self._answerer.noun, succeeded=succeeded)

    @property
    def room(self) -> int:
        """How many more requests make two batches."""
        return self._ledger.room

    def submit(self, requests: Sequence[Request]) -> None:
        """Accept requests; they are evaluated by the next calls of ``finished``."""
        self._ledger.add(requests)

    def finished(self, timeout: float) -> list[Evaluation]:
        """Evaluate one batch. Not interrupted by ``timeout``, but by a stop."""
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
        """Items streamed by the batches that ``finished`` has evaluated."""
        return self._streams.take(most)

    def incidents(self) -> list[Trouble]:
        """The incidents since the last call."""
        return self._verdicts.take_troubles()

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
    succeeded: bool = False,
) -> Pool:
    """The pool of a study. ``factory`` is ``module:function`` below one of ``allowed``; with it every worker builds its
    own evaluator from ``payload`` (JSON). ``succeeded``: evaluations of the study succeeded before it was resumed, so
    that candidates are blamed for failures from now on. Raises EngineError, ConfigError or SimulatorError when building
    fails here, ActorLost when there is no Ray at the address, and Cancelled once ``should_stop`` returns True before
    the evaluator is built here, or Ray is reached."""
    check_factory(factory, allowed)
    if config.kind == "local":
        evaluator = build(factory, payload, allowed, should_stop)
        return LocalPool(evaluator, batch_ms=config.batch_ms, should_stop=should_stop, owned=True, succeeded=succeeded)
    from engine.runtime.ray_workers import RayWorkers  # a local study loads neither Ray nor ZeroMQ

    return RayWorkers(
        factory, lambda number, life: payload, config.workers, address=config.address, batch_ms=config.batch_ms,
        allowed=allowed, succeeded=succeeded, should_stop=should_stop,
    )  # fmt: skip

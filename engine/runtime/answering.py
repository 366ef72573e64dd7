"""A worker's processing of a batch, in this process or another: build the evaluator, answer every request, report
errors."""

from __future__ import annotations

import importlib
import json
import logging
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, Protocol, cast, runtime_checkable

from engine.channel import Streamed
from engine.errors import Cancelled, ConfigError, DiskFull, EngineError, SimulatorError
from engine.problem import Evaluation, Evaluator, Request, ShouldStop, failed
from engine.store import FULL

logger = logging.getLogger(__name__)
ALLOWED = ("engine.",)


@runtime_checkable
class Closing(Protocol):
    """An object run by a worker that holds resources (a simulator process)."""

    def close(self) -> None:
        """Release everything."""
        ...


def build(
    factory: str, payload: bytes, allowed: Sequence[str] = ALLOWED, should_stop: ShouldStop | None = None
) -> Any:  # fmt: skip
    """The object that ``module:function`` makes from a JSON payload, such as an evaluator; one of these may take long
    and is given ``should_stop``, where there is one. Raises EngineError for a path outside ``allowed``, ConfigError or
    SimulatorError from the factory, and Cancelled once it should stop."""
    module, _, name = check_factory(factory, allowed).partition(":")
    make = cast("Callable[..., Any]", getattr(importlib.import_module(module), name))
    json.loads(payload)
    return make(payload) if should_stop is None else make(payload, should_stop)


def check_factory(factory: str, allowed: Sequence[str] = ALLOWED) -> str:
    """The factory's path, if it is allowed. Raises EngineError otherwise."""
    module, _, name = factory.partition(":")
    if not name.isidentifier() or not module.startswith(tuple(allowed)):
        raise EngineError(
            f"{factory!r} is not an evaluator or sampler that may be built here; give module:function from "
            f"{' or '.join(allowed)}."
        )
    return factory


def release(made: object) -> None:
    """Release the object's resources, if it has any."""
    if isinstance(made, Closing):
        made.close()


class Answerer:
    """Answers batches with one evaluator, which must be usable again after a SimulatorError that is not permanent.
    ``stream`` receives the items that it streams meanwhile."""

    def __init__(self, evaluator: Evaluator, stream: Callable[[Streamed], None]) -> None:
        problem = evaluator.describe()
        self._evaluator, self._stream = evaluator, stream
        self.noun = problem.noun
        self.objectives, self.metrics = len(problem.objectives), len(problem.metrics)

    def answers(self, batch: Sequence[Request], should_stop: ShouldStop) -> list[Evaluation]:
        """One evaluation for each request of the batch, in its order. A request whose evaluation raises is evaluated
        alone and comes back failed. Raises SimulatorError, ConfigError, DiskFull (which says nothing about a request),
        and Cancelled when stopped."""
        try:
            return self._together(batch, should_stop)
        except (SimulatorError, ConfigError, DiskFull, Cancelled):
            raise
        except Exception as error:  # the boundary to third-party evaluators
            if isinstance(error, OSError) and error.errno in FULL:
                raise DiskFull(f"The disk is full: free some space, then resume ({error.filename}).") from error
            if len(batch) > 1:
                return [answer for request in batch for answer in self.answers([request], should_stop)]
            logger.exception("Request %d could not be evaluated", batch[0].id)
            reason = str(error) if isinstance(error, EngineError) else f"{type(error).__name__}: {error}"
            return [failed(batch[0], reason, self.objectives, self.metrics)]

    def _together(self, batch: Sequence[Request], should_stop: ShouldStop) -> list[Evaluation]:
        answered: dict[int, Evaluation] = {}
        places: Counter[int] = Counter()
        for found in self._evaluator.evaluate(batch, should_stop):
            if isinstance(found, Streamed):
                self._stream(found._replace(place=places[found.request]))
                places[found.request] += 1
            else:
                answered.setdefault(found.id, found)
            if should_stop():
                break
        missing = [request for request in batch if request.id not in answered]
        if missing and should_stop():
            raise Cancelled("The work was stopped before this batch was finished.")
        for request in missing:
            reason = f"The evaluator ended without an answer for this {self.noun}."
            answered[request.id] = failed(request, reason, self.objectives, self.metrics)
        return [answered[request.id] for request in batch]

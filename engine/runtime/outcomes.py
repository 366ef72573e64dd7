"""Shared by all pools: incidents, streamed items, and the outcome of lost requests."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from types import TracebackType
from typing import NamedTuple, Self

from engine.channel import UNASKED, Streamed
from engine.errors import EvaluationError
from engine.problem import GIVEN_UP, UNCOUNTED, Evaluation, failed
from engine.runtime.ledger import Condemned

HOPELESS = 5
"""Consecutive requests that end every process, without any answer, after which the work is given up."""


class Trouble(NamedTuple):
    """A problem that was handled; becomes an Incident event. ``what``: ``lost-worker``, ``lost-simulator``,
    ``waiting-for-capacity``, ``failed-candidate``."""

    what: str
    message: str


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
    """Turns condemned requests into failed evaluations, reports them, and gives up once nothing works at all.
    ``succeeded``: whether evaluations of this study succeeded in an earlier attempt."""

    def __init__(self, noun: str = "candidate", *, succeeded: bool = False) -> None:
        self.noun = noun
        self._succeeded = succeeded
        self._condemned = 0
        self.troubles: list[Trouble] = []

    def take_troubles(self) -> list[Trouble]:
        """Troubles since the last call."""
        troubles, self.troubles = self.troubles, []
        return troubles

    def passed(self, evaluations: Sequence[Evaluation]) -> None:
        """Record that evaluations succeed."""
        self._succeeded = self._succeeded or any(evaluation.status == "ok" for evaluation in evaluations)

    def condemn(self, condemned: Sequence[Condemned], objectives: int, metrics: int) -> list[Evaluation]:
        """The failed evaluations. Raises EvaluationError when ``HOPELESS`` requests in a row died and none ever
        succeeded, because then the candidates are not the cause."""
        evaluations = []
        for request, reason in condemned:
            self._condemned += 1
            if self._condemned >= HOPELESS and not self._succeeded:
                raise EvaluationError(
                    f"Not one {self.noun} could be evaluated; {self._condemned} of them ended every process that "
                    f"tried. The last one: {reason}"
                )
            why = f"{GIVEN_UP} while this {self.noun} was evaluated alone. The last one: {reason}"
            who = f"{self.noun.capitalize()} {request.id} is" if request.id < UNCOUNTED else "An evaluation was"
            self.troubles.append(Trouble("failed-candidate", f"{who} left out. {why}"))
            evaluations.append(failed(request, why, objectives, metrics))
        return evaluations


class Streams:
    """Streamed items that are not gathered yet; each item of a request once, however often the request is restarted."""

    def __init__(self) -> None:
        self._waiting: deque[Streamed] = deque()
        self._next: dict[int, int] = {}

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def add(self, streamed: Streamed) -> None:
        """Keep an item, unless it arrived before from a worker that was lost over the request."""
        if streamed.request != UNASKED:
            if streamed.place < self._next.get(streamed.request, 0):
                return
            self._next[streamed.request] = streamed.place + 1
        self._waiting.append(streamed)

    def answered(self, evaluations: Sequence[Evaluation]) -> None:
        """Forget finished requests; their ids may be used again."""
        for evaluation in evaluations:
            self._next.pop(evaluation.id, None)

    def take(self, most: int) -> list[Streamed]:
        """Up to ``most`` items, in order of arrival."""
        return [self._waiting.popleft() for _ in range(min(most, len(self._waiting)))]

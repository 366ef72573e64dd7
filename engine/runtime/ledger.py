"""The ledger of a pool's requests and workers, without sockets, processes or a clock.

Requests wait, travel in batches, and are answered exactly once. Batch sizes follow guided self-scheduling
(Polychronopoulos and Kuck 1987): a worker takes 1/(2 · workers) of the remaining work, between 6 ms and the target, so
that the workers reach a barrier together. Lost work: a lost batch is issued again, a batch over which two processes
died is bisected, and a request is given up after three processes in a row died while running it alone.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from engine.errors import EngineError
from engine.problem import Request

FLOOR_S = 0.006
TINY_S = 0.002  # a batch costs about 0.5 ms of messages; less than this is not worth splitting
DEATHS_ALONE = 3
DEATHS_TOGETHER = 2
HELD = 2
FADE = 0.7
FASTEST_S = 1e-6
LONG_S = 0.04  # a fortieth of this is lost between two batches; of unequal times more would be, behind a slow request


class Condemned(NamedTuple):
    """A request that is given up, with the reason of the last death."""

    request: Request
    reason: str


@dataclass(slots=True)
class Batch:
    """Requests that travel together; ``deaths``: processes that died over them; ``alone``: the last ones of these in a
    row that ran a single request. A batch with deaths is a suspect: its worker holds nothing else."""

    number: int
    requests: tuple[Request, ...]
    deaths: int = 0
    alone: int = 0


def work(request: Request) -> int:
    """The work of a request, in replicates."""
    return max(request.last - request.first, 1)


class ReplicateTime:
    """Measured seconds per replicate, weighted towards recent batches; None before the first."""

    def __init__(self) -> None:
        self._seconds = self._work = 0.0

    def measured(self, seconds: float, done: int) -> None:
        """Take ``done`` replicates in ``seconds`` into account."""
        self._seconds = FADE * self._seconds + seconds
        self._work = FADE * self._work + done

    def estimate(self, amount: float) -> float | None:
        """Expected seconds for ``amount`` replicates."""
        return amount * max(self._seconds / self._work, FASTEST_S) if self._work else None


class Ledger:
    """The state of every request that a pool has accepted and not answered yet."""

    def __init__(self, workers: int, target_s: float) -> None:
        self._workers, self._target_s = workers, target_s
        self._waiting: deque[Request] = deque()
        self._waiting_work = 0
        self._suspects: deque[Batch] = deque()
        self._held: dict[bytes, list[Batch]] = {}
        self._open: set[int] = set()
        self._numbers = 0
        self._typical = 1
        self._pace = ReplicateTime()

    @property
    def outstanding(self) -> int:
        """Requests accepted and not answered."""
        return len(self._open)

    @property
    def room(self) -> int:
        """How many more requests fit so that each worker holds two batches of the target length."""
        seconds = self._pace.estimate(self._typical)
        batch = 1 if seconds is None else max(1, int(self._target_s / seconds))
        return max(0, HELD * self._workers * batch - self.outstanding)

    def holds(self, worker: bytes) -> Sequence[Batch]:
        """The batches a worker has, the one it runs first."""
        return self._held.get(worker, ())

    def add(self, requests: Iterable[Request]) -> None:
        """Accept requests. Raises EngineError for an id that is still unanswered."""
        for request in requests:
            if request.id in self._open:
                raise EngineError(f"Request {request.id} was submitted again before its answer came.")
            self._open.add(request.id)
            self._typical = work(request)
            self._waiting.append(request)
            self._waiting_work += work(request)

    def deal(self, worker: bytes) -> Batch | None:
        """The next batch for a worker, None if it has enough or nothing is left. A suspect goes to a worker that holds
        nothing else, so that a death can be attributed to it."""
        held = self._held.setdefault(worker, [])
        if len(held) >= HELD or any(batch.deaths for batch in held):
            return None
        if self._suspects:
            if held:
                return None
            batch = self._suspects.popleft()
        else:
            requests = self._take(busy=bool(held))
            if not requests:
                return None
            batch = self._batch(requests)
        held.append(batch)
        return batch

    def finish(self, worker: bytes, number: int, seconds: float) -> Batch | None:
        """Close the batch that a worker has answered after ``seconds``; None if it does not hold that batch."""
        batch = self._release(worker, number)
        if batch:
            self._pace.measured(seconds, sum(map(work, batch.requests)))
            self._open.difference_update(request.id for request in batch.requests)
        return batch

    def hand_back(self, worker: bytes, number: int, reason: str) -> list[Condemned]:
        """Handle the death of the simulator process that played this batch; the worker survived."""
        batch = self._release(worker, number)
        return self._blame(batch, True, reason) if batch else []

    def lose(self, worker: bytes, reason: str) -> list[Condemned]:
        """Handle the loss of a worker. The batch it ran is blamed; batches it had not begun just wait again."""
        held = self._held.pop(worker, [])
        for batch in reversed(held[1:]):
            self._put_back(batch)
        return self._blame(held[0], len(held) == 1, reason) if held else []

    def put_back(self, worker: bytes) -> None:
        """Handle a worker that stopped without blame: all its batches wait again."""
        for batch in reversed(self._held.pop(worker, [])):
            self._put_back(batch)

    def _put_back(self, batch: Batch) -> None:
        if batch.deaths:
            self._suspects.appendleft(batch)
            return
        for request in reversed(batch.requests):
            self._waiting.appendleft(request)
            self._waiting_work += work(request)

    def _batch(self, requests: Sequence[Request], deaths: int = 0) -> Batch:
        self._numbers += 1
        return Batch(self._numbers, tuple(requests), deaths)

    def _release(self, worker: bytes, number: int) -> Batch | None:
        held = self._held.get(worker, [])
        batch = next((batch for batch in held if batch.number == number), None)
        if batch:
            held.remove(batch)
        return batch

    def _take(self, busy: bool) -> list[Request]:
        """Requests for a guided share of the waiting work. A busy worker leaves a share for each idle worker."""
        if not self._waiting:
            return []
        each = self._pace.estimate(work(self._waiting[0]))
        if each is None or each > min(LONG_S, self._target_s):
            return [] if busy else [self._next()]  # it is worth the wait for a worker that is free
        total = each / work(self._waiting[0]) * self._waiting_work
        floor = min(FLOOR_S, max(total / self._workers, TINY_S))
        goal = min(self._target_s, max(total / (2 * self._workers), floor))
        if busy and total - goal < self._workers * floor:
            return []
        amount = goal / total * self._waiting_work
        taken = [self._next()]
        amount -= work(taken[0])
        while self._waiting and amount >= work(self._waiting[0]) / 2:
            taken.append(self._next())
            amount -= work(taken[-1])
        return taken

    def _next(self) -> Request:
        request = self._waiting.popleft()
        self._waiting_work -= work(request)
        return request

    def _blame(self, batch: Batch, alone: bool, reason: str) -> list[Condemned]:
        batch.deaths += 1
        if len(batch.requests) > 1:
            self._suspects.extend(self._halves(batch) if batch.deaths >= DEATHS_TOGETHER else [batch])
            return []
        batch.alone += alone
        if batch.alone < DEATHS_ALONE:
            self._suspects.append(batch)
            return []
        self._open.discard(batch.requests[0].id)
        return [Condemned(batch.requests[0], reason)]

    def _halves(self, batch: Batch) -> list[Batch]:
        """Both halves remain suspects: one more death bisects the culprit again."""
        middle = math.ceil(len(batch.requests) / 2)
        return [self._batch(part, batch.deaths) for part in (batch.requests[:middle], batch.requests[middle:])]

"""The one loop that drives every study whose battles a schedule asks for: what pieces are worth, who beats whom, what a
change does, what is left without a suspect, the smallest change that works, how hard one looked."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Protocol

from engine.arrays import Bundle
from engine.config.base import Study
from engine.config.pool import PoolConfig
from engine.errors import Cancelled
from engine.events import AnyEvent, Counters, Finished, Logged, Paused, Progressed, Stopped
from engine.evolution.algorithm import Parts, Progress
from engine.problem import Evaluation, Request
from engine.runtime.pool import Pool
from engine.store import Store
from engine.study import checkpoint
from engine.study.checkpoint import Checkpoint
from engine.study.control import Command, Control
from engine.study.session import PoolSession


class Schedule(Protocol):
    """Asks for battles and takes in what they say, as an ``Algorithm`` does; ``played``: battles so far."""

    @property
    def tick(self) -> int: ...
    @property
    def done(self) -> bool: ...
    @property
    def played(self) -> int: ...
    def ask(self, room: int) -> list[Request]: ...
    def tell(self, evaluation: Evaluation) -> Sequence[Progress]: ...
    def state(self) -> Parts: ...
    def load(self, parts: Parts) -> None: ...


class Scheduled(PoolSession):
    """One execution of such a study; ``prepare`` sets ``schedule``."""

    schedule: Schedule

    def __init__(self, study: Study, pool: PoolConfig, store: Store, control: Control) -> None:
        super().__init__(study, pool, store, control)
        self.began, self.before_s = time.monotonic(), 0.0
        self._found: dict[str, str] = {}

    @abstractmethod
    def results(self, last: bool) -> dict[str, str]:
        """Artifacts by what is known so far, after a tick or, at the ``last`` call, at the end. Raises Cancelled when a
        command to end came while they were worked out."""

    @abstractmethod
    def metrics(self) -> Mapping[str, float]:
        """What the results say in numbers; called after ``results``."""

    def parts(self) -> Parts:
        """Parts of a checkpoint beyond the schedule's own."""
        return {}

    def hand_out(self, pool: Pool) -> Iterator[AnyEvent]:
        """Have played what comes next. Raises Cancelled when a command to end came while that was decided."""
        if requests := self.schedule.ask(pool.room):
            self.submit(pool, requests)
        yield from ()

    def conclude(self) -> Generator[AnyEvent, None, dict[str, str]]:
        """What is said once everything is played. Returns artifacts beyond the results."""
        yield from ()
        return {}

    @property
    def cached(self) -> int:
        """Battles whose outcome was known already."""
        return 0

    def load(self, saved: Checkpoint) -> None:
        self.schedule.load(saved.parts)
        self.before_s = saved.parts["time"].meta["seconds"]

    def drive(self, pool: Pool) -> Generator[AnyEvent, None, Command]:
        while not self.schedule.done:
            if command := self.control():
                return command
            try:
                yield from self.hand_out(pool)
            except Cancelled:
                continue
            for evaluation in self.finished(pool):
                for _ in self.schedule.tell(evaluation):
                    self.throttle.restart()
                    yield self._progressed()
            if self.throttle.due():
                yield self.say(Logged, message="")
            yield from self.troubles(pool)
        return ""

    def end(self, pool: Pool, command: Command) -> Iterator[AnyEvent]:
        if command == "pause":
            yield self.say(Paused, artifacts=self._checkpoint())
        elif command == "stop":
            artifacts = self._results(last=True) | self._checkpoint()
            yield self.say(Stopped, reason="Stopped by request.", artifacts=artifacts, summary={})
        else:
            more = yield from self.conclude()
            artifacts = self.results(last=True) | self._checkpoint() | more
            yield self.say(Finished, artifacts=artifacts, summary=self.metrics())

    def _results(self, last: bool) -> dict[str, str]:
        """The results, or the latest that were worked out before a command to end came."""
        with suppress(Cancelled):
            self._found = self.results(last)
        return self._found

    def _progressed(self) -> AnyEvent:
        """A tick is complete: write everything down."""
        artifacts = self._results(last=False) | self._checkpoint()
        return self.say(Progressed, metrics=self.metrics(), artifacts=artifacts)

    def _checkpoint(self) -> dict[str, str]:
        parts = {**self.schedule.state(), **self.parts(), "time": Bundle({"seconds": self._seconds}, {})}
        return {"checkpoint": checkpoint.write(self.study, self.schedule.tick, parts, self.store)}

    @property
    def _seconds(self) -> float:
        return self.before_s + time.monotonic() - self.began

    def reached(self) -> tuple[int, Counters]:
        x = self.schedule
        return x.tick, Counters(battles=x.played, cached=self.cached, seconds=self._seconds)

"""The life of a study: what it says of itself, and the way from its checkpoint to its last event."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterator, Sequence
from typing import Any, ClassVar, NamedTuple, Protocol

from engine.catalog import EVALUATORS
from engine.config.base import Study
from engine.config.pool import PoolConfig
from engine.errors import ActorLost, Cancelled, EngineError
from engine.events import AnyEvent, Counters, Incident, Logged, Started
from engine.problem import Evaluation, Request
from engine.runtime.outcomes import Trouble
from engine.runtime.pool import Pool, open_pool
from engine.store import Store
from engine.study import checkpoint
from engine.study.checkpoint import Checkpoint
from engine.study.control import Command, Control
from engine.study.failures import not_begun
from engine.study.progress_throttle import ProgressThrottle

_POLL_S = 0.2


class Totals(NamedTuple):
    """Totals of a whole study, without the fresh replicates of a search's final front."""

    ticks: int
    battles: int


class Troubled(Protocol):
    """What plays for a study."""

    def incidents(self) -> list[Trouble]:
        """The incidents since the last call."""
        ...


class Session(ABC):
    """One execution of a study."""

    def __init__(self, store: Store, control: Control) -> None:
        self.store, self.control = store, control
        self.throttle = ProgressThrottle()

    @abstractmethod
    def reached(self) -> tuple[int, Counters]:
        """The ticks that are complete, and the totals so far."""

    def stopped(self) -> bool:
        """Whether a command to end has come."""
        return bool(self.control())

    def say(self, kind: Any, **fields: Any) -> AnyEvent:
        """An event with the study's present tick and counters."""
        tick, counters = self.reached()
        event: AnyEvent = kind(tick=tick, at=time.time(), counters=counters, **fields)
        return event

    def troubles(self, players: Troubled) -> Iterator[AnyEvent]:
        """The incidents since the last call."""
        for trouble in players.incidents():
            yield self.say(Incident, what=trouble.what, message=trouble.message)


class PoolSession(Session):
    """One execution of a study whose requests a pool of workers answers."""

    evaluator: ClassVar[str]
    """Its key in ``engine.catalog.EVALUATORS``."""
    succeeded = False
    """Whether evaluations succeeded before the study was resumed, so that candidates are blamed for failures now."""

    def __init__(self, study: Study, pool: PoolConfig, store: Store, control: Control) -> None:
        super().__init__(store, control)
        self.study, self.pool, self.saved = study, pool, ""

    @abstractmethod
    def prepare(self, saved: Checkpoint | None) -> None:
        """Make everything as it begins; ``saved``: the checkpoint that is loaded next. Raises ConfigError with every
        problem, SimulatorError, and Cancelled when a command to end came meanwhile."""

    @abstractmethod
    def load(self, saved: Checkpoint) -> None:
        """Go on from a checkpoint. Raises as ``prepare``."""

    def payload(self) -> bytes:
        """The payload from which workers build their evaluator, as JSON."""
        return self.study.model_dump_json().encode()

    @abstractmethod
    def plan(self) -> Totals:
        """The planned totals."""

    def note(self) -> str:
        """What is to be said once it is prepared; empty: nothing."""
        return ""

    @abstractmethod
    def drive(self, pool: Pool) -> Generator[AnyEvent, None, Command]:
        """Have everything played. Returns the command that ended it early."""

    @abstractmethod
    def end(self, pool: Pool, command: Command) -> Iterator[AnyEvent]:
        """The last events."""

    def events(self, resume: str) -> Iterator[AnyEvent]:
        """The whole study; ``resume``: hash of the checkpoint to continue from."""
        saved = checkpoint.read(self.study, resume, self.store) if resume else None
        try:
            self.prepare(saved)
            if saved:
                self.load(saved)
                self.saved = resume
            opened = self._open()
        except Cancelled:
            yield not_begun(self.control, resume)
            return
        config = self.pool
        with opened as pool:
            workers, kind = config.processes, config.kind
            yield self.say(Started, workers=workers, pool=kind, resumed=bool(saved), **self.plan()._asdict())
            if not saved and (note := self.note()):
                yield self.say(Logged, message=note)
            self.throttle.restart()
            try:
                command = yield from self.drive(pool)
                yield from self.end(pool, command)
            except EngineError:
                yield from self.troubles(pool)
                raise

    def _open(self) -> Pool:
        """The pool of its workers. Raises as ``open_pool``."""
        factory = EVALUATORS[self.evaluator]
        return open_pool(self.pool, factory, self.payload(), should_stop=self.stopped, succeeded=self.succeeded)

    def submit(self, pool: Pool, requests: Sequence[Request]) -> None:
        """Hand requests to the pool. If it dies after a command to end, that is no error, as in ``finished``."""
        try:
            pool.submit(requests)
        except ActorLost:
            if not self.control():
                raise

    def finished(self, pool: Pool) -> list[Evaluation]:
        """The evaluations that the pool has finished. If it dies after a command to end, that is no error: the command
        reached its workers, too."""
        try:
            return pool.finished(_POLL_S)
        except ActorLost:
            if self.control():
                return []
            raise

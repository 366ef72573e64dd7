"""The study "how hard did we look": plantings (``engine.sensitivity``), and the table of how many were found."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator, Mapping
from typing import Any

import numpy as np

from engine.arrays import Bundle, pack
from engine.catalog import EVALUATORS
from engine.config.sensitivity import SensitivityConfig
from engine.errors import Cancelled, EngineError
from engine.events import AnyEvent, Counters, Finished, Incident, Logged, Paused, Progressed, Started, Stopped
from engine.lineups.pairing_evaluator import checked
from engine.lineups.rules import compile_rules
from engine.runtime.pool import Pool, open_pool
from engine.sensitivity.course import Course
from engine.sensitivity.plan import planned
from engine.sensitivity.table import tabled
from engine.simulators.loaders import heed, load
from engine.store import Store
from engine.study import checkpoint
from engine.study.control import Command, Control
from engine.study.drive import finished
from engine.study.failures import not_begun, with_failure
from engine.study.progress_throttle import ProgressThrottle

BESIDE = "All breaks are planted. What was confirmed beside them is measured in the game as it is."


def sensitivity(config: SensitivityConfig, store: Store, resume: str, control: Control) -> Iterator[AnyEvent]:
    """As ``engine.study.lineups.run``, for a sensitivity."""
    return with_failure(_Sensitivity(config, store, control).events(resume))


class _Sensitivity:
    def __init__(self, config: SensitivityConfig, store: Store, control: Control) -> None:
        self.config, self.store, self.control = config, store, control
        self.throttle, self.before_s, self.began = ProgressThrottle(), 0.0, time.monotonic()

    def events(self, resume: str) -> Iterator[AnyEvent]:
        config = self.config
        try:
            self._prepare(resume)
        except Cancelled:
            yield not_begun(self.control, resume)
            return
        evaluator, payload = EVALUATORS["plantings"], config.model_dump_json().encode()
        with open_pool(config.pool, evaluator, payload, should_stop=self._stopped) as pool:
            workers = config.pool.workers if config.pool.kind == "ray" else 1
            yield self._say(Started, workers=workers, pool=config.pool.kind, ticks=config.many,
                            battles=config.most, resumed=bool(resume))  # fmt: skip
            try:
                command = yield from self._drive(pool)
            except EngineError:
                yield from self._troubles(pool)
                raise
        if command == "pause":
            yield self._say(Paused, artifacts={"checkpoint": self._checkpoint()})
        elif command == "stop":
            yield self._say(Stopped, reason="Stopped by request.", artifacts=self._results(), summary=self._metrics())
        else:
            yield self._say(Finished, artifacts=self._results(), summary=self._metrics())

    def _stopped(self) -> bool:
        return bool(self.control())

    def _prepare(self, resume: str) -> None:
        """Make the plan, and go on from a checkpoint. Raises ConfigError, SimulatorError, StoreError, Cancelled."""
        config, simulator = self.config, load(self.config.game.simulator)
        heed(simulator, self._stopped)
        try:
            self.spec = checked(config.experiment(config.seed), simulator)
        finally:
            if close := getattr(simulator, "close", None):
                close()
        self.course = Course(config, planned(config, compile_rules(self.spec, config.pairings)))
        if resume:
            saved = checkpoint.read(config, resume, self.store)
            self.course.load(saved.parts)
            self.before_s = saved.parts["time"].meta["seconds"]

    def _drive(self, pool: Pool) -> Generator[AnyEvent, None, Command]:
        """Run everything. Returns the command that ended it early."""
        course, said = self.course, False
        while not course.done:
            if command := self.control():
                return command
            if course.planted and not said:
                yield self._say(Logged, message=BESIDE)
                said = True
            if requests := course.ask(pool.room):
                pool.submit(requests)
            for evaluation in finished(pool, self.control):
                for _ in course.tell(evaluation):
                    yield self._progressed()
            if self.throttle.due():
                yield self._say(Logged, message="")
            yield from self._troubles(pool)
        return ""

    def _progressed(self) -> AnyEvent:
        """A planting is over: write the table and the checkpoint."""
        self.throttle.restart()
        return self._say(Progressed, metrics=self._metrics(), artifacts=self._results())

    def _results(self) -> dict[str, str]:
        """The table of all plantings that are over, and the checkpoint."""
        table = self.store.put(pack(*tabled(self.course, self.spec)))
        return {"table": table, "checkpoint": self._checkpoint()}

    def _metrics(self) -> dict[str, float]:
        _, columns = tabled(self.course, self.spec)
        return {"planted": float((columns["found"] >= 0).sum()), "found": float(np.sum(columns["found"] == 1))}

    def _checkpoint(self) -> str:
        parts = {**self.course.state(), "time": Bundle({"seconds": self._seconds}, {})}
        return checkpoint.write(self.config, self.course.tick, parts, self.store)

    @property
    def _seconds(self) -> float:
        return self.before_s + time.monotonic() - self.began

    def _troubles(self, pool: Pool) -> Iterator[AnyEvent]:
        for trouble in pool.incidents():
            yield self._say(Incident, what=trouble.what, message=trouble.message)

    def _say(self, kind: Any, **fields: Any) -> AnyEvent:
        counters = Counters(evaluations=self.course.tick, battles=self.course.battles, seconds=self._seconds)
        event: AnyEvent = kind(tick=self.course.tick, at=time.time(), counters=counters, **fields)
        return event


class Words:
    """Console texts of sensitivities."""

    def planned(self, event: Started, study: Mapping[str, Any]) -> str:
        """Plantings and battles."""
        return f"{event.ticks:,} plantings, {event.battles:,} battles at most"

    def done(self, counters: Counters) -> str:
        """Battles."""
        return f"{counters.battles:,} battles"

    def round(self, metrics: Mapping[str, float]) -> str:
        """What was found so far."""
        if not metrics:
            return "planting"
        return f"{int(metrics['found']):,} of {int(metrics['planted']):,} breaks found"

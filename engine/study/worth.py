"""The study "what each piece is worth": battles of an experiment (``engine.worth``), and the table of its findings."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator, Mapping
from typing import Any

from engine.arrays import Bundle, pack
from engine.catalog import EVALUATORS
from engine.config.worth import WorthConfig
from engine.errors import Cancelled, EngineError
from engine.events import AnyEvent, Counters, Finished, Incident, Logged, Paused, Progressed, Started, Stopped
from engine.lineups.pairing_evaluator import checked
from engine.lineups.rules import compile_rules
from engine.rl.learner import on_threads
from engine.runtime.pool import Pool, open_pool
from engine.simulators.loaders import heed, load
from engine.store import Store
from engine.study import checkpoint
from engine.study.control import Command, Control
from engine.study.drive import finished
from engine.study.failures import not_begun, with_failure
from engine.study.progress_throttle import ProgressThrottle
from engine.worth.experiment import TICKS, Experiment
from engine.worth.prices import cost_bounds
from engine.worth.reading import PRICES
from engine.worth.table import tabled
from engine.worth.traits import Trait

SAID = {
    "screen": "Random teams of equal cost have met. Which pairs bring more together than each alone is looked at next.",
    "narrow": "The pairs that surprised most are looked at again.",
    "closer": "What may matter is proved next, on fresh battles.",
    PRICES: "Pieces are played at other prices, to see what a price does.",
}
"""Log messages at the end of each stage; for the last one, at its beginning."""


def worth(config: WorthConfig, store: Store, resume: str, control: Control) -> Iterator[AnyEvent]:
    """As ``engine.study.lineups.run``, for an experiment."""
    return with_failure(_Worth(config, store, control).events(resume))


class _Worth:
    def __init__(self, config: WorthConfig, store: Store, control: Control) -> None:
        self.config, self.store, self.control = config, store, control
        self.throttle, self.saved, self.before_s = ProgressThrottle(), "", 0.0
        self.tabled, self.table = 0, ""
        self.began = time.monotonic()

    def events(self, resume: str) -> Iterator[AnyEvent]:
        config = self.config
        try:
            self._prepare(resume)
        except Cancelled:
            yield not_begun(self.control, resume)
            return
        evaluator, payload = EVALUATORS["pairings"], config.model_dump_json().encode()
        with on_threads(1), open_pool(config.pool, evaluator, payload, should_stop=self._stopped) as pool:
            workers = config.pool.workers if config.pool.kind == "ray" else 1
            yield self._say(Started, workers=workers, pool=config.pool.kind, ticks=TICKS, battles=config.battles,
                            resumed=bool(resume))  # fmt: skip
            try:
                command = yield from self._drive(pool)
            except EngineError:
                yield from self._troubles(pool)
                raise
        if command == "pause":
            yield self._say(Paused, artifacts={"checkpoint": self._checkpoint()})
        elif command == "stop":
            yield self._say(Stopped, reason="Stopped by request.", artifacts=self._results(), summary={})
        else:
            yield self._say(Finished, artifacts=self._results(), summary=self._metrics())

    def _stopped(self) -> bool:
        return bool(self.control())

    def _prepare(self, resume: str) -> None:
        """Make the experiment, new or from a checkpoint. Raises ConfigError, SimulatorError, StoreError, Cancelled."""
        config, simulator = self.config, load(self.config.game.simulator)
        heed(simulator, self._stopped)
        try:
            self.spec = checked(config, simulator)
        finally:
            if close := getattr(simulator, "close", None):
                close()
        rules = compile_rules(self.spec, config.pairings)
        self.experiment = Experiment(
            rules, config.battles, config.matters, config.seed, cost_bounds(self.spec), self._stopped
        )
        if resume:
            saved = checkpoint.read(config, resume, self.store)
            self.experiment.load(saved.parts)
            self.before_s = saved.parts["time"].meta["seconds"]

    def _drive(self, pool: Pool) -> Generator[AnyEvent, None, Command]:
        """Play all battles. Returns the command that ended it early."""
        x = self.experiment
        while not x.done:
            if command := self.control():
                return command
            stage = x.stage
            if x.told.all():
                yield self._say(Logged, message="What these battles say is being worked out.")
            try:
                requests = x.ask(pool.room)
            except Cancelled:
                continue
            if x.stage != stage or x.done:
                said = SAID.get(PRICES if x.stage.name == PRICES else stage.name, "")
                yield self._say(Logged, message="" if x.done else said)
            if requests:
                pool.submit(requests)
            for evaluation in finished(pool, self.control):
                for progress in x.tell(evaluation):
                    yield self._progressed(progress.tick)
            if self.throttle.due():
                yield self._say(Logged, message="")
            yield from self._troubles(pool)
        return ""

    def _progressed(self, tick: int) -> AnyEvent:
        """A fortieth of the battles is complete: write the table and the checkpoint."""
        self.throttle.restart()
        artifacts = self._results()
        return self._say(Progressed, metrics=self._metrics(), artifacts=artifacts)

    def _results(self) -> dict[str, str]:
        """The table of all complete stages, and the checkpoint."""
        self.saved = self._checkpoint()
        reading = self.experiment.reading
        if not reading.played:
            return {"checkpoint": self.saved}
        if len(reading.played) > self.tabled:
            self.tabled, self.table = len(reading.played), self.store.put(pack(*tabled(reading, self.spec)))
        return {"table": self.table, "checkpoint": self.saved}

    def _metrics(self) -> dict[str, float]:
        reading = self.experiment.reading
        if not reading.played:
            return {}
        findings = reading.findings if reading.proving else []
        told = [reading.traits.all[finding.trait] for finding in findings if finding.told]
        return {"looked_at": float(len(reading.traits.all)), "told": float(sum(not self._meant(t) for t in told))}

    def _meant(self, trait: Trait) -> bool:
        """Whether somebody means a trait to be as it is."""
        pieces = {self.spec.pieces[piece].id for piece in trait.pieces}
        return any(set(each.pieces) == pieces and each.least == trait.least for each in self.config.intended)

    def _checkpoint(self) -> str:
        parts = {**self.experiment.state(), "time": Bundle({"seconds": self._seconds}, {})}
        return checkpoint.write(self.config, self.experiment.tick, parts, self.store)

    @property
    def _seconds(self) -> float:
        return self.before_s + time.monotonic() - self.began

    def _troubles(self, pool: Pool) -> Iterator[AnyEvent]:
        for trouble in pool.incidents():
            yield self._say(Incident, what=trouble.what, message=trouble.message)

    def _say(self, kind: Any, **fields: Any) -> AnyEvent:
        x = self.experiment
        counters = Counters(battles=x.played, seconds=self._seconds)
        event: AnyEvent = kind(tick=x.tick, at=time.time(), counters=counters, **fields)
        return event


class Words:
    """Console texts of experiments."""

    def planned(self, event: Started, study: Mapping[str, Any]) -> str:
        """Battles."""
        return f"{event.battles:,} battles"

    def done(self, counters: Counters) -> str:
        """Battles."""
        return f"{counters.battles:,} battles"

    def round(self, metrics: Mapping[str, float]) -> str:
        """The findings so far."""
        told = int(metrics.get("told", 0))
        return f"{told} of {int(metrics['looked_at']):,} pieces and pairs stand out" if metrics else "screening"

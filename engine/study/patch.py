"""The smallest change that works, as a study: a search for it (``engine.patches``), and a table of patches."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator, Mapping
from typing import Any

from engine.arrays import Bundle, pack
from engine.catalog import EVALUATORS
from engine.config.patch import PatchConfig
from engine.errors import Cancelled, ConfigError, EngineError
from engine.events import AnyEvent, Counters, Finished, Incident, Logged, Paused, Progressed, Started, Stopped
from engine.lineups.named import unknown
from engine.lineups.pairing_evaluator import checked
from engine.patches.finder import Finder
from engine.patches.table import tabled
from engine.rl.learner import on_threads
from engine.runtime.pool import Pool, open_pool
from engine.simulators.loaders import heed, load
from engine.store import Store
from engine.study import checkpoint
from engine.study.control import Command, Control
from engine.study.drive import finished
from engine.study.failures import not_begun, with_failure
from engine.study.progress_throttle import ProgressThrottle
from engine.worth.experiment import TICKS

SAID = {
    "responses": "What is unfair is known. Now it is measured what each of its numbers does.",
    "candidates": "The most promising changes are played, the same battles for all.",
    "adversary": "An adversary looks for stronger teams than there were before.",
    "proof": "The best changes are proved on fresh battles, and against an adversary that begins anew.",
}
"""What is said when a stage begins."""
NOTHING_TOLD = "Nothing stands out, so there is nothing to change."


def patch(config: PatchConfig, store: Store, resume: str, control: Control) -> Iterator[AnyEvent]:
    """As ``engine.study.lineups.run``, for a search for changes."""
    return with_failure(_Patching(config, store, control).events(resume))


class _Patching:
    def __init__(self, config: PatchConfig, store: Store, control: Control) -> None:
        self.config, self.store, self.control = config, store, control
        self.throttle, self.before_s, self.began = ProgressThrottle(), 0.0, time.monotonic()
        self.table, self.tabled_at = "", ""

    def events(self, resume: str) -> Iterator[AnyEvent]:
        config = self.config
        with on_threads(1):
            try:
                self._prepare(resume)
            except Cancelled:
                yield not_begun(self.control, resume)
                return
            evaluator, payload = EVALUATORS["patched"], config.model_dump_json().encode()
            with open_pool(config.pool, evaluator, payload, should_stop=self._stopped) as pool:
                workers = config.pool.workers if config.pool.kind == "ray" else 1
                yield self._say(Started, workers=workers, pool=config.pool.kind, ticks=TICKS, battles=config.battles,
                                resumed=bool(resume))  # fmt: skip
                try:
                    command = yield from self._drive(pool)
                except EngineError:
                    yield from self._troubles(pool)
                    raise
            yield self._end(command)

    def _end(self, command: Command) -> AnyEvent:
        if command == "pause":
            return self._say(Paused, artifacts={"checkpoint": self._checkpoint()})
        if command == "stop":
            return self._say(Stopped, reason="Stopped by request.", artifacts=self._results(), summary={})
        return self._say(Finished, artifacts=self._results(), summary=self._metrics())

    def _stopped(self) -> bool:
        return bool(self.control())

    def _prepare(self, resume: str) -> None:
        """The search as it begins, or as it was left. Raises ConfigError, SimulatorError, StoreError, Cancelled."""
        config, simulator = self.config, load(self.config.game.simulator)
        heed(simulator, self._stopped)
        try:
            spec = checked(config, simulator)
        finally:
            if close := getattr(simulator, "close", None):
                close()
        if wrong := unknown(config, spec):
            raise ConfigError(wrong)
        self.finder = Finder(spec, config, self._stopped)
        if resume:
            saved = checkpoint.read(config, resume, self.store)
            self.finder.load(saved.parts)
            self.before_s = saved.parts["time"].meta["seconds"]

    def _drive(self, pool: Pool) -> Generator[AnyEvent, None, Command]:
        """Until the course is over. Returns the command that ended it before."""
        finder = self.finder
        while not finder.done:
            if command := self.control():
                return command
            try:
                yield from self._hand_out(pool)
            except Cancelled:
                continue
            for evaluation in finished(pool, self.control):
                if finder.tell(evaluation):
                    yield self._progressed()
            if self.throttle.due():
                yield self._say(Logged, message="")
            yield from self._troubles(pool)
        if not finder.course.candidates:
            yield self._say(Logged, message=NOTHING_TOLD)
        return ""

    def _hand_out(self, pool: Pool) -> Iterator[AnyEvent]:
        """Have played what comes next, and say when a stage begins. Raises Cancelled."""
        finder, stage = self.finder, self.finder.course.stage
        if finder.deciding and self.throttle.due():
            yield self._say(Logged, message="")
        requests = finder.ask(pool.room)
        if finder.course.stage != stage:
            yield self._say(Logged, message=SAID[finder.course.stage])
        if requests:
            pool.submit(requests)

    def _progressed(self) -> AnyEvent:
        """A fortieth of the battles is over: write everything down."""
        self.throttle.restart()
        return self._say(Progressed, metrics=self._metrics(), artifacts=self._results())

    def _results(self) -> dict[str, str]:
        """The patches so far, and where to go on from."""
        course, saved = self.finder.course, self._checkpoint()
        if course.known is None:
            return {"checkpoint": saved}
        known = f"{course.stage} {len(course.candidates)} {len(course.proofs)}"
        if known != self.tabled_at:
            self.tabled_at, self.table = known, self.store.put(pack(*tabled(course)))
        return {"table": self.table, "checkpoint": saved}

    def _metrics(self) -> dict[str, float]:
        course = self.finder.course
        if course.known is None:
            return {}
        verdicts = [proof.verdict for _, proof in course.proofs]
        return {
            "suspects": float(len(course.known.suspects)),
            "played": float(len(course.candidates)),
            "work": float(verdicts.count("works")),
        }

    def _checkpoint(self) -> str:
        parts = {**self.finder.state(), "time": Bundle({"seconds": self._seconds}, {})}
        return checkpoint.write(self.config, self.finder.tick, parts, self.store)

    @property
    def _seconds(self) -> float:
        return self.before_s + time.monotonic() - self.began

    def _troubles(self, pool: Pool) -> Iterator[AnyEvent]:
        for trouble in pool.incidents():
            yield self._say(Incident, what=trouble.what, message=trouble.message)

    def _say(self, kind: Any, **fields: Any) -> AnyEvent:
        finder = self.finder
        counters = Counters(battles=finder.played, seconds=self._seconds)
        event: AnyEvent = kind(tick=finder.tick, at=time.time(), counters=counters, **fields)
        return event


class Words:
    """What the command line says of searches for changes."""

    def planned(self, event: Started, study: Mapping[str, Any]) -> str:
        """Battles."""
        return f"{event.battles:,} battles at most"

    def done(self, counters: Counters) -> str:
        """Battles."""
        return f"{counters.battles:,} battles"

    def round(self, metrics: Mapping[str, float]) -> str:
        """What is known by now."""
        if not metrics:
            return "measuring what each piece is worth"
        suspects, played, work = (int(metrics[name]) for name in ("suspects", "played", "work"))
        return f"{suspects} suspects, {played} changes played, {work} proved"

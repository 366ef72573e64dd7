"""What a change does to given lineups, as a study: their battles on both versions of the game (``engine.change``), and
a table of what they say."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator, Mapping
from typing import Any

import msgspec
import numpy as np

from engine.arrays import Bundle, pack
from engine.catalog import EVALUATORS
from engine.change.both_versions import Fitted, baselines, fitted, replaced
from engine.change.reading import FINDINGS, FITS, OPEN, REFITTED, UNFIT, Reading, Version
from engine.change.replay import AFTER, BEFORE, FIRST, Asked, Replay
from engine.config.study import ChangeConfig
from engine.errors import Cancelled, EngineError
from engine.events import AnyEvent, Counters, Finished, Incident, Logged, Paused, Progressed, Started, Stopped
from engine.lineups.baselines import BaselineTeams, resolve
from engine.lineups.schema import battles_of_replicate, team_name, team_parts
from engine.lineups.version_evaluator import Versions, checked_change
from engine.runtime.pool import Pool, open_pool
from engine.simulators.contract import GameSpec, LineupSimulator, Parameter
from engine.simulators.loaders import heed, load
from engine.store import Store
from engine.study import checkpoint
from engine.study.checkpoint import Checkpoint
from engine.study.control import Command, Control
from engine.study.drive import finished
from engine.study.failures import not_begun, with_failure
from engine.study.progress_throttle import ProgressThrottle


def change(config: ChangeConfig, store: Store, resume: str, control: Control) -> Iterator[AnyEvent]:
    """As ``engine.study.lineups.run``, for a change."""
    return with_failure(_Change(config, store, control).events(resume))


class _Change:
    versions: tuple[Version, Version]
    fitted: Fitted
    reading: Reading
    replay: Replay

    def __init__(self, config: ChangeConfig, store: Store, control: Control) -> None:
        self.config, self.store, self.control = config, store, control
        self.throttle, self.before_s, self.began = ProgressThrottle(), 0.0, time.monotonic()
        self.metrics = dict[str, float]()

    def events(self, resume: str) -> Iterator[AnyEvent]:
        config, stopped = self.config, lambda: bool(self.control())
        saved = checkpoint.read(config, resume, self.store) if resume else None
        try:
            self._prepare(saved)
        except Cancelled:
            yield not_begun(self.control, resume)
            return
        payload = msgspec.json.encode(Versions.of(config, *(version.baselines for version in self.versions)))
        with open_pool(config.pool, EVALUATORS["versions"], payload, should_stop=stopped) as pool:
            workers = config.pool.workers if config.pool.kind == "ray" else 1
            yield self._say(Started, workers=workers, pool=config.pool.kind, ticks=config.ticks,
                            battles=self._planned, resumed=bool(resume))  # fmt: skip
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
            yield self._say(Finished, artifacts=self._results(), summary=self.metrics)

    def _prepare(self, saved: Checkpoint | None) -> None:
        """The replay as it begins, or as it was left. Raises ConfigError, SimulatorError, StoreError, Cancelled."""
        config, simulator = self.config, load(self.config.game.simulator)
        heed(simulator, lambda: bool(self.control()))
        try:
            specs = checked_change(config, simulator)
            self.fitted = fitted(config, *specs)
            teams = _loaded(saved) if saved else self._resolved(simulator, *specs)
        finally:
            if close := getattr(simulator, "close", None):
                close()
        before, after = (Version(*each) for each in zip(specs, self.fitted.rows, teams, strict=True))
        self.versions = before, after
        self.reading = Reading(config, self.versions, self.fitted.fit)
        self.replay = Replay(self._asked(), self.reading.settled)
        if saved:
            self.replay.load(saved.parts)
            self.before_s = saved.parts["time"].meta["seconds"]

    def _resolved(
        self, simulator: LineupSimulator, before: GameSpec, after: GameSpec
    ) -> tuple[BaselineTeams, BaselineTeams]:
        """The baseline teams as they are without the change, and the same ones with it."""
        c = self.config
        found = resolve(simulator, c.lineups, c.game.patch, c.seed, c.game.fidelity)
        given = baselines(c.lineups, found, before, after)
        again = resolve(simulator, given, c.changed.patch, c.seed, c.game.fidelity)
        return found, again._replace(drawn=found.drawn)

    def _asked(self) -> Asked:
        c, unfit = self.config, self.fitted.fit == UNFIT
        anchors = np.array([each.anchors or (-1, -1) for each in c.replayed], np.int64)
        playable = np.stack([np.ones_like(unfit), ~unfit])
        width = self.reading.width
        return Asked(self.fitted.rows, playable, anchors, c.looks, c.parts, width, c.seed, c.game.fidelity)

    def _drive(self, pool: Pool) -> Generator[AnyEvent, None, Command]:
        """Until all is told or played. Returns the command that ended it before."""
        while not self.replay.done:
            if command := self.control():
                return command
            if requests := self.replay.ask(pool.room):
                pool.submit(requests)
            for evaluation in finished(pool, self.control):
                for _ in self.replay.tell(evaluation):
                    self.throttle.restart()
                    artifacts = self._results()
                    yield self._say(Progressed, metrics=self.metrics, artifacts=artifacts)
            if self.throttle.due():
                yield self._say(Logged, message="")
            yield from self._troubles(pool)
        return ""

    def _results(self) -> dict[str, str]:
        """The table so far, and where to go on from."""
        columns = self.reading.columns(self.replay.played)
        told = [FINDINGS[number] for number in columns["verdict_after"].tolist()]
        self.metrics = {name: float(told.count(name)) for name in ("confirmed", "refuted", "weak", "more", "close")}
        self.metrics["refitted"] = float((self.fitted.fit == REFITTED).sum())
        table = self.store.put(pack(self._meta(), columns))
        return {"table": table, "checkpoint": self._checkpoint()}

    def _meta(self) -> dict[str, Any]:
        """What the rows and columns are."""
        c, (before, after) = self.config, self.versions
        tunables, known = after.spec.tunables(), before.spec.tunables()
        names = {piece.id: piece.name for piece in after.spec.pieces}
        changes = [_said(path, tunables[path], known.get(path), names) for path in sorted(c.change)]
        return {
            "game": after.spec.title,
            "words": {"verdict": FINDINGS, "open": OPEN, "fit": FITS},
            "objectives": [o.model_dump(mode="json") for o in c.objectives.objectives],
            "lineups": [self._lineup(i) for i in range(len(c.replayed))],
            "changes": [each for each in changes if each["before"] != each["after"]],
            "battles_each": self._each,
            "planned": self._planned,
            "fresh": self.replay.fresh,
            "over": self.replay.done,
            "baselines": [{"value": v.baselines.median, "error": v.baselines.error} for v in self.versions],
        }

    def _lineup(self, i: int) -> dict[str, Any]:
        before, after = self.versions
        rows = self.fitted.rows
        name = " · ".join(team_name(before.spec, row) for row in before.rows[i])
        return {
            "name": self.config.replayed[i].name or name,
            "teams": [team_parts(before.spec, row) for row in before.rows[i]],
            "anchors": self.replay.anchors[:, i].tolist(),
            "refitted": replaced(after.spec, rows[BEFORE, i], rows[AFTER, i]) if self.fitted.fit[i] == REFITTED else [],
        }

    @property
    def _each(self) -> int:
        """Battles of one replicate of a lineup on one version."""
        return battles_of_replicate(self.config.lineups.teams, len(self.versions[BEFORE].baselines.rows))

    @property
    def _planned(self) -> int:
        """Battles of all looks, for every lineup."""
        return int(self.replay.asked.playable.sum()) * (FIRST + self.config.looks[-1]) * self._each

    def _checkpoint(self) -> str:
        teams = Bundle({"teams": [version.baselines.state() for version in self.versions]}, {})
        parts = {**self.replay.state(), "baselines": teams, "time": Bundle({"seconds": self._seconds}, {})}
        return checkpoint.write(self.config, self.replay.tick, parts, self.store)

    @property
    def _seconds(self) -> float:
        return self.before_s + time.monotonic() - self.began

    def _troubles(self, pool: Pool) -> Iterator[AnyEvent]:
        for trouble in pool.incidents():
            yield self._say(Incident, what=trouble.what, message=trouble.message)

    def _say(self, kind: Any, **fields: Any) -> AnyEvent:
        counters = Counters(battles=self.replay.battles, cached=self.replay.cached, seconds=self._seconds)
        event: AnyEvent = kind(tick=self.replay.tick, at=time.time(), counters=counters, **fields)
        return event


def _loaded(saved: Checkpoint) -> tuple[BaselineTeams, BaselineTeams]:
    """The baseline teams of both versions as a checkpoint has them."""
    before, after = saved.parts["baselines"].meta["teams"]
    return BaselineTeams.load(before), BaselineTeams.load(after)


def _said(path: str, now: Parameter, was: Parameter | None, names: Mapping[str, str]) -> dict[str, Any]:
    """A changed number, for people; ``before`` is None where the change adds its piece."""
    piece = names.get(path.rpartition(".")[0], "")
    title = now.title.removeprefix(f"{piece}: ") if piece else now.title
    before = None if was is None else was.default
    return {"path": path, "piece": piece, "title": title, "unit": now.unit, "before": before, "after": now.default}


class Words:
    """What the command line says of changes."""

    def planned(self, event: Started, study: Mapping[str, Any]) -> str:
        """Lineups and battles."""
        return f"{len(study['replayed'])} lineups, {event.battles:,} battles at most"

    def done(self, counters: Counters) -> str:
        """Battles."""
        return f"{counters.battles:,} battles"

    def round(self, metrics: Mapping[str, float]) -> str:
        """What is told by now."""
        over, under = int(metrics["confirmed"]), int(metrics["refuted"])
        left = int(metrics["more"] + metrics["close"])
        refitted = f", {int(metrics['refitted'])} refitted" if metrics["refitted"] else ""
        return f"{over} still over the line, {under} under it, {left} open{refitted}"

"""The study "who beats whom": the battles of a round robin (``engine.metagame``), and the table of its findings."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.arrays import Bundle, pack
from engine.catalog import EVALUATORS
from engine.config.metagame import MetagameConfig
from engine.errors import ConfigError, EngineError
from engine.events import AnyEvent, Counters, Finished, Incident, Logged, Paused, Progressed, Started, Stopped
from engine.lineups.encoding import team_keys
from engine.lineups.operators import canonical
from engine.lineups.pairing_evaluator import checked
from engine.lineups.rules import compile_rules
from engine.lineups.schema import team_costs, team_name, team_parts, team_row
from engine.metagame.reading import read
from engine.metagame.round_robin import RoundRobin
from engine.runtime.pool import Pool, open_pool
from engine.simulators.contract import GameSpec
from engine.simulators.loaders import load
from engine.store import Store
from engine.study import checkpoint
from engine.study.control import Command, Control
from engine.study.drive import finished
from engine.study.failures import with_failure
from engine.study.progress_throttle import ProgressThrottle

Rows = NDArray[np.int32]
READ_APART = 9
"""The next table is made no sooner than this many times the time that the last one took."""


def metagame(config: MetagameConfig, store: Store, resume: str, control: Control) -> Iterator[AnyEvent]:
    """As ``engine.study.lineups.run``, for a round robin."""
    return with_failure(_Metagame(config, store, control).events(resume))


class _Metagame:
    def __init__(self, config: MetagameConfig, store: Store, control: Control) -> None:
        self.config, self.store, self.control = config, store, control
        self.throttle, self.before_s, self.began = ProgressThrottle(), 0.0, time.monotonic()
        self.read_at, self.table, self.metrics = 0, "", dict[str, float]()
        self.read_s, self.read_end = 0.0, self.began

    def events(self, resume: str) -> Iterator[AnyEvent]:
        config, stopped = self.config, lambda: bool(self.control())
        self._prepare(resume)
        evaluator, payload = EVALUATORS["meetings"], config.model_dump_json().encode()
        with open_pool(config.pool, evaluator, payload, should_stop=stopped) as pool:
            workers = config.pool.workers if config.pool.kind == "ray" else 1
            battles = 2 * config.meetings * config.pairs
            yield self._say(Started, workers=workers, pool=config.pool.kind, ticks=self.robin.ticks, battles=battles,
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
            yield self._say(Finished, artifacts=self._results(), summary=self.metrics)

    def _prepare(self, resume: str) -> None:
        """Make the round robin, new or from a checkpoint. Raises ConfigError, SimulatorError, StoreError."""
        config, simulator = self.config, load(self.config.game.simulator)
        try:
            self.spec = checked(config, simulator)
        finally:
            if close := getattr(simulator, "close", None):
                close()
        self.rows = rows_of(config, self.spec)
        self.robin = RoundRobin(self.rows, config.meetings, config.ticks, config.seed)
        if resume:
            saved = checkpoint.read(config, resume, self.store)
            self.robin.load(saved.parts)
            self.before_s = saved.parts["time"].meta["seconds"]

    def _drive(self, pool: Pool) -> Generator[AnyEvent, None, Command]:
        """Play all battles. Returns the command that ended it early."""
        while not self.robin.done:
            if command := self.control():
                return command
            if requests := self.robin.ask(pool.room):
                pool.submit(requests)
            for evaluation in finished(pool, self.control):
                for _ in self.robin.tell(evaluation):
                    yield self._progressed()
            if self.throttle.due():
                yield self._say(Logged, message="")
            yield from self._troubles(pool)
        return ""

    def _progressed(self) -> AnyEvent:
        """A part is complete: write the table and the checkpoint."""
        self.throttle.restart()
        artifacts = self._results(last=False)
        return self._say(Progressed, metrics=self.metrics, artifacts=artifacts)

    def _results(self, last: bool = True) -> dict[str, str]:
        """The table of all complete parts, and the checkpoint. Before the ``last`` call the table may be that of an
        earlier part, so that tables take at most a tenth of the time."""
        now = time.monotonic()
        if self.robin.tick > self.read_at and (last or now - self.read_end >= READ_APART * self.read_s):
            self._read()
            self.read_end = time.monotonic()
            self.read_s = self.read_end - now
        return ({"table": self.table} if self.table else {}) | {"checkpoint": self._checkpoint()}

    def _read(self) -> None:
        meta, columns = read(len(self.rows), self.robin.results, self.config.seed)
        self.read_at = self.robin.tick
        self.table = self.store.put(pack({**self._called(), **meta}, {**columns, "team": self.rows}))
        share = meta["cyclic"]["share"]
        self.metrics = {"sure": float(len(columns["counter"]))} | ({} if share is None else {"cyclic": share})

    def _called(self) -> dict[str, Any]:
        """The table's teams, the game's title, and the number of battles so far."""
        names, costs = names_of(self.config, self.spec, self.rows), team_costs(self.spec, self.rows)
        told = zip(names, self.rows, costs.tolist(), strict=True)
        teams = [{"name": name, "parts": team_parts(self.spec, row), "cost": cost} for name, row, cost in told]
        battles = 2 * int(self.robin.ends[self.robin.tick])
        return {"teams": teams, "game": self.spec.title, "battles": battles}

    def _checkpoint(self) -> str:
        parts = {**self.robin.state(), "time": Bundle({"seconds": self._seconds}, {})}
        return checkpoint.write(self.config, self.robin.tick, parts, self.store)

    @property
    def _seconds(self) -> float:
        return self.before_s + time.monotonic() - self.began

    def _troubles(self, pool: Pool) -> Iterator[AnyEvent]:
        for trouble in pool.incidents():
            yield self._say(Incident, what=trouble.what, message=trouble.message)

    def _say(self, kind: Any, **fields: Any) -> AnyEvent:
        counters = Counters(battles=self.robin.played, seconds=self._seconds)
        event: AnyEvent = kind(tick=self.robin.tick, at=time.time(), counters=counters, **fields)
        return event


def rows_of(config: MetagameConfig, spec: GameSpec) -> Rows:
    """The teams int32[n, slots] in canonical form. Raises ConfigError for invalid slots, and for a duplicate team."""
    rows = np.stack([team_row(spec, team, f"teams.{i}.slots.") for i, team in enumerate(config.teams)])
    canonical(lineups := rows[:, None].copy(), compile_rules(spec, config.pairings))
    rows = lineups[:, 0]
    keys = team_keys(rows).tolist()
    wrong = [
        (f"teams.{i}", f"the same team as the one at {keys.index(key)}: leave one of them out")
        for i, key in enumerate(keys)
        if keys.index(key) < i
    ]
    if wrong:
        raise ConfigError(wrong)
    return rows


def names_of(config: MetagameConfig, spec: GameSpec, rows: Rows) -> list[str]:
    """A unique name for each team."""
    names = list[str]()
    for team, row in zip(config.teams, rows, strict=True):
        plain = team.name or team_name(spec, row)
        name, again = plain, 1
        while name in names:
            again += 1
            name = f"{plain} ({again})"
        names.append(name)
    return names


class Words:
    """Console texts of round robins."""

    def planned(self, event: Started, study: Mapping[str, Any]) -> str:
        """Teams and battles."""
        return f"{len(study['teams'])} teams, {event.battles:,} battles"

    def done(self, counters: Counters) -> str:
        """Battles."""
        return f"{counters.battles:,} battles"

    def round(self, metrics: Mapping[str, float]) -> str:
        """The sure findings so far."""
        if not metrics:
            return "playing"
        rings = f", {100 * metrics['cyclic']:.0f} % of what decides goes in rings" if "cyclic" in metrics else ""
        return f"{int(metrics['sure']):,} pairs with a sure winner{rings}"

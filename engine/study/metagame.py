"""The study "who beats whom": the battles of a round robin (``engine.metagame``), and the table of its findings."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.arrays import pack
from engine.config.metagame import MetagameConfig
from engine.errors import ConfigError
from engine.events import AnyEvent, Counters, Logged, Started
from engine.lineups.encoding import team_keys
from engine.lineups.operators import canonical
from engine.lineups.pairing_evaluator import checked
from engine.lineups.rules import compile_rules
from engine.lineups.schema import team_costs, team_name, team_parts, team_row
from engine.metagame.round_robin import RoundRobin
from engine.metagame.table import read
from engine.simulators.contract import GameSpec
from engine.simulators.loaders import opened
from engine.store import Store
from engine.study.checkpoint import Checkpoint
from engine.study.control import Control
from engine.study.failures import with_failure
from engine.study.scheduled import Scheduled
from engine.study.session import Totals
from engine.text import apart

Rows = NDArray[np.int32]
LEFT_OUT = (
    "The game did not finish {:,} of {:,} meetings (two battles each), which are left out: where it depends on who "
    "plays or wins which these are, no finding can be relied on."
)
READ_APART = 9
"""The next table is made no sooner than this many times the time that the last one took."""


def metagame(config: MetagameConfig, store: Store, resume: str, control: Control) -> Iterator[AnyEvent]:
    """As ``engine.study.lineups.run``, for a round robin."""
    return with_failure(_Metagame(config, store, control).events(resume))


class _Metagame(Scheduled):
    evaluator = "meetings"

    schedule: RoundRobin

    def __init__(self, config: MetagameConfig, store: Store, control: Control) -> None:
        super().__init__(config, config.pool, store, control)
        self.config, self.read_at, self.table, self.found = config, 0, "", dict[str, float]()
        self.read_s, self.read_end = 0.0, self.began

    def prepare(self, saved: Checkpoint | None) -> None:
        config = self.config
        with opened(config.game.simulator, self.stopped) as simulator:
            self.spec = checked(config, simulator)
        self.rows = rows_of(config, self.spec)
        self.schedule = RoundRobin(self.rows, config.meetings, config.ticks, config.seed)

    def plan(self) -> Totals:
        return Totals(self.schedule.ticks, 2 * self.config.meetings * self.config.pairs)

    def results(self, last: bool) -> dict[str, str]:
        """The table of all complete parts. Before the ``last`` part it may be that of an earlier one, so that tables
        take at most a tenth of the time."""
        now, over = time.monotonic(), last or self.schedule.done
        if self.schedule.tick > self.read_at and (over or now - self.read_end >= READ_APART * self.read_s):
            self._read()
            self.read_end = time.monotonic()
            self.read_s = self.read_end - now
        return {"table": self.table} if self.table else {}

    def metrics(self) -> dict[str, float]:
        return self.found

    def conclude(self) -> Generator[AnyEvent, None, dict[str, str]]:
        """Also says how many meetings the game did not finish."""
        results = self.schedule.results
        if lost := int(np.isnan(results).sum()):
            yield self.say(Logged, message=LEFT_OUT.format(lost, results.size))
        return {}

    def _read(self) -> None:
        meta, columns = read(len(self.rows), self.schedule.results, self.config.seed)
        self.read_at = self.schedule.tick
        self.table = self.store.put(pack({**self._called(), **meta}, {**columns, "team": self.rows}))
        share = meta["cyclic"]["share"]
        self.found = {"sure": float(len(columns["counter"]))} | ({} if share is None else {"cyclic": share})

    def _called(self) -> dict[str, Any]:
        """The table's teams, the game's title, and the number of battles so far."""
        names, costs = names_of(self.config, self.spec, self.rows), team_costs(self.spec, self.rows)
        entries = zip(names, self.rows, costs.tolist(), strict=True)
        teams = [{"name": name, "parts": team_parts(self.spec, row), "cost": cost} for name, row, cost in entries]
        battles = 2 * int(self.schedule.ends[self.schedule.tick])
        return {"teams": teams, "game": self.spec.title, "battles": battles}


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
    return apart(team.name or team_name(spec, row) for team, row in zip(config.teams, rows, strict=True))


class Words:
    """Console texts of round robins."""

    def planned(self, event: Started, study: Mapping[str, Any]) -> str:
        """Teams and battles."""
        return f"{len(study['teams'])} teams, {event.battles:,} battles"

    def done(self, counters: Counters) -> str:
        """Battles."""
        return f"{counters.battles:,} battles"

    def round(self, metrics: Mapping[str, float], study: Mapping[str, Any]) -> str:
        """The sure findings so far."""
        if not metrics:
            return "playing"
        rings = f", {100 * metrics['cyclic']:.0f} % of what decides goes in rings" if "cyclic" in metrics else ""
        return f"{int(metrics['sure']):,} pairs with a sure winner{rings}"

"""What battles of a removal study say, as JSON: averages after each exchange, and how unfair lineups still are."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.config.removal import RemovalConfig
from engine.evolution.algorithm import Individual
from engine.lineups.baselines import BaselineTeams
from engine.lineups.schema import battles_of_replicate
from engine.problem import Problem
from engine.removal.averages import AveragedLineups, Level, change, level
from engine.removal.neighbours import Exchange
from engine.simulators.contract import GameSpec
from engine.store import Store
from engine.study.lineup_record import LineupRecord

Team = NDArray[np.int32]
Found = Mapping[int, Individual]


class Yardstick:
    """Measures lineups by the objective that has the line; ``at`` is its place. ``store``: where nothing is put."""

    def __init__(
        self, config: RemovalConfig, problem: Problem, baselines: BaselineTeams, spec: GameSpec, store: Store
    ) -> None:
        self.config, self.problem, self.baselines, self.spec, self.store = config, problem, baselines, spec, store
        objectives = config.objectives.objectives
        self.at = next(j for j, objective in enumerate(objectives) if objective.threshold is not None)
        self.sign = 1.0 if objectives[self.at].direction == "max" else -1.0
        self.each = battles_of_replicate(config.lineups.teams, len(baselines.rows))

    def furthest_first(self, front: Sequence[Individual]) -> list[Individual]:
        """Those that are over the line and strong by the search's own battles before those that are over it, and these
        before others; among equals by how far."""
        if not front:
            return []
        record = self._record()
        record.judge(record.arrays(front))

        def place(one: Individual) -> tuple[bool, bool, float, int]:
            e = one.evaluation
            return e.id not in record.strong, e.id not in record.over, -self.sign * float(e.objectives[self.at]), e.id

        return sorted(front, key=place)

    def replayed(self, found: Sequence[Individual]) -> dict[str, Any]:
        """How many of the lineups that were played again are ``confirmed``, of how many, and the ``furthest`` of them:
        of the confirmed ones, or, where none is, of all. Its range holds although it was picked."""
        record = self._record()
        record.settle(found)
        confirmed, count = record.confirmed, int(record.confirmed.get("replayed", 0))
        if confirmed.get("confirmed") and "worst" in confirmed:
            furthest = Level(confirmed["worst"], confirmed["worst_low"], confirmed["worst_high"])
        else:
            furthest = Level(*(record.furthest(found) or (math.nan,) * 3))
        battles = sum(each.evaluation.cost for each in found)
        return {"replayed": count, "confirmed": int(confirmed.get("confirmed", 0)), "furthest": _ends(furthest),
                "battles": battles}  # fmt: skip

    def swapped(self, rows: Sequence[Exchange], arrived: Found, teams: Sequence[Team]) -> list[dict[str, Any]]:
        """A row for each exchange, the first of which is none: the average of the objective over the lineups in which
        it was made, there ``before`` it, and the ``change``. ``arrived``: what was played, numbered row by row;
        ``teams``: that which holds the suspect in each lineup."""
        table, first = list[dict[int, Individual]](), 0
        for row in rows:
            table.append({i: arrived[first + k] for k, i in enumerate(row.lineups)})
            first += len(row.lineups)
        return [self._row(row, found, table[0], teams) for row, found in zip(rows, table, strict=True)]

    def _row(self, row: Exchange, found: Found, base: Found, teams: Sequence[Team]) -> dict[str, Any]:
        names = [piece.id for piece in self.spec.pieces]
        entry: dict[str, Any] = {"swaps": [[names[a], names[b]] for a, b in row.pieces], "lineups": 0}
        good = [i for i in row.lineups if found[i].evaluation.status == base[i].evaluation.status == "ok"]
        if not good:
            return entry
        before, after = (self._lineups([each[i] for i in good], [teams[i] for i in good]) for each in (base, found))
        levels = {"value": level(after), "before": level(before), "change": change(before, after)}
        battles = sum(found[i].evaluation.cost for i in good)
        return {**entry, "lineups": len(good), "battles": battles, **{k: _ends(v) for k, v in levels.items()}}

    def _lineups(self, played: Sequence[Individual], teams: Sequence[Team]) -> AveragedLineups:
        """Lineups that share their team share battles, so only different teams count."""
        own = [each._replace(genome=each.genome[1]) for each in played]  # a genome of swaps is a lineup and its twin
        samples = self._record().samples(own, 1 / len(played))
        few = min(int(sample.battles[self.at]) for sample in samples)
        return AveragedLineups(samples, few * len(np.unique(np.stack(teams), axis=0)), self.at)

    def _record(self) -> LineupRecord:
        return LineupRecord(self.problem, self.config.objectives, self.baselines, self.store, self.spec)


def _ends(numbers: Level) -> list[float | None]:
    """[mean, low, high]; None where there is none."""
    return [float(number) if math.isfinite(number) else None for number in numbers]

"""The record of a study of lineups: adds to ``Record`` which lineups are over the line, and by how much."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from engine import verdicts as fresh_verdicts
from engine.arrays import pack
from engine.columns import Arrays
from engine.confidence import Range
from engine.config.lineups import ObjectiveSetConfig
from engine.evolution.algorithm import Individual
from engine.evolution.record import Record
from engine.indicators import STRONG, UNDER, half_width, verdicts
from engine.lineups import schema
from engine.lineups.baselines import BaselineTeams
from engine.lineups.battle_counts import battles_each
from engine.lineups.encoding import Lineups
from engine.lineups.parts import Sums
from engine.problem import LineupContext, Problem, of_kind
from engine.simulators.contract import GameSpec
from engine.store import Store
from engine.verdicts import Goals, Sample, Verdict

Floats = NDArray[np.float64]
Content = tuple[bytes, ...]
"""All of a lineup and its battles that a range depends on."""


class LineupRecord(Record):
    """``over``: ids over the line; ``strong``: those of them that are surely over it and can win, by the search's own
    battles; ``every``: all lineups under the rules, where these are few enough to list, and ``met`` the keys of those
    that were played. ``listed``: how many lineups a re-check plays; 0 for a search. ``ranges``: those worked out so
    far, as the same lineups come with every round of a re-check."""

    def __init__(
        self, problem: Problem, config: ObjectiveSetConfig, baselines: BaselineTeams, store: Store, spec: GameSpec,
        listed: int = 0, every: Lineups | None = None,
    ) -> None:  # fmt: skip
        super().__init__(problem, store)
        self.every = every
        self.config, self.baselines, self.spec, self.listed = config, baselines, spec, listed
        self.sums = Sums(spec, config.objectives, len(problem.metrics) // 2)
        self.thresholds = [o.threshold for o in config.objectives]
        self.strength = next((i for i, o in enumerate(config.objectives) if o.strength), None)
        self.line = next((i for i, t in enumerate(self.thresholds) if t is not None), None)
        self.met: set[int] = set()
        self.over: set[int] = set()
        self.strong: dict[int, float] = {}
        self.confirmed: dict[str, float] = {}
        self.ranges: dict[Content, dict[tuple[int, float], Range]] = {}

    def arrays(self, members: Sequence[Individual]) -> Arrays:
        """The columns every artifact has."""
        arrays = super().arrays(members)
        contexts = [of_kind(i.evaluation.context, LineupContext) for i in members]
        arrays["anchor"] = np.array([c.anchors or (-1, -1) for c in contexts], np.int32).reshape(-1, 2)
        metrics = arrays.pop("metrics")
        teams = metrics.shape[1] // 2
        arrays = {**arrays, "cost": metrics[:, :teams], "team_strength": metrics[:, teams:]}
        return arrays | self._examined(members, self.listed, 1) if self.listed else arrays

    def put_fresh(self, members: Sequence[Individual]) -> str:
        """Store lineups that were played again at the end of a search, with their replicates and verdicts."""
        arrays = self.arrays(members)
        return self.store.put(pack(self.meta(), arrays | self._examined(members, len(members), 0)))

    def _examined(self, members: Sequence[Individual], many: int, batch: int) -> Arrays:
        """Columns of results from fresh battles: ``values`` [n, replicates, m], ``sums`` [n, replicates, k], the 95 %
        ranges ``low`` to ``high`` [n, m], and the ``verdict``; for ``many`` lineups examined together as number
        ``batch`` of the search's batches."""
        samples = self.samples(members, 1 / ((batch + 1) * (batch + 2) * max(many, 1)))
        found = self._verdicts(samples)
        ends = [[s.range(j) for j in range(len(self.signs))] for s in samples]
        kept = [i.evaluation for i in members]
        shape = (len(samples), len(self.signs))
        return {
            "values": _padded([e.values for e in kept], len(self.signs)),
            "sums": _padded([e.sums for e in kept], len(self.sums.names)),
            "low": np.array([[e.low for e in row] for row in ends]).reshape(shape),
            "high": np.array([[e.high for e in row] for row in ends]).reshape(shape),
            "verdict": np.array([fresh_verdicts.mark(v.finding) for v in found], dtype=np.uint8),
        }

    def _verdicts(self, samples: Sequence[Sample]) -> list[Verdict]:
        return fresh_verdicts.judged([[s] for s in samples], self.goals)

    def samples(self, members: Sequence[Individual], weight: float) -> list[Sample]:
        """Fresh battles of lineups, each of which has so much of the error."""
        if not members:
            return []
        arrays = super().arrays(members)
        cost = arrays["metrics"][:, : arrays["metrics"].shape[1] // 2]
        low, high, exact, plain = schema.spans(self.spec, self.config.objectives, cost)
        lineups = np.stack([individual.genome for individual in members])
        battles = battles_each(self.config.objectives, self.spec, lineups, self.baselines.rows)
        parts = self.sums.parts([i.evaluation.sums for i in members], cost)
        known = [self.ranges.setdefault(_content(individual), {}) for individual in members]
        found = zip(members, arrays["error"], low, high, battles, parts, known, strict=True)
        return [
            Sample(e.objectives, error, e.samples, e.values, a, b, exact, plain, each, weight, own, ranges)
            for (_, e, _), error, a, b, each, own, ranges in found
        ]

    @property
    def goals(self) -> Goals:
        """The criteria of verdicts: lines, and strength against the median baseline team."""
        b = self.baselines
        return Goals(self.signs, self.thresholds, self.strength, (b.median, b.error, b.samples))

    def restored(self, arrays: Arrays) -> list[Individual]:
        """The inverse of ``arrays``."""
        metrics = np.concatenate([arrays["cost"], arrays["team_strength"]], axis=1)
        contexts = [LineupContext(anchors=tuple(a) if a[0] >= 0 else ()) for a in arrays["anchor"].tolist()]
        found = super().restored({**arrays, "metrics": metrics})
        return [i._replace(evaluation=i.evaluation._replace(context=c)) for i, c in zip(found, contexts, strict=True)]

    def meta(self) -> dict[str, Any]:
        """Metadata of the columns."""
        b = self.baselines
        rows = [{"name": n, "row": r, "drawn": b.drawn} for n, r in zip(b.names, b.rows.tolist(), strict=True)]
        return {
            **super().meta(),
            "sums": self.sums.names,
            "median_baseline": {"value": b.median, "error": b.error, "samples": b.samples},
            "baselines": rows,
            "battles_each": self.each,
        }

    def all_met(self) -> int:
        """The number of lineups under the rules, once all of them were played; 0 before that."""
        if self.every is None:
            return 0
        waiting = [individual.genome for individual in self.waiting]
        met = self.met.union(self.problem.space.keys(np.stack(waiting)).tolist()) if waiting else self.met
        return len(self.every) if len(met) == len(self.every) else 0

    def judge(self, arrays: Arrays) -> None:
        """Update which lineups are over the line, from the current estimates."""
        if self.every is not None and len(arrays["id"]):
            self.met.update(self.problem.space.keys(arrays["genome"]).tolist())
        exact = schema.exact(self.spec, self.config.objectives, arrays["cost"].shape[1])
        objective, half = arrays["objective"], half_width(arrays["error"], arrays["samples"], exact=exact)
        b = self.baselines
        error = np.array([np.nan if b.error is None else b.error])
        median = b.median, float(half_width(error, b.samples, exact=error == 0)[0])
        verdict = verdicts(objective, half, self.signs, self.thresholds, self.strength, *median)
        verdict = arrays.get("verdict", verdict)  # of a re-check, by its list
        allowed = ~(arrays["violation"] > 0)
        for k, i in enumerate(arrays["id"].tolist()):
            self.over.discard(i)
            self.strong.pop(i, None)
            if not allowed[k]:
                continue  # it breaks a rule, or is meant to be so
            if verdict[k] != UNDER and arrays["samples"][k]:  # fresh battles that failed say nothing
                self.over.add(i)
            if verdict[k] == STRONG and self.line is not None:
                self.strong[i] = float(objective[k, self.line])

    @property
    def goes_on(self) -> bool:
        return self.line is not None and self.spec.reproducible

    def undecided(self, fresh: Sequence[Individual], times: int) -> list[int]:
        """Indices of the lineups played again that are still undecided and may well be settled by ``times`` their
        battles. The evidence is valid at every look, so a second look is free, provided that it includes the battles of
        the first one: only in a game that its seeds determine."""
        if not self.goes_on:
            return []
        good = [k for k, i in enumerate(fresh) if i.evaluation.status == "ok" and not i.evaluation.violation > 0]
        members = [fresh[k] for k in good]
        found = self._verdicts(self.samples(members, 1 / (2 * len(fresh)))) if good else []
        pairs = zip(good, found, strict=True)
        return [k for k, v in pairs if v.finding == "more" and v.factor <= times]

    def settle(self, fresh: Sequence[Individual]) -> None:
        """Record how many of the lineups played again are confirmed, and the furthest of them; its range is corrected
        for picking the furthest of all that were played again."""
        good = [i for i in fresh if i.evaluation.status == "ok" and not i.evaluation.violation > 0]
        if self.line is None or not good:
            return
        samples = self.samples(good, 1 / (2 * len(fresh)))
        confirmed = fresh_verdicts.confirmed([[s] for s in samples], self.goals)
        self.confirmed = {"confirmed": float(confirmed.sum()), "replayed": float(len(good))}
        if confirmed.any():
            sign, chosen = self.signs[self.line], [s for s, t in zip(samples, confirmed, strict=True) if t]
            at, ends = fresh_verdicts.most_extreme(chosen, self.line, sign, len(good))
            found = {"worst": float(chosen[at].mean[self.line]), "worst_low": ends.low, "worst_high": ends.high}
            self.confirmed |= {name: value for name, value in found.items() if np.isfinite(value)}

    def furthest(self, fresh: Sequence[Individual]) -> tuple[float, float, float] | None:
        """The furthest by its fresh battles of those played again, confirmed or not: its mean, and the ends of a range
        that holds although it was picked. None where none could be measured, or without a line."""
        good = [i for i in fresh if i.evaluation.status == "ok" and not i.evaluation.violation > 0]
        if self.line is None or not good:
            return None
        samples = self.samples(good, 1 / (2 * len(fresh)))
        at, ends = fresh_verdicts.most_extreme(samples, self.line, self.signs[self.line], len(good))
        return float(samples[at].mean[self.line]), ends.low, ends.high

    @property
    def worst(self) -> float | None:
        """The most extreme value among the strong lineups, by the search's own battles."""
        if self.line is None:
            return None
        sign = self.signs[self.line]
        return max(self.strong.values(), key=lambda value: sign * value, default=None)

    def metrics(self, front: Sequence[Individual]) -> dict[str, float]:
        """The tick's numbers, for charts and key figures."""
        found = super().metrics(front) | {"over": float(len(self.over)), "strong": float(len(self.strong))}
        found["median_baseline"] = self.baselines.median
        if (worst := self.worst) is not None:
            found["worst"] = worst
        return found | self.confirmed

    def state(self) -> dict[str, Any]:
        """As JSON, with the resolved baselines."""
        return super().state() | {"baselines": msgspec.to_builtins(self.baselines.state())}


def _content(individual: Individual) -> Content:
    e = individual.evaluation
    parts = (individual.genome, e.objectives, e.covariance, e.values, e.sums)
    return str(e.samples).encode(), *(b"" if part is None else part.tobytes() for part in parts)


def _padded(tables: Sequence[Floats | None], width: int) -> Floats:
    """Tables [samples, width] stacked, padded with NaN where one is shorter."""
    most = max((len(table) for table in tables if table is not None), default=0)
    padded = np.full((len(tables), most, width), np.nan)
    for row, table in zip(padded, tables, strict=True):
        if table is not None:
            row[: len(table)] = table
    return padded

"""The table of a replay: each lineup before and after the change, the difference, and the verdict."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.change.replay import AFTER, BEFORE, Ints, ReplayResults
from engine.confidence import Range
from engine.config.study import ChangeConfig
from engine.differences import difference
from engine.lineups import schema
from engine.lineups.baselines import BaselineTeams
from engine.lineups.battle_counts import battles_each
from engine.lineups.parts import Sums
from engine.lineups.schema import battles_of_replicate, team_costs
from engine.simulators.contract import GameSpec
from engine.verdicts import ERROR, Goals, Sample, Verdict, judged

Floats = NDArray[np.float64]
FINDINGS = ("", "confirmed", "weak", "refuted", "more", "close", "measured")
"""What a column ``verdict`` says, by its numbers; nothing: no fresh battles yet."""
OPEN = ("", "line", "strength")
FITS = ("kept", "refitted", "unfit")
"""What a column ``fit`` says: the lineup keeps to the rules at the new prices, or was refitted, or cannot be."""
KEPT, REFITTED, UNFIT = range(3)
LEAST = 16
"""Fresh replicates that each lineup is played at least: fewer leave its ranges wide whatever its verdict."""


class Once(Sample):
    """A sample that finds each of its ranges once: verdicts and tables ask for the same ones."""

    def range(self, j: int, error: float = ERROR) -> Range:
        """As ``Sample.range``."""
        known: dict[tuple[int, float], Range] = self.__dict__.setdefault("known", {})
        if (j, error) not in known:
            known[j, error] = super().range(j, error)
        return known[j, error]


class Version(NamedTuple):
    """One of the two: the game, the lineups' ``rows`` int32[n, teams, slots] there, and the baseline teams."""

    spec: GameSpec
    rows: Ints
    baselines: BaselineTeams


class ReplayTable:
    """What battles say of the lineups of a study on both ``versions``; ``fit`` uint8[n]."""

    def __init__(self, config: ChangeConfig, versions: tuple[Version, Version], fit: NDArray[np.uint8]) -> None:
        self.config, self.versions, self.fit = config, versions, fit
        self.objectives = config.objectives.objectives
        self.signs = [1.0 if o.direction == "max" else -1.0 for o in self.objectives]
        teams = versions[BEFORE].rows.shape[1]
        self.sums = [Sums(version.spec, self.objectives, teams) for version in versions]
        k = config.tried
        self.weight = 1 / ((k + 1) * (k + 2) * len(config.replayed))
        self._samples: dict[tuple[int, int, int], Sample] = {}
        self._changes: dict[tuple[int, int], list[Range]] = {}
        self._verdicts: dict[int, tuple[bytes, list[Verdict | None]]] = {}

    @property
    def width(self) -> tuple[int, int]:
        """How many objectives there are, and how many sums they are made of."""
        return len(self.objectives), len(self.sums[BEFORE].names)

    def settled(self, played: ReplayResults) -> NDArray[np.bool_]:
        """Of which lineups further battles tell nothing."""
        # Under another commander it is asked what of the first verdicts stays, so those have to be told, too.
        asked = (AFTER,) if self.config.under is None else (BEFORE, AFTER)
        decided = np.logical_and.reduce([self._decided(played, version) for version in asked])
        enough = played.samples[BEFORE] >= min(LEAST, self.config.looks[-1])
        return np.asarray(enough & (decided | (self.fit == UNFIT)))

    def _decided(self, played: ReplayResults, version: int) -> NDArray[np.bool_]:
        verdicts = self.verdicts(played, self.samples(played, version), version)
        return np.array([v is not None and v.finding not in ("more", "measured") for v in verdicts])

    def samples(self, played: ReplayResults, version: int) -> list[Sample | None]:
        """The fresh battles of each lineup on a version; None where there are none."""
        own = self.versions[version]
        there = np.flatnonzero((played.samples[version] >= 2) & ~played.failed[version])
        samples: list[Sample | None] = [None] * len(self.fit)
        if not len(there):
            return samples
        rows = own.rows[there]
        costs = team_costs(own.spec, rows)
        low, high, exact, plain = schema.spans(own.spec, self.objectives, costs)
        battles = battles_each(self.objectives, own.spec, rows, own.baselines.rows)
        counts = played.samples[version, there].tolist()
        sums = [played.sums[version, i, :n] for i, n in zip(there, counts, strict=True)]
        made = self.sums[version].parts(sums, costs)
        for at, (i, n) in enumerate(zip(there.tolist(), counts, strict=True)):
            mean = [m if p is None else p.value for m, p in zip(played.mean[version, i], made[at], strict=True)]
            samples[i] = self._samples.setdefault((version, i, n), Once(
                np.array(mean), played.error[version, i].copy(), n, played.values[version, i, :n], low[at], high[at],
                exact, plain, battles[at], self.weight, made[at],
            ))  # fmt: skip
        return samples

    def verdicts(self, played: ReplayResults, samples: Sequence[Sample | None], version: int) -> list[Verdict | None]:
        """Of all lineups together; None where there are no fresh battles. Kept until there are more."""
        state = played.samples[version].tobytes() + played.failed.tobytes()
        if version not in self._verdicts or self._verdicts[version][0] != state:
            found = iter(judged([[s] for s in samples if s is not None], self.goals(version)))
            self._verdicts[version] = state, [None if s is None else next(found, None) for s in samples]
        return self._verdicts[version][1]

    def goals(self, version: int) -> Goals:
        """What is judged on a version: the study's lines, and strength against its median baseline team there."""
        b = self.versions[version].baselines
        strong = next((j for j, o in enumerate(self.objectives) if o.strength), None)
        lines = [o.threshold for o in self.objectives]
        return Goals(self.signs, lines, strong, (b.median, b.error, b.samples))

    def columns(self, played: ReplayResults) -> dict[str, NDArray[Any]]:
        """A row for each lineup; not a number where nothing is known. ``first_…`` by the battles before the fresh
        ones, the others by fresh ones, each with the ends of its 95 % range."""
        out: dict[str, NDArray[Any]] = {"fit": self.fit, "failed": np.asarray(played.failed.any(axis=0), np.uint8)}
        both = [self.samples(played, version) for version in (BEFORE, AFTER)]
        for version, name in ((BEFORE, "before"), (AFTER, "after")):
            out[f"first_{name}"] = played.first[version]
            out |= self._measured(name, both[version])
            verdicts = self.verdicts(played, both[version], version)
            out |= {f"{key}_{name}": column for key, column in self._said(both[version], verdicts).items()}
        out |= self._differences(both)
        each = battles_of_replicate(self.config.lineups.teams, len(self.versions[BEFORE].baselines.rows))
        out["samples"] = played.samples[BEFORE]
        out["battles"] = each * played.samples.sum(axis=0)
        return out

    def _measured(self, name: str, samples: Sequence[Sample | None]) -> dict[str, Floats]:
        blank = np.full((len(samples), len(self.objectives)), np.nan)
        mean, low, high = blank, blank.copy(), blank.copy()
        for i, sample in enumerate(samples):
            if sample is not None:
                mean[i] = sample.mean
                ends = [sample.range(j) for j in range(len(self.objectives))]
                low[i], high[i] = [e.low for e in ends], [e.high for e in ends]
        return {name: mean, f"{name}_low": low, f"{name}_high": high}

    def _said(self, samples: Sequence[Sample | None], verdicts: Sequence[Verdict | None]) -> dict[str, NDArray[Any]]:
        """The verdicts as columns; ``needs``: about how many more battles on each version tell what is open."""
        each = battles_of_replicate(self.config.lineups.teams, len(self.versions[BEFORE].baselines.rows))
        needs = [
            math.ceil(s.samples * (v.factor - 1)) * each if s and v and v.finding == "more" else 0
            for s, v in zip(samples, verdicts, strict=True)
        ]
        return {
            "verdict": np.array([FINDINGS.index(v.finding) if v else 0 for v in verdicts], np.uint8),
            "open": np.array([OPEN.index(v.open_) if v else 0 for v in verdicts], np.uint8),
            "about": np.array([v.about if v else -1 for v in verdicts], np.int32),
            "over": np.array([bool(v and v.over) for v in verdicts], np.uint8),
            "endless": np.array([bool(v and v.endless) for v in verdicts], np.uint8),
            "needs": np.array(needs, np.int64),
        }

    def _differences(self, both: Sequence[Sequence[Sample | None]]) -> dict[str, Floats]:
        blank = np.full((len(self.fit), len(self.objectives)), np.nan)
        change, low, high = blank, blank.copy(), blank.copy()
        for i, (a, b) in enumerate(zip(*both, strict=True)):
            if a is None or b is None or a.samples != b.samples:
                continue
            change[i] = b.mean - a.mean
            ends = self._ranges(i, a, b)
            low[i], high[i] = [e.low for e in ends], [e.high for e in ends]
        return {"change": change, "change_low": low, "change_high": high}

    def _ranges(self, i: int, before: Sample, after: Sample) -> list[Range]:
        """Of the differences of a lineup in all objectives; made once for each number of replicates."""
        known = self._changes.get((i, after.samples))
        if known is None:
            known = [difference(before, after, j) for j in range(len(self.objectives))]
            self._changes[i, after.samples] = known
        return known

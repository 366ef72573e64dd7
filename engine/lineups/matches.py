"""The matches of a lineup, and the cache of matches already played.

Every team of a lineup meets every other team and every baseline team, from both seats, ``last - first`` times. A match
is an ordered pair (left, right); the seed of each of its battles is a hash of (study seed, match, replicate). The cache
keeps the metrics that the objectives need, so the same match in another lineup costs nothing.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.errors import SimulatorError
from engine.lineups.encoding import team_keys
from engine.rng import battle_seeds, combine64
from engine.simulators.contract import OK, LineupSimulator, Patch

Floats = NDArray[np.float64]
Keys = NDArray[np.uint64]


class PlayedBattles(NamedTuple):
    """Battles of n lineups of T teams, R replicates: ``versus`` float64[n, T, 2 seats, R, s + b] sums over a team's
    opponents in the lineup of its side metrics then the battle metrics; ``baseline`` the same over baselines;
    ``requested`` and ``cached`` battles; ``broken`` bool[n]: a battle could not be finished."""

    versus: Floats
    baseline: Floats
    requested: int
    cached: int
    broken: NDArray[np.bool_]

    def recorded(self) -> Floats:
        """Each replicate's numbers as one row: float64[n, R, k]."""
        rows = np.moveaxis(np.stack([self.versus, self.baseline], axis=1), 4, 1)
        return np.ascontiguousarray(rows).reshape(*rows.shape[:2], -1)

    def after(self, record: Floats) -> PlayedBattles:
        """The same with the replicates of earlier rows float64[n, r, k] before its own."""
        n, teams, seats, _, width = self.versus.shape
        rows = record.reshape(n, record.shape[1], 2, teams, seats, width)
        versus, baseline = np.moveaxis(rows, 1, 4).swapaxes(0, 1)
        return self._replace(
            versus=np.concatenate([versus, self.versus], axis=3),
            baseline=np.concatenate([baseline, self.baseline], axis=3),
        )


MEMORY_BYTES = 256 * 2**20
"""Largest size of one worker's cache of matches."""
_ENTRY_BYTES = 200
"""Index size per row: its key, its number and their dictionary entries while that grows (CPython 3.11)."""


class MatchMemory:
    """Cache of float rows by 64-bit key for one simulator, patch and seed, with one table per (kind of match,
    replicates, fidelity). All tables with their indices stay within ``limit`` bytes: an addition that would exceed it
    clears everything first, and one that would not fit alone is not kept. No result depends on the cache."""

    def __init__(self, limit: int = MEMORY_BYTES) -> None:
        self.limit = limit
        self.tables: dict[tuple[Any, ...], _Table] = {}

    @property
    def bytes(self) -> int:
        """Size of all tables with their indices."""
        return sum(table.bytes for table in self.tables.values())

    def find(self, table: tuple[Any, ...], keys: Keys, width: int) -> tuple[Floats, NDArray[np.bool_]]:
        """Rows float64[n, width] of the keys, and bool[n] which of them are cached; other rows are undefined."""
        found = np.empty((len(keys), width))
        if table not in self.tables:
            return found, np.zeros(len(keys), np.bool_)
        rows = self.tables[table].find(keys)
        found[rows >= 0] = self.tables[table].rows[rows[rows >= 0]]
        return found, rows >= 0

    def add(self, table: tuple[Any, ...], keys: Keys, values: Floats) -> None:
        """Keep rows float64[n, width] of keys that are not cached."""
        kept = self.tables.get(table) or _Table(values.shape[1])
        if self.bytes + kept.needed(len(keys)) > self.limit:
            self.tables, kept = {}, _Table(values.shape[1])
        if kept.needed(len(keys)) <= self.limit:
            kept.add(keys, values)
            self.tables[table] = kept


class _Table:
    """An append-only table of rows, and the index of each key's row."""

    def __init__(self, width: int) -> None:
        self.index: dict[int, int] = {}
        self.rows = np.empty((0, width))

    @property
    def bytes(self) -> int:
        return self.rows.nbytes + _ENTRY_BYTES * len(self.index)

    def needed(self, more: int) -> int:
        """Additional bytes for ``more`` rows; a table that grows holds its old and new copy at once."""
        room = self._room(len(self.index) + more)
        grown = room * self.rows.shape[1] * self.rows.itemsize if room > len(self.rows) else 0
        return grown + _ENTRY_BYTES * more

    def _room(self, rows: int) -> int:
        return len(self.rows) if rows <= len(self.rows) else max(rows, 2 * len(self.rows))

    def find(self, keys: Keys) -> NDArray[np.int64]:
        """Row of each key, -1 where unknown."""
        get = self.index.get
        return np.array([get(key, -1) for key in keys.tolist()], dtype=np.int64)

    def add(self, keys: Keys, values: Floats) -> None:
        start = len(self.index)
        need = start + len(keys)
        if need > len(self.rows):
            grown = np.empty((self._room(need), self.rows.shape[1]))
            grown[:start] = self.rows[:start]
            self.rows = grown
        self.rows[start:need] = values
        self.index.update(zip(keys.tolist(), range(start, need), strict=True))


class _Keys(NamedTuple):
    """uint64[n] of teams: what they are ``known`` by in the memory of matches, and what their battles are ``seeded``
    by."""

    known: Keys
    seeded: Keys

    @classmethod
    def of(cls, rows: NDArray[np.int32], seeded: NDArray[np.int32] | None) -> _Keys:
        """Both are a team's own key, unless it has the seeds of another."""
        own = team_keys(rows)
        if seeded is None:
            return cls(own, own)
        other = team_keys(seeded)
        return cls(np.where(own == other, own, combine64(own, other)), other)


class Matches:
    """Plays lineups against each other and the baselines on one simulator."""

    def __init__(
        self, simulator: LineupSimulator, baselines: NDArray[np.int32], patch: Patch, seed: int, cache: bool = True
    ) -> None:
        spec = simulator.describe()
        self.simulator, self.patch, self.seed, self.cache = simulator, dict(patch), seed, cache
        self.baselines, self.baseline_keys = baselines, team_keys(baselines)
        self.sides, self.width = len(spec.side_metrics), len(spec.side_metrics) + len(spec.battle_metrics)
        self.memory = MatchMemory()

    def play(
        self,
        lineups: NDArray[np.int32],
        first: int,
        last: int,
        fidelity: str = "full",
        seeded: NDArray[np.int32] | None = None,
    ) -> PlayedBattles:
        """All battles of lineups int32[n, T, slots], replicates first <= r < last; with the seeds of the teams in the
        same places of ``seeded``, where others than their own (common random numbers). Raises SimulatorError."""
        n, teams, _ = lineups.shape
        rows = lineups.reshape(n * teams, -1)
        keys = _Keys.of(rows, None if seeded is None else seeded.reshape(rows.shape))
        left, right = np.triu_indices(teams, 1)
        index = np.arange(n * teams).reshape(n, teams)
        ones, others = index[:, left].ravel(), index[:, right].ravel()
        pairs, pair_new = self._pairs(rows, keys, ones, others, first, last, fidelity)
        blocks, block_new = self._against_baselines(rows, keys, first, last, fidelity)
        replicates = last - first
        versus = np.zeros((n * teams, 2, replicates, self.width))
        np.add.at(versus, ones, pairs[:, 0])
        np.add.at(versus, others, pairs[:, 1])
        shape = (n, teams, 2, replicates, self.width)
        requested = 2 * replicates * (len(ones) + len(rows) * len(self.baselines))
        played = 2 * replicates * (pair_new + block_new * len(self.baselines))
        versus, blocks = versus.reshape(shape), blocks.reshape(shape)
        broken = np.isnan(versus).any(axis=(1, 2, 3, 4)) | np.isnan(blocks).any(axis=(1, 2, 3, 4))
        return PlayedBattles(versus, blocks, requested, requested - played, np.asarray(broken))

    def _pairs(
        self, rows: NDArray[np.int32], keys: _Keys, a: Any, b: Any, first: int, last: int, fidelity: str
    ) -> tuple[Floats, int]:
        """Matches of rows a and b: float64[len(a), 2 (whose numbers), 2 seats, R, width], and how many were new."""
        swapped = keys.known[a] > keys.known[b]
        low, high = np.where(swapped, b, a), np.where(swapped, a, b)

        def battle(new: NDArray[np.int64]) -> Floats:
            x, y = low[new], high[new]
            one, other = np.concatenate([x, y]), np.concatenate([y, x])
            both = self._battles(rows[one], rows[other], keys.seeded[one], keys.seeded[other], first, last, fidelity)
            as_left, as_right = both[: len(x)], both[len(x) :]
            mine = np.stack([as_left[:, 0], as_right[:, 1]], axis=1)
            theirs = np.stack([as_right[:, 0], as_left[:, 1]], axis=1)
            return np.stack([mine, theirs], axis=1)

        values, new = self._remembered(
            "pair", combine64(keys.known[low], keys.known[high]), battle, first, last, fidelity
        )
        values = values.reshape(len(a), 2, 2, last - first, self.width)
        return np.where(swapped[:, None, None, None, None], values[:, ::-1], values), new

    def _against_baselines(
        self, rows: NDArray[np.int32], keys: _Keys, first: int, last: int, fidelity: str
    ) -> tuple[Floats, int]:
        """Sums over the baselines for each row: float64[n, 2 seats, R, width], and how many rows were new."""

        def battle(new: NDArray[np.int64]) -> Floats:
            count, many = len(new), len(self.baselines)
            x, y = np.repeat(new, many), np.tile(np.arange(many), count)
            mine, base = rows[x], self.baselines[y]
            ones, others = np.concatenate([mine, base]), np.concatenate([base, mine])
            one_keys, other_keys = keys.seeded[x], self.baseline_keys[y]
            played = self._battles(
                ones, others, np.concatenate([one_keys, other_keys]), np.concatenate([other_keys, one_keys]),
                first, last, fidelity,
            )  # fmt: skip
            both = np.stack([played[: len(x), 0], played[len(x) :, 1]], axis=1).reshape(
                count, many, 2, last - first, self.width
            )
            return np.asarray(both.sum(axis=1))

        values, new = self._remembered("baseline", keys.known, battle, first, last, fidelity)
        return values.reshape(len(rows), 2, last - first, self.width), new

    def _remembered(
        self, kind: str, keys: Keys, battle: Any, first: int, last: int, fidelity: str
    ) -> tuple[Floats, int]:
        """Values for each key, from memory or from ``battle(positions)`` of the first occurrence of each new key."""
        width = (4 if kind == "pair" else 2) * (last - first) * self.width
        if not self.cache:
            return battle(np.arange(len(keys))).reshape(len(keys), width), len(keys)
        unique, where, inverse = np.unique(keys, return_index=True, return_inverse=True)
        table = (kind, first, last, fidelity)
        values, known = self.memory.find(table, unique, width)
        new = np.flatnonzero(~known)
        if len(new):
            values[new] = battle(where[new]).reshape(len(new), -1)
            self.memory.add(table, unique[new], values[new])
        return np.asarray(values[inverse]), len(new)

    def _battles(
        self,
        left: NDArray[np.int32],
        right: NDArray[np.int32],
        left_keys: Keys,
        right_keys: Keys,
        first: int,
        last: int,
        fidelity: str,
    ) -> Floats:
        """float64[matches, 2 sides, R, width]; NaN where a battle could not be finished."""
        n, replicates = len(left), last - first
        seeds = battle_seeds(self.seed, combine64(left_keys, right_keys), first, last).ravel()
        answer = self.simulator.battles(
            np.repeat(left, replicates, axis=0), np.repeat(right, replicates, axis=0), seeds, self.patch, fidelity
        )
        if answer.side.shape != (len(seeds), 2, self.sides):
            raise SimulatorError(f"The simulator answered {answer.side.shape} numbers for {len(seeds)} battles.")
        out = np.empty((n * replicates, 2, self.width))
        out[..., : self.sides] = answer.side
        out[..., self.sides :] = answer.battle[:, None, :]
        out[answer.status != OK] = np.nan
        return out.reshape(n, replicates, 2, self.width).swapaxes(1, 2)

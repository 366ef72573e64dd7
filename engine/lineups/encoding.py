"""LineupSpace: the genomes of lineup search, with their operators and canonical keys."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from engine.errors import ConfigError
from engine.lineups import decoding, operators
from engine.lineups.rules import CompiledRules
from engine.rng import combine64

Lineups = NDArray[np.int32]
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def team_keys(rows: Lineups) -> NDArray[np.uint64]:
    """A 64-bit hash of each team: rows int32[..., slots] in canonical form give uint64[...]."""
    flat = np.ascontiguousarray(rows, dtype=np.int32).reshape(-1, rows.shape[-1])
    return np.asarray(_folded(flat)).reshape(rows.shape[:-1])


@njit(cache=True, nogil=True)
def _folded(rows: Any) -> Any:
    """``combine64`` over the slots of each row, from 0, in one compiled loop: searches hash every team they meet."""
    keys = np.zeros(rows.shape[0], dtype=np.uint64)
    for i in range(rows.shape[0]):
        for s in range(rows.shape[1]):
            keys[i] = _mixed(_mixed(keys[i]) + _GOLDEN + np.uint64(np.int64(rows[i, s])))
    return keys


@njit(cache=True, nogil=True)
def _mixed(x: Any) -> Any:
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


class LineupSpace:
    """Lineups under compiled rules; a ``Space``. Genomes are int32[n, teams, slots] in canonical form."""

    def __init__(
        self, rules: CompiledRules, crossover: float = 0.9, mutation: float = 0.9, grouping: float = 0.5,
        swapping: float = 0.2,
    ) -> None:  # fmt: skip
        self.rules = rules
        self.shares = crossover, mutation, grouping, swapping
        self.slots = len(rules.is_count)
        self.width = rules.teams * self.slots

    def sample(self, rng: np.random.Generator, n: int) -> Lineups:
        """n random valid lineups. Raises ConfigError when the rules leave none to be found."""
        return _found(*operators.sample(_seeds(rng, n), self.rules, self.slots))

    def decode(self, numbers: NDArray[np.float64]) -> Lineups:
        """The valid lineups that float64[n, width] in [0, 1] mean. Raises ConfigError as ``sample`` does."""
        return _found(*decoding.decode(numbers, self.rules))

    def offspring(self, rng: np.random.Generator, mothers: Lineups, fathers: Lineups) -> Lineups:
        """One valid child for each pair of parents."""
        seeds = _seeds(rng, len(mothers))
        return np.asarray(operators.offspring(seeds, mothers, fathers, self.rules, *self.shares))

    def canonical(self, lineups: Lineups) -> Lineups:
        """The canonical form of each lineup, in a new array."""
        out = np.array(lineups, dtype=np.int32)
        operators.canonical(out, self.rules)
        return out

    def keys(self, genomes: Lineups) -> NDArray[np.uint64]:
        """Canonical 64-bit hash of each lineup in canonical form."""
        teams = team_keys(genomes)
        key = np.zeros(len(genomes), dtype=np.uint64)
        for t in range(teams.shape[1]):
            key = combine64(key, teams[:, t])
        return key

    def violations(self, lineups: Lineups) -> NDArray[np.int64]:
        """How many rules each lineup breaks."""
        return operators.violations(lineups, self.rules)


def _found(lineups: Lineups, found: NDArray[np.bool_]) -> Lineups:
    if not found.all():
        share = f"{int((~found).sum())} of {len(found)}"
        raise ConfigError(
            [("lineups", f"no valid lineup was found in {share} draws: widen the cost range or the cost tolerance")]
        )
    return np.asarray(lineups)


def _seeds(rng: np.random.Generator, n: int) -> NDArray[np.uint64]:
    return rng.integers(0, 2**63, size=n, dtype=np.uint64)

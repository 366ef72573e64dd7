"""LineupSpace: the genomes of lineup search, with their operators and canonical keys."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.compiling import njit
from engine.errors import ConfigError
from engine.lineups import decoding, operators
from engine.lineups.rules import CompiledRules
from engine.lineups.size import every_lineup
from engine.problem import Breed, Capabilities, Numbers, redrawn
from engine.rng import combine64
from engine.splitmix import combine

Lineups = NDArray[np.int32]


def team_keys(rows: Lineups) -> NDArray[np.uint64]:
    """A 64-bit hash of each team: rows int32[..., slots] in canonical form give uint64[...]."""
    flat = np.ascontiguousarray(rows, dtype=np.int32).reshape(-1, rows.shape[-1])
    return np.asarray(_folded(flat)).reshape(rows.shape[:-1])


@njit(cache=True, nogil=True)
def _folded(rows: Any) -> Any:
    """``combine64`` over the slots of each row, from 0, in one compiled loop: searches hash very many teams."""
    keys = np.zeros(rows.shape[0], dtype=np.uint64)
    for i in range(rows.shape[0]):
        for s in range(rows.shape[1]):
            keys[i] = combine(keys[i], np.uint64(np.int64(rows[i, s])))
    return keys


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

    @property
    def can(self) -> Capabilities:
        """Breeding, numbers, redrawing, and listing the lineups where they are few."""
        numbers = Numbers(self.width, lambda rng, k: rng.random((k, self.width)), self.decode)
        return Capabilities(Breed(self.offspring), numbers, redrawn, unmet=self.unmet)

    def sample(self, rng: np.random.Generator, n: int) -> Lineups:
        """n random valid lineups. Raises ConfigError when none can be found under the rules."""
        return _found(*operators.sample(_seeds(rng, n), self.rules, self.slots))

    @cached_property
    def every(self) -> Lineups | None:
        """All lineups int32[n, teams, slots], each once; None where there are too many to list."""
        found = every_lineup(self.rules)
        return None if found is None else self.canonical(found)

    def unmet(self, rng: np.random.Generator, lineups: Lineups, met: set[int]) -> Lineups:
        """The lineups, each whose key is in ``met`` or that repeats an earlier one replaced by a random new lineup
        while any are left; adds the keys to ``met``. Unchanged where lineups cannot be listed."""
        if self.every is None:
            return lineups
        again = []
        for i, key in enumerate(self.keys(lineups).tolist()):
            if key in met:
                again.append(i)
            met.add(key)
        if again:
            keys = self.keys(self.every)
            left = rng.permutation(np.flatnonzero(~np.isin(keys, np.array(list(met), np.uint64))))[: len(again)]
            lineups = lineups.copy()
            lineups[again[: len(left)]] = self.every[left]
            met.update(keys[left].tolist())
        return lineups

    def distinct(self, rng: np.random.Generator, n: int) -> Lineups:
        """n distinct random valid lineups, or all if there are fewer. Where lineups cannot be listed, one may repeat by
        chance. Raises ConfigError as ``sample`` does."""
        found = self.unmet(rng, self.sample(rng, n), set())
        if self.every is None:
            return found
        _, first = np.unique(self.keys(found), return_index=True)
        return found[np.sort(first)]

    def decode(self, numbers: NDArray[np.float64]) -> Lineups:
        """Valid lineups from float64[n, width] in [0, 1]. Raises ConfigError as ``sample`` does."""
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


def _found(lineups: Lineups, found: NDArray[np.bool_]) -> Lineups:
    if not found.all():
        share = f"{int((~found).sum())} of {len(found)}"
        raise ConfigError(
            [("lineups", f"no valid lineup was found in {share} draws: widen the cost range or the cost tolerance")]
        )
    return np.asarray(lineups)


def _seeds(rng: np.random.Generator, n: int) -> NDArray[np.uint64]:
    return rng.integers(0, 2**63, size=n, dtype=np.uint64)

"""Replay: a ring of transitions sampled uniformly, or in proportion to priorities (Schaul et al. 2016).

P(i) = p_i^α / Σ_k p_k^α, drawn stratified (one from each of n equal slices of the total); importance weights
w_i = (N P(i))^{−β} / max_k w_k, where the largest weight is that of the least likely transition kept; p_i = |δ_i| + ε;
a new transition gets the largest priority seen, so that each is learned from at least once soon.

Transitions are n-step: r^{(m)} = Σ_{k<m} γ^k r_{t+k}, and γ^m V(next) with γ^m = 0 after termination; m is n, or what
is left of the episode or of the fragment (the last states of a fragment bootstrap from its end, so none is dropped).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.errors import ConfigError
from engine.rl.compiled import compiled

Arrays = dict[str, NDArray[Any]]
_LEAST = 1e-6  # ε: transitions without error can still be drawn


class Minibatch(NamedTuple):
    """A minibatch: its rows in the buffer, their columns, and their importance weights float32[n]."""

    rows: NDArray[np.int64]
    columns: Arrays
    weights: NDArray[np.float32]


class ReplayBuffer:
    """A ring of ``capacity`` transitions in named columns, with the shapes and types of the first ones added.
    ``written``: transitions that were ever added."""

    def __init__(self, capacity: int, rng: np.random.Generator) -> None:
        self.capacity, self.rng = capacity, rng
        self.columns: Arrays = {}
        self.written = 0

    @property
    def size(self) -> int:
        """Transitions kept."""
        return min(self.written, self.capacity)

    @property
    def at(self) -> int:
        """The row of the next transition."""
        return self.written % self.capacity

    def add(self, columns: Mapping[str, NDArray[Any]]) -> NDArray[np.int64]:
        """Replace the oldest transitions by these [n, …]; returns their rows. Raises ConfigError when there are more
        than the buffer's capacity."""
        n = len(next(iter(columns.values())))
        if n > self.capacity:
            raise ConfigError([("capacity", f"it must be at least {n}, what arrives at once")])
        if not self.columns:
            self.columns = {k: np.zeros((self.capacity, *v.shape[1:]), dtype=v.dtype) for k, v in columns.items()}
        rows = (self.written + np.arange(n)) % self.capacity
        for name, values in columns.items():
            self.columns[name][rows] = values
        self.written += n
        return rows

    def sample(self, n: int, beta: float = 1.0) -> Minibatch:
        """n transitions, uniformly with replacement."""
        rows = self.rng.integers(0, self.size, size=n)
        return Minibatch(rows, self._take(rows), np.ones(n, dtype=np.float32))

    def spread(self, most: int) -> Arrays:
        """Columns of ``most`` transitions, evenly spread over all rows, or of all: without a draw."""
        return self._take(np.unique(np.linspace(0, self.size - 1, most).astype(np.int64)))

    def learned(self, rows: NDArray[np.int64], errors: NDArray[np.floating[Any]]) -> None:
        """Record the errors of sampled rows; a uniform buffer ignores them."""

    def state(self) -> tuple[Arrays, dict[str, Any]]:
        """The transitions and the position of the next one; the owner saves the generator."""
        return {name: column[: self.size] for name, column in self.columns.items()}, {"at": self.at, "size": self.size}

    def load(self, arrays: Mapping[str, NDArray[Any]], meta: Mapping[str, Any]) -> None:
        """Continue from ``state``."""
        self.columns, self.written = {}, written(meta, self.capacity)
        for name, values in arrays.items():
            self.columns[name] = np.zeros((self.capacity, *values.shape[1:]), dtype=values.dtype)
            self.columns[name][: self.size] = values

    def _take(self, rows: NDArray[np.int64]) -> Arrays:
        return {name: column.take(rows, axis=0) for name, column in self.columns.items()}


def written(meta: Mapping[str, Any], capacity: int) -> int:
    """A number of transitions after which a ring is as ``state`` tells of it."""
    size, at = int(meta["size"]), int(meta["at"])
    return capacity + at if size == capacity else size


class PrioritisedReplay(ReplayBuffer):
    """Proportional prioritisation over a sum tree and a minimum tree."""

    def __init__(self, capacity: int, rng: np.random.Generator, alpha: float) -> None:
        super().__init__(capacity, rng)
        self.alpha, self.largest = alpha, 1.0
        self.leaves = 1 << (capacity - 1).bit_length()
        self.sums = np.zeros(2 * self.leaves)
        self.least = np.full(2 * self.leaves, np.inf)

    def add(self, columns: Mapping[str, NDArray[Any]]) -> NDArray[np.int64]:
        """As for the ring; new transitions get the largest priority seen."""
        rows = super().add(columns)
        _put(self.sums, self.least, rows, np.full(len(rows), self.largest**self.alpha))
        return rows

    def sample(self, n: int, beta: float = 1.0) -> Minibatch:
        """n transitions in proportion to their priorities, one from each of n equal slices of the total."""
        total = self.sums[1]
        marks = (np.arange(n) + self.rng.random(n)) * (total / n)
        rows = np.minimum(_find(self.sums, marks), self.size - 1)
        weights = (self.sums[self.leaves + rows] / self.least[1]) ** -beta
        return Minibatch(rows, self._take(rows), weights.astype(np.float32))

    def learned(self, rows: NDArray[np.int64], errors: NDArray[np.floating[Any]]) -> None:
        """p_i = |δ_i| + ε."""
        priorities = np.abs(errors.astype(np.float64)) + _LEAST
        self.largest = max(self.largest, float(priorities.max()))
        _put(self.sums, self.least, rows, priorities**self.alpha)

    def state(self) -> tuple[Arrays, dict[str, Any]]:
        """With the priorities."""
        arrays, meta = super().state()
        return arrays | {"priority": self.sums[self.leaves : self.leaves + self.size]}, meta | {"largest": self.largest}

    def load(self, arrays: Mapping[str, NDArray[Any]], meta: Mapping[str, Any]) -> None:
        """Continue from ``state``."""
        super().load({name: values for name, values in arrays.items() if name != "priority"}, meta)
        self.largest = float(meta["largest"])
        self.sums[:], self.least[:] = 0, np.inf
        _put(self.sums, self.least, np.arange(self.size), np.array(arrays["priority"]))


class Steps(NamedTuple):
    """n-step transitions of a fragment, [T, B] each: the summed reward, the factor of the next value (0 after
    termination), and the step after which the observation bootstraps."""

    rewards: NDArray[np.float32]
    factors: NDArray[np.float32]
    last: NDArray[np.int64]


def n_steps(
    rewards: NDArray[np.float32], terminated: NDArray[np.bool_], truncated: NDArray[np.bool_], gamma: float, n: int
) -> Steps:
    """Assemble n-step transitions of a fragment; all arrays [T, B]."""
    shape = rewards.shape
    found = Steps(np.zeros(shape, np.float32), np.zeros(shape, np.float32), np.zeros(shape, np.int64))
    _n_steps(rewards, terminated, truncated, np.float32(gamma), n, *found)
    return found


@compiled
def _n_steps(
    rewards: NDArray[np.float32], terminated: NDArray[np.bool_], truncated: NDArray[np.bool_], gamma: np.float32,
    n: int, sums: NDArray[np.float32], factors: NDArray[np.float32], last: NDArray[np.int64],
) -> None:  # fmt: skip
    T, B = rewards.shape
    for t in range(T):
        for b in range(B):
            total, weight, s = np.float32(0), np.float32(1), t
            while True:
                total += weight * rewards[s, b]
                weight *= gamma
                if terminated[s, b] or truncated[s, b] or s == T - 1 or s == t + n - 1:
                    break
                s += 1
            sums[t, b] = total
            factors[t, b] = np.float32(0) if terminated[s, b] else weight
            last[t, b] = s


@compiled
def _put(
    sums: NDArray[np.float64], least: NDArray[np.float64], rows: NDArray[np.int64], values: NDArray[np.float64]
) -> None:
    """Set leaves, then recompute their ancestors (not by differences, which would drift)."""
    leaves = len(sums) // 2
    for i in range(len(rows)):
        node = leaves + rows[i]
        sums[node] = values[i]
        least[node] = values[i]
        node //= 2
        while node:
            sums[node] = sums[2 * node] + sums[2 * node + 1]
            least[node] = min(least[2 * node], least[2 * node + 1])
            node //= 2


@compiled
def _find(sums: NDArray[np.float64], marks: NDArray[np.float64]) -> NDArray[np.int64]:
    """The leaf at which the running total passes each mark."""
    leaves = len(sums) // 2
    rows = np.empty(len(marks), dtype=np.int64)
    for i in range(len(marks)):
        mark, node = marks[i], 1
        while node < leaves:
            node *= 2
            if mark >= sums[node]:
                mark -= sums[node]
                node += 1
        rows[i] = node - leaves
    return rows

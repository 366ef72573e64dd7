"""The weights of a network as one flat vector with named layer groups.

Crossovers: ``best`` (the child takes the better parent's network; the default, because crossing trained networks
destroys both) and ``single_point`` (the first layer groups of one parent, the rest of the other: no layer is split).
Mutation: Gaussian noise on a share of the weights, scaled by the spread of their group; off by default, because
training changes the weights. The better parent is the one that dominates the other; where neither does, it is either
(``engine.evolution.search.Breeding``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from engine.evolution.operators.coding import Reals, TwoStep
from engine.problem import Numbers

Weights = NDArray[np.float32]


class LayerGroup(NamedTuple):
    """Consecutive weights that belong together. ``spread``: standard deviation of fresh weights."""

    name: str
    size: int
    spread: float = 0.1


class BlobSpace(TwoStep):
    """Genomes are float32[n, sum of sizes]. ``start`` float[sum]: mean of initial weights (a trained network, or
    zeros). ``strength``: standard deviation of the mutation's noise, in spreads; ``share``: share of the weights that
    get it. ``scatter``: standard deviation of initial weights around the start; None: the spreads."""

    better_first = True

    def __init__(
        self, groups: Sequence[LayerGroup], *, start: Weights | None = None,
        crossover_by: Literal["best", "single_point"] = "best", strength: float = 0.0, share: float = 1.0,
        scatter: float | None = None,
    ) -> None:  # fmt: skip
        self.groups = tuple(groups)
        self.edges = np.cumsum([0, *(g.size for g in groups)])
        self.width = int(self.edges[-1])
        self.shape, self.dtype = (self.width,), np.dtype(np.float32)
        self.start = np.zeros(self.width, np.float32) if start is None else np.asarray(start, np.float32)
        self.spread = np.repeat([g.spread for g in groups], [g.size for g in groups])
        self.around = self.spread if scatter is None else np.where(self.spread > 0, scatter, 0.0)
        self.crossover_by, self.strength, self.share = crossover_by, strength, share

    @property
    def numbers(self) -> Numbers:
        """Vectors of distances from the start, in spreads."""
        return Numbers(
            self.width,
            lambda rng, k: np.asarray((self.sample(rng, k) - self.start) / self.spread, np.float64),
            lambda x: np.asarray(self.start + self.spread * x, np.float32),
            bounded=False,
        )

    def sample(self, rng: np.random.Generator, n: int) -> Weights:
        """n networks around the start."""
        return np.asarray(self.start + self.around * rng.standard_normal((n, self.width)), np.float32)

    def decode(self, numbers: Reals) -> Weights:
        """Start plus the normal quantile of each number, clipped to five spreads."""
        normal = np.clip(ndtri(np.clip(numbers, 0, 1)), -5, 5)
        return np.asarray(self.start + self.around * normal, np.float32)

    def named(self, weights: Weights) -> dict[str, Weights]:
        """The weights of each layer group, from float32[..., sum]."""
        return {g.name: weights[..., a:b] for g, a, b in zip(self.groups, self.edges, self.edges[1:], strict=False)}

    def _cross(self, rng: np.random.Generator, mothers: Weights, fathers: Weights) -> Weights:
        if self.crossover_by == "best" or len(self.groups) < 2:
            return mothers.copy()
        cut = self.edges[rng.integers(1, len(self.groups), len(mothers))]
        swap = rng.random((len(mothers), 1)) < 0.5
        return np.where((np.arange(self.width) < cut[:, None]) ^ swap, mothers, fathers)

    def _mutate(self, rng: np.random.Generator, children: Weights) -> Weights:
        if self.strength == 0:
            return children.copy()
        noise = self.strength * self.spread * rng.standard_normal(children.shape)
        chosen = rng.random(children.shape) < self.share
        return np.where(chosen, children + noise, children).astype(np.float32)

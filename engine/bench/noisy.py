"""Noisy problems whose truth is known: pymoo's test problems with normal noise on every replicate, and planted ones.

Noise is a hash of (study seed, candidate, replicate, objective), like a battle's seed: never of order or worker.
``common``: the candidate is left out, so that all share the noise of a replicate (common random numbers).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from pymoo.problems import get_problem
from scipy.special import ndtri

from engine.evolution.estimates import estimate
from engine.evolution.operators import RealSpace
from engine.problem import Breed, Capabilities, Evaluation, Genome, Objective, Problem, Request, ShouldStop
from engine.rng import battle_seeds, combine64

Floats = NDArray[np.float64]


class Noisy:
    """An ``Evaluator``. ``sigma``: standard deviation of one replicate; all objectives are minimised."""

    def __init__(self, name: str = "zdt1", variables: int = 10, sigma: float = 0.3, common: bool = False) -> None:
        self.task = get_problem(name, n_var=variables)
        self.sigma, self.common = sigma, common
        self.space = RealSpace(self.task.xl, self.task.xu)

    def describe(self) -> Problem:
        objectives = tuple(Objective(f"f{j + 1}", f"f{j + 1}", "min") for j in range(self.task.n_obj))
        return Problem(self.space, objectives)

    def initialize(self, rng: np.random.Generator) -> Genome:
        return np.asarray(self.space.sample(rng, 1)[0])

    def evaluate(self, requests: Sequence[Request], should_stop: ShouldStop) -> Iterator[Evaluation]:
        for request in requests:
            if should_stop():
                return
            yield self.answer(request)

    def truth(self, genomes: Genome) -> Floats:
        """Objectives without noise, float64[n, m]."""
        return np.asarray(self.task.evaluate(genomes))

    def answer(self, request: Request) -> Evaluation:
        """The mean of the request's replicates, and its covariance where there are two or more."""
        m = self.task.n_obj
        key = np.zeros(1, np.uint64) if self.common else self.space.keys(request.genome[None])
        seeds = battle_seeds(request.seed, key, request.first, request.last)[0]
        bits = combine64(seeds[:, None], np.arange(m, dtype=np.uint64))
        uniform = ((bits >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53
        return _answer(request, self.truth(request.genome[None])[0] + self.sigma * ndtri(uniform))


class Wins:
    """Battles of ten numbers in [0, 1], won the more often the nearer all of them are to 0.3: an ``Evaluator``. Whether
    one is won is a hash, as the noise of ``Noisy``."""

    def __init__(self) -> None:
        self.space = RealSpace(np.zeros(10), np.ones(10))

    def describe(self) -> Problem:
        return Problem(self.space, (Objective("wins", "Battles won"),), bounded=True)

    def truth(self, genomes: Genome) -> Floats:
        """Chances to win, float64[n, 1]."""
        away = np.abs(genomes - 0.3).mean(axis=1, keepdims=True)
        return np.asarray(np.clip(0.95 - 1.5 * away, 0.05, 0.95))

    def answer(self, request: Request) -> Evaluation:
        """The battles of the request."""
        keys = self.space.keys(request.genome[None])
        seeds = battle_seeds(request.seed, keys, request.first, request.last)[0]
        uniform = (seeds >> np.uint64(11)).astype(np.float64) * 2.0**-53
        won = (uniform[:, None] < self.truth(request.genome[None])).astype(np.float64)
        return _answer(request, won)._replace(limits=np.array([[0.0], [1.0]]))


class Planted:
    """Candidates whose replicates float64[n, most, m] are known beforehand (all objectives are minimised): an
    ``Evaluator`` and its ``Space``. A genome is the number of its row; rows are handed out one after the other, to the
    first generation and then to its offspring. ``paired``: answers tell each replicate, so that races are paired.
    ``limits``: between which all replicates lie, where that is known."""

    def __init__(self, replicates: Floats, paired: bool = False, limits: tuple[float, float] | None = None) -> None:
        self.replicates, self.paired, self.limits, self.given = replicates, paired, limits, 0

    def describe(self) -> Problem:
        objectives = (Objective(f"f{j}", f"f{j}", "min") for j in range(self.replicates.shape[2]))
        return Problem(self, tuple(objectives), bounded=self.limits is not None)

    @property
    def can(self) -> Capabilities:
        return Capabilities(Breed(self.offspring))

    def sample(self, rng: np.random.Generator, n: int) -> Genome:
        """The next n rows."""
        self.given += n
        return np.arange(self.given - n, self.given)[:, None]

    def offspring(self, rng: np.random.Generator, mothers: Genome, fathers: Genome) -> Genome:
        """As many of the next rows, whoever the parents are."""
        return self.sample(rng, len(mothers))

    def keys(self, genomes: Genome) -> NDArray[np.uint64]:
        return genomes[:, 0].astype(np.uint64)

    def answer(self, request: Request) -> Evaluation:
        """The planted replicates that are asked for."""
        found = _answer(request, self.replicates[int(request.genome[0]), request.first : request.last])
        if self.limits is not None:
            found = found._replace(limits=np.repeat([self.limits], self.replicates.shape[2], axis=0).T)
        return found if self.paired else found._replace(values=None)


def planted(rng: np.random.Generator, n: int, most: int, m: int, common: float) -> tuple[Floats, Floats]:
    """True costs float64[n, m] of candidates in the middle of a search (a front, and what lies behind it), and noisy
    replicates float64[n, most, m] of them; ``common``: share of the noise's variance that all have in common."""
    x = rng.random(n)
    truth = (np.stack([x, 1 - np.sqrt(x)], axis=1) + 1.5 * rng.random((n, 1)))[:, :m]
    own, shared = rng.standard_normal((n, most, m)), rng.standard_normal((1, most, m))
    return truth, truth[:, None] + 0.2 * (np.sqrt(1 - common) * own + np.sqrt(common) * shared)


def _answer(request: Request, found: Floats) -> Evaluation:
    """What replicates float64[r, m] say."""
    mean, covariance = estimate(found)
    return Evaluation(request.id, mean, covariance, len(found), np.empty(0), cost=len(found), values=found)

"""Noisy problems whose truth is known: pymoo's test problems with normal noise on every replicate.

Noise is a hash of (study seed, candidate, replicate, objective), like a battle's seed: never of order or worker.
``common``: the candidate is left out, so that all share the noise of a replicate (common random numbers).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from pymoo.problems import get_problem
from scipy.special import ndtri

from engine.evolution.operators import RealSpace
from engine.problem import Evaluation, Genome, Objective, Problem, Request, ShouldStop
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
        r, m = request.last - request.first, self.task.n_obj
        key = np.zeros(1, np.uint64) if self.common else self.space.keys(request.genome[None])
        seeds = battle_seeds(request.seed, key, request.first, request.last)[0]
        bits = combine64(seeds[:, None], np.arange(m, dtype=np.uint64))
        uniform = ((bits >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53
        found = self.truth(request.genome[None])[0] + self.sigma * ndtri(uniform)
        covariance = np.cov(found.T) / r if r > 1 else np.zeros((m, m))
        return Evaluation(request.id, found.mean(axis=0), np.asarray(covariance).reshape(m, m), r, np.empty(0), cost=r,
                          values=found)  # fmt: skip

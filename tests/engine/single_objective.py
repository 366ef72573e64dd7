"""One-objective problems for the tests of searches over real vectors."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from engine.evolution.algorithm import Algorithm
from engine.evolution.operators import RealSpace
from engine.problem import Capabilities, Evaluation, Numbers, Objective, Problem, Request

Floats = NDArray[np.float64]
Function = Callable[[Floats], float]


class Plane:
    """All real vectors; every sample is where it begins."""

    def __init__(self, start: Floats) -> None:
        self.at = start

    @property
    def can(self) -> Capabilities:
        return Capabilities(numbers=Numbers(len(self.at), self.sample, lambda x: x, bounded=False))

    def sample(self, rng: np.random.Generator, n: int) -> Floats:
        return np.repeat(self.at[None], n, axis=0)

    def keys(self, genomes: Floats) -> NDArray[np.uint64]:
        return genomes[:, 0].view(np.uint64)


def minimise(n: int = 10, low: float = -5.0, high: float = 5.0) -> Problem:
    return Problem(RealSpace(np.full(n, low), np.full(n, high)), (Objective("f", "f", "min"),))


def sphere(x: Floats) -> float:
    return float((x**2).sum())


def rosenbrock(x: Floats) -> float:
    return float((100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum())


def value(request: Request, f: float) -> Evaluation:
    return Evaluation(request.id, np.array([f]), np.zeros((1, 1)), 1, np.empty(0))


def evaluations_until(search: Algorithm, f: Function, target: float, most: int) -> int:
    """Evaluations until the first value below ``target``; ``most`` when there is none."""
    count = 0
    while not search.done and count < most:
        for request in search.ask(1):
            found = f(request.genome)
            count += 1
            if found < target:
                return count
            search.tell(value(request, found))
    return most


def trace(search: Algorithm, f: Function, generations: int) -> tuple[Floats, Floats]:
    """Genomes [generations * N, n] and values of a synchronous search."""
    genomes, values = [], []
    for _ in range(generations):
        for request in search.ask(1):
            genomes.append(request.genome)
            values.append(f(request.genome))
            search.tell(value(request, values[-1]))
    return np.array(genomes), np.array(values)

"""Evaluations until CMA-ES comes within 1e-10 of the minimum in ten dimensions, beside pycma's own in the same run:
same population, same first step size, starts drawn alike from ±5. The median of five seeds counts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pymoo.problems import get_problem

from engine.bench.row import row
from engine.evolution.cma import CMAES
from engine.evolution.operators import RealSpace
from engine.problem import Evaluation, Objective, Problem
from engine.rng import generator

NAME = "cma-es"
CASES = ("sphere", "rosenbrock")
LIMIT = {"sphere": 3_000, "rosenbrock": 10_000}
VARIABLES, POPULATION, TARGET = 10, 10, 1e-10
Function = Callable[[NDArray[np.float64]], float]


def run(case: str, quick: bool) -> Iterator[dict[str, Any]]:
    """Measure one case; it takes a second or two either way."""
    task, seeds = get_problem(case, n_var=VARIABLES), range(1, 6)

    def f(x: NDArray[np.float64]) -> float:
        # pymoo's sphere has its minimum in the middle of its box; both problems are searched on [-5, 5].
        return float(task.evaluate(x + 0.5 if case == "sphere" else x)[0])

    mine, theirs = [ours(f, seed) for seed in seeds], [pycmas(f, seed) for seed in seeds]
    detail = f"by seed {' '.join(map(str, mine))}; pycma {' '.join(map(str, theirs))}"
    yield row(NAME, case, median(mine), f"evaluations to {TARGET:g}", peer="pycma", peer_value=median(theirs),
              goal=f"< {LIMIT[case]:,}", meets=median(mine) < LIMIT[case], seeds=seeds, detail=detail)  # fmt: skip


def ours(f: Function, seed: int) -> int:
    """Evaluations of the engine's."""
    space = RealSpace(np.full(VARIABLES, -5.0), np.full(VARIABLES, 5.0))
    search = CMAES(Problem(space, (Objective("f", "f", "min"),)), POPULATION, 5_000, seed)
    covariance, metrics, count = np.zeros((1, 1)), np.empty(0), 0
    while not search.done:
        for request in search.ask(POPULATION):
            found = f(request.genome)
            count += 1
            if found < TARGET:
                return count
            search.tell(Evaluation(request.id, np.array([found]), covariance, 1, metrics))
    return count


def pycmas(f: Function, seed: int) -> int:
    """Evaluations of pycma's."""
    import cma  # which loads a library of drawing that nothing else needs

    start = generator(seed, "start").uniform(-5, 5, VARIABLES)
    settings = {"popsize": POPULATION, "bounds": [-5, 5], "seed": seed, "verbose": -9}
    strategy, count = cma.CMAEvolutionStrategy(start, 3.0, settings), 0
    while count < 50_000:
        genomes = strategy.ask()
        values = []
        for genome in genomes:
            values.append(f(np.asarray(genome)))
            count += 1
            if values[-1] < TARGET:
                return count
        strategy.tell(genomes, values)
    return count

"""Evolutionary search beside pymoo's own, in the same run: how good the final set is, and what a generation costs.

A case ``ALGORITHM-PROBLEM`` searches with 25,000 evaluations and five seeds and gives two rows: the quality (share of
the true front's volume, reference 1.1; with one objective, how far above the minimum) and the time of a generation
beyond evaluation. ``ALGORITHM-overhead-N`` gives that time at population N. Times are the processor's; runs alternate,
and ratios of times are medians of pairwise ratios.
To add a case: a row in ``CONTENDERS``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from statistics import median
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pymoo.algorithms.moo.age import AGEMOEA
from pymoo.algorithms.moo.nsga2 import NSGA2
from pymoo.algorithms.moo.nsga3 import NSGA3
from pymoo.algorithms.soo.nonconvex.ga import GA
from pymoo.algorithms.soo.nonconvex.pso import PSO
from pymoo.algorithms.soo.nonconvex.random_search import RandomSearch
from pymoo.operators.crossover.sbx import SBX
from pymoo.operators.crossover.ux import UniformCrossover
from pymoo.operators.mutation.bitflip import BitflipMutation
from pymoo.operators.sampling.rnd import BinaryRandomSampling
from pymoo.util.ref_dirs import get_reference_directions

from engine.bench.ec_tasks import MANY, ONE, TASKS, Task, ideal_share
from engine.bench.row import row
from engine.catalog import ALGORITHMS
from engine.evolution.algorithm import Algorithm
from engine.problem import Evaluation
from engine.rng import generator

NAME = "ec"
EVALUATIONS = 25_000
OVERHEAD = {100: (250, 50), 2000: (12, 3)}
"""Population to generations that are timed, and when it has to be quick."""


class SearchResult(NamedTuple):
    """A finished search: seconds a generation beyond evaluation, and the genomes it would hand over."""

    seconds: float
    genomes: NDArray[Any]


Search = Callable[[Task, int, int, int], SearchResult]
"""(task, population, generations, seed) to what was found."""


class Contender(NamedTuple):
    """An algorithm of the engine (its ``kind`` in the catalog), on which tasks it is shown, which of them its time is
    measured on, and its peer. ``space``: settings of the coding; ``settings``: of the algorithm."""

    kind: str
    tasks: tuple[str, ...]
    timed: str
    peer: str = ""
    peer_search: Search | None = None
    population: int = 100
    space: dict[str, float] = {}
    settings: dict[str, Any] = {}
    populations: dict[str, int] = {}

    def size(self, task: str) -> int:
        """Population for a task: its own where ``populations`` names it."""
        return self.populations.get(task, self.population)


def ours(contender: Contender) -> Search:
    """The engine's search, through the contract that every study uses."""

    def search(task: Task, population: int, generations: int, seed: int) -> SearchResult:
        make = ALGORITHMS[contender.kind].load()
        described = task.described(**contender.space)
        algorithm: Algorithm = make(described, population, generations, seed, **contender.settings)
        noise, covariance, metrics = generator(seed, "noise"), np.zeros((task.m, task.m)), np.empty(0)
        evaluating, began = 0.0, time.process_time()
        while not algorithm.done:
            requests = algorithm.ask(10**9)
            start = time.process_time()
            values = task.evaluate(np.stack([r.genome for r in requests]), noise)
            answers = [Evaluation(r.id, f, covariance, 1, metrics) for r, f in zip(requests, values, strict=True)]
            evaluating += time.process_time() - start
            for answer in answers:
                algorithm.tell(answer)
        seconds = time.process_time() - began - evaluating
        return SearchResult(seconds / generations, np.stack([i.genome for i in algorithm.front()]))

    return search


def pymoos(make: Callable[[Task, int], Any]) -> Search:
    """The same of an algorithm of pymoo's, through its ask and tell."""

    def search(task: Task, population: int, generations: int, seed: int) -> SearchResult:
        algorithm = make(task, population)
        algorithm.setup(task.problem, termination=("n_gen", generations), seed=seed, verbose=False)
        noise = generator(seed, "noise")
        evaluating, began = 0.0, time.process_time()
        while algorithm.has_next():
            infills = algorithm.ask()
            start = time.process_time()
            algorithm.evaluator.eval(task.problem, infills)
            if task.row.noise:
                infills.set("F", task.evaluate(infills.get("X"), noise))
            evaluating += time.process_time() - start
            algorithm.tell(infills=infills)
        seconds = time.process_time() - began - evaluating
        return SearchResult(seconds / generations, np.atleast_2d(algorithm.opt.get("X")))

    return search


def pycmas(task: Task, population: int, generations: int, seed: int) -> SearchResult:
    """pycma's, from a random point and with its own bounds; its stopping rules are not asked."""
    import cma  # which loads a library of drawing that nothing else needs

    low, high = task.problem.bounds()
    rng, noise = generator(seed, "start"), generator(seed, "noise")
    settings = {"popsize": population, "bounds": [low[0], high[0]], "seed": seed, "verbose": -9}
    strategy = cma.CMAEvolutionStrategy(rng.uniform(low, high), 0.3 * (high[0] - low[0]), settings)
    best, least = np.empty(0), np.inf
    evaluating, began = 0.0, time.process_time()
    for _ in range(generations):
        genomes = np.array(strategy.ask())
        start = time.process_time()
        values = task.evaluate(genomes, noise)[:, 0]
        evaluating += time.process_time() - start
        strategy.tell(list(genomes), values.tolist())
        if values.min() < least:
            best, least = genomes[values.argmin()], float(values.min())
    return SearchResult((time.process_time() - began - evaluating) / generations, best[None])


def _operators(task: Task, **real: Any) -> dict[str, Any]:
    """pymoo's operators for bits; ``real`` for real numbers."""
    if task.problem.vtype is not bool:
        return real
    return {"sampling": BinaryRandomSampling(), "crossover": UniformCrossover(), "mutation": BitflipMutation()}


def _nsga2(task: Task, population: int) -> Any:
    """With SBX as the engine's: it leaves each variable with its own child, which both find better fronts with."""
    return NSGA2(pop_size=population, **_operators(task, crossover=SBX(eta=15, prob=0.9, prob_bin=0.0)))


def _nsga3(task: Task, population: int) -> Any:
    p = 1
    while len(get_reference_directions("das-dennis", task.m, n_partitions=p + 1)) <= population:
        p += 1
    directions = get_reference_directions("das-dennis", task.m, n_partitions=p)
    return NSGA3(directions, pop_size=population, **_operators(task))


def _random(task: Task, population: int) -> Any:
    bits = {"sampling": BinaryRandomSampling()} if task.problem.vtype is bool else {}
    return RandomSearch(n_points_per_iteration=population, **bits)


CONTENDERS: dict[str, Contender] = {
    "nsga2": Contender("nsga2", MANY, "zdt1", "pymoo NSGA-II", pymoos(_nsga2),
                       space={"exchange": 0.0}, populations=dict.fromkeys(("zdt1", "zdt2"), 150)),
    "nsga3": Contender("nsga3", MANY, "dtlz2", "pymoo NSGA-III", pymoos(_nsga3), population=91,
                       space={"eta_crossover": 30, "crossover": 1.0}),
    "agemoea": Contender("agemoea", MANY, "dtlz2", "pymoo AGE-MOEA",
                         pymoos(lambda task, n: AGEMOEA(pop_size=n, **_operators(task)))),
    "map_elites": Contender("map-elites", MANY, "zdt1", settings={"bins": 50}),
    "ga": Contender("ga", ONE, "sphere", "pymoo GA", pymoos(lambda task, n: GA(pop_size=n))),
    "pso": Contender("pso", ONE, "sphere", "pymoo PSO", pymoos(lambda task, n: PSO(pop_size=n)), population=50),
    "cso": Contender("cso", ONE, "sphere"),
    "cmaes": Contender("cmaes", ONE, "sphere", "pycma CMA-ES", pycmas, population=10),
    "cem": Contender("cem", ONE, "sphere", population=20),
    "openai_es": Contender("openai-es", ONE, "sphere", population=40),
    "pbt": Contender("pbt", ONE, "sphere", population=40),
    "random": Contender("random", tuple(TASKS), "sphere", "pymoo random search", pymoos(_random)),
}  # fmt: skip
CASES = tuple(f"{name}-{task}" for name, c in CONTENDERS.items() for task in c.tasks) + tuple(
    f"{name}-overhead-{n}" for name, c in CONTENDERS.items() if c.peer_search for n in OVERHEAD
)
LEAST: dict[str, Callable[[], float]] = {
    "nsga2-zdt1": lambda: 0.99,
    "nsga2-zdt2": lambda: 0.99,
    "nsga2-dtlz2": lambda: 0.87,
    "nsga3-dtlz2": lambda: 0.995 * ideal_share(91, 12),
}
"""Case to the least share of the true volume."""


def run(case: str, quick: bool) -> Iterator[dict[str, Any]]:
    """Measure one case."""
    name, _, rest = case.partition("-")
    contender = CONTENDERS[name]
    if rest.startswith("overhead-"):
        yield _overhead(case, contender, int(rest.removeprefix("overhead-")), quick)
        return
    task, seeds = Task(rest), range(1, 3) if quick else range(1, 6)
    population = contender.size(rest)
    generations = (EVALUATIONS // 5 if quick else EVALUATIONS) // population
    both = pairs(contender, task, population, generations, seeds)
    mine = [task.score(a.genomes) for a, _ in both]
    theirs = [task.score(b.genomes) for _, b in both if b]
    least = LEAST[case]() if case in LEAST else None
    unit = "of the true volume" if task.m > 1 else "above the minimum"
    detail = f"{generations * population} evaluations; by seed " + " ".join(f"{v:.4g}" for v in mine)
    yield row(NAME, case, median(mine), unit, peer=contender.peer, peer_value=median(theirs) if theirs else None,
              goal=f">= {least:.4f}" if least else "", meets=median(mine) >= least if least else None, seeds=seeds,
              detail=detail)  # fmt: skip
    yield _time(case, contender, both, population, seeds, "")


def _overhead(case: str, contender: Contender, population: int, quick: bool) -> dict[str, Any]:
    task, seeds = Task(contender.timed), range(1, 4) if quick else range(1, 6)
    pairs(contender, task, population, 2, [1])  # imports and compilation are not what is measured
    both = pairs(contender, task, population, OVERHEAD[population][quick], seeds)
    return _time(case, contender, both, population, seeds, "ratio <= 1.1")


def pairs(
    contender: Contender, task: Task, population: int, generations: int, seeds: Any
) -> list[tuple[SearchResult, SearchResult | None]]:
    """What the engine and its peer find, seed after seed, in turns."""
    search, peer = ours(contender), contender.peer_search
    return [
        (search(task, population, generations, s), peer(task, population, generations, s) if peer else None)
        for s in seeds
    ]


def _time(
    case: str,
    contender: Contender,
    pairs: list[tuple[SearchResult, SearchResult | None]],
    population: int,
    seeds: Any,
    goal: str,
) -> dict[str, Any]:
    mine = median(a.seconds for a, _ in pairs)
    ratios = sorted(a.seconds / b.seconds for a, b in pairs if b)
    peer = median(b.seconds for _, b in pairs if b) * 1e3 if ratios else None
    detail = f"population {population} on {contender.timed if goal else case.partition('-')[2]}"
    if ratios:
        detail += "; pairwise ratios " + " ".join(f"{r:.2f}" for r in ratios)
    return row(NAME, case, mine * 1e3, "ms a generation beyond evaluation", peer=contender.peer, peer_value=peer,
               goal=goal, meets=median(ratios) <= 1.1 if goal else None, seeds=seeds, detail=detail)  # fmt: skip

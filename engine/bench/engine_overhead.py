"""What the engine's NSGA-II costs beside pymoo's, both as they come: population 100, 25,000 evaluations, five seeds.

``nsga2-zdt1`` and ``nsga2-dtlz2``: the time of a generation beyond evaluation. ``hypervolume-zdt1``: the volume that
the final front covers. (``ec`` has every algorithm and problem.)
"""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median
from typing import Any

from pymoo.algorithms.moo.nsga2 import NSGA2

from engine.bench.ec import EVALUATIONS, Contender, pairs, pymoos
from engine.bench.ec_tasks import Task
from engine.bench.row import row

NAME = "engine-overhead"
CASES = ("nsga2-zdt1", "nsga2-dtlz2", "hypervolume-zdt1")
PLAIN = Contender(
    "nsga2", ("zdt1", "dtlz2"), "zdt1", "pymoo NSGA-II", pymoos(lambda task, population: NSGA2(pop_size=population))
)


def run(case: str, quick: bool) -> Iterator[dict[str, Any]]:
    """Measure one case."""
    seeds = range(1, 4) if quick else range(1, 6)
    task, population = Task(case.rpartition("-")[2]), PLAIN.population
    generations = (EVALUATIONS // 5 if quick and case.startswith("nsga2") else EVALUATIONS) // population
    pairs(PLAIN, task, population, 2, [1])  # imports and compilation are not what is measured
    found = [(a, b) for a, b in pairs(PLAIN, task, population, generations, seeds) if b]
    if case.startswith("nsga2"):
        ratios = sorted(a.seconds / b.seconds for a, b in found)
        yield row(NAME, case, median(a.seconds for a, _ in found) * 1e3, "ms a generation beyond evaluation",
                  peer=PLAIN.peer, peer_value=median(b.seconds for _, b in found) * 1e3, goal="ratio <= 1.1",
                  meets=median(ratios) <= 1.1, seeds=seeds,
                  detail="pairwise ratios " + " ".join(f"{r:.2f}" for r in ratios))  # fmt: skip
        return
    mine, theirs = ([task.score(side.genomes) for side in sides] for sides in zip(*found, strict=True))
    yield row(NAME, case, median(mine), "of the true volume", peer=PLAIN.peer, peer_value=median(theirs),
              goal=">= 0.99", meets=median(mine) >= 0.99, seeds=seeds,
              detail="by seed " + " ".join(f"{v:.4f}" for v in mine))  # fmt: skip

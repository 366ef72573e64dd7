"""Problems whose answer is known, for evolutionary search: ZDT1-6, DTLZ1-7 with three objectives, sphere, Rastrigin and
Rosenbrock in ten dimensions as pymoo has them, Shubert in two, and a noisy version of each. To add one: a row in
``PLAIN``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pymoo.core.problem import Problem as PymooProblem
from pymoo.problems import get_problem
from pymoo.util.ref_dirs import get_reference_directions

from engine.evolution.operators import BinarySpace, Coding, RealSpace
from engine.indicators import hypervolume, non_dominated
from engine.problem import Objective, Problem

Floats = NDArray[np.float64]
REFERENCE = 1.1
"""Hypervolumes are beyond this point, in units of the box that the true front spans."""


class Shubert(PymooProblem):  # type: ignore[misc]  # pymoo has no types
    """The product of two sums of cosines, with 18 equal minima within ±10."""

    def __init__(self) -> None:
        super().__init__(n_var=2, n_obj=1, xl=-10.0, xu=10.0, vtype=float)

    def _evaluate(self, x: Floats, out: dict[str, Any], *args: Any, **kwargs: Any) -> None:
        j = np.arange(1, 6)
        out["F"] = (j * np.cos((j + 1) * x[:, :, None] + j)).sum(axis=2).prod(axis=1)


class BenchmarkProblem(NamedTuple):
    """How to get a problem, its true front (or minimum), that front's volume where it is known, and the standard
    deviation of the noise: of several objectives in units of what the front spans, of one as it is."""

    make: Callable[[], Any]
    truth: Callable[[], Floats]
    volume: float | None = None
    noise: float = 0.0


def _zdt(number: int, volume: float | None = None) -> BenchmarkProblem:
    name = f"zdt{number}"
    return BenchmarkProblem(lambda: get_problem(name), lambda: np.asarray(get_problem(name).pareto_front(2000)), volume)


def _simplex() -> Floats:
    return np.asarray(get_reference_directions("das-dennis", 3, n_partitions=99))


def _sphere() -> Floats:
    points = _simplex()
    return np.asarray(points / np.linalg.norm(points, axis=1, keepdims=True))


def _arc() -> Floats:
    """DTLZ5 and 6: a quarter of a circle, for with three objectives only the first variable counts at g = 0."""
    angle = np.linspace(0, np.pi / 2, 2000)
    return np.stack([np.cos(angle) / np.sqrt(2), np.cos(angle) / np.sqrt(2), np.sin(angle)], axis=1)


def _patches() -> Floats:
    """DTLZ7: where g is 1, the third objective is 2 (3 - sum of f (1 + sin 3 pi f) / 2)."""
    a, b = np.meshgrid(*[np.linspace(0, 1, 200)] * 2)
    f = np.stack([a.ravel(), b.ravel()], axis=1)
    third = 2 * (3 - (f / 2 * (1 + np.sin(3 * np.pi * f))).sum(axis=1))
    points = np.column_stack([f, third])
    return np.asarray(points[non_dominated(points, (-1, -1, -1))])


def _one(name: str) -> BenchmarkProblem:
    return BenchmarkProblem(lambda: get_problem(name, n_var=10), lambda: np.array([[0.0]]))


def _dtlz(number: int, truth: Callable[[], Floats], volume: float | None = None) -> BenchmarkProblem:
    return BenchmarkProblem(lambda: get_problem(f"dtlz{number}", n_obj=3), truth, volume)


_BALL = REFERENCE**3 - np.pi / 6
PLAIN: dict[str, BenchmarkProblem] = {
    "zdt1": _zdt(1, 0.87667),
    "zdt2": _zdt(2, 0.54333),
    **{f"zdt{i}": _zdt(i) for i in (3, 4, 5, 6)},
    "dtlz1": _dtlz(1, lambda: _simplex() / 2, REFERENCE**3 - 1 / 6),
    **{f"dtlz{i}": _dtlz(i, _sphere, _BALL) for i in (2, 3, 4)},
    **{f"dtlz{i}": _dtlz(i, _arc) for i in (5, 6)},
    "dtlz7": _dtlz(7, _patches),
    "sphere": _one("sphere"),
    "rastrigin": _one("rastrigin"),
    "rosenbrock": _one("rosenbrock"),
    "shubert": BenchmarkProblem(Shubert, lambda: np.array([[-186.7309088310239]])),
}
_ROUGH = {"rastrigin": 5.0, "rosenbrock": 5.0, "shubert": 5.0}
_NOISY = "noisy-"
TASKS = PLAIN | {f"{_NOISY}{name}": row._replace(noise=_ROUGH.get(name, 0.1)) for name, row in PLAIN.items()}
MANY = tuple(name for name in TASKS if "zdt" in name or "dtlz" in name)
ONE = tuple(name for name in TASKS if name not in MANY)


class Task:
    """One row made ready. ``low`` and ``high``: the corners of the box that the true front spans."""

    def __init__(self, name: str) -> None:
        self.name, self.row = name, TASKS[name]
        self.problem = self.row.make()
        self.m: int = self.problem.n_obj
        self.low, self.high, self.volume = _box(name.removeprefix(_NOISY))

    def space(self, **settings: float) -> Coding:
        """The coding of its genomes; ``settings`` are attributes of it, where it has them."""
        binary = self.problem.vtype is bool
        found: Any = BinarySpace(self.problem.n_var) if binary else RealSpace(*self.problem.bounds())
        for key, value in settings.items():
            if hasattr(found, key):
                setattr(found, key, value)
        return found  # type: ignore[no-any-return]

    def described(self, **settings: float) -> Problem:
        """As the engine's algorithms are given it."""
        return Problem(self.space(**settings), tuple(Objective(f"f{i}", f"f{i}", "min") for i in range(self.m)))

    def evaluate(self, genomes: NDArray[Any], rng: np.random.Generator) -> Floats:
        """Objectives float64[n, m], with noise where the row has it."""
        found = self.truth(genomes)
        noise = self.row.noise * (self.high - self.low if self.m > 1 else 1.0)
        return found + noise * rng.standard_normal(found.shape) if self.row.noise else found

    def truth(self, genomes: NDArray[Any]) -> Floats:
        """Objectives without noise."""
        return np.asarray(self.problem.evaluate(genomes)).reshape(len(genomes), self.m)

    def score(self, genomes: NDArray[Any]) -> float:
        """How good a final set of genomes truly is: the share of the true front's volume that it dominates; with one
        objective, how far the best of them is above the minimum."""
        found = self.truth(genomes)
        if self.m == 1:
            return float(found.min() - self.low[0])
        return self.dominated(found) / self.volume

    def dominated(self, objectives: Floats) -> float:
        """Volume that objectives [n, m] dominate, in units of the true front's box."""
        scaled = (objectives - self.low) / (self.high - self.low)
        return hypervolume(scaled, (-1.0,) * self.m, (REFERENCE,) * self.m)


@cache
def _box(name: str) -> tuple[Floats, Floats, float]:
    row = TASKS[name]
    front = row.truth()
    low, high = front.min(axis=0), front.max(axis=0)
    if front.shape[1] == 1:
        return low, high, 0.0
    m = front.shape[1]
    volume = row.volume or hypervolume((front - low) / (high - low), (-1.0,) * m, (REFERENCE,) * m)
    return low, high, volume


def ideal_share(directions: int, partitions: int) -> float:
    """Share of DTLZ2's true volume that the ideal set for these Das-Dennis directions dominates."""
    points = np.asarray(get_reference_directions("das-dennis", 3, n_partitions=partitions))
    if len(points) != directions:
        raise ValueError(f"{partitions} divisions make {len(points)} directions, not {directions}")
    task = Task("dtlz2")
    return task.dominated(points / np.linalg.norm(points, axis=1, keepdims=True)) / task.volume

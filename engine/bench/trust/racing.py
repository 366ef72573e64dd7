"""Racing's stated error: how often a race does not end with the survivors of full sampling.

Planted generations of the genetic algorithm (``racing-NOISE``) and of NSGA-II with two goals (``racing-two-NOISE``):
half of the candidates are known to the end, the others join them, with 4 to 32 replicates. All race by bounds, but for
``racing-tests-gaussian``: tests promise their error for noise near normal only.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from engine.bench.racing import ERROR, MOST, generation
from engine.bench.row import row
from engine.bench.trust.noises import NOISES, Floats
from engine.evolution.noise import Racing

RUNS, N = 5000, 8
CASES = (*(f"racing-{goals}{name}" for goals in ("", "two-") for name in NOISES), "racing-tests-gaussian")


def run(case: str, quick: bool) -> Iterator[dict[str, Any]]:
    """Measure one case."""
    yield error(case, "tests" if "tests" in case else "bounds", RUNS // 10 if quick else RUNS)


def error(case: str, racing: Racing, runs: int) -> dict[str, Any]:
    """Share of the races that end with other survivors than full sampling."""
    wrong, played, full_played = 0, 0, 0
    for seed in range(runs):
        noisy, limits = replicates(case, seed)
        race, full = (generation(noisy, way, True, seed, limits) for way in (racing, "off"))
        wrong += race.survivors != full.survivors
        played, full_played = played + race.replicates, full_played + full.replicates
    share, margin = wrong / runs, 3 * np.sqrt(ERROR * (1 - ERROR) / runs)
    detail = f"{runs:,} races; replicates saved {1 - played / full_played:.1%}"
    return row("trust", case, share, "of the races end otherwise", goal=f"<= {ERROR:g}", meets=share <= ERROR + margin,
               seeds=[0, runs - 1], detail=detail)  # fmt: skip


def replicates(case: str, seed: int) -> tuple[Floats, tuple[float, float]]:
    """Costs float64[2 N, replicates, goals] of a planted generation, and their limits."""
    _, *how, name = case.split("-", 2 if case.startswith(("racing-two-", "racing-tests-")) else 1)
    goals, noise = 1 + (how == ["two"]), NOISES[name]
    rng = np.random.default_rng(seed)
    costs = np.stack([noise.draw(rng, 2 * N, MOST).values for _ in range(goals)], axis=2)
    return costs, (noise.low, noise.high)

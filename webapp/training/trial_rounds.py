"""Short first rounds of a population, played before a job is asked for, so that the form can say how long it takes."""

from __future__ import annotations

from typing import Any, TypeVar

from engine.config.evolve import EvolveConfig
from engine.config.genes import genes
from engine.config.pool import PoolConfig
from engine.config.whole_updates import most_learned

S = TypeVar("S", bound=EvolveConfig)
ROUNDS, ENOUGH = 1000, 3
"""Rounds that such a trial has at most, and of which its speed is known."""


def trial_rounds(study: S, learned: int, **changes: Any) -> S:
    """The study with two candidates that learn from so many decisions each, or two batches, in one process, measured in
    proportion."""
    largest = {gene.place: gene.high for gene in genes(study.task)}
    batch = int(largest.get("learner.batch", study.task.learner.least_batch))
    whole = most_learned(study.task)
    task = study.task.model_copy(update={"steps": min(whole, max(learned, 2 * batch))})
    changes |= {
        "name": f"speed of {study.task.game.name}"[:120], "ticks": ROUNDS, "fresh": 0, "stop": (), "seed": 1,
        "task": task, "episodes": max(2, round(study.episodes * most_learned(task) / whole)),
        "algorithm": study.algorithm.model_copy(update={"population": 2}),
        "pool": PoolConfig(kind="local", workers=1),
    }  # fmt: skip
    return study.model_copy(update=changes)

"""Evolution with real training: how busy the workers are, and what the barrier of synchronous rounds costs.

``utilisation``: population based training of CartPole on two workers of a Ray pool, each member by itself (steady), and
in rounds; the share of the workers' time, from the first one's first candidate to the last one's end, in which they
train or measure.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from statistics import median
from typing import Any

from engine.bench.row import row
from engine.errors import EngineError
from engine.events import Finished
from engine.store import FolderStore
from engine.studies import load
from engine.study import run as run_study

NAME = "evorl"
CASES = ("utilisation",)
WORKERS, POPULATION, GOAL = 2, 6, 0.95


def run(case: str, quick: bool) -> Iterator[dict[str, Any]]:
    """Measure the case."""
    seeds = (1,) if quick else (1, 2, 3)
    shares = {steady: [_summary(steady, seed, quick) for seed in seeds] for steady in (True, False)}
    steady, rounds = (median(s["utilisation"] for s in shares[kind]) for kind in (True, False))
    slow = median(s["seconds_most"] / s["seconds_mean"] for s in shares[True])
    detail = f"CartPole, {POPULATION} members, {WORKERS} workers; the slowest training took {slow:.1f} times the mean"
    yield row(NAME, case, steady, "of the workers' time", peer="in rounds", peer_value=rounds, goal=f">= {GOAL}",
              meets=steady >= GOAL, seeds=seeds, detail=detail)  # fmt: skip


def _summary(steady: bool, seed: int, quick: bool) -> dict[str, float]:
    """What a whole study says of itself at its end."""
    learner = {"preset": "cartpole-ppo", "rate": [1e-4, 1e-2], "reuse": [2, 20]}
    config = load(
        {
            "kind": "evolve", "seed": seed, "ticks": 3 if quick else 8, "episodes": 20, "fresh": 0,
            "task": {"game": "cartpole", "learner": learner, "steps": 2048 if quick else 8192, "environments": 8},
            "algorithm": {"kind": "pbt", "population": POPULATION, "steady": steady},
            "pool": {"kind": "ray", "workers": WORKERS},
        }
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        *_, last = run_study(config, FolderStore(folder))
    if not isinstance(last, Finished):
        raise EngineError(f"The study did not finish: {last}")
    return last.summary

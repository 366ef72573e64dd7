"""AES-RL's score: HalfCheetah-v5 and Walker2d-v5 at 300,000 counted decisions beside CEM-RL and TD3, with equal replays
and networks; the interquartile mean of five seeds, with an interval by bootstrap. About fifteen core-hours; what each
seed reached is kept in ``var/bench``, and a run that was killed goes on there.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import trim_mean

from engine.bench.kept import Kept
from engine.bench.row import row
from engine.errors import EngineError
from engine.events import Finished
from engine.rng import generator
from engine.store import FolderStore
from engine.studies import load
from engine.study import run as run_study

NAME = "aesrl-score"
GAMES = {"half-cheetah": ("gym:HalfCheetah-v5", 12_000.0, 9.0), "walker": ("gym:Walker2d-v5", 5200.0, 22.0)}
"""By case the game, its spread of scores, and the paper's gain over CEM-RL at equal replays, in percent (table 6)."""
CASES = tuple(GAMES)
STEPS, SEEDS = 300_000, range(1, 6)
NETWORK = {"policy": [64, 64], "critic": [64, 64]}
_DRAWS = 10_000


def reached(settings: dict[str, Any], seed: int) -> dict[str, float]:
    """A run to its end: the mean score of its last evaluation, and the seconds it took."""
    with tempfile.TemporaryDirectory() as folder:
        *_, end = run_study(load({**settings, "seed": seed}), FolderStore(Path(folder)))
    if not isinstance(end, Finished):
        raise EngineError(f"A run did not end: {getattr(end, 'message', end)}")
    return {"score": end.summary["evaluation_return"], "seconds": end.counters.seconds}


def run(case: str, quick: bool) -> Iterator[dict[str, Any]]:
    """Measure one case."""
    game, spread, gain = GAMES[case]
    steps, seeds = (4000, range(1, 2)) if quick else (STEPS, SEEDS)
    scores = {}
    for name, settings in _arms(game, spread, steps).items():
        kept = Kept(f"aesrl-score-{case}-{name}", settings, ("evorl", "rl", "study/aesrl.py", "study/train.py"))
        scores[name] = [kept.result(seed, partial(reached, settings, seed))["score"] for seed in seeds]
    peer = quartiles(scores["CEM-RL"])
    for name, found in scores.items():
        low, high = interval(found)
        mean, said = quartiles(found), ", ".join(f"{x:.0f}" for x in found)
        detail = f"95 % interval {low:.0f} to {high:.0f}; {said}; {steps:,} decisions, networks of (64, 64)"
        mark = peer * (1 + gain / 100)
        wanted: dict[str, Any] = {"goal": f">= {mark:.0f} (+{gain:.0f} %)", "meets": mean >= mark}
        goal = wanted if name == "AES-RL" else {}
        yield row(NAME, f"{case} {name}", mean, "interquartile mean of returns", peer="CEM-RL", peer_value=peer,
                  seeds=seeds, detail=detail, **goal)  # fmt: skip


def _arms(game: str, spread: float, steps: int) -> dict[str, dict[str, Any]]:
    shared = {"game": game, "steps": steps, "episodes": 10, "evaluate_every": 0}
    learner = {"capacity": 200_000, "warmup": min(10_000, steps // 4), "network": NETWORK}
    together = {"kind": "aes-rl", "spread": spread, "learner": learner, "pool": {"kind": "ray", "workers": 2}, **shared}
    return {
        "AES-RL": {**together, "method": {"kind": "aes-rl"}},
        "CEM-RL": {**together, "method": {"kind": "cem-rl"}},
        "TD3": {"kind": "train", "learner": {"kind": "td3", **learner}, "samplers": 1, "environments": 1, **shared,
                "pool": {"kind": "local"}},
    }  # fmt: skip


def quartiles(scores: Sequence[float]) -> float:
    """The mean of the middle half."""
    return float(trim_mean(scores, 0.25))


def interval(scores: Sequence[float]) -> tuple[float, float]:
    """Its 95 % interval by bootstrap."""
    rng, found = generator(1, "bootstrap"), np.array(scores)
    drawn = found[rng.integers(len(found), size=(_DRAWS, len(found)))]
    low, high = np.quantile([quartiles(each) for each in drawn], [0.025, 0.975])
    return float(low), float(high)

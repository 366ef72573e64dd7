"""Gradient steps of TD3 and SAC per second of one processor core, beside Stable-Baselines3's, in turns.

Minibatches of 256 from a replay of 10,000, layers of (400, 300), 17 numbers seen and 6 given, as in HalfCheetah. Ours
is the whole update of the learner as a training calls it, with what it stores; the peer's is its ``train``. Both count
processor seconds of one thread, because they hardly change with what else the machine does. The detail says the
arithmetic of a step in GFLOP/s, and that of matrix products alone (``limit``: the best of the layers' own products and
of 1024 × 1024) in the same run.
"""

from __future__ import annotations

import itertools
import subprocess
import time
from collections.abc import Iterator
from statistics import median
from typing import Any

import numpy as np
import torch

from engine.bench.peer import measured, peer_python
from engine.bench.row import row
from engine.config.rl import AnyLearner, ApartConfig, SACConfig, TD3Config
from engine.mdp.interface import ArraySpec, Continuous, SeatSpec
from engine.mdp.trajectory import Trajectory
from engine.rl.dense import product
from engine.rl.devices import on_threads
from engine.rl.factory import make_learner

NAME = "td3"
CASES = ("td3", "sac")
SEEN, GIVEN, LAYERS, BATCH, KEPT, GOAL = 17, 6, (400, 300), 256, 10_000, 1.15
_NETWORK = ApartConfig(policy=LAYERS, critic=LAYERS)
_SEAT = SeatSpec((ArraySpec("x", (SEEN,)),), Continuous((-1.0,) * GIVEN, (1.0,) * GIVEN, (GIVEN,)))


def run(case: str, quick: bool) -> Iterator[dict[str, Any]]:
    """Measure one learner; ``quick``: one short turn of each."""
    seconds, turns = (3.0, 1) if quick else (20.0, 5)
    try:
        python, trouble = peer_python("sb3"), ""
    except subprocess.CalledProcessError as error:
        python, trouble = None, f"; the peer could not be installed: {(error.stderr or '').strip()[-300:]}"
    ours, theirs, most = [], [], 0.0
    for _ in range(turns):
        most = max(most, limit())
        ours.append(speed(case, seconds))
        result = measured(python, "sb3_twin.py", ["speed", case, str(seconds)], 20 * seconds + 120) if python else {}
        theirs.append(result.get("steps_per_second", 0.0))
        trouble = f"; {result['error']}" if "error" in result else trouble
    value, rate = median(ours), median(theirs)
    did = value * work(case) / 1e9
    yield row(
        NAME, case, value, "steps/processor s", peer="sb3", peer_value=rate or None, goal=f">= {GOAL} x sb3",
        meets=value >= GOAL * rate if rate else None, seeds=[1],
        detail=f"ours {_each(ours)}; sb3 {_each(theirs)}; {did:.1f} GFLOP/s of {most:.1f} (products alone){trouble}",
    )  # fmt: skip


def _each(rates: list[float]) -> str:
    return " ".join(f"{rate:.1f}" for rate in rates)


def speed(kind: str, seconds: float) -> float:
    """Our gradient steps per processor second."""
    config: AnyLearner = {"td3": TD3Config, "sac": SACConfig}[kind](network=_NETWORK, rate=1e-3, warmup=KEPT)
    learner = make_learner(config, _SEAT, 1, 10**9)
    learner.update(_played(KEPT - 1))
    with on_threads(1):
        learner.update(_played(51))
        steps, began = 0, time.process_time()
        while (spent := time.process_time() - began) < seconds:
            learner.update(_played(50))
            steps += 50
    return steps / spent


def _played(n: int) -> Trajectory:
    """n decisions of one battle."""
    rng, no = np.random.default_rng(n), np.zeros((n, 1), np.bool_)
    seen = rng.standard_normal((n + 1, 1, SEEN)).astype(np.float32)
    actions, rewards = rng.uniform(-1, 1, (n, 1, GIVEN)).astype(np.float32), rng.random((n, 1, 1), np.float32)
    none = np.empty((0, 2), np.int64)
    return Trajectory({"x": seen}, actions, np.zeros((n, 1), np.float32), rewards, no, no, np.zeros((n, 1), np.int64),
                      none, {"x": np.empty((0, SEEN), np.float32)})  # fmt: skip


def work(kind: str) -> float:
    """Floating-point operations of one step's matrix products: two for each weight and row, and the same again for
    each gradient, of weights or of inputs, that is needed."""

    def layers(inputs: int, outputs: int) -> tuple[int, int]:
        sizes = (inputs, *LAYERS, outputs)
        each = [a * b for a, b in itertools.pairwise(sizes)]
        return sum(each), sum(each[1:])

    policy, above = layers(SEEN, GIVEN if kind == "td3" else 2 * GIVEN)
    critic, upper = layers(SEEN + GIVEN, 1)
    critics = 2 * (critic + critic + upper) + 2 * critic
    pulled = policy + (policy + above)
    step = critics + policy + (pulled + 2 * critic) / 2 if kind == "td3" else critics + policy + pulled + 4 * critic
    return 2.0 * BATCH * step


def limit(seconds: float = 0.3) -> float:
    """GFLOP/s of one thread in matrix products alone."""
    a, b = LAYERS
    shapes = ((BATCH, a, b), (b, BATCH, a), (BATCH, b, a), (1024, 1024, 1024))
    found = []
    with on_threads(1), torch.inference_mode():
        for rows, inner, columns in shapes:
            one, other = torch.rand(rows, inner), torch.rand(inner, columns)
            turned = other.t().contiguous()
            times, began = 0, time.process_time()
            while (spent := time.process_time() - began) < seconds:
                product(one, turned)
                times += 1
            found.append(2.0 * rows * inner * columns * times / spent / 1e9)
    return max(found)

"""Environment steps/s that a learner consumes: PPO on Pendulum, FC(256, 128), batches of 8,192, one pass, two samplers.

``limit``: ours beside what two cores could do if nothing but stepping, inference and learning took time (a plain loop
measures each in the same run). ``rllib``, ``sb3``: ours beside the peer at its best number of environments, in turns
when not quick. ``learn``: seconds of training to a mean return of -250 over 40 fresh episodes, each one's own settings,
three seeds, ten minutes at most. Samples are at most two updates old; only what was learned from counts.
"""

from __future__ import annotations

import subprocess
import tempfile
import time
from collections.abc import Iterator
from statistics import median
from typing import Any

from engine.bench.peer import measured, peer_python
from engine.bench.row import row
from engine.bench.training_speed import beside_limit, beside_peer
from engine.events import Progressed, Started
from engine.store import FolderStore
from engine.studies import load
from engine.study import run as run_study
from engine.study.control import Command

NAME = "sampling-pendulum"
CASES = ("limit", "rllib", "sb3", "learn")
PEERS = {"rllib": ("rllib", "rllib_ppo.py", (8, 32, 128, 512)), "sb3": ("sb3", "sb3_ppo.py", (8, 64, 256, 1024))}
GOALS = {"rllib": 5.0, "sb3": 2.0}
LEAST, BEST = 0.8, -250.0
CAP_S = 600.0
STUDY: dict[str, Any] = {
    "game": "gym:Pendulum-v1", "sampling": "asynchronous", "samplers": 2, "environments": 128, "max_staleness": 2,
    "checkpoint_every": 327_680,
    "learner": {"preset": "table3-pendulum", "fragment": 16, "network": {"policy": [256, 128], "critic": [256, 128]}},
}  # fmt: skip


def run(case: str, quick: bool) -> Iterator[dict[str, Any]]:
    """Measure one case; ``quick``: a few seconds of ours, and of peers only when their environments are there."""
    seconds = 5.0 if quick else 40.0
    if case == "learn":
        yield from _learn(quick)
    elif case == "limit":
        most, mine, said = beside_limit("pendulum", STUDY, seconds, 1 if quick else 5)
        share = mine.steps_per_second / most.steps_per_second
        yield row(
            NAME, case, mine.steps_per_second, "steps/s", peer="limit", peer_value=most.steps_per_second,
            goal=f">= {LEAST} of the limit, staleness <= 2", meets=share >= LEAST and mine.staleness <= 2,
            seeds=[1], detail=said,
        )  # fmt: skip
    else:
        yield from _beside(case, quick, seconds)


def _beside(case: str, quick: bool, seconds: float) -> Iterator[dict[str, Any]]:
    environment, script, numbers = PEERS[case]
    kind = "pendulum" if case == "rllib" else "speed"
    yield beside_peer(NAME, case, STUDY, [environment, script, kind], numbers, GOALS[case], seconds, quick)


def _learn(quick: bool) -> Iterator[dict[str, Any]]:
    """Wall time to -250, start-up left out."""
    cap, seeds = (30.0, (1,)) if quick else (CAP_S, (1, 2, 3))
    mine = [_ours(seed, cap) for seed in seeds]
    yield row(NAME, "learn", median(mine), "s", seeds=seeds, detail="ours: " + _each(mine, cap))
    for peer, (environment, script, _) in {} if quick else PEERS.items():
        try:
            python = peer_python(environment)
        except subprocess.CalledProcessError as error:
            yield row(NAME, "learn", median(mine), "s", peer=peer, detail=(error.stderr or "").strip()[-300:])
            continue
        runs = [measured(python, script, ["learn", str(seed), str(cap)], cap + 300) for seed in seeds]
        times = [t["seconds"] if t.get("return", -9e9) >= BEST else cap for t in runs]
        words = "; ".join(t["error"] for t in runs if "error" in t)
        yield row(NAME, "learn", median(mine), "s", peer=peer, peer_value=median(times), seeds=seeds,
                  detail=f"ours: {_each(mine, cap)}; {peer}: {_each(times, cap)} {words}".strip())  # fmt: skip


def _each(times: list[float], cap: float) -> str:
    return ", ".join("not reached" if t >= cap else f"{t:.1f} s" for t in times)


def _ours(seed: int, cap: float) -> float:
    """Seconds from the start of the samplers on, evaluations included."""
    config = load({
        "kind": "train", "game": "gym:Pendulum-v1", "learner": "pendulum-ppo", "seed": seed, "steps": 10**7,
        "samplers": 2, "environments": 8, "checkpoint_every": 8192, "evaluate_every": 1, "episodes": 40,
    })  # fmt: skip
    began, found, command = time.perf_counter(), cap, list[Command]([""])
    with tempfile.TemporaryDirectory(prefix="eqp-bench-") as folder:
        for event in run_study(config, FolderStore(folder), control=lambda: command[0]):
            if isinstance(event, Started):
                began = time.perf_counter()
            spent = time.perf_counter() - began
            if isinstance(event, Progressed) and event.metrics["evaluation_return"] >= BEST and not command[0]:
                found, command[0] = spent, "stop"
            if spent >= cap:
                command[0] = "stop"
    return found

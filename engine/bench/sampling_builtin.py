"""Our vector Pong, batched, on two processes: FC(256, 128), one inference for each counted step, one seat counted, the
scripted player on the other side, no frame skip.

``pong`` is the engine's own sampler: every counted step is an action drawn by a policy from its own observation, kept
with its log-probability in a trajectory of exact length. Each process has one thread and its own game. ``game`` is the
game alone, with actions that cost nothing; ``inference`` the policy alone, on observations that do not change.
"""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Callable, Iterator
from multiprocessing.synchronize import Barrier
from statistics import median
from typing import Any

import numpy as np

from engine.bench.row import row

NAME = "sampling-builtin"
CASES = ("pong", "game", "inference")
GOAL = 300_000
PROCESSES = 2
BATCH, LENGTH = 1024, 64
"""Battles of a process, decisions of a fragment."""


def run(case: str, quick: bool) -> Iterator[dict[str, Any]]:
    """Measure one case."""
    seconds, turns = (2.0, 3) if quick else (10.0, 5)
    rates = [_turn(case, seconds) for _ in range(turns)]
    value = median(rates)
    detail = f"{PROCESSES} processes of {BATCH} battles; turns " + " ".join(f"{r:,.0f}" for r in sorted(rates))
    if case == "pong":
        yield row(NAME, case, value, "steps/s", goal=">= 300000", meets=value >= GOAL, detail=detail)
    else:
        yield row(NAME, case, value, "steps/s", detail=detail)


def _turn(case: str, seconds: float) -> float:
    """Steps/s of all processes together, started at once after warming up."""
    context = multiprocessing.get_context("spawn")
    barrier, results = context.Barrier(PROCESSES), context.Queue()
    workers = [context.Process(target=_work, args=(case, seconds, i, barrier, results)) for i in range(PROCESSES)]
    for worker in workers:
        worker.start()
    rates = [results.get(timeout=seconds + 300.0) for _ in workers]
    for worker in workers:
        worker.join()
    return float(sum(rates))


def _work(case: str, seconds: float, number: int, barrier: Barrier, results: Any) -> None:
    os.environ.update(OMP_NUM_THREADS="1", NUMBA_NUM_THREADS="1")
    play = {"pong": sampler, "game": game, "inference": inference}[case](number)
    play(), play()
    barrier.wait(120)
    steps, begun = 0, time.perf_counter()
    while (spent := time.perf_counter() - begun) < seconds:
        play()
        steps += LENGTH * BATCH
    results.put(steps / spent)


def sampler(number: int) -> Callable[[], object]:
    """One process' share: plays a fragment of every battle at each call."""
    import torch

    from engine.channel import Weights
    from engine.config.rl import NetworkConfig
    from engine.games.pong import VectorPong
    from engine.rl.policy import PolicySpec
    from engine.rl.sampler import Sampler

    torch.set_num_threads(1)
    pong = VectorPong()
    model = PolicySpec(pong.spec.seats[0], NetworkConfig()).model()
    found = Sampler(pong, {"agent": model}, BATCH, LENGTH, seed=1, number=number)
    found.load(Weights("agent", 0, 0, 0, {"actor": model.initial(np.random.default_rng(0))}))

    def play() -> None:
        found.sample()
        found.finished()

    return play


def game(number: int) -> Callable[[], object]:
    """The game alone: the same number of decisions."""
    from engine.games.pong import VectorPong

    pong = VectorPong()
    pong.reset(np.arange(number * BATCH, (number + 1) * BATCH, dtype=np.uint64))
    actions = np.random.default_rng(number).integers(0, 3, (LENGTH, BATCH))

    def play() -> None:
        for row_ in actions:
            pong.step([row_])

    return play


def inference(number: int) -> Callable[[], object]:
    """The policy alone: as many batches."""
    import torch

    from engine.config.rl import NetworkConfig
    from engine.games.pong import VectorPong
    from engine.mdp.trajectory import Batch
    from engine.rl.policy import Policy, PolicySpec

    torch.set_num_threads(1)
    pong = VectorPong()
    step = pong.reset(np.arange(BATCH, dtype=np.uint64))
    spec = PolicySpec(pong.spec.seats[0], NetworkConfig())
    actor = Policy(spec, spec.model().initial(np.random.default_rng(0))).actor()
    batch = Batch(step.observations[0], None, np.arange(BATCH, dtype=np.uint64))

    def play() -> None:
        for _ in range(LENGTH):
            actor(batch)

    return play

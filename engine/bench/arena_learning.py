"""Trainings in cooperative navigation for ``engine.bench.arena_navigation``: one decision of all entities after another
in ``BATTLES`` battles, an update in ``STEPS`` of them, from minibatches of 100.

``masac`` and ``maddpg``: three entities as one group; ``shared``: SAC on every seat, one policy for all (Staley et al.
2021, figure 11, comparison 1; a decision of all is three of its own); ``joint``: SAC that takes the group as one large
seat (comparison 2). SAC has the settings of MASAC: α = 0.2, learning rate 0.001, two layers of 256.

A training that was killed goes on from its last tenth.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np

from engine.arrays import pack, unpack
from engine.bench.kept import FOLDER, Kept
from engine.bench.sources import SAC_FAMILY
from engine.config.rl import NAVIGATION, PRESETS, AnyLearner, SACConfig, TrainingConfig
from engine.games.navigation import Navigation
from engine.mdp.groups import Group, Grouped
from engine.mdp.vector import VectorMDP
from engine.means import range_of
from engine.rl.examine import examine
from engine.rl.factory import make_learner
from engine.rl.training import Training

METHODS = ("masac", "maddpg", "shared", "joint")
SOURCES = (*SAC_FAMILY, "bench/arena_learning.py", "games/navigation")
ENTITIES, MOST = 3, 900
UPDATES, STEPS, BATTLES, WARMUP = 300_000, 8, 8, NAVIGATION["warmup"]
PARTS = 10
CURVE, EPISODES = 100, 1000
"""Episodes of a point of the curve, and of the last one."""


def game_of(method: str, hard: bool) -> VectorMDP:
    """The game as a method takes it."""
    game = Navigation(entities=ENTITIES, hard=hard)
    return game if method == "shared" else Grouped(game, [Group(tuple(range(ENTITIES)), method == "maddpg")])


def settings(method: str) -> AnyLearner:
    """A method's learner. α is the same number for all, and not the same temperature: an actor of MASAC weighs what all
    entities are paid together N-fold against its entropy, SAC as one large seat once, and SAC on every seat is paid the
    N-th part, so that its temperature is N² times MASAC's."""
    if method in ("masac", "maddpg"):
        return PRESETS[f"navigation-{method}"]
    seats = ENTITIES if method == "shared" else 1
    counted = {"updates": 1 / (STEPS * seats), "warmup": WARMUP * seats, "capacity": NAVIGATION["capacity"] * seats}
    return SACConfig(**NAVIGATION | counted, alpha=0.2, automatic=False)


def training(method: str, hard: bool, seed: int, updates: int) -> Training:
    """A training at its beginning."""
    seats = ENTITIES if method == "shared" else 1
    config, game = settings(method), game_of(method, hard)
    steps = (STEPS * updates + WARMUP) * seats
    plan = TrainingConfig(
        algorithm=config, steps=steps, environments=BATTLES, seed=seed, episodes=0, checkpoint_every=-(-steps // PARTS)
    )
    return Training(plan, game, make_learner(config, game.spec.seats[0], seed, steps))


def returns(run: Training, method: str, hard: bool, episodes: int) -> list[float]:
    """(mean, low, high) of the return, as the paper counts it, over fresh episodes."""
    found = examine({0: run.learner.policy()}, game_of(method, hard), episodes, run.config.seed)[0].score
    ends = range_of(found, 0.0, 1.0)
    return [MOST * float(found.mean()), MOST * ends.low, MOST * ends.high]


def result(method: str, seed: int, updates: int = UPDATES, *, hard: bool = False) -> dict[str, Any]:
    """``curve``: updates and mean return, ten times; ``last``: (mean, low, high) at the end; ``seconds`` of processor
    time. It is kept."""
    config = {"updates": updates, "hard": hard, "learner": settings(method).model_dump(mode="json")}
    kept = Kept(f"arena-{method}{'-hard' * hard}", config, SOURCES)
    saved = FOLDER / f"{kept.path.stem}-{seed}.part"
    found: dict[str, Any] = kept.result(seed, lambda: _measured(method, hard, seed, updates, saved))
    saved.unlink(missing_ok=True)
    return found


def _measured(method: str, hard: bool, seed: int, updates: int, saved: Path) -> dict[str, Any]:
    run = training(method, hard, seed, updates)
    curve, before, began = [], 0.0, time.process_time()
    if saved.exists():
        arrays, meta = unpack(saved.read_bytes()).arrays, unpack(saved.read_bytes()).meta
        curve, before = meta.pop("curve"), meta.pop("seconds")
        run.load(arrays, meta)
    part = run.beginning
    for _ in run.run():
        if run.beginning > part and not run.done:
            part = run.beginning
            curve.append([int(run.learner.learned), returns(run, method, hard, CURVE)[0]])  # type: ignore[attr-defined]
            _save(saved, run, {"curve": curve, "seconds": before + time.process_time() - began})
    last = returns(run, method, hard, EPISODES)
    seconds = before + time.process_time() - began
    learned = int(run.learner.learned)  # type: ignore[attr-defined]
    return {"curve": [*curve, [learned, last[0]]], "last": last, "seconds": seconds, "updates": learned}


def _save(saved: Path, run: Training, more: dict[str, Any]) -> None:
    arrays, meta = run.state()
    saved.parent.mkdir(parents=True, exist_ok=True)
    new = saved.with_suffix(".new")
    new.write_bytes(pack(meta | more, arrays))
    new.replace(saved)


def updates_per_second(method: str, updates: int) -> float:
    """Of processor time, playing included, after as many for warming up."""
    run = training(method, False, 1, 10 * updates)
    found: list[tuple[int, float]] = [(0, 0.0)]
    for _ in run.run():
        learned = int(run.learner.learned)  # type: ignore[attr-defined]
        if learned >= found[-1][0] + updates:
            found.append((learned, time.process_time()))
        if len(found) == 3:
            break
    return float(np.diff([at for at, _ in found[1:]])[0] / np.diff([second for _, second in found[1:]])[0])

"""Hunts for bugs in the maze: does Wuji find more planted bugs, and cover more, than random moves, learning alone and
evolution alone, at equal decisions?

The weight of a reward for new ground is a gene of Wuji’s agents, from 0 to 0.1 (its authors evolve that of a valid
move); learning alone is paid for the goal alone. A further control, ``curious``, learns alone and is paid 0.05 for new
ground. All cases read the same hunts: seeds 1 to 10, each by all methods and in a maze of its own, which nobody saw
while methods were set up. No hunt goes beyond the budget. Decisions of measuring and of showing bugs again count.
``var/bench`` keeps the result of every hunt: started again after a kill, it goes on.

``bugs``: planted bugs found, beside each control, with the 95 % range of the paired difference over seeds.
``coverage``: the same for the share of open cells that were entered. ``replays``: reported bugs that show again, in a
game of their own, from their seed and moves.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from engine.arrays import unpack
from engine.bench.kept import Kept
from engine.bench.row import row
from engine.bench.styles import paired
from engine.config.hunt import HuntConfig
from engine.errors import EngineError
from engine.events import Finished
from engine.evorl.findings import Findings
from engine.evorl.hunting import oracles_of, watchable
from engine.evorl.replays import shows_again
from engine.store import FolderStore
from engine.studies import load
from engine.study import run as run_study

NAME = "wuji"
CASES = ("bugs", "coverage", "replays")
METHODS = ("wuji", "random", "learning", "evolution", "curious")
SOURCES = ("evorl", "evolution", "games/maze", "mdp", "rl", "config/hunt.py", "study/hunt.py", "bench/wuji.py")
KINDS = {"curious": "learning"}
NOISE = {"evolution": 0.5}
"""On networks that are handed on: agents that learn nothing change by it alone, and found more with much of it."""
PLANTED = 12
LAYOUTS = 100
"""Where the mazes' own seeds begin."""
REWARDS = ["score", "win", "ground"]
LEARNER = {
    "kind": "ppo", "batch": 1024, "fragment": 64, "minibatch": 256, "reuse": 4, "rate": 1e-3, "entropy_weight": 0.05,
    "network": {"policy": [64, 64], "critic": [64, 64]},
}  # fmt: skip


class Hunted(NamedTuple):
    """What a hunt had within the budget. ``shown``: of all ``reported`` bugs, those that show again."""

    bugs: int
    coverage: float
    reported: int
    shown: int


def run(case: str, quick: bool) -> Iterator[dict[str, Any]]:
    """Measure one case."""
    seeds = (1, 2) if quick else tuple(range(1, 11))
    found = {method: [_hunted(method, seed, quick) for seed in seeds] for method in METHODS}
    if case == "replays":
        yield _replays(found, seeds)
        return
    for control in METHODS[1:]:
        yield _beside(case, control, found, seeds)


def study_of(method: str, seed: int, quick: bool) -> HuntConfig:
    """The hunt of a method and a seed."""
    population = {"learning": 1, "curious": 1, "random": 8}.get(method, 12)
    weight = {"wuji": [0.0, 0.1], "curious": 0.05}.get(method)
    paid = {"rewards": {"ground": {"weight": weight}}} if weight else {}
    game = {"name": "maze", "settings": {"rewards": REWARDS if paid else REWARDS[:2], "layout": LAYOUTS + seed}}
    task = {"game": game, "learner": {**LEARNER, **paid}, "steps": 8192, "environments": 8}
    config = load(
        {
            "kind": "hunt", "seed": seed, "method": KINDS.get(method, method), "task": task,
            "algorithm": {"population": population}, "network_noise": NOISE.get(method, 0.1),
            "decisions": 150_000 if quick else 1_000_000, "pool": {"kind": "local"},
        }
    )  # fmt: skip
    assert isinstance(config, HuntConfig)
    return config


@cache
def _hunted(method: str, seed: int, quick: bool) -> Hunted:
    config = study_of(method, seed, quick)
    if quick:
        return Hunted(**_measured(config))
    settings = config.model_dump(mode="json", exclude={"seed"})
    return Hunted(**Kept(f"wuji-{method}", settings, SOURCES).result(seed, lambda: _measured(config)))


def _measured(config: HuntConfig) -> dict[str, Any]:
    """Run a hunt, and show its bugs again."""
    with tempfile.TemporaryDirectory() as folder:
        store = FolderStore(folder)
        *_, last = run_study(config, store)
        if not isinstance(last, Finished):
            raise EngineError(f"The hunt did not finish: {last}")
        meta, arrays = unpack(store.get(last.artifacts["found"]))
    _, bugs, places = arrays["curve"][-1]
    reported = list(Findings.restored(meta, arrays).bugs.values())
    game, oracles = watchable(config.task.game, 1), oracles_of(config.oracles)
    shown = sum(shows_again(bug, lambda battles: game, oracles) for bug in reported)
    coverage = float(places) / int((arrays["walls"] == 0).sum())
    return {"bugs": int(bugs), "coverage": coverage, "reported": len(reported), "shown": shown}


def _beside(case: str, control: str, found: dict[str, list[Hunted]], seeds: tuple[int, ...]) -> dict[str, Any]:
    mine, theirs = (np.array([getattr(one, case) for one in found[m]], float) for m in ("wuji", control))
    low, mean, high = paired(mine - theirs)
    what = f"planted bugs of {PLANTED}" if case == "bugs" else "of the cells"
    each = ", ".join(f"{a:.3g} − {b:.3g}" for a, b in zip(mine, theirs, strict=True))
    return row(
        NAME, f"{case}, beside {control}", float(mine.mean()), what, peer=control, peer_value=float(theirs.mean()),
        goal="more", meets=low > 0, seeds=seeds,
        detail=f"{mean:+.3g} more, 95 % range {low:.3g} to {high:.3g}; seed by seed: {each}",
    )  # fmt: skip


def _replays(found: dict[str, list[Hunted]], seeds: tuple[int, ...]) -> dict[str, Any]:
    every = [one for hunts in found.values() for one in hunts]
    reported, shown = sum(one.reported for one in every), sum(one.shown for one in every)
    return row(
        NAME, "replays", shown / max(1, reported), "of reported bugs show again", goal="all", meets=shown == reported,
        seeds=seeds, detail=f"{shown} of {reported}, of all methods",
    )  # fmt: skip

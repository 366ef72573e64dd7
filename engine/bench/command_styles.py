"""Styles of commanders: how differently they play at equal skill.

One commander is trained (``bench/studies/commanders.yaml``, fewer steps) and a population is bred from it on each of
two scales with what the form suggests, both sides leading the same team against herobattle's own way of fighting. The
final population is measured once more, on fresh battles. The figure is the spread of the scale's signal among those
who win a share of battles within 0.1 of the best; scores, in which an even battle is 0.5, lie so close together that
0.1 below the best leaves hardly anybody out. ``busy-calm``: the share of its units' time spent walking,
``aggressive-cautious``: how far forward its units stand, both from 0 to 1. Every seed is kept.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import yaml
from numpy.typing import NDArray

from engine.arrays import unpack
from engine.bench.commanders import STUDY, trained
from engine.bench.kept import Kept
from engine.bench.row import row
from engine.bench.styles import FRESH_SEED, WITHIN
from engine.catalog import GAMES
from engine.config import StylesConfig
from engine.config.style_templates import TEMPLATES
from engine.errors import EngineError
from engine.events import Finished, Progressed
from engine.evorl.problem import example, played
from engine.rl.examine import examine
from engine.rl.policy import Policy
from engine.store import FolderStore
from engine.studies import load
from engine.study import run as run_study
from engine.study.evolve import apart

NAME = "command-styles"


SIGNALS = {"busy-calm": "walked", "aggressive-cautious": "forward"}
"""What tells the ends of each scale apart."""
CASES = tuple(SIGNALS)
STEPS, EPISODES, SPREAD = 400_000, 1000, 0.4
SOURCES = (
    "config/style_templates.py", "evolution", "evorl", "games/herobattle", "mdp", "rl", "styles", "study/styles.py",
    "bench/command_styles.py",
)  # fmt: skip
Floats = NDArray[np.float64]


def run(case: str, quick: bool) -> Iterator[dict[str, Any]]:
    """Measure one case."""
    seeds = (1,) if quick else (1, 2, 3)
    found = [_kept(case, seed, quick) for seed in seeds]
    wins, signals = ([np.array(one[what]) for one in found] for what in ("win", "signal"))
    alike = [win >= win.max() - WITHIN for win in wins]
    spreads = [float(np.ptp(signal[near])) for signal, near in zip(signals, alike, strict=True)]
    lines = (
        f"{seed}: {spread:.2f} among {near.sum()} of {len(near)}, {np.ptp(signal):.2f} among all, scores "
        f"{min(one['score']):.2f} to {max(one['score']):.2f}, wins {win.min():.2f} to {win.max():.2f}"
        for seed, spread, near, signal, win, one in zip(seeds, spreads, alike, signals, wins, found, strict=True)
    )
    yield row(
        NAME, case, median(spreads), f"of the range, most − least {SIGNALS[case]} at equal skill",
        goal=f">= {SPREAD}", meets=median(spreads) >= SPREAD, seeds=seeds, detail="; ".join(lines),
    )  # fmt: skip


def _kept(case: str, seed: int, quick: bool) -> dict[str, list[float]]:
    settings = study_of(case, 0, "", quick).model_dump(mode="json")
    found: dict[str, list[float]] = Kept(f"{NAME}-{case}", settings, SOURCES).result(
        seed, partial(_measured, case, seed, quick)
    )
    return found


def study_of(case: str, seed: int, start: str, quick: bool) -> StylesConfig:
    """The study of a scale and a seed, from a trained policy on."""
    known = GAMES["commanders"]
    settings = TEMPLATES[case].settings(known.names, known.weights)
    learner = yaml.safe_load(STUDY.read_text(encoding="utf-8"))["learner"]
    game = {"name": "commanders", "settings": {"same_teams": True}}
    task = {
        "game": game,
        "learner": learner,
        "steps": 8192 if quick else known.bred_steps,
        "environments": 128,
        "style": settings["task"]["style"],
    }
    config = load(
        {
            **settings, "kind": "style", "seed": seed, "task": task, "fresh": 0, "start": start,
            "algorithm": {"population": 4 if quick else 12}, "ticks": 2 if quick else 8,
            "episodes": 20 if quick else 60, "pool": {"kind": "local"},
        }
    )  # fmt: skip
    assert isinstance(config, StylesConfig)
    return config


def _measured(case: str, seed: int, quick: bool) -> dict[str, list[float]]:
    """Breed one population; score, win and signal of each of its last members on fresh battles."""
    agents: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        store, last = FolderStore(Path(folder)), None
        description, tensors = trained(seed, store, {"steps": STEPS // 4 if quick else STEPS}).pack()
        store.put(tensors)
        config = study_of(case, seed, store.put(description), quick)
        for last in run_study(config, store):
            if isinstance(last, Progressed):
                agents.append(last.artifacts["agents"])
        if not isinstance(last, Finished):
            raise EngineError(f"The study did not finish: {last}")
        ids = unpack(store.get(last.artifacts["population"])).arrays["id"].tolist()
        everyone = {i: policy for digest in agents for i, policy in apart(store.get(digest))}
    rows = np.array([_again(config, everyone[i], SIGNALS[case]) for i in ids])
    return dict(zip(("score", "win", "signal"), rows.T.tolist(), strict=True))


def _again(config: StylesConfig, policy: Policy, signal: str) -> tuple[float, float, float]:
    """Score, wins and the mean of the signal in fresh battles."""
    game = played(example(config.task), EPISODES)
    try:
        found = examine({0: policy}, game, EPISODES, FRESH_SEED + config.seed)[0]
    finally:
        game.close()
    column = policy.spec.seat.signals.index(signal)
    return float(found.score.mean()), float(found.win.mean()), float(found.signals[:, column].mean())

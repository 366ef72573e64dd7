"""Styles of commanders: how differently they play at equal skill.

One commander is trained (``bench/studies/commanders.yaml``, fewer steps) and a population is bred from it on each of
two scales, with both sides leading the same team against herobattle's own way of fighting. The final population is
measured once more, on fresh battles. The figure is the spread of the scale's signal among those who win a share of
battles within 0.1 of the best; scores, in which an even battle is 0.5, lie so close together that 0.1 below the best
leaves hardly anybody out. ``busy-calm``: the share of its units' time spent walking, ``aggressive-cautious``: how far
forward its units stand, both from 0 to 1. Every seed is kept.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

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
from engine.config.style_templates import TEMPLATES, renamed
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


class Scale(NamedTuple):
    """``signals``: what tells its ends apart; ``weight``: the most that a style's reward weighs (it pays for every
    order, of which a battle has some thirty); ``skill``: the measure that goals add to the style; ``steps``: decisions
    that a child learns from in each of five rounds."""

    signals: tuple[str, ...]
    weight: float
    skill: str
    steps: int


SCALES = {
    "busy-calm": Scale(("walked",), 0.05, "win", 98_304),
    "aggressive-cautious": Scale(("forward",), 0.05, "score", 24_576),
}
CASES = tuple(SCALES)
STEPS, SPREAD = 400_000, 0.4
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
        NAME, case, median(spreads), f"of the range, most − least {' and '.join(SCALES[case].signals)} at equal skill",
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
    scale, settings = SCALES[case], TEMPLATES[case].settings(GAMES["commanders"].names)
    learner = yaml.safe_load(STUDY.read_text(encoding="utf-8"))["learner"]
    game = {"name": "commanders", "settings": {"same_teams": True}}
    style = {**settings["task"]["style"], "w2": [-scale.weight, scale.weight]}
    goals = [{**goal, "formula": renamed(goal["formula"], {"score": scale.skill})} for goal in settings["objectives"]]
    task = {
        "game": game,
        "learner": learner,
        "steps": 8192 if quick else scale.steps,
        "environments": 128,
        "style": style,
    }
    config = load(
        {
            **settings, "objectives": goals, "kind": "style", "seed": seed, "task": task, "fresh": 0, "start": start,
            "algorithm": {"population": 4 if quick else 12}, "ticks": 2 if quick else 5,
            "episodes": 20 if quick else 200, "pool": {"kind": "local"},
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
    rows = np.array([_again(config, everyone[i], SCALES[case].signals) for i in ids])
    return dict(zip(("score", "win", "signal"), rows.T.tolist(), strict=True))


def _again(config: StylesConfig, policy: Policy, signals: tuple[str, ...]) -> tuple[float, float, float]:
    """Score, wins and the mean of the signals in fresh battles."""
    episodes = 5 * config.episodes
    game = played(example(config.task), episodes)
    try:
        found = examine({0: policy}, game, episodes, FRESH_SEED + config.seed)[0]
    finally:
        game.close()
    columns = [policy.spec.seat.signals.index(name) for name in signals]
    return float(found.score.mean()), float(found.win.mean()), float(found.signals[:, columns].mean())

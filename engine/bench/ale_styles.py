"""Active and lazy players of Atari's Pong, as in Lamarckian's Fig. 10: bred from one competent agent.

An agent is trained to play well first. A population of 30 begins with its network, and is bred for 4 generations, by
equations 2 to 4 with laziness normalised. ``memory``: agents are told the console's 128 bytes, and a child learns from
1,000,000 decisions; ``memory-short``: the same with 80,000, so 2,400,000 a generation, and half the episodes;
``pictures``: they see the screen, and a child learns from 1,000,000. The final population is measured once more, on
fresh episodes, and drawn in ``var/bench/ale-styles/CASE/front.svg`` as the paper draws it: across active, up lazy, the
darker the better it plays. A run takes hours: start it again after a kill, and it goes on from its last round.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from engine.bench.row import row
from engine.bench.styles import WITHIN, ArmResult, ran, write
from engine.config import StylesConfig, TrainConfig
from engine.config.style_templates import TEMPLATES
from engine.errors import EngineError
from engine.events import Finished, Progressed
from engine.store import FolderStore
from engine.studies import load
from engine.study import run as run_study

NAME = "ale-styles"
COMPETENT = 3_000_000
"""Decisions from which the agent learns that all others begin with."""
WEIGHTS = (-0.01, 0.01)
_OFTEN = {"rate": 4e-4, "batch": 1024, "minibatch": 256, "reuse": 4, "clip": 0.1, "max_gradient": 0.5}
_MEMORY = {"preset": "pong-ppo", **_OFTEN, "normalise_observations": True}


class BreedingPlan(NamedTuple):
    """``steps``: decisions from which each child learns; ``episodes``: those that measure it."""

    game: str
    learner: dict[str, Any]
    steps: int = 1_000_000
    episodes: int = 20


PLANS = {
    "memory": BreedingPlan("atari-pong", _MEMORY),
    "memory-short": BreedingPlan("atari-pong", _MEMORY, 80_000, 10),
    "pictures": BreedingPlan("atari-pong-pictures", {"preset": "table3-image-pong", **_OFTEN}),
}
CASES = tuple(PLANS)
FOLDER = Path("var/bench/ale-styles")
SIZE, RIM = 320, 40


def run(case: str, quick: bool) -> Iterator[dict[str, Any]]:
    """Measure one case."""
    if quick:
        with tempfile.TemporaryDirectory() as folder:
            found = bred(case, Path(folder), True)
    else:
        found = bred(case, FOLDER / case, False)
        (FOLDER / case / "front.svg").write_text(picture(found))
    near = found.score >= found.score.max() - WITHIN
    shares = ", ".join(f"{m:.2f} ({s:.2f})" for m, s in sorted(zip(found.moved, found.score, strict=True)))
    yield row(
        NAME, case, float(np.ptp(found.moved)), "of decisions that move, most − least of the final population",
        seeds=(1,), detail=f"{near.sum()} of {len(near)} within {WITHIN} of the best score; f1 + f2 is off by "
        f"{found.gap:.1g} at most in {found.evaluations} evaluations; share moved (score): {shares}",
    )  # fmt: skip


def bred(case: str, folder: Path, quick: bool) -> ArmResult:
    """The final population of a case, run or read in its folder."""
    folder.mkdir(parents=True, exist_ok=True)
    start = competent(training_of(case, quick), FolderStore(folder / "store"), folder / "competent.json")
    return ran(study_of(case, start, quick), folder)


def training_of(case: str, quick: bool) -> TrainConfig:
    """How the agent is trained that all others begin with."""
    few = {"batch": 256, "fragment": 32, "minibatch": 256} if quick else {}
    settings = {"settings": {"max_ticks": 100}} if quick else {}
    config = load(
        {
            "kind": "train", "game": {"name": PLANS[case].game, **settings}, "learner": {**PLANS[case].learner, **few},
            "steps": 256 if quick else COMPETENT, "environments": 8, "samplers": 1 if quick else 2,
            "evaluate_every": 0, "pool": {"kind": "local" if quick else "ray"},
        }
    )  # fmt: skip
    assert isinstance(config, TrainConfig)
    return config


def study_of(case: str, start: str, quick: bool) -> StylesConfig:
    """The study of a case, from a trained policy on."""
    settings, first = TEMPLATES["busy-calm"].settings(), training_of(case, quick)
    style = {**settings["task"]["style"], "w2": list(WEIGHTS)}
    steps, episodes = (256, 2) if quick else (PLANS[case].steps, PLANS[case].episodes)
    task = {"game": first.game, "learner": first.learner, "steps": steps, "environments": 8, "style": style}
    workers = len(os.sched_getaffinity(0))
    config = load(
        {
            **settings, "kind": "style", "task": task, "start": start, "fresh": 0,
            "algorithm": {"population": 4 if quick else 30}, "ticks": 1 if quick else 4, "episodes": episodes,
            "pool": {"kind": "local"} if quick else {"kind": "ray", "workers": workers},
        }
    )  # fmt: skip
    assert isinstance(config, StylesConfig)
    return config


def competent(config: TrainConfig, store: FolderStore, reached: Path) -> str:
    """The store hash of the policy that a training ends with; killed, it goes on from its last checkpoint."""
    before = json.loads(reached.read_text()) if reached.exists() else {}
    if "policy" in before:
        return str(before["policy"])
    last = None
    for last in run_study(config, store, before.get("checkpoint", "")):
        if isinstance(last, Progressed) and "checkpoint" in last.artifacts:
            write(reached, {"checkpoint": last.artifacts["checkpoint"]})
    if not isinstance(last, Finished):
        raise EngineError(f"The training did not finish: {last}")
    write(reached, {"policy": last.artifacts["policy_description"]})
    return last.artifacts["policy_description"]


def picture(found: ArmResult) -> str:
    """Both goals of the final population as SVG, coloured by score."""
    low, high = float(found.score.min()), float(found.score.max())
    marks = []
    for score, moved in zip(found.score.tolist(), found.moved.tolist(), strict=True):
        x, y = (RIM + SIZE * value / 2 for value in (score + moved, score + 1 - moved))
        shade = 85 - 60 * (score - low) / max(high - low, 1e-9)
        title = f"score {score:.2f}, moves {100 * moved:.0f} % of its decisions"
        marks.append(
            f'<circle cx="{x:.1f}" cy="{2 * RIM + SIZE - y:.1f}" r="4" fill="hsl(195 80% {shade:.0f}%)" '
            f'stroke="#14222A" stroke-width="0.5"><title>{title}</title></circle>'
        )
    whole, end = SIZE + 2 * RIM, RIM + SIZE
    ticks = "".join(
        f'<text x="{RIM + SIZE * value / 2:.0f}" y="{end + 14}" text-anchor="middle">{value}</text>'
        f'<text x="{RIM - 8}" y="{end - SIZE * value / 2 + 4:.0f}" text-anchor="end">{value}</text>'
        for value in (0, 1, 2)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {whole} {whole}" font-family="Inter, sans-serif"'
        ' font-size="10" fill="#14222A">'
        f'<rect width="{whole}" height="{whole}" fill="#FFFFFF"/>'
        f'<path d="M{RIM} {RIM}V{end}H{end}" fill="none" stroke="#76868C"/>{ticks}'
        f'<text x="{RIM}" y="{RIM - 24}">Lazy: score + 1 − share of decisions that move</text>'
        f'<text x="{RIM}" y="{RIM - 12}">Darker plays better: score {low:.2f} to {high:.2f}</text>'
        f'<text x="{end}" y="{end + 28}" text-anchor="end">Active: score + share of decisions that move</text>'
        f"{''.join(marks)}</svg>\n"
    )

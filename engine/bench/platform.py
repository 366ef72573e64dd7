"""What learners of choices with numbers reach on Platform and Goal, trained as Bester et al. (2019) train them: 20,000
episodes with the settings of their released code (the presets of ``engine.config.rl``, which say what they leave out),
every seed shown, then 1,000 fresh episodes without exploration.

``platform``: the mean return, which is the share of the way, of MP-DQN, and of P-DQN and PA-DDPG; published 0.987 ±
0.039, 0.964 and 0.284. ``goal``: the share of goals of MP-DQN and of P-DQN; published 0.789 ± 0.070 and 0.701. The
value is the mean of the seeds. Every seed is kept (``engine.bench.kept``), so a run that was killed goes on with the
next. ``--quick``: MP-DQN, one seed and 2,000 episodes.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial
from statistics import fmean, stdev
from typing import Any, NamedTuple

import numpy as np

from engine.bench.kept import Kept
from engine.bench.row import row
from engine.bench.sources import CHOICES_WITH_NUMBERS
from engine.catalog import GAMES
from engine.config.rl import PRESETS, TrainingConfig
from engine.errors import EngineError
from engine.means import range_of
from engine.rl.examine import examine
from engine.rl.factory import make_learner
from engine.rl.training import Training

NAME = "parameterised"
CASES = ("platform", "goal")
SEEDS, EPISODES, FRESH = (1, 2, 3, 4, 5), 20_000, 1000
BATTLES = 8
MEAN = {"platform": 15, "goal": 5}
"""Decisions of an episode, generously, by which the length of a training is planned: exploration is a share of it.
Training goes on until all episodes are over."""
_UNSEEN = 1_000_000  # the first seed of fresh episodes
SOURCES = (
    *CHOICES_WITH_NUMBERS, "bench/platform.py", "games/chance.py", "games/goal", "games/one_seat.py", "games/platform",
)  # fmt: skip


class Target(NamedTuple):
    """What must be reached by MP-DQN, and what each learner's authors published."""

    least: float
    published: dict[str, float]


MARKS = {
    "platform": Target(0.95, {"mpdqn": 0.987, "pdqn": 0.964, "paddpg": 0.284}),
    "goal": Target(0.70, {"mpdqn": 0.789, "pdqn": 0.701}),
}


def run(case: str, quick: bool) -> Iterator[dict[str, Any]]:
    """Measure one case: a row for each learner."""
    mark = MARKS[case]
    seeds, episodes = (SEEDS[:1], EPISODES // 10) if quick else (SEEDS, EPISODES)
    for kind, published in mark.published.items():
        if kind == "mpdqn" or not quick:
            yield _row(case, kind, published, seeds, episodes)


def _row(case: str, kind: str, published: float, seeds: tuple[int, ...], episodes: int) -> dict[str, Any]:
    settings = {"episodes": episodes, "fresh": FRESH, "learner": PRESETS[f"{case}-{kind}"].model_dump(mode="json")}
    kept = Kept(f"{NAME}-{case}-{kind}", settings, SOURCES)
    found = [kept.result(seed, partial(trained, case, kind, seed, episodes)) for seed in seeds]
    values = [each["value"] for each in found]
    spread = f" ± {stdev(values):.3f}" if len(values) > 1 else ""
    detail = f"{kind}, {fmean(values):.4f}{spread}; by seed " + ", ".join(
        f"{seed}: {each['value']:.4f} ({each['low']:.3f} to {each['high']:.3f}; {each['episodes']:,} episodes, "
        f"{each['steps']:,} decisions, {each['seconds']:.0f} s)"
        for seed, each in zip(seeds, found, strict=True)
    )
    least = MARKS[case].least if kind == "mpdqn" else None
    return row(
        NAME, case, fmean(values), "mean return" if case == "platform" else "goals", peer="published",
        peer_value=published, goal="" if least is None else f">= {least:g}",
        meets=None if least is None else fmean(values) >= least, seeds=seeds, detail=detail,
    )  # fmt: skip


def trained(case: str, kind: str, seed: int, episodes: int) -> dict[str, Any]:
    """What one seed reaches after so many episodes at least, with its range and what it took. Raises EngineError where
    fewer are over after as many decisions as all of them could take."""
    began, game = time.process_time(), GAMES[case].load()
    algorithm, spec = PRESETS[f"{case}-{kind}"], game().spec
    longest = episodes * spec.max_ticks
    plan = TrainingConfig(algorithm=algorithm, steps=longest, environments=BATTLES, seed=seed, episodes=0)
    learner, ended = make_learner(algorithm, spec.seats[0], seed, episodes * MEAN[case]), 0
    for update in Training(plan, game(), learner).run():
        ended += len(update.episodes)
        if ended >= episodes:
            break
    else:
        raise EngineError(f"Of {episodes:,} episodes of {case} only {ended:,} were over after {longest:,} decisions.")
    fresh = examine({0: learner.policy()}, game(), FRESH, seed, first=_UNSEEN)[0]
    reached = range_of(fresh.returns[:, 0] if case == "platform" else fresh.score, -1.0, 1.0)
    return {
        "value": float(np.mean(fresh.returns[:, 0] if case == "platform" else fresh.score)), "low": reached.low,
        "high": reached.high, "steps": learner.steps, "episodes": ended, "seconds": time.process_time() - began,
    }  # fmt: skip

"""Breeding busy and calm players of vector Pong: are they different, do they play well, and is it the selection?

All cases but ``cpu`` read the same runs: seeds 1 to 8, each with selection and as the control (same loop and
inheritance, parents and survivors drawn at random, weights redrawn for every child). A run takes minutes to hours, so
its study continues from its last round and what was found is written to ``var/bench/styles`` seed by seed: start the
benchmark again after a kill, and it goes on. Final populations are measured once more, on fresh episodes.

``identity``: the two goals add up to 2 · score + 1 on every evaluation. ``spread``: from the least to the most that
members of the final population move, and how many of them score within 0.1 of the best. ``control``: the paired
difference of the hypervolumes (from 0, 0) of both final populations, which have the same size, with its 95 % range over
seeds. ``cpu``: the share of a whole job's processor seconds spent in steps of the game, inference and learning.
"""

from __future__ import annotations

import json
import math
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

from engine.arrays import unpack
from engine.bench.row import row
from engine.config import StylesConfig, study_hash
from engine.config.style_templates import TEMPLATES
from engine.errors import EngineError
from engine.events import Finished, Progressed
from engine.evorl.problem import example, played
from engine.indicators import hypervolume
from engine.rl.examine import examine
from engine.rl.policy import Actor, Policy
from engine.rl.ppo import PPO
from engine.store import FolderStore
from engine.studies import load
from engine.study import run as run_study
from engine.study.evolve import apart
from engine.styles.rewards import Styled

NAME = "styles"
CASES = ("identity", "spread", "control", "cpu")
FOLDER = Path("var/bench/styles")
FRESH_SEED = 900_001
MOST_SEEDS = 16
"""Of more, there are too many subsets, and Student's range is enough."""
SPREAD, SHARE, WITHIN, BUSY_CPU = 0.6, 0.8, 0.1, 0.75


class ArmResult(NamedTuple):
    """One seed of one arm. ``gap``: largest distance from the identity on any evaluation; ``score`` and ``moved`` of
    each member of the final population, on fresh episodes."""

    gap: float
    evaluations: int
    score: NDArray[np.float64]
    moved: NDArray[np.float64]

    @property
    def volume(self) -> float:
        """Hypervolume of the final population from (0, 0)."""
        points = np.stack([self.score + self.moved, self.score + 1 - self.moved], axis=1)
        return float(hypervolume(points, [1.0, 1.0], [0.0, 0.0]))


def run(case: str, quick: bool) -> Iterator[dict[str, Any]]:
    """Measure one case."""
    if case == "cpu":
        yield _cpu(quick)
        return
    seeds = (1, 2) if quick else tuple(range(1, 9))
    arms = (True, False) if case != "spread" else (True,)
    found = {arm: [_found(study_of(seed, arm, quick), quick) for seed in seeds] for arm in arms}
    yield from {"identity": _identity, "spread": _spread, "control": _control}[case](found, seeds)


def study_of(seed: int, selection: bool, quick: bool) -> StylesConfig:
    """The study of a seed and an arm."""
    template = TEMPLATES["busy-calm"].settings()
    small = {"game": {"name": "pong", "settings": {"points": 2}}, "steps": 2048,
             "learner": {"preset": "pong-ppo", "batch": 1024, "fragment": 64}}  # fmt: skip
    task = {"environments": 16, **template["task"]}
    task |= small if quick else {"game": "pong", "learner": "pong-ppo", "steps": 250_000}
    config = load(
        {
            **template, "kind": "style", "seed": seed, "task": task, "selection": selection, "fresh": 0,
            "algorithm": {"population": 4 if quick else 12}, "ticks": 2 if quick else 8,
            "episodes": 10 if quick else 60,
            "pool": {"kind": "local"} if quick else {"kind": "ray", "workers": 2},
        }
    )  # fmt: skip
    assert isinstance(config, StylesConfig)
    return config


def _found(config: StylesConfig, quick: bool) -> ArmResult:
    """What a study found: read, or run from where it was."""
    if quick:
        with tempfile.TemporaryDirectory() as folder:
            return ran(config, Path(folder))
    return ran(config, FOLDER / study_hash(config)[:16])


def ran(config: StylesConfig, folder: Path) -> ArmResult:
    """A study, run or read in its folder: killed, it goes on where it was."""
    result = folder / "result.json"
    if not result.exists():
        folder.mkdir(parents=True, exist_ok=True)
        found = _measured(config, FolderStore(folder / "store"), folder / "reached.json")
        saved = {"seed": config.seed, "selection": config.selection, **found._asdict()}
        write(result, {name: np.asarray(value).tolist() for name, value in saved.items()})
    saved = json.loads(result.read_text())
    return ArmResult(saved["gap"], saved["evaluations"], np.array(saved["score"]), np.array(saved["moved"]))


def write(file: Path, content: dict[str, Any]) -> None:
    """Write a file whole or not at all."""
    other = file.with_suffix(".new")
    other.write_text(json.dumps(content))
    other.replace(file)


def _measured(config: StylesConfig, store: FolderStore, reached: Path) -> ArmResult:
    before: dict[str, Any] = {"checkpoint": "", "agents": []}
    if reached.exists():
        before = json.loads(reached.read_text())
    agents: list[str] = list(before["agents"])
    last = None
    for last in run_study(config, store, before["checkpoint"]):
        if isinstance(last, Progressed):
            agents.append(last.artifacts["agents"])
            write(reached, {"checkpoint": last.artifacts["checkpoint"], "agents": agents})
    if not isinstance(last, Finished):
        raise EngineError(f"The study did not finish: {last}")
    meta, archive = unpack(store.get(last.artifacts["archive"]))
    score = archive["measure"][:, meta["measures"].index("score")]
    gap = float(np.abs(archive["objective"].sum(axis=1) - 2 * score - 1).max())
    ids = unpack(store.get(last.artifacts["population"])).arrays["id"].tolist()
    everyone = {i: policy for digest in agents for i, policy in apart(store.get(digest))}
    results = np.array([_again(config, everyone[i]) for i in ids])
    return ArmResult(gap, len(score), results[:, 0], results[:, 1])


def _again(config: StylesConfig, policy: Policy) -> tuple[float, float]:
    """Score and share of moments moved on fresh episodes."""
    episodes = 2 * config.episodes
    game = played(example(config.task), episodes)
    try:
        found = examine({0: policy}, game, episodes, FRESH_SEED + config.seed)[0]
    finally:
        game.close()
    return float(found.score.mean()), float(found.signals[:, policy.spec.seat.signals.index("moved")].mean())


Arms = dict[bool, list[ArmResult]]


def _identity(found: Arms, seeds: tuple[int, ...]) -> Iterator[dict[str, Any]]:
    everything = [one for arm in found.values() for one in arm]
    gap, many = max(one.gap for one in everything), sum(one.evaluations for one in everything)
    yield row(
        NAME, "identity", gap, "from 2 · score + 1, at most", goal="<= 1e-9", meets=gap <= 1e-9, seeds=seeds,
        detail=f"{many:,} evaluations, with selection and without",
    )  # fmt: skip


def _spread(found: Arms, seeds: tuple[int, ...]) -> Iterator[dict[str, Any]]:
    spreads = [float(np.ptp(one.moved)) for one in found[True]]
    shares = [float((one.score >= one.score.max() - WITHIN).mean()) for one in found[True]]
    for what, values, least in (("moved", spreads, SPREAD), ("skilled", shares, SHARE)):
        unit = "of moments, most − least" if what == "moved" else f"of the population within {WITHIN} of the best score"
        each = ", ".join(f"{value:.2f}" for value in values)
        median = float(np.median(values))
        yield row(
            NAME, "spread", median, unit, goal=f">= {least}", meets=median >= least, seeds=seeds,
            detail=f"seed by seed: {each}; best scores {', '.join(f'{one.score.max():.2f}' for one in found[True])}",
        )  # fmt: skip


def _control(found: Arms, seeds: tuple[int, ...]) -> Iterator[dict[str, Any]]:
    selected, blind = ([one.volume for one in found[arm]] for arm in (True, False))
    low, mean, high = paired(np.array(selected) - np.array(blind))
    each = ", ".join(f"{a:.3f} − {b:.3f}" for a, b in zip(selected, blind, strict=True))
    yield row(
        NAME, "control", mean, "more hypervolume than without selection", peer="control",
        peer_value=float(np.mean(blind)), goal="> 0", meets=low > 0, seeds=seeds,
        detail=f"95 % range of symmetric differences {low:.4f} to {high:.4f} over {len(seeds)} seeds; {each}",
    )  # fmt: skip


def paired(differences: NDArray[np.float64]) -> tuple[float, float, float]:
    """Mean of paired differences [seeds] between the ends of its 95 % range.

    The range needs seeds that are independent, and differences that are symmetric about their mean, as those of two
    arms are that are alike. It is the wider of two: Student's t, exact for normal differences; and, from six seeds on,
    that of the means of all subsets, exact for symmetric differences of any shape, because each of the 2^n intervals
    between these means holds the centre equally often (Hartigan 1969, "Using subsample values as typical values").
    Skewed differences are missed more often: exponential ones of eight seeds by one range in ten. No range of so few
    seeds holds for all distributions without being of no use. Differences that are all alike say nothing of what others
    may be, so their range is infinite.
    """
    n, mean = len(differences), float(differences.mean())
    if not np.ptp(differences) > 0:
        return -math.inf, mean, math.inf
    half = float(student.ppf(0.975, n - 1)) * float(differences.std(ddof=1)) / n**0.5
    beyond = int(0.025 * 2**n)
    if not beyond or n > MOST_SEEDS:
        return mean - half, mean, mean + half
    subsets = np.arange(1, 2**n)[:, None] >> np.arange(n) & 1
    means = np.sort(subsets @ differences / subsets.sum(axis=1))
    return min(mean - half, float(means[beyond - 1])), mean, max(mean + half, float(means[-beyond]))


def _cpu(quick: bool) -> dict[str, Any]:
    template = TEMPLATES["busy-calm"].settings()
    steps, population, ticks = (8192, 4, 2) if quick else (50_000, 12, 4)
    task = {"game": "pong", "environments": 16, "learner": "pong-ppo", "steps": steps, **template["task"]}
    config = load(
        {**template, "kind": "style", "task": task, "algorithm": {"population": population}, "ticks": ticks,
         "pool": {"kind": "local"}}
    )  # fmt: skip
    spent: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder, _Timed(spent):
        began = time.process_time()
        *_, last = run_study(config, FolderStore(folder))
        whole = time.process_time() - began
    if not isinstance(last, Finished):
        raise EngineError(f"The study did not finish: {last}")
    share = sum(spent.values()) / whole
    parts = ", ".join(f"{name} {seconds / whole:.0%}" for name, seconds in spent.items())
    return row(
        NAME, "cpu", share, "of processor seconds", goal=f">= {BUSY_CPU}", meets=share >= BUSY_CPU, seeds=(1,),
        detail=f"{parts} of {whole:.0f} s; {population} agents, {ticks} rounds of {steps:,} steps each, one process",
    )  # fmt: skip


class _Timed:
    """Counts processor seconds of the game's steps, inference and learning in ``spent`` while it lasts."""

    def __init__(self, spent: dict[str, float]) -> None:
        self.spent = spent
        self.kept: list[tuple[type, str, Callable[..., Any]]] = []

    def __enter__(self) -> None:
        for name, owner, method in (
            ("steps of the game", Styled, "step"), ("inference", Actor, "__call__"), ("learning", PPO, "update"),
        ):  # fmt: skip
            self.kept.append((owner, method, getattr(owner, method)))
            setattr(owner, method, self._counted(name, getattr(owner, method)))

    def _counted(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        self.spent[name] = 0.0

        def counted(*args: Any, **given: Any) -> Any:
            began = time.process_time()
            try:
                return function(*args, **given)
            finally:
                self.spent[name] += time.process_time() - began

        return counted

    def __exit__(self, *_: object) -> None:
        for owner, method, function in self.kept:
            setattr(owner, method, function)

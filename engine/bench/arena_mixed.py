"""PPO, DQN, SAC and a group of MASAC learn in one and the same battle: ``bench/studies/mixed.yaml``.

``better``: in how many of 1,000 fresh battles each of the four, as it is at the end, scores higher than what it was at
the beginning does in the same battle, on its seat and with the same others, as they are at the end; draws as half. The
worst of the four counts. Nobody explores in these battles.
"""

from __future__ import annotations

import contextlib
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from numpy.typing import NDArray

from engine.bench.row import row
from engine.config.arena import ArenaConfig
from engine.errors import EngineError
from engine.events import Finished
from engine.means import range_of
from engine.rl.examine import examine
from engine.rl.policy import Policy
from engine.simulators import references
from engine.store import FolderStore
from engine.studies import load
from engine.study import run as run_study
from engine.study.course import beginner
from engine.study.course_checks import check
from engine.study.lessons import played, seating

NAME = "arena-mixed"
CASES = ("better",)
STUDY = Path(__file__).parent / "studies" / "mixed.yaml"
EPISODES, LEAST = 1000, 0.6
_UNSEEN = 1_000_000  # the first seed of these battles
Policies = dict[str, Policy]
Floats = NDArray[np.float64]


def run(case: str, quick: bool) -> Iterator[dict[str, Any]]:
    """Measure the case."""
    seeds, worst, least, by_seed = (1,) if quick else (1, 2, 3), 1.0, 1.0, []
    for seed in seeds:
        began = time.process_time()
        found = better(course(seed), EPISODES)
        worst = min(worst, *(float(each.mean()) for each in found.values()))
        least = min(least, *(range_of(each, 0.0, 1.0).low for each in found.values()))
        by_seed.append(f"{seed}: {', '.join(map(_said, found, found.values()))} ({time.process_time() - began:.0f} s)")
    yield row(NAME, case, worst, "of battles, the worst of four and of all seeds", goal=f">= {LEAST}",
              meets=least >= LEAST, seeds=seeds, detail="by seed " + "; ".join(by_seed))  # fmt: skip


def _said(name: str, found: Floats) -> str:
    ends = range_of(found, 0.0, 1.0)
    return f"{name} {found.mean():.3f} ({ends.low:.3f} to {ends.high:.3f})"


def course(seed: int, **more: Any) -> ArenaConfig:
    """The course of the file."""
    config = load(yaml.safe_load(STUDY.read_text(encoding="utf-8")) | {"seed": seed, **more})
    assert isinstance(config, ArenaConfig)
    return config


def better(config: ArenaConfig, episodes: int) -> dict[str, Floats]:
    """By policy, for each battle whether it scores higher than it would have at the beginning: 1, 0, or a half."""
    with tempfile.TemporaryDirectory() as folder:
        store = FolderStore(Path(folder))
        first = {name: beginner(config, name, seat).policy() for name, seat in check(config, store).seats.items()}
        *_, end = run_study(config, store)
        if not isinstance(end, Finished):
            raise EngineError(f"The course did not finish: {end}")
        last = {name: Policy.stored(store, end.artifacts[f"policy_description/{name}"]) for name in first}
    with contextlib.closing(references.make(config.game, episodes)) as game:
        now = _scores(config, game, last, episodes)
        before = {name: _scores(config, game, last | {name: first[name]}, episodes)[name] for name in first}
    return {name: 0.5 + 0.5 * np.sign(now[name] - before[name]) for name in first}


def _scores(config: ArenaConfig, game: Any, policies: Mapping[str, Policy], episodes: int) -> dict[str, Floats]:
    """Scores [episodes] of all who play the first match."""
    seats = seating(config.lessons[0].matches[0], config)
    names = [one.policy for one in seats.who]
    sitting = {seat: policies[name] for seat, name in enumerate(names)}
    found = examine(sitting, played(game, seats), episodes, config.seed, first=_UNSEEN)
    return {name: found[seat].score for seat, name in enumerate(names)}

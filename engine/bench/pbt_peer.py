"""PBT with PPO on vector Pong beside Ray Tune's PBT with RLlib's PPO.

Both train four members on two cores, with the same network, batches, passes and ranges (learning rate, weight of the
entropy), compared after every 131,072 decisions of a member. RLlib steps the engine's compiled battles as one
vectorised environment, at the better of two numbers of battles (``bench/peers/rllib_pbt.py``).

``speed``: decisions a second that were learned from, in turns, after every member has reported once. ``learn``: seconds
until the best member's normalised score is 0.9, with the decisions that this took, and how busy the workers were. Ours
is judged by fresh episodes, on a clock that counts the start of its workers; RLlib by a member's last 40 episodes of
training, on a clock that starts when every member has reported once.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Generator, Iterator
from contextlib import closing
from functools import partial
from statistics import median
from typing import Any

import numpy as np

from engine.bench.kept import Kept
from engine.bench.peer import measured, peer_python
from engine.bench.processor_time import spent
from engine.bench.row import row
from engine.bench.styles import paired
from engine.errors import EngineError
from engine.events import AnyEvent, Failed, Progressed
from engine.store import FolderStore
from engine.studies import load
from engine.study import run as run_study

NAME = "pbt-peer"
CASES = ("speed", "learn")
MEMBERS, STEPS, BATTLES = 4, 131_072, (64, 256)
SPEED, SCORE, NEVER = 13.0, 0.9, 2.0
SOURCES = (
    "evorl",
    "evolution",
    "games/pong",
    "mdp",
    "rl",
    "study/evolve.py",
    "bench/pbt_peer.py",
    "bench/peers",
)
Result = dict[str, Any]


def run(case: str, quick: bool) -> Iterator[dict[str, Any]]:
    """Measure one case."""
    yield _speed(quick) if case == "speed" else _learn(quick)


def _speed(quick: bool) -> dict[str, Any]:
    turns, seconds = (1, 30.0) if quick else (3, 60.0)
    kept = Kept(f"{NAME}-speed", {"seconds": seconds}, SOURCES)
    tried = {n: kept.result(f"{n} battles", partial(_peer, n, seconds / 2, 1, NEVER)) for n in BATTLES}
    best = max(tried, key=lambda n: float(tried[n]["steps_per_second"]))
    found = [
        (kept.result(f"ours {turn}", partial(_ours, seconds, turn, NEVER)),
         kept.result(f"RLlib {turn}", partial(_peer, best, seconds, turn, NEVER)))
        for turn in range(1, turns + 1)
    ]  # fmt: skip
    ours, theirs = (median(float(pair[k]["steps_per_second"]) for pair in found) for k in (0, 1))
    ratios = ", ".join(f"{a['steps_per_second'] / b['steps_per_second']:.1f}" for a, b in found)
    each = "; ".join(f"{_parts(a)} against {_parts(b)}" for a, b in found)
    counts = ", ".join(f"{n}: {result['steps_per_second']:,.0f}" for n, result in tried.items())
    return row(NAME, "speed", ours, "decisions learned from a second", peer="Ray Tune and RLlib", peer_value=theirs,
               goal=f"ratio >= {SPEED:g}", meets=ours / theirs >= SPEED,
               detail=f"turns {ratios}; {each}; RLlib by its number of battles {counts}")  # fmt: skip


def _learn(quick: bool) -> dict[str, Any]:
    seeds, cap = ((1,), 60.0) if quick else ((1, 2, 3, 4, 5), 1800.0)
    kept = Kept(f"{NAME}-learn", {"cap": cap}, SOURCES)
    found = [
        (kept.result(f"ours {seed}", partial(_ours, cap, seed, SCORE)),
         kept.result(f"RLlib {seed}", partial(_peer, BATTLES[0], cap, seed, SCORE)))
        for seed in seeds
    ]  # fmt: skip
    logs = np.log([[min(float(result["since_began"]), cap) for result in pair] for pair in found])
    low, mean, high = np.exp(paired(logs[:, 1] - logs[:, 0]))
    each = "; ".join(f"{seed}: {_way(a)} against {_way(b)}" for seed, (a, b) in zip(seeds, found, strict=True))
    return row(NAME, "learn", float(np.exp(np.median(logs[:, 0]))), f"s to a score of {SCORE}",
               peer=f"Ray Tune and RLlib, at most {cap:.0f} s", peer_value=float(np.exp(np.median(logs[:, 1]))),
               seeds=seeds, detail=f"{mean:.1f} times as long ({low:.1f} to {high:.1f}); {each}")  # fmt: skip


def _parts(found: Result) -> str:
    return f"{found['steps_per_second']:,.0f} ({1e6 / _each(found):,.0f} a processor second, {found['busy']:.0%} busy)"


def _each(found: Result) -> float:
    """Processor time of a decision, in microseconds."""
    return (
        1e6 * float(found["processor_seconds"]) / max(float(found["steps_per_second"]) * float(found["seconds"]), 1.0)
    )


def _way(found: Result) -> str:
    after = f"{found['since_began']:.0f} s and {found['steps']:,.0f} decisions"
    speed = f"at {_parts(found)}" if found["seconds"] else "when every member had reported once"
    return f"{found['score']:.2f} after {after} {speed}"


def _peer(battles: int, seconds: float, seed: int, score: float) -> Result:
    arguments = [str(value) for value in (MEMBERS, battles, seconds, seed, score)]
    found = measured(peer_python("rllib"), "rllib_pbt.py", arguments, seconds + 900)
    if "error" in found:
        raise EngineError(f"Ray Tune's PBT did not run: {found['error']}")
    return found


def _ours(seconds: float, seed: int, score: float) -> Result:
    """What one population reached within ``seconds`` after its first round."""
    clock = _Clock()
    with tempfile.TemporaryDirectory() as folder, closing(_events(seed, folder)) as events:
        for event in events:
            if isinstance(event, Failed):
                raise EngineError(f"The study did not finish: {event.message}")
            if isinstance(event, Progressed):
                clock.take(event)
                if clock.wall > seconds or clock.best >= score:
                    break
    return clock.found()


def _events(seed: int, folder: str) -> Generator[AnyEvent]:
    yield from run_study(_study(seed), FolderStore(folder))


class _Clock:
    """Counts trainings from the first whole round on; ``began``: when everything did, workers included."""

    def __init__(self) -> None:
        self.began = self.ended = time.perf_counter()
        self.first: tuple[float, int, float] | None = None
        self.best = self.busy = self.wall = 0.0

    def take(self, event: Progressed) -> None:
        """A round is over."""
        self.ended, self.evaluations, self.processor = time.perf_counter(), event.counters.evaluations, spent()
        self.first = self.first or (self.ended, self.evaluations, self.processor)
        self.busy, self.best = event.metrics["utilisation"], max(self.best, event.metrics["best_score"])
        self.wall = self.ended - self.first[0]

    def found(self) -> Result:
        """What was measured."""
        assert self.first is not None
        _, evaluations, processor = self.first
        rate = (self.evaluations - evaluations) * STEPS / max(self.wall, 1e-9)
        return {"steps_per_second": rate, "seconds": self.wall, "since_began": self.ended - self.began,
                "score": self.best, "steps": self.evaluations * STEPS, "busy": self.busy,
                "processor_seconds": self.processor - processor}  # fmt: skip


def _study(seed: int) -> Any:
    return load(
        {
            "kind": "evolve", "seed": seed, "fresh": 0, "objectives": [{"measure": "score"}], "ticks": 1000,
            "task": {
                "game": "pong", "environments": BATTLES[0], "steps": STEPS,
                "learner": {"preset": "pong-ppo", "rate": [1e-4, 5e-3], "entropy_weight": [5e-4, 1e-2]},
            },
            "episodes": 20, "pool": {"kind": "ray", "workers": 2},
            "algorithm": {"kind": "pbt", "population": MEMBERS, "steady": True, "exploit": "truncation", "share": 0.25},
        }
    )  # fmt: skip

"""What the sampling benchmarks share: the limit of this machine, and a training study's own speed."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from itertools import pairwise
from statistics import median
from typing import Any, NamedTuple

from engine.bench.peer import measured, peer_python
from engine.bench.row import row
from engine.errors import EngineError
from engine.events import Failed, Progressed
from engine.store import FolderStore
from engine.studies import load
from engine.study import run
from engine.study.control import Command


class Limit(NamedTuple):
    """Steps/s of all cores when nothing but stepping, inference and learning takes time, and a sentence about it."""

    steps_per_second: float
    said: str
    costs: dict[str, float]

    @property
    def each(self) -> float:
        """Processor seconds a step."""
        return self.costs["environment"] + self.costs["inference"] + self.costs["learning"]


def limit(game: str, seconds: float) -> Limit:
    """Of ``pendulum``, ``pong`` or ``spread``, by a plain loop in a process of its own that imports nothing of the
    engine; ``seconds`` for each of its three parts."""
    costs = measured(sys.executable, "plain_loop.py", [game, str(seconds)], 600)
    if "error" in costs:
        raise EngineError(f"The limit could not be measured: {costs['error']}")
    cores = len(os.sched_getaffinity(0))
    each = costs["environment"] + costs["inference"] + costs["learning"]
    said = (
        f"a step costs {1e6 * costs['environment']:.1f} µs, its inference {1e6 * costs['inference']:.1f} µs in batches "
        f"of {costs['batch']}, its learning {1e6 * costs['learning']:.1f} µs; {cores} cores"
    )
    return Limit(cores / each, said, costs)


class Speed(NamedTuple):
    """Steps/s that the learner consumed (the median of rounds), how old the oldest were, steps dropped as too old, and
    processor seconds inside stepping, inference (of steps consumed) and learning a second of wall time."""

    steps_per_second: float
    staleness: float
    dropped: float
    processors: float


def speed(study: dict[str, Any], seconds: float) -> Speed:
    """A training study on Ray for about ``seconds`` after it is warm (its first two rounds)."""
    config = load({"kind": "train", "evaluate_every": 0, "episodes": 2, "steps": 10**12, **study})
    marks: list[tuple[float, int]] = []
    rounds: list[Progressed] = []
    command: list[Command] = [""]
    with tempfile.TemporaryDirectory(prefix="eqp-bench-") as folder:
        for event in run(config, FolderStore(folder), control=lambda: command[0]):
            if isinstance(event, Failed):
                raise EngineError(event.message)
            if not isinstance(event, Progressed) or command[0]:
                continue
            marks.append((time.perf_counter(), event.counters.steps))
            rounds.append(event)
            if len(marks) > 4 and marks[-1][0] - marks[1][0] > seconds:
                command[0] = "stop"
    rates = [(b[1] - a[1]) / (b[0] - a[0]) for a, b in pairwise(marks[1:])]
    oldest = max(of_all(event, "staleness_max", max) for event in rounds[1:])
    dropped = of_all(rounds[-1], "dropped", sum) - of_all(rounds[1], "dropped", sum)
    used = sum(of_all(e, "sampling_seconds", sum) + of_all(e, "learning_seconds", sum) for e in rounds[2:])
    return Speed(median(rates), oldest, dropped, used / (marks[-1][0] - marks[1][0]))


def of_all(event: Progressed, name: str, together: Callable[[Iterable[float]], float]) -> float:
    """A metric of all policies ``together``, where several learn; of the only one as it is."""
    return together(value for key, value in event.metrics.items() if key.rpartition("/")[2] == name)


def beside_limit(game: str, study: dict[str, Any], seconds: float, turns: int) -> tuple[Limit, Speed, str]:
    """The limit and a study's own speed, in turns: those of the median limit and of the median speed, and in words all
    of them. ``seconds`` of the study a turn; the limit's parts take as long together."""
    pairs = [(limit(game, seconds / 3), speed(study, seconds)) for _ in range(turns)]
    most = sorted((a for a, _ in pairs), key=lambda found: found.steps_per_second)[turns // 2]
    mine = sorted((b for _, b in pairs), key=lambda found: found.steps_per_second)[turns // 2]
    each = " ".join(f"{b.steps_per_second:,.0f}/{a.steps_per_second:,.0f}" for a, b in pairs)
    oldest, dropped = max(b.staleness for _, b in pairs), sum(b.dropped for _, b in pairs)
    said = f"{most.said}; turns {each}; staleness at most {oldest:.0f}, {dropped:.0f} fragments dropped"
    return most, mine._replace(staleness=oldest, dropped=dropped), said


def limit_row(
    name: str, game: str, study: dict[str, Any], seconds: float, turns: int, least: float
) -> dict[str, Any]:  # fmt: skip
    """The row of a study's own speed beside the limit of its game, of which it should have ``least``."""
    most, mine, said = beside_limit(game, study, seconds, turns)
    share = mine.steps_per_second / most.steps_per_second
    return row(
        name, "limit", mine.steps_per_second, "steps/s", peer="limit", peer_value=most.steps_per_second,
        goal=f">= {least} of the limit", meets=share >= least, seeds=[1], detail=said,
    )  # fmt: skip


def beside_peer(
    name: str, case: str, study: dict[str, Any], peer: list[str], numbers: tuple[int, ...], goal: float,
    seconds: float, quick: bool,
) -> dict[str, Any]:  # fmt: skip
    """The row of a study's own speed beside a peer's (the name of its environment, its script and first arguments; then
    the number of environments and the seconds): each number once, then turns of ours and of the peer at its best
    number. Without the peer where it cannot be installed."""
    environment, script, *first = peer
    try:
        python = peer_python(environment)
    except subprocess.CalledProcessError as error:
        why = f"the peer could not be installed: {(error.stderr or '').strip()[-300:]}"
        return row(name, case, speed(study, seconds).steps_per_second, "steps/s", peer=case, detail=why)
    found: dict[int, list[float]] = {n: [] for n in (numbers[-1:] if quick else numbers)}
    said: list[str] = []

    def played(n: int) -> None:
        result = measured(python, script, [*first, str(n), str(seconds)], 10 * seconds + 240)
        found[n].append(result.get("steps_per_second", 0.0))
        said.extend([f"{n} environments: {result['error']}"] if "error" in result else [])

    ours = [speed(study, seconds).steps_per_second]
    for n in found:
        played(n)
    best = max(found, key=lambda n: found[n][0])
    for _ in range(0 if quick else 2):
        ours.append(speed(study, seconds).steps_per_second)
        played(best)
    value, rate = median(ours), median(found[best])
    each = ", ".join(f"{n}: {' '.join(f'{r:,.0f}' for r in rates)}" for n, rates in found.items())
    return row(
        name, case, value, "steps/s", peer=case, peer_value=rate or None, goal=f">= {goal:g} x {case}",
        meets=value >= goal * rate if rate else None, seeds=[1],
        detail="; ".join([f"ours {' '.join(f'{r:,.0f}' for r in ours)}; peer by environments {each}", *said]),
    )  # fmt: skip

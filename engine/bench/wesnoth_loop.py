"""A real game in the loop: Battle for Wesnoth, a budget of 8,000 battles on two processes.

``search``: three quarters of the budget go to NSGA-II (population 24, five rounds, two replicates), the rest to playing
the most unfair lineups of its front again on seeds the search never saw, against the same baseline teams; the intervals
are of those fresh battles alone. Reports the minutes, how the budget was spent, and what was found.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.arrays import unpack
from engine.bench.row import row
from engine.events import Failed, Finished
from engine.indicators import half_width
from engine.runtime.cluster import connected
from engine.simulators.contract import GameSpec
from engine.simulators.loaders import opened
from engine.store import FolderStore
from engine.studies import load as load_config
from engine.study import run as run_study

NAME = "wesnoth-loop"
CASES = ("search",)
SIMULATOR = "builtin:wesnoth"
BUDGET, MINUTES = 8_000, 12
TEAMS, BASELINES, REPLICATES, FRESH = 3, 3, 2, 8
EACH = 2 * (TEAMS * (TEAMS - 1) // 2 + TEAMS * BASELINES)
"""Battles of one lineup and one replicate: all its pairings and baselines, from both seats."""


class EndedStudy(NamedTuple):
    """A finished study: the artifact that was asked for, what its columns mean, the battles it took."""

    arrays: dict[str, NDArray[Any]]
    meta: dict[str, Any]
    battles: int


def run(case: str, quick: bool) -> Iterator[dict[str, Any]]:
    """Measure one case."""
    population, rounds, budget = (4, 2, 600) if quick else (24, 5, BUDGET)
    with opened(SIMULATOR) as simulator:
        spec = simulator.describe()
    with connected(workers=2):
        began = time.perf_counter()
        searched = _study(
            {"kind": "search", "ticks": rounds, "replicates": REPLICATES, "fresh": 0,
             "lineups": {"teams": TEAMS, "baselines": {"kind": "drawn", "count": BASELINES}},
             "algorithm": {"kind": "nsga2", "population": population}},
            "front",
        )  # fmt: skip
        middle = time.perf_counter()
        chosen = _most_unfair(searched, max(1, (budget - searched.battles) // (EACH * FRESH)))
        again = _study(_recheck(spec, searched, chosen), "result")
        seconds = time.perf_counter() - began
    battles = searched.battles + again.battles
    spent = (
        f"{searched.battles:,} battles searching ({rounds} rounds of {population}, {middle - began:.0f} s), "
        f"{again.battles:,} playing {len(chosen)} of {len(searched.arrays['id'])} front lineups again "
        f"({FRESH} fresh replicates); {battles / seconds:.1f} battles/s, start and baselines included"
    )
    yield row(NAME, case, seconds / 60, "min", goal=f"<= {MINUTES} min", meets=quick or seconds <= 60 * MINUTES,
              seeds=[1], detail=spent)  # fmt: skip
    yield from _found(spec, again)


def _study(settings: dict[str, Any], artifact: str) -> EndedStudy:
    config = load_config({**settings, "game": {"simulator": SIMULATOR}, "pool": {"kind": "ray", "workers": 2}})
    with tempfile.TemporaryDirectory() as folder:
        store = FolderStore(folder)
        for event in run_study(config, store):
            if isinstance(event, Failed):
                raise RuntimeError(event.message)
        assert isinstance(event, Finished)
        found = unpack(store.get(event.artifacts[artifact]))
        return EndedStudy({k: np.array(v) for k, v in found.arrays.items()}, dict(found.meta), event.counters.battles)


def _most_unfair(searched: EndedStudy, most: int) -> NDArray[np.intp]:
    """Front lineups by the first objective, the most extreme first."""
    good = np.flatnonzero(searched.arrays["status"] == 0)
    order = np.argsort(-searched.arrays["objective"][good, 0], kind="stable")
    return np.asarray(good[order][:most])


def _recheck(spec: GameSpec, searched: EndedStudy, chosen: NDArray[np.intp]) -> dict[str, Any]:
    teams = [{"name": b["name"], "slots": _slots(spec, b["row"])} for b in searched.meta["baselines"]]
    return {
        "kind": "recheck",
        "replicates": FRESH,
        "genomes": searched.arrays["genome"][chosen].tolist(),
        "anchors": searched.arrays["anchor"][chosen].tolist(),
        "lineups": {"teams": TEAMS, "baselines": {"kind": "pasted", "teams": teams}},
    }


def _slots(spec: GameSpec, team: list[int]) -> dict[str, str | int]:
    """A team row as the designer writes it: piece ids and counts, empty slots left out."""
    slots: dict[str, str | int] = {}
    for slot, value in zip(spec.slots, team, strict=True):
        if slot.kind == "count" and value:
            slots[slot.id] = value
        elif slot.kind == "piece" and value >= 0:
            slots[slot.id] = spec.pieces[value].id
    return slots


def _found(spec: GameSpec, again: EndedStudy) -> Iterator[dict[str, Any]]:
    """What the fresh battles say: one row, the lineups with their intervals in its detail."""
    objective, names = again.arrays["objective"], again.meta["objectives"]
    half = half_width(again.arrays["error"], again.arrays["samples"])
    sure = int((objective[:, 0] - half[:, 0] > 2).sum())
    lines = []
    for i in np.argsort(-objective[:, 0]):
        values = ", ".join(f"{n} {v:.3g} ± {h:.2g}" for n, v, h in zip(names, objective[i], half[i], strict=True))
        strong, weak = again.arrays["anchor"][i]
        genome = again.arrays["genome"][i]
        lines.append(f"{values}: {_team(spec, genome[strong])} over {_team(spec, genome[weak])}")
    yield row(NAME, "found", sure, "lineups", seeds=[1],
              detail="resource advantage surely above 2 on fresh battles (95 %). " + " | ".join(lines))  # fmt: skip


def _team(spec: GameSpec, team: NDArray[np.int32]) -> str:
    counts = {slot.of: int(value) for slot, value in zip(spec.slots, team, strict=True) if slot.kind == "count"}
    parts = []
    for slot, value in zip(spec.slots, team, strict=True):
        if slot.kind == "piece" and value >= 0:
            name = spec.pieces[value].name
            parts.append(f"{counts[slot.id]} {name}" if slot.id in counts else name)
    return " + ".join(parts)

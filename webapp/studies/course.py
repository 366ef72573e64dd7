"""How a search went, for the charts below its edge: best and typical lineup round by round, and the pieces it holds on
to; the map that MAP-Elites fills, and who copied whom in population based training."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.arrays import unpack
from engine.errors import StoreError
from engine.simulators.contract import GameSpec
from webapp.lib.storage import store
from webapp.studies import explore_source, front, kinds
from webapp.studies.models import Job

MOST_ROUNDS = 50
MOST_PIECES = 8
"""As many lines as there are shapes and colours."""
Floats = NDArray[np.float64]


class Round(NamedTuple):
    """One round in one objective: the best of its edge by the search's own battles (the range of one lineup says little
    of the best of many, so it has none), the median lineup and the middle half of what was played, and how many of
    those lineups hold each piece."""

    best: float
    median: float
    low: float
    high: float
    lineups: int
    holders: tuple[int, ...]


def course(job: Job) -> dict[str, Any]:
    """Columns over rounds that are evenly spread; a round whose artifacts are lost is left out."""
    column = front.axes(front.of_job(job).objectives)[1].column
    sign = explore_source.signs(front.of_job(job).objectives)[column]
    spec = _spec(job)
    slots = _piece_slots(spec) if spec else ()
    step = max(1, -(-job.tick // MOST_ROUNDS))
    wanted = sorted({1, *range(step, job.tick + 1, step), job.tick} - {0})
    events = job.events.filter(kind="progressed", tick__in=wanted).order_by("tick").values_list("tick", "body")
    ticks, rounds, volumes = [], [], []
    for tick, body in events:
        artifacts = body.get("artifacts", {})
        try:
            found = _round(artifacts.get("chunk", ""), artifacts.get("front", ""), column, sign, slots)
        except StoreError:
            continue
        if found is not None:
            ticks.append(tick)
            rounds.append(found)
            volumes.append(body.get("metrics", {}).get("hypervolume"))
    names = ("best", "median", "low", "high")
    columns = {name: [_plain(getattr(each, name)) for each in rounds] for name in names}
    return {"tick": ticks, "volume": volumes, **columns, "pieces": _pieces(spec, rounds) if spec else []}


def _spec(job: Job) -> GameSpec | None:
    try:
        return explore_source.spec(job)
    except StoreError:
        return None


def _piece_slots(spec: GameSpec) -> tuple[int, ...]:
    return tuple(i for i, slot in enumerate(spec.slots) if slot.kind == "piece")


@lru_cache(maxsize=2048)
def _round(chunk: str, edge: str, column: int, sign: float, slots: tuple[int, ...]) -> Round | None:
    """None where nothing could be played. Raises StoreError."""
    played, best = unpack(store().get(chunk)).arrays, unpack(store().get(edge)).arrays
    good = (played["status"] == 0) & np.isfinite(played["objective"][:, column])
    values, edge_values = played["objective"][good, column], best["objective"][:, column]
    if not len(values) or not len(edge_values):
        return None
    i = int(np.argmax(sign * edge_values))
    low, median, high = np.quantile(values, (0.25, 0.5, 0.75)).tolist()
    holders = _holders(played["genome"][good], slots) if slots else ()
    return Round(float(edge_values[i]), median, low, high, len(values), holders)


def _holders(genomes: NDArray[np.int32], slots: tuple[int, ...]) -> tuple[int, ...]:
    """Of how many lineups [n, teams, slots] each piece is a part, by piece."""
    pieces = genomes[:, :, list(slots)].reshape(len(genomes), -1)
    held = np.zeros((len(pieces), max(0, int(pieces.max(initial=-1)) + 1) + 1), dtype=bool)
    held[np.arange(len(pieces))[:, None], pieces] = True  # the last column takes the empty slots
    return tuple(held[:, :-1].sum(axis=0).tolist())


def _pieces(spec: GameSpec, rounds: list[Round]) -> list[dict[str, Any]]:
    """The pieces whose share of the lineups grew most since the first rounds, with that share round by round."""
    shares = np.zeros((len(rounds), len(spec.pieces)))
    for row, each in zip(shares, rounds, strict=True):
        row[: len(each.holders)] = np.array(each.holders) / each.lineups
    if not rounds:
        return []
    lately = shares[-3:].mean(axis=0)
    order = np.argsort(shares[:3].mean(axis=0) - lately, kind="stable")[:MOST_PIECES]
    return [
        {"name": spec.pieces[i].name, "share": [_plain(v) for v in shares[:, i].tolist()]}
        for i in order.tolist()
        if lately[i] > 0
    ]


def grid(job: Job, digest: str) -> dict[str, Any]:
    """The map after a round: ``axes`` with their edges, ``quality``, and the filled cells as columns, the first two
    ways of the map only (of cells that lie above each other the best). Raises StoreError."""
    bundle = unpack(store().get(digest))
    arrays, bins = bundle.arrays, int(bundle.meta["bins"])
    ways, quality = _measured(job, bundle.meta)
    ends = zip(ways, arrays["low"].tolist(), arrays["high"].tolist(), strict=True)
    wide = arrays["cell"].max(axis=0, initial=0).tolist()
    axes = [
        {**way, "edges": _edges(low, high, bins) if high > low or last else [0.0, 1.0]}  # one cell until it has bounds
        for (way, low, high), last in zip(ends, wide, strict=True)
    ][:2]
    cells = arrays["cell"][:, :2] if len(ways) > 1 else np.pad(arrays["cell"], ((0, 0), (0, 1)))
    sign = 1.0 if quality["direction"] == "max" else -1.0
    best: dict[tuple[int, int], tuple[float, int]] = {}
    for (a, b), value, i in zip(cells.tolist(), arrays["quality"].tolist(), arrays["id"].tolist(), strict=True):
        if (a, b) not in best or sign * value > sign * best[a, b][0]:
            best[a, b] = (value, i)
    rows = [(a, b, _plain(value), i) for (a, b), (value, i) in sorted(best.items())]
    return {
        "axes": axes,
        "quality": quality,
        "bins": bins,
        "hidden": max(0, len(ways) - 2),
        "cells": [list(column) for column in zip(*rows, strict=True)] if rows else [[], [], [], []],
    }


def _edges(low: float, high: float, bins: int) -> list[float | None]:
    return [_plain(value) for value in np.linspace(low, high if high > low else low + 1, bins + 1).tolist()]


def _measured(job: Job, meta: Mapping[str, Any]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The ways in which a map tells candidates apart, and what makes the best of a cell."""
    named = [_named(o) for o in front.of_job(job).objectives]
    quality = int(meta["quality"])
    if "behaviour" not in meta or not meta["behaviour"]:
        return [o for i, o in enumerate(named) if i != quality], named[quality]
    parts, by_name = kinds.of(job), dict(zip(meta["objectives"], named, strict=True))
    return [by_name.get(name) or {**parts.way(name), "direction": "max"} for name in meta["behaviour"]], named[quality]


def _named(objective: Any) -> dict[str, Any]:
    return {name: getattr(objective, name) for name in ("title", "unit", "toward", "direction")}


def lineage(digest: str) -> dict[str, list[int]]:
    """Who copied whom: for each step of each member the member whose weights it went on from (-1: its own). Raises
    StoreError."""
    arrays = unpack(store().get(digest)).arrays
    return {name: arrays[name].tolist() for name in ("member", "step", "copied")}


def _plain(value: float) -> float | None:
    return float(f"{value:.5g}") if np.isfinite(value) else None

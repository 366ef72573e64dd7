"""What an algorithm shows of itself beside its front: MAP-Elites its map, population based training who copied whom."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from engine.arrays import pack
from engine.evolution.algorithm import Algorithm
from engine.evolution.map_elites import MAPElites
from engine.evolution.pbt import PBT
from engine.evolution.survival import search_in
from engine.problem import Genome
from engine.store import Store


def drawn(
    algorithm: Algorithm,
    meta: Mapping[str, Any],
    store: Store,
    genes: Callable[[Genome], Genome] = lambda genome: genome,
) -> tuple[dict[str, float], dict[str, str]]:
    """Metrics, and artifacts by role: ``grid`` (the filled cells, the bounds between which behaviour is told apart, how
    finely, and the index of the objective that makes the best of a cell) or ``lineage`` (each step of each member, with
    its settings as ``genes`` shows them). Nothing for other algorithms."""
    search = search_in(algorithm)
    if isinstance(search, MAPElites):
        bounds = {"low": search.low, "high": search.high}
        about = {**meta, "bins": search.bins, "quality": search.quality}
        metrics = {"coverage": search.coverage(), "qd_score": search.qd_score()}
        return metrics, {"grid": store.put(pack(about, search.grid() | bounds))}
    if isinstance(search, PBT):
        rows = search.history()
        rows["genome"] = np.stack([genes(genome) for genome in rows["genome"]])
        copied = float(sum(step.copied >= 0 for step in search.lineage))
        return {"copied": copied}, {"lineage": store.put(pack(dict(meta), rows))}
    return {}, {}

"""Views of an algorithm beside its front: the map of MAP-Elites, and who copied whom in population based training."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from engine.arrays import pack
from engine.evolution.algorithm import Algorithm, Individual
from engine.evolution.map_elites import MAPElites
from engine.evolution.pbt import PBT
from engine.evolution.survival import search_in
from engine.problem import Genome
from engine.store import Store

Shown = tuple[dict[str, float], dict[str, str]]
"""Metrics, and artifacts by role."""


def views_of(
    algorithm: Algorithm,
    meta: Mapping[str, Any],
    store: Store,
    genes: Callable[[Genome], Genome] = lambda genome: genome,
) -> Shown:
    """``grid`` (the filled cells, the bounds between which behaviour is told apart, how finely, and the index of the
    objective that makes the best of a cell) or ``lineage`` (each step of each member, with its settings as ``genes``
    shows them). Nothing for other algorithms."""
    search = search_in(algorithm)
    if isinstance(search, MAPElites):
        return _mapped(search, meta, store)
    if isinstance(search, PBT):
        rows = search.history()
        rows["genome"] = np.stack([genes(genome) for genome in rows["genome"]])
        copied = float(sum(step.copied >= 0 for step in search.lineage))
        return {"copied": copied}, {"lineage": store.put(pack(dict(meta), rows))}
    return {}, {}


def _mapped(search: MAPElites, meta: Mapping[str, Any], store: Store, of: str = "") -> Shown:
    bounds = {"low": search.low, "high": search.high}
    about = {**meta, "bins": search.bins, "quality": search.quality}
    metrics = {f"{of}coverage": search.coverage(), f"{of}qd_score": search.qd_score()}
    return metrics, {f"{of}grid": store.put(pack(about, search.grid() | bounds))}


def off_the_edge(algorithm: Algorithm, edge: Sequence[Individual], fresh: int) -> tuple[list[Individual], int]:
    """The elites of a map that are not on the edge, and on how many fresh replicates each is measured again: as many as
    the edge, or what is each one's share of all that the search itself measured with. Nobody for other algorithms."""
    search = search_in(algorithm)
    if not isinstance(search, MAPElites):
        return [], 0
    known = {i.evaluation.id for i in edge}
    others = [i for i in search.elites() if i.evaluation.id not in known]
    return others, min(fresh, search.told * search.replicates // max(1, len(others)))


def remapped(algorithm: Algorithm, fresh: Sequence[Individual], meta: Mapping[str, Any], store: Store) -> Shown:
    """``fresh_grid``: the map as fresh seeds have it, where each elite stands in the cell of how it behaves on them and
    the best by them keeps it. Nothing for other algorithms."""
    search = search_in(algorithm)
    if not isinstance(search, MAPElites):
        return {}, {}
    return _mapped(search.corrected([i.evaluation for i in fresh]), meta, store, "fresh_")

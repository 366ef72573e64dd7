"""Stored views of a search beside its front: the map of MAP-Elites, the lineage of population based training."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from engine.arrays import pack
from engine.evolution.algorithm import Algorithm, Individual
from engine.evolution.search import View
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
    """The current views (``PopulationSearch.views``), with settings as ``genes`` shows them."""
    return _stored(search_in(algorithm).views(genes), meta, store)


def off_the_edge(algorithm: Algorithm, edge: Sequence[Individual], fresh: int) -> tuple[list[Individual], int]:
    """The elites of behaviours that are not on the edge, and the number of fresh replicates for each: as many as for
    the edge, but at most an equal share of all replicates that the search itself used."""
    search = search_in(algorithm)
    known = {i.evaluation.id for i in edge}
    others = [i for i in search.best_of_kinds() if i.evaluation.id not in known]
    return others, min(fresh, search.evaluated * search.replicates // max(1, len(others)))


def remapped(algorithm: Algorithm, fresh: Sequence[Individual], meta: Mapping[str, Any], store: Store) -> Shown:
    """The views of behaviours by the results on fresh seeds, with names prefixed by ``fresh_``."""
    return _stored(search_in(algorithm).views_by([i.evaluation for i in fresh]), meta, store, "fresh_")


def _stored(views: Sequence[View], meta: Mapping[str, Any], store: Store, of: str = "") -> Shown:
    metrics = {f"{of}{name}": number for view in views for name, number in view.metrics.items()}
    return metrics, {f"{of}{view.role}": store.put(pack({**meta, **view.about}, view.columns)) for view in views}

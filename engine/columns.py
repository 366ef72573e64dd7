"""Requests and evaluations as columns: all columns on the wire and in checkpoints, some in artifacts.

Encoding two hundred requests or evaluations as columns costs about as much as encoding one. Contexts are JSON, each
distinct one stored once. Artifacts leave columns out; ``decode`` then uses the defaults.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from engine.arrays import Bundle
from engine.errors import EngineError
from engine.problem import PLAIN, AnyContext, Context, Evaluation, Floats, Request

Arrays = dict[str, NDArray[Any]]
TABLES = ("values", "descriptors", "limits", "record", "sums")
"""Fields of an evaluation that hold rows of replicates."""


def encode(evaluations: Sequence[Evaluation]) -> Bundle:
    """Evaluations of one problem, lossless. Arrays: ``id`` int64[n], ``objective`` [n, m], ``covariance`` [n, m, m],
    ``samples`` int32[n], ``metrics`` [n, k], ``violation`` [n], ``status`` uint8[n] (1: failed), ``spent`` int64[n, 2]
    (cost, cached), ``context`` int32[n], and where there are some ``descriptor`` [n, k] and the tables."""
    found = evaluations
    contexts, context = _contexts([e.context for e in found])
    arrays: Arrays = {
        "id": np.array([e.id for e in found], np.int64),
        "objective": np.array([e.objectives for e in found], np.float64),
        "covariance": np.array([e.covariance for e in found], np.float64),
        "samples": np.array([e.samples for e in found], np.int32),
        "metrics": np.array([e.metrics for e in found], np.float64),
        "violation": np.array([e.violation for e in found], np.float64),
        "status": np.array([e.status != "ok" for e in found], np.uint8),
        "spent": np.array([(e.cost, e.cached) for e in found], np.int64).reshape(-1, 2),
        "context": context,
    }
    described = [e.descriptor for e in found if e.descriptor is not None]
    if described:
        none = np.full_like(described[0], np.nan)
        arrays["descriptor"] = np.array([none if e.descriptor is None else e.descriptor for e in found], np.float64)
    for name in TABLES:
        arrays |= _tables(name, [getattr(e, name) for e in found])
    reasons = {str(row): e.reason for row, e in enumerate(found) if e.reason}
    return Bundle({"contexts": contexts, "reasons": reasons}, arrays)


def decode(bundle: Bundle) -> list[Evaluation]:
    """The inverse of ``encode``; arrays are views of the bundle's. A descriptor that is all NaN becomes None."""
    meta, a = bundle
    n = len(a["id"])
    spent = a["spent"].tolist() if "spent" in a else [(0, 0)] * n
    contexts, reasons = _contexts_of(meta, a, n), meta.get("reasons", {})
    described = a.get("descriptor")
    tables = {name: _tables_of(name, a, n) for name in TABLES}
    samples, violation, status = (a[name].tolist() for name in ("samples", "violation", "status"))
    return [
        Evaluation(
            i,
            a["objective"][row],
            a["covariance"][row],
            samples[row],
            a["metrics"][row],
            violation=violation[row],
            cost=spent[row][0],
            cached=spent[row][1],
            status="failed" if status[row] else "ok",
            reason=reasons.get(str(row), ""),
            context=contexts[row],
            descriptor=None if described is None or np.isnan(described[row]).all() else described[row],
            **{name: tables[name][row] for name in TABLES},
        )
        for row, i in enumerate(a["id"].tolist())
    ]


def encode_requests(requests: Sequence[Request]) -> Bundle:
    """Requests, lossless. Raises EngineError when their genomes differ in shape or type."""
    genomes = [np.asarray(request.genome) for request in requests]
    if len({(genome.shape, genome.dtype) for genome in genomes}) > 1:
        raise EngineError("The genomes of one study must have the same shape and type.")
    contexts, context = _contexts([request.context for request in requests])
    arrays: Arrays = {
        "id": np.array([(r.id, r.candidate) for r in requests], np.int64),
        "genome": np.stack(genomes),
        "replicates": np.array([(r.first, r.last) for r in requests], np.int64),
        "seed": np.array([r.seed for r in requests], np.uint64),
        "context": context,
    }
    return Bundle({"contexts": contexts}, arrays | _tables("record", [r.record for r in requests]))


def decode_requests(bundle: Bundle) -> list[Request]:
    """The inverse of ``encode_requests``; genomes are views of the bundle's."""
    meta, a = bundle
    n = len(a["id"])
    contexts, records = _contexts_of(meta, a, n), _tables_of("record", a, n)
    ids, replicates, seeds = (a[name].tolist() for name in ("id", "replicates", "seed"))
    return [
        Request(i, a["genome"][row], first, last, seeds[row], contexts[row], candidate, records[row])
        for row, ((i, candidate), (first, last)) in enumerate(zip(ids, replicates, strict=True))
    ]


def _contexts(contexts: Sequence[Context]) -> tuple[list[str], NDArray[np.int32]]:
    """The distinct contexts as JSON, and the index of each context among them."""
    places: dict[str, int] = {}
    rows = [places.setdefault(msgspec.json.encode(context).decode(), len(places)) for context in contexts]
    return list(places), np.array(rows, np.int32)


def _contexts_of(meta: dict[str, Any], arrays: Arrays, n: int) -> list[AnyContext]:
    if "context" not in arrays:
        return [PLAIN] * n
    found = [msgspec.json.decode(text, type=AnyContext) for text in meta["contexts"]]
    return [found[place] for place in arrays["context"].tolist()]


def _tables(name: str, tables: Sequence[Floats | None]) -> Arrays:
    """Tables concatenated, and the shape of each (-1: no table); empty if there are no tables at all."""
    flat = [np.ravel(table) for table in tables if table is not None]
    if not flat:
        return {}
    shapes = [(-1, -1) if table is None else table.shape for table in tables]
    return {name: np.concatenate(flat), f"{name}.shape": np.array(shapes, np.int64)}


def _tables_of(name: str, arrays: Arrays, n: int) -> list[Floats | None]:
    if name not in arrays:
        return [None] * n
    shapes = arrays[f"{name}.shape"]
    ends = np.maximum(shapes, 0).prod(axis=1).cumsum().tolist()
    parts = [arrays[name][a:b] for a, b in pairwise([0, *ends])]
    return [part.reshape(shape) if shape[0] >= 0 else None for part, shape in zip(parts, shapes.tolist(), strict=True)]

"""Batches on the wire: one JSON header that says what the message is, then one container of arrays (``engine.arrays``).

Requests and evaluations travel as columns, so two hundred of them cost about as much as one; no pickle.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from engine.arrays import pack, unpack
from engine.errors import ConfigError, EngineError, SimulatorError
from engine.problem import Evaluation, Request

Frames = Sequence[bytes | memoryview]


class Ready(msgspec.Struct, frozen=True, tag="ready"):
    """A worker has built its evaluator, which has this many objectives and metrics."""

    objectives: int
    metrics: int


class Beat(msgspec.Struct, frozen=True, tag="beat"):
    """A worker lives as process ``pid``. ``quiet_s``: how long ago its work showed progress, or ended when it is not
    ``busy``. The first one comes at once."""

    pid: int
    busy: bool
    quiet_s: float


class Work(msgspec.Struct, frozen=True, tag="work"):
    """A batch for a worker; the requests follow."""

    batch: int


class Done(msgspec.Struct, frozen=True, tag="done"):
    """A batch is answered after ``seconds`` of work; the evaluations follow."""

    batch: int
    seconds: float


class Crashed(msgspec.Struct, frozen=True, tag="crashed"):
    """The simulator that played a batch for the worker died; the worker is well."""

    batch: int
    reason: str


class Broken(msgspec.Struct, frozen=True, tag="broken"):
    """The worker cannot go on, and no other worker could: ``error`` names the class in ``engine.errors``."""

    error: str
    message: str
    problems: tuple[tuple[str, str], ...] = ()


Header = Ready | Beat | Work | Done | Crashed | Broken
_encoder = msgspec.json.Encoder()
_decoder: msgspec.json.Decoder[Header] = msgspec.json.Decoder(Header)


def message(header: Header, body: bytes = b"") -> list[bytes]:
    """The frames of a message."""
    return [_encoder.encode(header), body] if body else [_encoder.encode(header)]


def header(frames: Frames) -> Header:
    """What a message is. Raises EngineError for junk."""
    try:
        return _decoder.decode(frames[0])
    except (msgspec.DecodeError, IndexError) as error:
        raise EngineError(f"A worker sent a message that cannot be read: {error}.") from error


def broken(error: EngineError) -> Broken:
    """The message that tells the driver about a permanent error."""
    problems = tuple((p.place, p.message) for p in error.problems) if isinstance(error, ConfigError) else ()
    return Broken(type(error).__name__, str(error), problems)


def as_error(told: Broken) -> EngineError:
    """The error a ``Broken`` message stands for."""
    if told.error == "ConfigError":
        return ConfigError(told.problems)
    if told.error == "SimulatorError":
        return SimulatorError(told.message, permanent=True)
    return EngineError(told.message)


def encode_requests(requests: Sequence[Request]) -> bytes:
    """Requests as columns; their genomes have one shape and type. Raises EngineError when they differ."""
    genomes = [np.asarray(request.genome) for request in requests]
    if len({(genome.shape, genome.dtype) for genome in genomes}) > 1:
        raise EngineError("The genomes of one study must have the same shape and type.")
    words, word_numbers = _words(
        word for request in requests for word in (request.fidelity, request.patch, request.start, request.trained)
    )
    anchors, ends = _ragged([request.anchors for request in requests], np.int64)
    columns = {
        "id": np.array([(request.id, request.candidate) for request in requests], np.int64),
        "genome": np.stack(genomes),
        "replicates": np.array([(request.first, request.last) for request in requests], np.int64),
        "seed": np.array([request.seed for request in requests], np.uint64),
        "words": np.array(word_numbers, np.int64).reshape(-1, 4),
        "anchors": anchors,
        "anchor_ends": ends,
    }
    return pack({"words": words}, columns)


def decode_requests(data: bytes | memoryview) -> list[Request]:
    """The requests; their genomes are read-only views of ``data``."""
    meta, columns = unpack(data)
    words: list[str] = meta["words"]
    return [
        Request(
            id_, genome, first, last, seed, words[a], words[b], tuple(anchors.tolist()), words[c], words[d], candidate
        )
        for (id_, candidate), genome, (first, last), seed, (a, b, c, d), anchors in zip(
            columns["id"].tolist(),
            columns["genome"],
            columns["replicates"].tolist(),
            columns["seed"].tolist(),
            columns["words"].tolist(),
            _parts(columns["anchors"], columns["anchor_ends"]),
            strict=True,
        )
    ]


def encode_evaluations(evaluations: Sequence[Evaluation]) -> bytes:
    """Evaluations as columns; those of one evaluator have the same numbers of objectives and metrics."""
    words, word_numbers = _words(word for e in evaluations for word in (e.reason, e.genome))
    anchors, anchor_ends = _ragged([e.anchors for e in evaluations], np.int64)
    descriptors, descriptor_ends = _ragged([() if e.descriptor is None else e.descriptor for e in evaluations], float)
    values, value_ends = _ragged([() if e.values is None else e.values.ravel() for e in evaluations], float)
    columns = {
        "counts": np.array([(e.id, e.samples, e.cost, e.cached) for e in evaluations], np.int64),
        "objectives": np.array([e.objectives for e in evaluations], np.float64),
        "covariance": np.array([e.covariance for e in evaluations], np.float64),
        "metrics": np.array([e.metrics for e in evaluations], np.float64),
        "violation": np.array([e.violation for e in evaluations], np.float64),
        "flags": np.array(
            [(e.status == "ok", e.descriptor is not None, e.values is not None) for e in evaluations], np.bool_
        ),
        "words": np.array(word_numbers, np.int64).reshape(-1, 2),
        "anchors": anchors,
        "anchor_ends": anchor_ends,
        "descriptors": descriptors,
        "descriptor_ends": descriptor_ends,
        "values": values,
        "value_ends": value_ends,
    }
    return pack({"words": words}, columns)


def decode_evaluations(data: bytes | memoryview) -> list[Evaluation]:
    """The evaluations; their arrays are read-only views of ``data``."""
    meta, columns = unpack(data)
    words: list[str] = meta["words"]
    descriptors = _parts(columns["descriptors"], columns["descriptor_ends"])
    anchors = _parts(columns["anchors"], columns["anchor_ends"])
    values, m = _parts(columns["values"], columns["value_ends"]), columns["objectives"].shape[-1]
    counts, flags = columns["counts"].tolist(), columns["flags"].tolist()
    violation, numbers = columns["violation"].tolist(), columns["words"].tolist()
    return [
        Evaluation(
            counts[i][0],
            columns["objectives"][i],
            columns["covariance"][i],
            counts[i][1],
            columns["metrics"][i],
            violation=violation[i],
            cost=counts[i][2],
            cached=counts[i][3],
            status="ok" if flags[i][0] else "failed",
            reason=words[numbers[i][0]],
            anchors=tuple(anchors[i].tolist()),
            descriptor=descriptors[i] if flags[i][1] else None,
            genome=words[numbers[i][1]],
            values=values[i].reshape(-1, m) if flags[i][2] else None,
        )
        for i in range(len(counts))
    ]


def _words(texts: Iterable[str]) -> tuple[list[str], list[int]]:
    """Each different text once, and every text's place among them."""
    places: dict[str, int] = {}
    numbers = [places.setdefault(text, len(places)) for text in texts]
    return list(places), numbers


def _ragged(rows: Sequence[Any], dtype: type) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Rows of different lengths end to end, and where each ends."""
    flat: NDArray[Any] = np.array([value for row in rows for value in row], dtype)
    return flat, np.array(list(accumulate(len(row) for row in rows)), np.int64)


def _parts(flat: NDArray[Any], ends: NDArray[np.int64]) -> list[NDArray[Any]]:
    return [flat[a:b] for a, b in pairwise([0, *ends.tolist()])]

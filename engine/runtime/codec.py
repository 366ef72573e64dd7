"""Messages on the wire: a JSON header with the type; then one container of arrays (``engine.arrays``) with requests or
evaluations as columns (``engine.columns``), or streamed frames."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from engine import columns
from engine.arrays import pack, unpack
from engine.channel import Frame
from engine.errors import ConfigError, DiskFull, EngineError, SimulatorError
from engine.problem import Evaluation, Request
from engine.runtime.channels import Source


class Ready(msgspec.Struct, frozen=True, tag="ready"):
    """A worker with process ``pid`` is ready: with an evaluator of so many objectives and metrics, whose ``noun`` names
    a candidate, or as a relay with ``sources`` of weights, one for its own host and one for those below it."""

    pid: int
    objectives: int = 0
    metrics: int = 0
    noun: str = "candidate"
    sources: tuple[Source, ...] = ()


class Beat(msgspec.Struct, frozen=True, tag="beat"):
    """A heartbeat of a worker with process ``pid``. ``quiet_s``: seconds since its work made progress or, if it is not
    ``busy``, since it ended. ``hungry``: it waits for weights. The first heartbeat is sent at once."""

    pid: int
    busy: bool
    quiet_s: float
    hungry: bool = False


class Work(msgspec.Struct, frozen=True, tag="work"):
    """A batch for a worker; the requests follow."""

    batch: int


class Done(msgspec.Struct, frozen=True, tag="done"):
    """A batch is answered after ``seconds`` of work; the evaluations follow."""

    batch: int
    seconds: float


class Stream(msgspec.Struct, frozen=True, tag="stream"):
    """The frames of a streamed item follow, number ``place`` of its request, or ``UNASKED``."""

    request: int
    place: int


class Crashed(msgspec.Struct, frozen=True, tag="crashed"):
    """The simulator process that played a batch died; the worker itself can continue."""

    batch: int
    reason: str


class Broken(msgspec.Struct, frozen=True, tag="broken"):
    """The worker cannot continue; ``permanent``: no other worker could either. ``error`` names the class in
    ``engine.errors``."""

    error: str
    message: str
    permanent: bool
    problems: tuple[tuple[str, str], ...] = ()


Header = Ready | Beat | Work | Done | Stream | Crashed | Broken
_encoder = msgspec.json.Encoder()
_decoder: msgspec.json.Decoder[Header] = msgspec.json.Decoder(Header)


def message(header: Header, *body: Frame) -> list[Frame]:
    """The frames of a message."""
    return [_encoder.encode(header), *body]


def header(frames: Sequence[Frame]) -> Header:
    """The header of a message. Raises EngineError for a malformed one."""
    try:
        return _decoder.decode(frames[0])
    except (msgspec.DecodeError, IndexError) as error:
        raise EngineError(f"A worker sent a message that cannot be read: {error}.") from error


def broken(error: EngineError) -> Broken:
    """The message that reports an error to the driver; only a simulator's error may be temporary."""
    problems = tuple((p.place, p.message) for p in error.problems) if isinstance(error, ConfigError) else ()
    permanent = not isinstance(error, SimulatorError) or error.permanent
    return Broken(type(error).__name__, str(error), permanent, problems)


def as_error(broken: Broken) -> EngineError:
    """The error in a ``Broken`` message."""
    if broken.error == "ConfigError":
        return ConfigError(broken.problems)
    if broken.error == "SimulatorError":
        return SimulatorError(broken.message, permanent=broken.permanent)
    if broken.error == "DiskFull":
        return DiskFull(broken.message)
    return EngineError(broken.message)


def encode_requests(requests: Sequence[Request]) -> bytes:
    """Requests as columns. Raises EngineError when their genomes differ in shape or type."""
    return pack(*columns.encode_requests(requests))


def decode_requests(data: bytes | memoryview) -> list[Request]:
    """The requests; their genomes are read-only views of ``data``."""
    return columns.decode_requests(unpack(data))


def encode_evaluations(evaluations: Sequence[Evaluation]) -> bytes:
    """Evaluations as columns; those of one evaluator have the same numbers of objectives and metrics."""
    return pack(*columns.encode(evaluations))


def decode_evaluations(data: bytes | memoryview) -> list[Evaluation]:
    """The evaluations; their arrays are read-only views of ``data``."""
    return columns.decode(unpack(data))

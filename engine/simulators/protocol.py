"""The wire format of ``equipoise-sim/1``: a JSON header frame, then the raw little-endian array frames it describes.

``encode`` turns a message and its arrays into the frames of one ZeroMQ multipart message, ``decode`` parses frames from
an untrusted program. Decoding is strict about sizes, types and shapes and tolerant of unknown keys, so a newer program
can talk to an older one. ``engine/PROTOCOL.md`` specifies the protocol.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from engine.arrays import owned
from engine.errors import SimulatorError
from engine.mdp.interface import MDPSpec
from engine.simulators.contract import Frame, GameSpec
from engine.simulators.reading import read

PROTOCOL = "equipoise-sim"
VERSIONS = (1,)
CAPABILITIES = frozenset({"replay", "cancel", "heartbeat"})
KEY_VARIABLE = "EQUIPOISE_KEY"
ENDPOINT_VARIABLE = "EQUIPOISE_ENDPOINT"

MAX_HEADER_BYTES = 16 * 2**20
MAX_FRAME_BYTES = 32 * 2**20
MAX_ARRAYS = 256
MAX_DIMENSIONS = 5

DTYPES: dict[str, np.dtype[Any]] = {
    "uint8": np.dtype("u1"),
    "int32": np.dtype("<i4"),
    "int64": np.dtype("<i8"),
    "uint64": np.dtype("<u8"),
    "float32": np.dtype("<f4"),
    "float64": np.dtype("<f8"),
}

Buffer = bytes | memoryview
Arrays = dict[str, NDArray[Any]]


class ArrayHeader(msgspec.Struct, frozen=True):
    """The content of the next array frame: a name, one of ``DTYPES`` and a shape in C order."""

    name: str
    dtype: str
    shape: tuple[int, ...]


class Message(msgspec.Struct, frozen=True, kw_only=True, tag_field="type"):
    """Base of every message; ``arrays`` describes the frames that follow the header, in order."""

    arrays: tuple[ArrayHeader, ...] = ()


class Hello(Message, frozen=True, kw_only=True, tag="HELLO"):
    """First message each way. The simulator offers every version it speaks and echoes the key it was given; the
    engine answers with the one version it chose. ``capabilities``: replay, cancel, heartbeat (answers PING while it
    plays). ``max_batch``: most battles the simulator wants in one message, 0 for no limit of its own."""

    protocol: str = PROTOCOL
    versions: tuple[int, ...] = VERSIONS
    key: str = ""
    name: str = ""
    pid: int = 0
    capabilities: tuple[str, ...] = ()
    max_batch: int = 0


class Spec(Message, frozen=True, kw_only=True, tag="SPEC"):
    """The simulator's game (``GameSpec``), sent once after the engine's HELLO."""

    spec: GameSpec


class PlayBattles(Message, frozen=True, kw_only=True, tag="BATTLES"):
    """Play these battles. Arrays: left, right int32[n, slots], seeds uint64[n]."""

    id: int
    deadline_ms: int
    patch: dict[str, float] = {}
    fidelity: str = "full"


class Results(Message, frozen=True, kw_only=True, tag="RESULTS"):
    """Arrays: side float64[n, 2, side metrics], battle float64[n, battle metrics], status uint8[n]."""

    id: int


class Replay(Message, frozen=True, kw_only=True, tag="REPLAY"):
    """Play one battle for drawing. Arrays: left, right int32[1, slots], seeds uint64[1]."""

    id: int
    deadline_ms: int
    patch: dict[str, float] = {}


class Frames(Message, frozen=True, kw_only=True, tag="FRAMES"):
    """The answer to REPLAY; empty where the game has nothing to draw."""

    id: int
    frames: tuple[Frame, ...] = ()


class Game(Message, frozen=True, kw_only=True, tag="GAME"):
    """Sent instead of SPEC by a program whose game is played tick by tick (``MDPSpec``)."""

    spec: MDPSpec


class Reset(Message, frozen=True, kw_only=True, tag="RESET"):
    """Begin new battles in place of all running ones, with these values of the game's ``starts`` (of others the usual
    ones) in all their episodes. Array: seeds uint64[n]."""

    id: int
    deadline_ms: int
    start: dict[str, float] = {}


class Actions(Message, frozen=True, kw_only=True, tag="ACTIONS"):
    """One decision of every battle. Arrays: ``seat0.action``, ``seat1.action`` … [n, …]."""

    id: int
    deadline_ms: int


class States(Message, frozen=True, kw_only=True, tag="STATES"):
    """The answer to RESET and ACTIONS; ``engine.simulators.states`` names its arrays."""

    id: int


class Cancel(Message, frozen=True, kw_only=True, tag="CANCEL"):
    """The answer to request ``id`` is not wanted any more; answer ERROR with code ``cancelled``, or the result."""

    id: int


class Ping(Message, frozen=True, kw_only=True, tag="PING"):
    """Are you there? Answer PONG with the same id."""

    id: int = 0


class Pong(Message, frozen=True, kw_only=True, tag="PONG"):
    """The answer to PING."""

    id: int = 0


ErrorCode = Literal["bad-request", "failed", "cancelled", "deadline", "refused"]


class Error(Message, frozen=True, kw_only=True, tag="ERROR"):
    """Request ``id`` (0: the conversation) could not be served; ``message`` is for people. ``permanent``: asking
    again cannot help."""

    id: int = 0
    code: ErrorCode = "failed"
    message: str = ""
    permanent: bool = False


class Bye(Message, frozen=True, kw_only=True, tag="BYE"):
    """The conversation is over; a simulator that hears it ends."""


class WrongShape(SimulatorError):
    """A header of a known type with invalid keys; ``problems`` has a sentence with its place for each; ``message``: the
    part that could be read (None if nothing can be said about the rest)."""

    def __init__(self, kind: type[Message], message: Any, problems: Sequence[str]) -> None:
        self.kind, self.message, self.problems = kind, message, list(problems)
        super().__init__(f"{kind.__struct_config__.tag} has wrong keys: {'; '.join(problems)}")


Request = PlayBattles | Replay | Reset | Actions
"""Messages that must be answered once, before a deadline."""

AnyMessage = (
    Hello | Spec | PlayBattles | Results | Replay | Frames | Game | Reset | Actions | States | Cancel | Ping | Pong
    | Error | Bye
)  # fmt: skip

_kinds: dict[object, type[Message]] = {kind.__struct_config__.tag: kind for kind in AnyMessage.__args__}
_decoder: msgspec.json.Decoder[AnyMessage] = msgspec.json.Decoder(AnyMessage)
_encoder = msgspec.json.Encoder()


class Decoded(NamedTuple):
    """One received message: the header, and its arrays by name, aligned and writable as torch and numba need."""

    message: AnyMessage
    arrays: Arrays


def encode(message: AnyMessage, arrays: Mapping[str, NDArray[Any]] | None = None) -> list[Buffer]:
    """The frames of one multipart message. Raises ValueError for an array type outside ``DTYPES``."""
    headers: list[ArrayHeader] = []
    frames: list[Buffer] = []
    for name, values in (arrays or {}).items():
        if values.dtype.name not in DTYPES:
            raise ValueError(f"an array of {values.dtype} cannot travel; allowed: {', '.join(DTYPES)}")
        wire = np.ascontiguousarray(values, dtype=DTYPES[values.dtype.name])
        headers.append(ArrayHeader(name, values.dtype.name, tuple(int(d) for d in values.shape)))
        frames.append(wire.reshape(-1).view(np.uint8).data if wire.size else b"")
    return [_encoder.encode(msgspec.structs.replace(message, arrays=tuple(headers))), *frames]


def decode(frames: Sequence[Buffer]) -> Decoded:
    """The message in these frames. Raises SimulatorError that names the problem, WrongShape if the header's keys are
    invalid."""
    if not frames:
        raise SimulatorError("an empty message arrived; every message starts with a JSON header frame")
    message = _header(frames[0])
    if len(frames) - 1 != len(message.arrays):
        raise SimulatorError(
            f"the header describes {len(message.arrays)} arrays and {len(frames) - 1} array frames follow it"
        )
    arrays: Arrays = {}
    for described, frame in zip(message.arrays, frames[1:], strict=True):
        arrays[described.name] = _array(described, frame)
    return Decoded(message, arrays)


def type_name(message: AnyMessage) -> str:
    """The value of a message's ``type``."""
    return str(message.__struct_config__.tag)


SHOWN_BYTES = 60
_AT_BYTE = re.compile(r"\(byte (\d+)\)")


def _header(frame: Buffer) -> AnyMessage:
    if len(frame) > MAX_HEADER_BYTES:
        raise SimulatorError(f"a header of {len(frame):,} bytes arrived; the most allowed is {MAX_HEADER_BYTES:,}")
    try:
        message = _decoder.decode(frame)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        _check_shape(frame)
        raise SimulatorError(
            f"the header is not a message of {PROTOCOL}/1: {error}; it {_shown(frame, str(error))}"
        ) from None
    if len(message.arrays) > MAX_ARRAYS:
        raise SimulatorError(f"the header describes {len(message.arrays)} arrays; the most allowed is {MAX_ARRAYS}")
    return message


def _check_shape(frame: Buffer) -> None:
    """Raise WrongShape for a header of a known type that could not be read."""
    try:
        plain = msgspec.json.decode(frame)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return
    kind = _kinds.get(plain.get("type")) if isinstance(plain, dict) and isinstance(plain.get("type"), str) else None
    if kind is not None:
        message, problems = read(kind, plain)
        if problems:
            raise WrongShape(kind, message, problems)


def _shown(frame: Buffer, error: str) -> str:
    """The part of a header that cannot be read: around the byte that the error names, else its beginning."""
    found = _AT_BYTE.search(error)
    at = int(found[1]) if found else 0
    if at < SHOWN_BYTES:
        return f"begins with {bytes(frame[:SHOWN_BYTES])!r}"
    begin = at - SHOWN_BYTES // 2
    return f"has {bytes(frame[begin : begin + SHOWN_BYTES])!r} there"


def _array(described: ArrayHeader, frame: Buffer) -> NDArray[Any]:
    where = f"array {described.name!r}"
    dtype = DTYPES.get(described.dtype)
    if dtype is None:
        raise SimulatorError(f"{where} has type {described.dtype!r}; allowed: {', '.join(DTYPES)}")
    shape = described.shape
    if len(shape) > MAX_DIMENSIONS or any(not 0 <= d <= MAX_FRAME_BYTES for d in shape):
        raise SimulatorError(f"{where} has the impossible shape {list(shape)}")
    need = math.prod(shape) * dtype.itemsize
    if need != len(frame):
        raise SimulatorError(
            f"{where} is described as {described.dtype}{list(shape)}, which takes {need:,} bytes, "
            f"and its frame has {len(frame):,}"
        )
    return owned(np.frombuffer(frame, dtype=dtype)).reshape(shape)

"""The data plane as a sampler sees it: streamed items go up, the newest weights come down.

``engine.runtime.channels`` carries both. A policy's weights travel as one frame, little-endian, without padding:

==============================  ========================================================================
the policy's id                 64 bytes, filled up with NUL: the topic that subscribers name
epoch, beginning, version       an int64 each
snapshots, vectors              an int64 each: how many of each follow
each snapshot                   64 bytes: the store hash of an earlier state of the policy, oldest first
each vector                     24 bytes, its name, filled up with NUL, and an int64, its length
the vectors' numbers            float32, one vector after the other
==============================  ========================================================================
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from engine.errors import EngineError

Frame = bytes | memoryview
ID_BYTES = 64
UNASKED = -1
_COUNTS = ("epoch", "beginning", "version", "snapshots", "vectors")
_HEAD = np.dtype([("policy", f"S{ID_BYTES}"), *((name, "<i8") for name in _COUNTS)])
_SNAPSHOT = np.dtype("S64")
_VECTOR = np.dtype([("name", "S24"), ("length", "<i8")])


class Weights(NamedTuple):
    """A policy's parameters at ``version``: named ``vectors`` float32[n] such as actor, critic or target.

    ``epoch`` counts how often the training was rolled back, ``beginning`` how often all battles were restarted; a
    sampler that waits for weights starts again when either changes. ``snapshots``: store hashes of the policy at the
    end of earlier rounds, oldest first."""

    policy: str
    epoch: int
    beginning: int
    version: int
    vectors: Mapping[str, NDArray[np.float32]]
    snapshots: tuple[str, ...] = ()

    @property
    def moment(self) -> tuple[int, int, int]:
        """(epoch, beginning, version)."""
        return self.epoch, self.beginning, self.version


def topic(policy: str) -> bytes:
    """The prefix of a policy's frames of weights, which no other policy's frames have."""
    return policy.encode().ljust(ID_BYTES, b"\0")


def topic_of(frame: Frame) -> bytes:
    """The topic of a frame of weights."""
    return bytes(frame[:ID_BYTES])


def encode_weights(weights: Weights) -> memoryview:
    """The weights as one frame; copies the vectors."""
    head = np.zeros((), _HEAD)
    head["policy"] = topic(weights.policy)
    counts = (*weights.moment, len(weights.snapshots), len(weights.vectors))
    for name, count in zip(_COUNTS, counts, strict=True):
        head[name] = count
    table = np.array([(name.encode(), len(v)) for name, v in weights.vectors.items()], _VECTOR)
    parts = [head.tobytes(), np.array(weights.snapshots, _SNAPSHOT).tobytes(), table.tobytes()]
    numbers = [np.ascontiguousarray(vector, "<f4").view(np.uint8) for vector in weights.vectors.values()]
    return np.concatenate([np.frombuffer(b"".join(parts), np.uint8), *numbers]).data


def decode_weights(frame: Frame) -> Weights:
    """The weights in a frame; vectors are read-only views of it. Raises EngineError for a malformed frame."""
    try:
        head = np.frombuffer(frame, _HEAD, 1)[0]
        policy, epoch, beginning, version, snapshots, vectors = head.item()
        at = _HEAD.itemsize
        past = np.frombuffer(frame, _SNAPSHOT, snapshots, at)
        at += past.nbytes
        table = np.frombuffer(frame, _VECTOR, vectors, at)
        at += table.nbytes
        if min(snapshots, vectors, *table["length"].tolist()) < 0:
            raise ValueError("it counts less than nothing")
        if len(frame) != at + 4 * sum(table["length"].tolist()):
            raise ValueError(f"it has {len(frame)} bytes, and not what its table says")
        found = {}
        for name, length in table.tolist():
            found[name.decode()] = numbers = np.frombuffer(frame, "<f4", length, at)
            numbers.flags.writeable = False
            at += 4 * length
        digests = tuple(digest.decode() for digest in past.tolist())
        return Weights(policy.decode(), epoch, beginning, version, found, digests)
    except (ValueError, OverflowError) as error:
        raise EngineError(f"A message of {len(frame)} bytes that should be weights cannot be read: {error}.") from error


class Streamed(NamedTuple):
    """A streamed item, as opposed to an answer: the ``frames`` of a trajectory, of transitions or of a gradient, which
    worker number ``worker`` produced for ``request`` (``UNASKED``: none). ``place``: its index in that request."""

    frames: Sequence[Frame]
    request: int = UNASKED
    place: int = 0
    worker: int = 0


class Subscriber(Protocol):
    """The way down; used by one thread."""

    def newest(self, timeout_s: float) -> memoryview | None:
        """The newest frame that was not returned before, of each policy in turn; waits up to ``timeout_s``, then
        returns None."""
        ...

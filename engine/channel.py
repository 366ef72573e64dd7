"""What a sampler is given of the data plane: a way up for trajectories, a way down for the newest weights.

``engine.runtime.zmq_streams`` carries both between processes and machines, ``engine.runtime.inproc_streams`` within one
process. Weights travel as one frame: a header of four int64 (little-endian), then the raw float32 numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from engine.errors import EngineError

Frame = bytes | memoryview
_HEADER = np.dtype("<i8")
_WIDTH = 4 * _HEADER.itemsize


class Weights(NamedTuple):
    """Numbers float32[n] of ``version``. ``epoch`` counts how often the training had to go back, ``beginning`` how
    often all battles began afresh; who waits for weights begins again when one of them changes."""

    epoch: int
    beginning: int
    version: int
    numbers: NDArray[np.float32]


def encode_weights(weights: Weights) -> memoryview:
    """The one frame, a copy of the numbers."""
    n = len(weights.numbers)
    frame = np.empty(_WIDTH + 4 * n, np.uint8)
    frame[:_WIDTH].view(_HEADER)[:] = (weights.epoch, weights.beginning, weights.version, n)
    frame[_WIDTH:].view("<f4")[:] = weights.numbers
    return frame.data


def decode_weights(frame: Frame) -> Weights:
    """The weights; their numbers are a read-only view of the frame. Raises EngineError for junk."""
    if len(frame) < _WIDTH:
        raise EngineError(f"A message of {len(frame)} bytes is too short to be weights.")
    epoch, beginning, version, n = np.frombuffer(frame, _HEADER, 4).tolist()
    if len(frame) != _WIDTH + 4 * n:
        raise EngineError(f"A message that says it holds {n} weights has {len(frame)} bytes.")
    numbers: NDArray[Any] = np.frombuffer(frame, "<f4", n, _WIDTH)
    numbers.flags.writeable = False
    return Weights(epoch, beginning, version, numbers)


class Pusher(Protocol):
    """The way up; used by one thread."""

    def push(self, frames: Sequence[Frame], timeout_s: float) -> None:
        """Send, waiting up to ``timeout_s`` for room. Raises ActorLost after that."""
        ...


class Subscriber(Protocol):
    """The way down; used by one thread."""

    def newest(self, timeout_s: float) -> memoryview | None:
        """The newest frame that has not been given yet; waits up to ``timeout_s`` for one, None after that."""
        ...

"""The only format of experience: fragments of exactly T decisions of B streams, time-major.

A stream is one seat of one battle; it continues across episodes, so fragments have the same length whatever the
episodes do (Lamarckian's truncation). An episode that ends at step t sets ``terminated[t]`` or ``truncated[t]``, and
``observations[t + 1]`` is then the first one of the next episode. ``final_observations`` holds the last observations of
truncated episodes, from which their values are bootstrapped.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from engine.arrays import DTYPES, owned
from engine.errors import EngineError
from engine.mdp.interface import Array, Observations

Buffer = bytes | memoryview


class Trajectory(NamedTuple):
    """T decisions of B streams. Every array is C-contiguous, aligned and writable.

    ``observations``: by name [T + 1, B, …]; ``masks`` bool[T + 1, B, k] or None; ``actions`` [T, B, …] in the layout of
    the action spec; ``log_probs`` float32[T, B] of the policy that acted; ``rewards`` float32[T, B, R];
    ``terminated``, ``truncated`` bool[T, B]; ``versions`` int64[T, B], the version of the policy that acted;
    ``final_index`` int64[m, 2]: (t, b) of each truncated episode, ``final_observations`` by name [m, …] and
    ``final_masks`` bool[m, k] or None; ``values`` float32[T, B, R] of the policy that acted, or None;
    ``initial_state``: recurrent state by name [B, …] before the first decision (zeros begin an episode); ``valid``
    bool[T, B] or None: False where the seat was out of its battle, or another policy played it, so that the transition
    must not be learned from; ``policy``: the policy that acted; ``others``: the policies on the other seats in seat
    order, one row for each combination; ``against`` int32[T, B]: index of the row, None if there is at most one.
    """

    observations: Observations
    actions: Array
    log_probs: NDArray[np.float32]
    rewards: NDArray[np.float32]
    terminated: NDArray[np.bool_]
    truncated: NDArray[np.bool_]
    versions: NDArray[np.int64]
    final_index: NDArray[np.int64]
    final_observations: Observations
    masks: NDArray[np.bool_] | None = None
    final_masks: NDArray[np.bool_] | None = None
    values: NDArray[np.float32] | None = None
    initial_state: dict[str, Array] = {}
    valid: NDArray[np.bool_] | None = None
    policy: str = ""
    others: tuple[tuple[str, ...], ...] = ()
    against: NDArray[np.int32] | None = None

    @property
    def length(self) -> int:
        """T."""
        return len(self.rewards)

    @property
    def streams(self) -> int:
        """B."""
        return int(self.rewards.shape[1])

    @property
    def ended(self) -> NDArray[np.bool_]:
        """bool[T, B]: where an episode is over, either way."""
        return self.terminated | self.truncated

    @property
    def steps(self) -> int:
        """Decisions that can be learned from: T × B less those that are not valid."""
        return self.rewards.shape[0] * self.rewards.shape[1] if self.valid is None else int(self.valid.sum())

    @property
    def oldest(self) -> int:
        """The version of the oldest policy that acted."""
        return int(self.versions.min())

    def encode(self, meta: Mapping[str, Any] | None = None) -> list[Buffer]:
        """A JSON header frame with plain values ``meta``, and one raw little-endian frame per array, which is not
        copied."""
        entries, frames = [], []
        for field, value in self._asdict().items():
            arrays = value if field in _NAMED else {} if value is None or field in _PLAIN else {"": value}
            for name, array in arrays.items():
                wire = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
                entries.append(_Entry(field, name, wire.dtype.str, wire.shape))
                frames.append(wire.reshape(-1).view(np.uint8).data if wire.size else b"")
        return [_encoder.encode(_Header(tuple(entries), dict(meta or {}), self.policy, self.others)), *frames]

    @classmethod
    def decode(cls, frames: Sequence[Buffer]) -> tuple[Trajectory, dict[str, Any]]:
        """The trajectory in these frames, and its ``meta``. Arrays are views of writable frames, else copies. Raises
        EngineError for frames that are not a trajectory."""
        try:
            header = _decoder.decode(frames[0])
            fields: dict[str, Any] = {name: {} for name in _NAMED}
            for entry, frame in zip(header.arrays, frames[1:], strict=True):
                array = _view(entry, frame)
                if entry.field in _NAMED:
                    fields[entry.field][entry.name] = array
                else:
                    fields[entry.field] = array
            return cls(**fields, policy=header.policy, others=header.others), header.meta
        except (msgspec.DecodeError, IndexError, ValueError, TypeError) as error:
            raise EngineError(f"A message that should be a trajectory cannot be read: {error}.") from error


class _Entry(msgspec.Struct, frozen=True, array_like=True):
    """An array's field and its name in that field, its type, shape and frame."""

    field: str
    name: str
    dtype: str
    shape: tuple[int, ...]


class _Header(msgspec.Struct, frozen=True):
    arrays: tuple[_Entry, ...]
    meta: dict[str, Any] = {}
    policy: str = ""
    others: tuple[tuple[str, ...], ...] = ()


_PLAIN = ("policy", "others")
_NAMED = ("observations", "final_observations", "initial_state")
_BY_STREAM = (
    "observations",
    "actions",
    "log_probs",
    "rewards",
    "terminated",
    "truncated",
    "versions",
    "masks",
    "values",
)
_BY_ROW = ("final_observations", "final_masks", "initial_state")
_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(_Header)


def _view(entry: _Entry, frame: Buffer) -> Array:
    if entry.dtype not in DTYPES:
        raise ValueError(f"type {entry.dtype} is not allowed")
    dtype = np.dtype(entry.dtype)
    if math.prod(entry.shape) * dtype.itemsize != len(frame):
        raise ValueError(f"{entry.field} {entry.name} should have shape {list(entry.shape)} and has {len(frame)} bytes")
    return owned(np.frombuffer(frame, dtype)).reshape(entry.shape)


class Batch(NamedTuple):
    """The input for decisions of n seats: ``observations`` by name [n, …], ``masks`` bool[n, k] or None, ``keys``
    uint64[n] for noise that does not depend on the batch, the recurrent ``state`` by name [n, …]; ``entities``
    int64[n]: the seat of the game that each row is about, for scripts whose entities have parts of their own (None:
    whoever asks does not say)."""

    observations: Observations
    masks: NDArray[np.bool_] | None
    keys: NDArray[np.uint64]
    state: dict[str, Array] = {}
    entities: NDArray[np.int64] | None = None


class Decision(NamedTuple):
    """A policy's decisions for n seats: ``actions`` [n, …]; ``log_probs`` float32[n] and ``values`` float32[n, R] where
    it has them; the new recurrent ``state`` by name [n, …]."""

    actions: Array
    log_probs: NDArray[np.float32] | None = None
    values: NDArray[np.float32] | None = None
    state: dict[str, Array] = {}


def streams_of(trajectory: Trajectory, chosen: NDArray[np.int64]) -> Trajectory:
    """A trajectory of the ``chosen`` streams, which must be ascending."""
    kept = np.flatnonzero(np.isin(trajectory.final_index[:, 1], chosen))
    index = trajectory.final_index[kept]
    index[:, 1] = np.searchsorted(chosen, index[:, 1])
    fields = {name: _part(getattr(trajectory, name), chosen, 1) for name in (*_BY_STREAM, "valid", "against")}
    fields |= {name: _part(getattr(trajectory, name), kept, 0) for name in ("final_observations", "final_masks")}
    state = _part(trajectory.initial_state, chosen, 0)
    return trajectory._replace(**fields, initial_state=state, final_index=index)


def _part(value: Any, rows: NDArray[np.int64], axis: int) -> Any:
    """Some rows of an array, or of each of several."""
    if isinstance(value, dict):
        return {name: np.take(array, rows, axis) for name, array in value.items()}
    return None if value is None else np.take(value, rows, axis)


def join(trajectories: Sequence[Trajectory]) -> Trajectory:
    """The streams of several trajectories of one policy and length, stacked in order; a single one is returned as it
    is. Raises EngineError when they differ in length."""
    if len(trajectories) == 1:
        return trajectories[0]
    if len({t.length for t in trajectories}) != 1:
        raise EngineError(f"Fragments of {sorted({t.length for t in trajectories})} steps cannot be joined.")
    starts = np.cumsum([0, *(t.streams for t in trajectories)])
    shifted = [t.final_index + np.array([0, start]) for t, start in zip(trajectories, starts, strict=False)]
    valid = None
    if any(t.valid is not None for t in trajectories):
        valid = np.concatenate(
            [np.ones(t.ended.shape, np.bool_) if t.valid is None else t.valid for t in trajectories], 1
        )

    def beside(field: str, axis: int) -> Any:
        values = [getattr(t, field) for t in trajectories]
        if isinstance(values[0], dict):
            return {name: np.concatenate([v[name] for v in values], axis) for name in values[0]}
        return None if values[0] is None else np.concatenate(values, axis)

    fields = {name: beside(name, 1) for name in _BY_STREAM} | {name: beside(name, 0) for name in _BY_ROW}
    others = tuple(dict.fromkeys(row for t in trajectories for row in t.others))
    return Trajectory(
        **fields, final_index=np.concatenate(shifted), valid=valid, policy=trajectories[0].policy, others=others,
        against=_met(trajectories, others) if len(others) > 1 else None,
    )  # fmt: skip


def _met(trajectories: Sequence[Trajectory], others: Sequence[tuple[str, ...]]) -> NDArray[np.int32]:
    """``against`` of several stacked trajectories, where ``others`` are the rows of all."""
    found = []
    for t in trajectories:
        rows = np.array([others.index(row) for row in t.others], np.int32)
        found.append(np.broadcast_to(rows[0], t.ended.shape) if t.against is None else rows[t.against])
    return np.concatenate(found, axis=1)

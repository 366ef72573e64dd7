"""The one form in which experience travels: fragments of exactly T decisions of B streams, time first.

A stream is one seat of one battle; it goes on across episodes, so fragments have the same length whatever the episodes
do (Lamarckian's truncation). An episode that ends at step t leaves ``terminated[t]`` or ``truncated[t]``, and
``observations[t + 1]`` is then the first of the next episode. What a truncated episode saw last, from which its value
is bootstrapped, is in ``final_observations``.
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
from engine.mdp.interface import Array, Observations, SeatSpec

Buffer = bytes | memoryview


class Trajectory(NamedTuple):
    """T decisions of B streams. Every array is C-contiguous, aligned, and may be written to.

    ``observations``: by name [T + 1, B, …]; ``masks`` bool[T + 1, B, k] or None; ``actions`` [T, B, …] as the action
    spec lays them out; ``log_probs`` float32[T, B] of the policy that acted; ``rewards`` float32[T, B, R];
    ``terminated``, ``truncated`` bool[T, B]; ``versions`` int64[T, B], the version of the policy that acted;
    ``final_index`` int64[m, 2]: (t, b) of each truncated episode, ``final_observations`` by name [m, …] and
    ``final_masks`` bool[m, k] or None; ``values`` float32[T, B, R] of the policy that acted, or None;
    ``initial_state``: recurrent state by name [B, …] before the first decision (zeros begin an episode); ``valid``
    bool[T, B] or None: False where a seat was out of its battle and the transition is not to be learned from.
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


class _Entry(msgspec.Struct, frozen=True, array_like=True):
    """Where an array belongs (a field, and a name inside it), its type, shape and frame."""

    field: str
    name: str
    dtype: str
    shape: tuple[int, ...]


class _Header(msgspec.Struct, frozen=True):
    arrays: tuple[_Entry, ...]
    meta: dict[str, Any] = {}


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


def encode(trajectory: Trajectory, meta: Mapping[str, Any] | None = None) -> list[Buffer]:
    """A JSON header frame and one raw little-endian frame an array, which is not copied. ``meta``: plain values that
    travel along."""
    entries, frames = [], []
    for field, value in trajectory._asdict().items():
        arrays = value if field in _NAMED else {} if value is None else {"": value}
        for name, array in arrays.items():
            wire = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
            entries.append(_Entry(field, name, wire.dtype.str, wire.shape))
            frames.append(wire.reshape(-1).view(np.uint8).data if wire.size else b"")
    return [_encoder.encode(_Header(tuple(entries), dict(meta or {}))), *frames]


def decode(frames: Sequence[Buffer]) -> tuple[Trajectory, dict[str, Any]]:
    """The trajectory in these frames, its arrays views of those frames that may be written to, and what
    travelled along.

    Raises EngineError for frames that are not a trajectory.
    """
    try:
        header = _decoder.decode(frames[0])
        fields: dict[str, Any] = {name: {} for name in _NAMED}
        for entry, frame in zip(header.arrays, frames[1:], strict=True):
            array = _view(entry, frame)
            if entry.field in _NAMED:
                fields[entry.field][entry.name] = array
            else:
                fields[entry.field] = array
        return Trajectory(**fields), header.meta
    except (msgspec.DecodeError, IndexError, ValueError, TypeError) as error:
        raise EngineError(f"A message that should be a trajectory cannot be read: {error}.") from error


def _view(entry: _Entry, frame: Buffer) -> Array:
    if entry.dtype not in DTYPES:
        raise ValueError(f"type {entry.dtype} is not allowed")
    dtype = np.dtype(entry.dtype)
    if math.prod(entry.shape) * dtype.itemsize != len(frame):
        raise ValueError(f"{entry.field} {entry.name} should have shape {list(entry.shape)} and has {len(frame)} bytes")
    return owned(np.frombuffer(frame, dtype)).reshape(entry.shape)


class Batch(NamedTuple):
    """What n seats see that wait for a decision: ``observations`` by name [n, …], ``masks`` bool[n, k] or None,
    ``keys`` uint64[n] for noise that does not depend on the batch, the recurrent ``state`` by name [n, …]."""

    observations: Observations
    masks: NDArray[np.bool_] | None
    keys: NDArray[np.uint64]
    state: dict[str, Array] = {}


class Decision(NamedTuple):
    """What a policy decided for n seats: ``actions`` [n, …]; ``log_probs`` float32[n] and ``values`` float32[n, R]
    where it has them; the recurrent ``state`` by name [n, …] after it."""

    actions: Array
    log_probs: NDArray[np.float32] | None = None
    values: NDArray[np.float32] | None = None
    state: dict[str, Array] = {}


class Recorder:
    """Collects steps of B streams and gives a Trajectory of exactly ``length`` steps each time that many are there.

    Begin with the first observations; then for every step say what was decided and what came of it. The fragment's
    arrays are its own: nothing is written to them afterwards.
    """

    def __init__(self, seat: SeatSpec, streams: int, length: int, *, rewards: int = 0, values: bool = False) -> None:
        self._seat, self._streams, self._length = seat, streams, length
        self._rewards = rewards or len(seat.rewards)
        self._with_values = values
        self._carried: tuple[Observations, NDArray[np.bool_] | None] | None = None
        self._t = 0
        self._state: dict[str, Array] = {}

    def begin(
        self, observations: Observations, masks: NDArray[np.bool_] | None, state: Mapping[str, Array] | None = None
    ) -> None:
        """The first observations by name [B, …] with their masks, and the recurrent state before the first decision."""
        self._carried = (observations, masks)
        self._open({name: np.array(array) for name, array in (state or {}).items()})

    def _open(self, state: Mapping[str, Array]) -> None:
        """Make the arrays of a new fragment; its first observations are the last of the one before."""
        assert self._carried is not None, "begin() comes first"
        observations, masks = self._carried
        t, b, action = self._length, self._streams, self._seat.action
        self._observations = {
            spec.name: np.empty((t + 1, b, *spec.shape), np.dtype(spec.dtype)) for spec in self._seat.observations
        }
        self._masks = None if masks is None else np.empty((t + 1, b, action.legal), np.bool_)
        self._actions = np.empty((t, b, *action.row), action.dtype)
        self._log_probs = np.zeros((t, b), np.float32)
        self._values = np.zeros((t, b, self._rewards), np.float32) if self._with_values else None
        self._reward = np.empty((t, b, self._rewards), np.float32)
        self._terminated, self._truncated = np.empty((t, b), np.bool_), np.empty((t, b), np.bool_)
        self._versions = np.empty((t, b), np.int64)
        self._valid: NDArray[np.bool_] | None = None
        self._finals: list[tuple[NDArray[np.int64], Observations, NDArray[np.bool_] | None]] = []
        self._state = dict(state)
        self._see(0, observations, masks)

    def _see(self, t: int, observations: Observations, masks: NDArray[np.bool_] | None) -> None:
        for name, kept in self._observations.items():
            kept[t] = observations[name]
        if self._masks is not None and masks is not None:
            self._masks[t] = masks

    def step(
        self,
        decision: Decision,
        version: int,
        rewards: NDArray[np.float32],
        terminated: NDArray[np.bool_],
        truncated: NDArray[np.bool_],
        observations: Observations,
        masks: NDArray[np.bool_] | None = None,
        *,
        finals: tuple[NDArray[np.int64], Observations, NDArray[np.bool_] | None] | None = None,
        valid: NDArray[np.bool_] | None = None,
    ) -> Trajectory | None:
        """One step: the decision taken on the observations said before, the ``rewards`` float32[B, R] and flags
        bool[B] it led to, and the observations and masks that follow. ``finals``: (streams int64[m], last observations
        by name [m, …], masks) of episodes that ended. Gives the fragment when this step completed it."""
        t = self._t
        self._actions[t], self._versions[t], self._reward[t] = decision.actions, version, rewards
        self._terminated[t], self._truncated[t] = terminated, truncated
        if decision.log_probs is not None:
            self._log_probs[t] = decision.log_probs
        if self._values is not None and decision.values is not None:
            self._values[t] = decision.values
        if finals is not None:
            self._keep_finals(t, truncated, *finals)
        if valid is not None and not valid.all():
            self._invalid(t, valid)
        self._see(t + 1, observations, masks)
        self._t += 1
        if self._t < self._length:
            return None
        state = {name: np.array(array) for name, array in decision.state.items()}
        for array in state.values():
            array[terminated | truncated] = 0
        return self._close(observations, masks, state)

    def _keep_finals(
        self, t: int, truncated: NDArray[np.bool_], index: NDArray[np.int64], observations: Observations, masks: Any
    ) -> None:
        """Only truncated episodes are bootstrapped from what they saw last."""
        cut = truncated[index]
        if cut.any():
            where = np.stack([np.full(int(cut.sum()), t), index[cut]], axis=1).astype(np.int64)
            kept = {name: np.array(array[cut]) for name, array in observations.items()}
            self._finals.append((where, kept, None if masks is None else np.array(masks[cut])))

    def _invalid(self, t: int, valid: NDArray[np.bool_]) -> None:
        if self._valid is None:
            self._valid = np.ones((self._length, self._streams), np.bool_)
        self._valid[t] = valid

    def _close(
        self, observations: Observations, masks: NDArray[np.bool_] | None, state: Mapping[str, Array]
    ) -> Trajectory:
        done = self._fragment()
        self._t = 0
        self._carried = (observations, masks)
        self._open(state)
        return done

    def _fragment(self) -> Trajectory:
        indices = [where for where, _, _ in self._finals]
        finals = {
            spec.name: np.concatenate([kept[spec.name] for _, kept, _ in self._finals])
            if self._finals
            else np.empty((0, *spec.shape), np.dtype(spec.dtype))
            for spec in self._seat.observations
        }
        final_masks = None
        if self._masks is not None:
            empty = np.empty((0, self._seat.action.legal), np.bool_)
            final_masks = np.concatenate([empty, *(m for _, _, m in self._finals if m is not None)])
        return Trajectory(
            self._observations, self._actions, self._log_probs, self._reward, self._terminated, self._truncated,
            self._versions, np.concatenate([np.empty((0, 2), np.int64), *indices]), finals, self._masks, final_masks,
            self._values, self._state, self._valid,
        )  # fmt: skip


def join(trajectories: Sequence[Trajectory]) -> Trajectory:
    """Streams of several trajectories of one length side by side, in order; a single one is given back as it is.
    Raises EngineError when they differ in length."""
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
    return Trajectory(**fields, final_index=np.concatenate(shifted), valid=valid)

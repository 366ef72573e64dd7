"""Assembles single decisions into fragments of a fixed length."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.mdp.interface import Array, Observations, SeatSpec
from engine.mdp.trajectory import Decision, Trajectory


class Recorder:
    """Collects steps of B streams and gives a Trajectory after every ``length`` steps.

    Begin with the first observations; then record the decision and the outcome of every step. A fragment owns its
    arrays: nothing is written to them afterwards.
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
        """Begin with the first observations by name [B, …], their masks, and the recurrent state before the first
        decision."""
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
        """Record one step: the decision on the previous observations, its ``rewards`` float32[B, R] and flags bool[B],
        and the observations and masks that follow. ``finals``: (streams int64[m], last observations by name [m, …],
        masks) of episodes that ended. Returns the fragment when this step completes it."""
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
        """Keep the last observations of truncated episodes, which alone are bootstrapped from them."""
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

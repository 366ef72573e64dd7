"""Which parcels a learner can learn from. At an address that others know, too, anybody can send anything."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.experience import LARGEST, Columns, Floats, Parcel
from engine.mdp.interface import SeatSpec
from engine.mdp.trajectory import Trajectory
from engine.rl.mixed import LAST
from engine.rl.replayed import Replayed
from engine.rl.task_actor import LENGTH, RETURNS, SCORE, WIN

_MASKS = {"mask", f"{LAST}mask"}  # a game may have none although its seat has choices


class LearnableParcels:
    """Compares parcels with what ``learner`` itself makes of a decision."""

    def __init__(self, learner: Replayed) -> None:
        self._seat = learner.spec.seat
        self._columns = learner.transitions(_one_decision(self._seat))
        self._masked: set[str] | None = None

    def __call__(self, parcel: Parcel) -> bool:
        """Whether its columns have the names, types and shapes of this learner's, ordinary numbers and choices that
        there are, and its episodes all that is told of one."""
        return (
            self._learnable(parcel.columns)
            and self._episodes(parcel.episodes)
            and bool(np.isfinite(parcel.returns).all())
        )

    def _learnable(self, columns: Columns) -> bool:
        if not columns:
            return True  # an actor's last, which only says what was lost
        masked = columns.keys() & _MASKS
        if columns.keys() | _MASKS != self._columns.keys() | _MASKS or self._masked not in (None, masked):
            return False
        fits = all(_alike(column, self._columns[name]) for name, column in columns.items() if name in self._columns)
        if not fits or not masked <= self._columns.keys() or not self._chosen(columns["action"]):
            return False
        self._masked = masked
        return True

    def _chosen(self, actions: NDArray[Any]) -> bool:
        """Whether the choices in actions [n, …] are among those of the seat."""
        choices = self._seat.action.choices
        chosen = actions.reshape(len(actions), int(np.prod(actions.shape[1:])))[:, : len(choices)]
        return bool(((chosen >= 0) & (chosen < np.array(choices)) & (chosen == np.floor(chosen))).all())

    def _episodes(self, episodes: Floats) -> bool:
        """Whether it is a table of ``Parcel.episodes``. Wins and scores are not a number where a game tells of none."""
        if not len(episodes):
            return True
        if episodes.shape[1] != RETURNS + len(self._seat.rewards):
            return False
        known = np.delete(episodes, (WIN, SCORE), axis=1)
        counts = bool(((episodes[:, LENGTH] >= 0) & (episodes[:, LENGTH] < LARGEST)).all())
        won = episodes[:, WIN]
        shares = bool((np.isnan(won) | ((won >= 0) & (won <= 1))).all())
        return counts and shares and bool(np.isfinite(known).all()) and not np.isinf(episodes).any()


def _alike(column: NDArray[Any], own: NDArray[np.generic]) -> bool:
    if (column.dtype, column.shape[1:]) != (own.dtype, own.shape[1:]):
        return False
    return not np.issubdtype(column.dtype, np.floating) or bool(np.isfinite(column).all())


def _one_decision(seat: SeatSpec) -> Trajectory:
    """A fragment of one decision, in which nothing is seen and nothing happens."""
    no, legal = np.zeros((1, 1), np.bool_), seat.action.legal
    return Trajectory(
        observations={s.name: np.zeros((2, 1, *s.shape), s.dtype) for s in seat.observations},
        actions=seat.action.idle()[None], log_probs=np.zeros((1, 1), np.float32),
        rewards=np.zeros((1, 1, len(seat.rewards)), np.float32), terminated=no, truncated=no,
        versions=np.zeros((1, 1), np.int64), final_index=np.zeros((0, 2), np.int64),
        final_observations={s.name: np.zeros((0, *s.shape), s.dtype) for s in seat.observations},
        masks=np.ones((2, 1, legal), np.bool_) if legal else None,
        final_masks=np.ones((0, legal), np.bool_) if legal else None,
    )  # fmt: skip

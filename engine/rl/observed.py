"""Players that are looked at while they play: what they saw, and what they did."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.mdp.interface import Array
from engine.mdp.trajectory import Batch, Decision
from engine.rl.seats import Player


class Situation(NamedTuple):
    """What one decision is made from, each with one row: as in ``engine.mdp.trajectory.Batch``."""

    observations: dict[str, Array]
    mask: NDArray[np.bool_] | None
    key: NDArray[np.uint64]
    state: dict[str, Array]


class Observed:
    """A player, of whose decisions ``most`` to twice as many are kept: every n-th of them, where n doubles whenever
    there are too many. So what is kept is spread over all that it played and does not depend on chance."""

    def __init__(self, player: Player, most: int) -> None:
        self._player, self._most = player, most
        self._seen, self._every = 0, 1
        self._kept: list[Situation] = []

    @property
    def memory(self) -> Mapping[str, tuple[int, ...]]:
        """As the player's."""
        return self._player.memory

    def __call__(self, batch: Batch) -> Decision:
        """Decide as the player does."""
        i = -self._seen % self._every
        while i < len(batch.keys):
            self._keep(batch, i)
            i += 1
            i += -(self._seen + i) % self._every
        self._seen += len(batch.keys)
        return self._player(batch)

    def _keep(self, batch: Batch, i: int) -> None:
        row = slice(i, i + 1)
        self._kept.append(Situation(
            {name: array[row].copy() for name, array in batch.observations.items()},
            None if batch.masks is None else batch.masks[row].copy(), batch.keys[row].copy(),
            {name: array[row].copy() for name, array in batch.state.items()},
        ))  # fmt: skip
        if len(self._kept) > 2 * self._most:
            self._kept, self._every = self._kept[::2], 2 * self._every

    def situations(self) -> Batch:
        """``most`` of them, evenly, or as many as there were. Raises ValueError before it has played."""
        chosen = np.linspace(0, len(self._kept) - 1, min(self._most, len(self._kept))).astype(int)
        rows = [self._kept[i] for i in chosen]
        first = rows[0]
        return Batch(
            {name: np.concatenate([row.observations[name] for row in rows]) for name in first.observations},
            None if first.mask is None else np.concatenate([row.mask for row in rows if row.mask is not None]),
            np.concatenate([row.key for row in rows]),
            {name: np.concatenate([row.state[name] for row in rows]) for name in first.state},
        )  # fmt: skip


class Noted:
    """A player of a single battle whose moves are written down."""

    def __init__(self, player: Player) -> None:
        self._player = player
        self.moves: list[Array] = []

    @property
    def memory(self) -> Mapping[str, tuple[int, ...]]:
        """As the player's."""
        return self._player.memory

    def __call__(self, batch: Batch) -> Decision:
        """Decide as the player does."""
        decision = self._player(batch)
        self.moves.append(np.array(decision.actions[0]))
        return decision


def arrays_of(seen: Batch) -> dict[str, NDArray[Any]]:
    """Situations as named arrays."""
    found = {f"observation:{name}": array for name, array in seen.observations.items()}
    found |= {f"state:{name}": array for name, array in seen.state.items()} | {"keys": seen.keys}
    return found if seen.masks is None else found | {"masks": seen.masks}


def batch_of(arrays: Mapping[str, NDArray[Any]]) -> Batch:
    """The inverse of ``arrays_of``."""

    def below_(kind: str) -> dict[str, NDArray[Any]]:
        return {key.removeprefix(kind): array.copy() for key, array in arrays.items() if key.startswith(kind)}

    masks = arrays.get("masks")
    return Batch(
        below_("observation:"), None if masks is None else masks.copy(), arrays["keys"].copy(), below_("state:")
    )

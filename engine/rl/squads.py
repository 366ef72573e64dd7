"""A group's policy on the seats of a side: each member plays its seat, by its own network and what it sees itself."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from engine.mdp.groups import HERE, numbered
from engine.mdp.interface import GroupSpec, SeatSpec
from engine.mdp.trajectory import Batch, Decision
from engine.rl.policy import TEAM, Policy
from engine.rl.seats import Player


def fits(policy: Policy, seat: SeatSpec, side: int = 0) -> bool:
    """Whether a policy can play such a seat: it sees and does the same or, of a group whose members play apart, each
    member does. ``side``: seats of a side, where that is known."""
    spec = policy.spec.seat
    apart = isinstance(spec, GroupSpec) and policy.spec.kind.startswith(TEAM)
    own = spec.members if isinstance(spec, GroupSpec) and apart else (spec,)
    return (not apart or side in (0, len(own))) and all(
        (each.observations, each.action) == (seat.observations, seat.action) for each in own
    )


def on_seats(policy: Policy, player: Player) -> Player:
    """The ``player`` of a policy, for seats of which it takes all of a side together, in every battle: that of a group
    gets what all its members see."""
    spec = policy.spec.seat
    return _Squad(player, spec) if isinstance(spec, GroupSpec) else player


class _Squad:
    """Rows of a batch are all battles on its first seat, then those on the next."""

    def __init__(self, player: Player, seat: GroupSpec) -> None:
        self.memory: Mapping[str, tuple[int, ...]] = {}
        self._player, self._count = player, len(seat.members)

    def __call__(self, batch: Batch) -> Decision:
        """Each member's action, in the order of the rows."""
        n = len(batch.keys) // self._count
        seen = {
            numbered(name, i): array[i * n : (i + 1) * n]
            for i in range(self._count)
            for name, array in batch.observations.items()
        }
        seen[HERE] = np.full((n, self._count), 255, np.uint8)
        actions = self._player(Batch(seen, None, batch.keys[:n])).actions
        return Decision(np.concatenate(np.split(actions, self._count, axis=1)))

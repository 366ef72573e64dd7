"""A group's policy on the seats of a side: members with networks of their own play by what each sees itself, one large
network by what all see. A member that sees nothing but zeros is out of its battle, as in ``engine.mdp.groups``."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from engine.errors import ConfigError
from engine.mdp.groups import HERE, numbered
from engine.mdp.interface import GroupSpec, SeatSpec, members_of
from engine.mdp.trajectory import Batch, Decision
from engine.rl.policy import Policy
from engine.rl.seats import Player


def fits(policy: Policy, seat: SeatSpec, side: int = 0) -> bool:
    """Whether a policy can play such a seat: it sees and does the same or, of a group, each member does. ``side``:
    seats of a side, where that is known."""
    spec = policy.spec.seat
    own = members_of(spec)
    return (not isinstance(spec, GroupSpec) or side in (0, len(own))) and all(
        (each.observations, each.action) == (seat.observations, seat.action) for each in own
    )


def fill(player: Player, seats: int) -> None:
    """Raises ConfigError at ``policy`` for the player of a group that is not as large as the seats that it has."""
    if isinstance(player, _Squad) and player.count != seats:
        has = f"here it has {seats} seat{'' if seats == 1 else 's'}"
        why = f"this agent steers {player.count} entities together, and {has}: take a game that fits"
        raise ConfigError([("policy", why)])


def on_seats(policy: Policy, player: Player) -> Player:
    """The ``player`` of a policy, for seats of which it takes all of a side together, in every battle: that of a group
    gets what all its members see."""
    spec = policy.spec.seat
    return _Squad(player, spec) if isinstance(spec, GroupSpec) else player


class _Squad:
    """Rows of a batch are all battles on its first seat, then those on the next. What it remembers of a battle each of
    its seats keeps."""

    def __init__(self, player: Player, seat: GroupSpec) -> None:
        self.memory: Mapping[str, tuple[int, ...]] = player.memory
        self._player, self.count = player, len(seat.members)

    def __call__(self, batch: Batch) -> Decision:
        """Each member's action, in the order of the rows."""
        n = len(batch.keys) // self.count
        seen = {
            numbered(name, i): array[i * n : (i + 1) * n]
            for i in range(self.count)
            for name, array in batch.observations.items()
        }
        rows = [array.reshape(len(array), -1).any(axis=1) for array in batch.observations.values()]
        seen[HERE] = np.any(rows, axis=0).reshape(self.count, n).T.astype(np.uint8) * np.uint8(255)
        state = {name: kept[:n] for name, kept in batch.state.items()}
        decision = self._player(Batch(seen, None, batch.keys[:n], state))
        kept = {name: np.concatenate([new] * self.count) for name, new in decision.state.items()}
        return Decision(np.concatenate(np.split(decision.actions, self.count, axis=1)), state=kept)

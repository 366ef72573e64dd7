"""Policies of groups: a network for each member, all of them one vector θ = (θ_1, …, θ_N).

A group's seat (``engine.mdp.groups``) sees and does what all its members do. Here each member decides by what it sees
itself, so that what was learned together is played apart: ``members`` gives each one's own policy. A seat of one entity
is a group of one, so whatever learns here learns there, too.

Members that are alike (same observations in number and shape, same number of parameters) are computed together
(``engine.rl.dense.stacked``).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import cached_property
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.config.rl import NetworkConfig
from engine.errors import ConfigError
from engine.mdp.groups import HERE, numbered
from engine.mdp.interface import GroupSpec, SeatSpec, members_of
from engine.rl import dense
from engine.rl.networks import Network, Outputs, Parts, Recurrent, Seen

F32 = NDArray[np.float32]


class Member(NamedTuple):
    """One entity of a seat. ``seen``: its own names of observations, by those of the seat; ``does``: the places of its
    parameters among the seat's."""

    seat: SeatSpec
    seen: dict[str, str]
    does: slice


class Team:
    """The N entities that a seat steers. ``widths``: parameters of each."""

    def __init__(self, seat: SeatSpec) -> None:
        self.seat, alone = seat, not isinstance(seat, GroupSpec)
        found, at = [], 0
        for i, member in enumerate(members_of(seat)):
            seen = {each.name if alone else numbered(each.name, i): each.name for each in member.observations}
            width = len(member.action.bounds[0])
            found.append(Member(member, seen, slice(at, at + width)))
            at += width
        self.members = tuple(found)
        self.widths = [member.does.stop - member.does.start for member in found]
        self._whose = torch.repeat_interleave(torch.arange(len(found)), torch.tensor(self.widths))

    def paid(self, rewards: F32) -> F32:
        """What each member earned [T, B, N], from the seat's rewards [T, B, R]; where these are not told apart, each
        earned all of it."""
        counts = [len(member.seat.rewards) for member in self.members]
        if sum(counts) != rewards.shape[2]:
            return np.repeat(rewards.sum(axis=2, keepdims=True), len(counts), axis=2)
        ends = np.cumsum(counts)[:-1]
        return np.stack([part.sum(axis=2) for part in np.split(rewards, ends, axis=2)], axis=2)

    def here(self, s: Seen) -> Tensor:
        """1 for each member that is in the battle, else 0: float32[n, N]."""
        if isinstance(self.seat, GroupSpec):
            return (s[HERE] > 0).to(torch.float32)
        first = next(iter(s.values()))
        return first.new_ones((len(first), len(self.members)))

    def doing(self, here: Tensor) -> Tensor:
        """The same for each parameter [n, D]."""
        return here[:, self._whose.to(here.device)]


class TeamNetwork(Network):
    """The fixed structure of a group's networks, as ``engine.rl.networks.Network`` is that of one. ``outputs``: of all
    members, ``each`` for every parameter: those of the first kind of all members, then those of the second."""

    def __init__(self, seat: SeatSpec, config: NetworkConfig, outputs: int) -> None:
        if config.conv:
            raise ConfigError([("network.conv", "a group's members look at numbers: leave convolutions out")])
        if seat.pictures:  # each network would be as wide as a picture has pixels, and critics as all of them
            what = f"{seat.pictures[0]!r} is a picture, and a group's members look at numbers"
            raise ConfigError([("kind", f"{what}: take a learner that steers one entity at a time, such as ppo")])
        self.config, self.inputs, self.outputs, self.values = config, seat.observations, outputs, 0
        team = Team(seat)
        self.members, self.each = team.members, outputs // sum(team.widths)
        self.networks = [
            Network(member.seat, config, self.each * width, 0)
            for member, width in zip(team.members, team.widths, strict=True)
        ]
        self.names = [
            {name if len(self.members) == 1 else f"{i + 1}.{name}": name for name in network.shapes}
            for i, network in enumerate(self.networks)
        ]
        self.shapes = {
            name: network.shapes[own]
            for names, network in zip(self.names, self.networks, strict=True)
            for name, own in names.items()
        }
        self.sizes = [math.prod(shape) for shape in self.shapes.values()]
        self.size = sum(self.sizes)

    def own(self, i: int, tensors: Iterable[str]) -> dict[str, str]:
        """Which of a policy's ``tensors`` are the i-th member's, with their names in a policy of its own."""
        names = dict(self.names[i])
        for mine, own in self.members[i].seen.items():
            names |= {f"normaliser.{mine}.{part}": f"normaliser.{own}.{part}" for part in ("mean", "spread")}
        names["epsilon"] = "epsilon"
        return {name: names[name] for name in tensors if name in names}

    def initial(self, rng: np.random.Generator) -> F32:
        """An initial θ float32[size]: members differ."""
        return np.concatenate([network.initial(rng) for network in self.networks])

    def __call__(
        self, parts: Parts, observations: Seen, state: Recurrent | None = None, *, critic: bool = True
    ) -> Outputs:
        """Outputs [n, K] of all members for scaled observations by the seat's names."""
        made = []
        for member, names, network in zip(self.members, self.names, self.networks, strict=True):
            own = {local: parts[name] for name, local in names.items()}
            made.append(network(own, _own(member, observations), critic=False).policy)
        return self._together(made)

    def policy_of(self, theta: Tensor, observations: Seen) -> Outputs:
        """As ``__call__`` with the parts of θ, faster."""
        if len(self._alike) == 1:
            ((_, layers),) = self._alike
            x = torch.stack([_flat(member, observations) for member in self.members])
            y = dense.stacked(theta.view(len(x), -1), x, layers)
            return self._of(y.view(*y.shape[:2], self.each, -1).permute(1, 2, 0, 3).flatten(1))
        made: list[Tensor] = [theta] * len(self.members)
        pieces = torch.split(theta, [network.size for network in self.networks])
        for alike, layers in self._alike:
            x = torch.stack([_flat(self.members[i], observations) for i in alike])
            own = torch.stack([pieces[i] for i in alike])
            for i, y in zip(alike, dense.stacked(own, x, layers).unbind(), strict=True):
                made[i] = y
        return self._together(made)

    @cached_property
    def _alike(self) -> list[tuple[list[int], dense.Layers]]:
        """Members with networks of the same shape, and that shape."""
        found: dict[tuple[int, ...], list[int]] = {}
        for i, network in enumerate(self.networks):
            matrices = [shape for shape in network.shapes.values() if len(shape) == 2]
            found.setdefault((matrices[0][1], *(units for units, _ in matrices)), []).append(i)
        return [(alike, dense.Layers(widths, self.config.activation)) for widths, alike in found.items()]

    def _together(self, made: list[Tensor]) -> Outputs:
        """All members' outputs, kind by kind."""
        kinds = [y.view(len(y), self.each, -1) for y in made]
        return self._of(torch.cat(kinds, dim=2).flatten(1))

    @staticmethod
    def _of(y: Tensor) -> Outputs:
        return Outputs(y, y.new_empty(0))


def _own(member: Member, observations: Seen) -> dict[str, Tensor]:
    return {local: observations[name] for name, local in member.seen.items()}


def _flat(member: Member, observations: Seen) -> Tensor:
    """What a member sees in one row of numbers."""
    rows = [observations[name].flatten(1) if observations[name].dim() > 1 else observations[name][:, None]
            for name in member.seen]  # fmt: skip
    return rows[0] if len(rows) == 1 else torch.cat(rows, dim=1)

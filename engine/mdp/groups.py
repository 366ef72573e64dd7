"""Entities that one player steers together: several seats of a game as one (Staley et al. 2021, sections 3.3 and 4.3).

How a group is given: ``Grouped(game, [Group((0, 1, 2)), Group((3,)), …])`` is the game with one seat for each group, in
this order; every seat of the game belongs to exactly one. It is a ``VectorMDP`` like any other, so casts, samplers,
trajectories, replays and examinations know nothing of groups: one row of a trajectory holds what all members saw and
did. A group of one seat is that seat, unchanged, so this also says in which order seats come. Whoever sits on a group's
seat needs to know only its ``GroupSpec``: joint observations in, joint actions out. Which seats of which game these
are, and who sits on the others, is not its business. The learners that are made for groups are ``engine.rl.masac`` and
``engine.rl.maddpg``; any other that steers with numbers (SAC, say) takes a group as one large seat.

A group's seat:

- observes everything that its members do, with the member's number in the name ("view 1", "view 2"; zeros for a member
  that is out), and ``HERE`` uint8[members]: 255 for a member that is in the battle, 0 for one that is out. Who sees
  nothing but zeros counts as out: in play nothing else tells it, and training must see what play does;
- acts with all members' numbers, one member after the other;
- is rewarded with the sum of its members' rewards of one name or, where ``apart``, with each member's rewards under a
  name with its number, one member after the other;
- is in the battle as long as any member is; its win is the first member's, its score and signals are means over members
  (a signal: over those that have it).

Departure: the paper's lists give a group no observation like ``HERE``; entities that are out send and receive nulls.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from engine.errors import ConfigError
from engine.mdp.interface import (
    Array,
    ArraySpec,
    Continuous,
    GroupSpec,
    MDPSpec,
    Observations,
    SeatSpec,
    action_problem,
)
from engine.mdp.limits import SAID
from engine.mdp.vector import Ended, Game, VectorMDP, VectorStep, in_turns

HERE = "here"
"""The observation that tells which members are in the battle."""
Bools = NDArray[np.bool_]


class Group(NamedTuple):
    """The ``seats`` of a game that are steered together; ``apart``: each member's rewards have names of their own."""

    seats: tuple[int, ...]
    apart: bool = False


def numbered(name: str, member: int) -> str:
    """What the ``member``-th entity, from 0, calls ``name``, as its group calls it."""
    return f"{name} {member + 1}"


class _Steered:
    """One group of a game: what its seat is, sees, does and gets. ``own``: positions [members][R] of each member's
    rewards among those of the group."""

    def __init__(self, seats: Sequence[SeatSpec], group: Group) -> None:
        self.seats, self.alone = group.seats, len(group.seats) == 1
        self.members = tuple(seats[seat] for seat in group.seats)
        self.apart = group.apart and not self.alone
        self.widths = [len(member.action.bounds[0]) for member in self.members]
        names = dict.fromkeys(name for member in self.members for name in member.signals)
        self.signals = tuple(names)
        self.rewards, self.own = self._paid()

    def _paid(self) -> tuple[tuple[str, ...], list[list[int]]]:
        named = [
            [numbered(name, i) if self.apart else name for name in member.rewards]
            for i, member in enumerate(self.members)
        ]
        names = tuple(dict.fromkeys(name for own in named for name in own))
        return names, [[names.index(name) for name in own] for own in named]

    @cached_property
    def spec(self) -> SeatSpec:
        """Raises ConfigError for members that do not all steer with numbers."""
        if self.alone:
            return self.members[0]
        if wrong := [s for s, member in zip(self.seats, self.members, strict=True) if not _steers(member)]:
            why = f"a group steers with numbers, and on seat {wrong[0]} one of several actions is chosen"
            raise ConfigError([("kind", why)])
        seen = [
            msgspec.structs.replace(each, name=numbered(each.name, i))
            for i, member in enumerate(self.members)
            for each in member.observations
        ]
        low, high = (np.concatenate([member.action.bounds[i] for member in self.members]).tolist() for i in range(2))
        return GroupSpec(
            (*seen, ArraySpec(HERE, (len(self.members),), "uint8")),
            Continuous(tuple(low), tuple(high), (len(low),)), self.rewards, self.signals, self.members,
        )  # fmt: skip

    def seen(self, observations: Sequence[Observations], alive: Bools) -> Observations:
        """What it sees; ``alive`` bool[n, members]."""
        if self.alone:
            return observations[self.seats[0]]
        found: Observations = {}
        for i, seat in enumerate(self.seats):
            out = ~alive[:, i]
            for name, array in observations[seat].items():
                found[numbered(name, i)] = _without(array, out)
        found[HERE] = alive.astype(np.uint8) * np.uint8(255)
        return found

    def added(self, rewards: Array, width: int) -> Array:
        """Its rewards [n, width], from those of all seats [n, seats, R]."""
        found = np.zeros((len(rewards), width), rewards.dtype)
        for seat, own in zip(self.seats, self.own, strict=True):
            for i, at in enumerate(own):
                found[:, at] += rewards[:, seat, i]
        return found

    def merged_signals(self, signals: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
        """Its signals [m, S]."""
        if self.alone:
            return signals[self.seats[0]]
        having = [
            [signals[seat][:, member.signals.index(name)]
             for seat, member in zip(self.seats, self.members, strict=True) if name in member.signals]
            for name in self.signals
        ]  # fmt: skip
        rows = [np.mean(columns, axis=0) for columns in having]
        return np.stack(rows, axis=1) if rows else np.zeros((len(signals[self.seats[0]]), 0))

    def play(self, action: Array, actions: list[Array]) -> None:
        """Write its members' actions into those of all seats."""
        at = 0
        for seat, width in zip(self.seats, self.widths, strict=True):
            actions[seat] = action if self.alone else np.ascontiguousarray(action[:, at : at + width])
            at += width


def seat_of(seats: Sequence[SeatSpec], group: Group) -> SeatSpec:
    """The seat of a group. Raises ConfigError at ``kind`` for members that do not steer with numbers."""
    return _Steered(seats, group).spec


def _steers(member: SeatSpec) -> bool:
    return isinstance(member.action, Continuous)


def _without(array: Array, out: Bools) -> Array:
    """An array with zeros in these rows."""
    if not out.any():
        return array
    found = array.copy()
    found[out] = 0
    return found


class Grouped:
    """A game with a seat for each group. It has what else the game may say (``engine.mdp.limits.SAID``). Raises
    ConfigError for seats that are in no group or in two, for members that do not steer with numbers, and for a game in
    turns."""

    def __init__(self, game: Game, groups: Iterable[Group]) -> None:
        given = tuple(groups)
        if in_turns(game):
            raise ConfigError([("seats", "a group needs entities that act at once, and in this game they take turns")])
        seats = game.spec.seats
        if sorted(seat for group in given for seat in group.seats) != list(range(len(seats))):
            raise ConfigError([("seats", f"each of the {len(seats)} seats belongs to one group, and to one only")])
        self.game: VectorMDP = game
        self._groups = [_Steered(seats, group) for group in given]
        self.spec = _grouped(game.spec, given, tuple(each.spec for each in self._groups))
        vars(self).update({name: getattr(game, name) for name in SAID if hasattr(game, name)})

    def reset(self, seeds: NDArray[np.uint64]) -> VectorStep:
        """As ``VectorMDP.reset``."""
        return self._step(self.game.reset(seeds))

    def step(self, actions: Sequence[Array]) -> VectorStep:
        """As ``VectorMDP.step``."""
        given: list[Array] = [np.empty(0)] * len(self.game.spec.seats)
        for i, (seat, group) in enumerate(zip(self.spec.seats, self._groups, strict=True)):
            if problem := action_problem(seat.action, actions[i], len(actions[i])):
                raise ConfigError([(f"seat {i}", f"the actions {problem}")])
            group.play(actions[i], given)
        return self._step(self.game.step(given))

    def close(self) -> None:
        """Release the game's resources."""
        self.game.close()

    def _step(self, step: VectorStep) -> VectorStep:
        ended = None if step.ended is None else self._ended(step.ended)  # who was in its battles before the last move
        self._alive = step.alive.copy()
        alive = [self._alive[:, group.seats] for group in self._groups]
        sees = np.stack([self._sees(observations) for observations in step.observations], axis=1)
        sighted = [sees[:, group.seats] & here for group, here in zip(self._groups, alive, strict=True)]
        return VectorStep(
            tuple(group.seen(step.observations, here) for group, here in zip(self._groups, sighted, strict=True)),
            tuple(step.masks[group.seats[0]] if group.alone else None for group in self._groups),
            self._paid(step.rewards), step.terminated, step.truncated,
            np.stack([here.any(axis=1) for here in alive], axis=1), ended, self._cut(step, alive),
        )  # fmt: skip

    def _cut(self, step: VectorStep, alive: Sequence[Bools]) -> Bools | None:
        """Groups that are out from now on, as a limit cut off the last of their members."""
        if step.cut is None:
            return None
        each = zip(self._groups, alive, strict=True)
        return np.stack([step.cut[:, group.seats].any(axis=1) & ~here.any(axis=1) for group, here in each], axis=1)

    @staticmethod
    def _sees(observations: Observations) -> Bools:
        """Whether there is anything but zeros in each row."""
        each = [array.reshape(len(array), -1).any(axis=1) for array in observations.values()]
        return np.asarray(np.any(each, axis=0), np.bool_)

    def _paid(self, rewards: Array) -> Array:
        return np.stack([group.added(rewards, self.spec.rewards) for group in self._groups], axis=1)

    def _ended(self, ended: Ended) -> Ended:
        first = [group.seats[0] for group in self._groups]
        seen = [self._sees(observations) for observations in ended.observations]
        alive = self._alive[ended.battles] & np.stack(seen, axis=1)  # who fell in the last decision sees nothing
        return ended._replace(
            returns=self._paid(ended.returns), win=ended.win[:, first],
            score=np.stack([ended.score[:, group.seats].mean(axis=1) for group in self._groups], axis=1),
            signals=tuple(group.merged_signals(ended.signals) for group in self._groups),
            observations=tuple(group.seen(ended.observations, alive[:, group.seats]) for group in self._groups),
            masks=tuple(ended.masks[group.seats[0]] if group.alone else None for group in self._groups),
            out=None if ended.out is None else np.stack(
                [ended.out[:, group.seats].all(axis=1) for group in self._groups], axis=1
            ),
        )  # fmt: skip


def grouped(game: Game, groups: Sequence[Group]) -> Game:
    """The game with these groups; the game itself where each seat is one of its own. Raises ConfigError as
    ``Grouped``."""
    return game if all(group.seats == (i,) for i, group in enumerate(groups)) else Grouped(game, groups)


def _grouped(spec: MDPSpec, groups: Sequence[Group], seats: tuple[SeatSpec, ...]) -> MDPSpec:
    """The game's description with other seats. Sides of several seats remain sides where each has equally many groups
    of its own, one side after the other."""
    sides = [{seat // spec.squad for seat in group.seats} for group in groups]
    order = [min(side) for side in sides]
    counts = {order.count(side) for side in order}
    whole = all(len(side) == 1 for side in sides) and order == sorted(order) and len(counts) == 1
    return msgspec.structs.replace(spec, seats=seats, squad=counts.pop() if whole else 1)

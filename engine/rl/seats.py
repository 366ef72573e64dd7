"""The seats of many battles played together: the policy on each seat, and its decisions, one batch per policy.

Everything derives from the battles' seeds: the cast of an episode (``engine.rl.cast``), and the noise of a decision, a
hash of (episode's seed, decision, seat). So a battle depends neither on other battles nor on the batch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from engine.compiling import njit
from engine.config.limits import LimitsConfig
from engine.errors import ConfigError
from engine.mdp.interface import Array, MDPSpec, SeatSpec
from engine.mdp.trajectory import Batch, Decision
from engine.mdp.vector import Ended, SeatEnds, VectorStep, episode_seeds, seat_ends
from engine.rl.cast import Cast, Snapshots
from engine.rl.stream_hands import StreamHands
from engine.rng import GOLDEN, combine64, mix64
from engine.splitmix import mix

I64 = NDArray[np.int64]
U64 = NDArray[np.uint64]


class Player(Protocol):
    """Decides for seats: a policy, or a script."""

    @property
    def memory(self) -> Mapping[str, tuple[int, ...]]:
        """Shapes of one seat's recurrent state by name, zeros at the beginning of an episode; empty without one."""
        ...

    def __call__(self, batch: Batch) -> Decision:
        """A decision for each row."""
        ...


class Slowed(NamedTuple):
    """A player with limits of its own, to which whoever seats it holds it and nobody else."""

    player: Player
    limits: LimitsConfig

    @property
    def memory(self) -> Mapping[str, tuple[int, ...]]:
        """That of the player."""
        return self.player.memory

    def __call__(self, batch: Batch) -> Decision:
        """What the player decides, before anything is held back."""
        return self.player(batch)


def slowed(player: Player, own: LimitsConfig | None, of_all: LimitsConfig | None) -> Player:
    """The player with its ``own`` limits, in a game that holds everybody to those ``of_all`` already."""
    left = None if own is None else own.beyond(of_all or LimitsConfig())
    return player if left is None or not left.any else Slowed(player, left)


Players = Callable[[str], Player]
"""The player of a policy that does not learn, by its id."""


def nobody_else(policy: str) -> Player:
    """The ``Players`` of a game in which all policies learn."""
    raise ConfigError([("policies", f"there is no policy {policy!r}")])


class Keys:
    """The noise keys of n battles, as ``engine.mdp.vector.noise_keys`` defines them, advanced with the episodes."""

    def __init__(self, seeds: U64, seat: int) -> None:
        self._seeds, self._seat = seeds, seat
        self._episodes = np.zeros(len(seeds), np.int64)
        self.ticks = np.zeros(len(seeds), np.int64)
        self._base = self._bases(seeds)

    def _bases(self, seeds: U64) -> U64:
        with np.errstate(over="ignore"):
            return mix64(combine64(seeds, self._seat + 1)) + GOLDEN

    def now(self) -> U64:
        """Keys uint64[n] of the current decision."""
        return _mixed(self._base, self.ticks)

    def move(self, ended: Ended | None) -> None:
        """Advance by one decision; where an episode ended, to the next episode."""
        self.ticks += 1
        if ended is not None:
            i = ended.battles
            self._episodes[i] += 1
            self.ticks[i] = 0
            self._base[i] = self._bases(episode_seeds(self._seeds[i], self._episodes[i]))


@njit(cache=True)
def _mixed(base: U64, ticks: I64) -> U64:
    keys = np.empty_like(base)
    for n in range(len(base)):
        keys[n] = mix(base[n] + np.uint64(ticks[n]))
    return keys


class Turn(NamedTuple):
    """A policy's decisions. ``streams`` int64[m]: the streams of the m rows (a stream is a battle on one of the
    policy's seats, all battles of the first seat first); None if the rows are all streams in order."""

    decision: Decision
    streams: I64 | None


class _Sitter:
    """A policy, the battles it plays on each of its seats (None: all), and the recurrent state and the hands of all its
    streams. ``seats``: those of the battles; ``entities``: the seat of the game that each of them is."""

    def __init__(
        self, player: Player, places: Sequence[int], n: int, seats: Sequence[SeatSpec], entities: Sequence[int]
    ) -> None:
        self.player, self.places, self.n, self.entities = player, tuple(places), n, entities
        self.hands: StreamHands | None = None
        if isinstance(player, Slowed):
            self.hands = StreamHands(seats[places[0]], len(places) * n, player.limits)
        self.battles: list[tuple[int, I64 | None]] = []
        self.streams: I64 | None = None
        self._entities = np.empty(0, np.int64)
        self.memory: dict[str, Array] = {
            name: np.zeros((len(self.places) * n, *shape), np.float32) for name, shape in player.memory.items()
        }

    def seat(self, on: Mapping[int, I64]) -> None:
        """Assign it these battles on these seats."""
        self.battles = [(seat, None if len(battles) == self.n else battles) for seat, battles in on.items()]
        whole = tuple(on) == self.places and all(battles is None for _, battles in self.battles)
        counts = [len(battles) for battles in on.values()]
        self._entities = np.repeat(np.array([self.entities[seat] for seat in on], np.int64), counts)
        streams = [self.places.index(seat) * self.n + battles for seat, battles in on.items()]
        self.streams = None if whole or not on else np.concatenate(streams)

    def decide(self, step: VectorStep, keys: Sequence[U64]) -> Decision:
        """Decide for its rows and update their recurrent state."""
        names = step.observations[self.battles[0][0]]
        seen = {name: self._rows([step.observations[seat][name] for seat, _ in self.battles]) for name in names}
        masks = [step.masks[seat] for seat, _ in self.battles]
        mine = {name: kept if self.streams is None else kept[self.streams] for name, kept in self.memory.items()}
        legal = None if masks[0] is None else self._rows(masks)
        drawn = self._rows([keys[seat] for seat, _ in self.battles])
        decision = self.player(Batch(seen, legal, drawn, mine, self._entities))
        for name, kept in decision.state.items():
            if self.streams is None:
                self.memory[name] = kept
            else:
                self.memory[name][self.streams] = kept
        return decision if self.hands is None else self.hands.held(decision, legal, self.streams)

    def _rows(self, arrays: Sequence[Any]) -> Any:
        """Its rows of ``arrays``, which holds one array per seat."""
        pairs = zip(arrays, self.battles, strict=True)
        return joined([array if battles is None else array[battles] for array, (_, battles) in pairs])

    def play(self, decision: Decision, actions: Sequence[Array]) -> None:
        """Write its decision into the ``actions`` [n, …] of each seat."""
        at = 0
        for seat, battles in self.battles:
            end = at + (self.n if battles is None else len(battles))
            actions[seat][slice(None) if battles is None else battles] = decision.actions[at:end]
            at = end

    def forget(self, ends: Sequence[SeatEnds]) -> None:
        """Reset the recurrent state and the hands where an episode has ended for a seat."""
        if self.memory or self.hands is not None:
            over = np.concatenate([ends[seat].terminated | ends[seat].truncated for seat in self.places])
            for kept in self.memory.values():
                kept[over] = 0
            if self.hands is not None:
                self.hands.restart(np.flatnonzero(over))


class Seats:
    """The seats of n battles. ``learning``: the players of learning policies; ``players`` gives all others;
    ``entities``: the seat of the game that each seat is, where some are steered together (``engine.mdp.groups``).

    ``who`` int64[n, seats]: the current cast, as indices into ``names``; ``snapshots``: those that the casts of new
    episodes may draw from."""

    def __init__(
        self, spec: MDPSpec, cast: Cast, learning: Mapping[str, Player], players: Players,
        entities: Sequence[int] | None = None,
    ) -> None:  # fmt: skip
        self.spec, self.cast, self._learning, self._players = spec, cast, dict(learning), players
        self._entities = range(len(spec.seats)) if entities is None else entities
        self.snapshots: Snapshots = {}
        self._numbers: dict[str, int] = {}

    def begin(self, seeds: U64) -> None:
        """Begin new battles with these seeds uint64[n]."""
        n, seats = len(seeds), len(self.spec.seats)
        self._seeds, self._episodes = seeds, np.zeros(n, np.int64)
        self._keys = [Keys(seeds, seat) for seat in range(seats)]
        self._alive = np.ones((n, seats), np.bool_)
        self._sitters = {name: self._sitter(name, p, n) for name, p in self._learning.items()}
        self.who = np.zeros((n, seats), np.int64)
        self._draw(np.arange(n))

    @property
    def names(self) -> list[str]:
        """All policies that may have played so far."""
        return list(self._numbers)

    def memory(self, policy: str) -> dict[str, Array]:
        """The recurrent state of a learning policy's streams, by name."""
        return self._sitters[policy].memory

    def act(self, step: VectorStep) -> tuple[list[Array], dict[str, Turn]]:
        """The actions of every seat, and the decisions of each policy."""
        keys, n = [key.now() for key in self._keys], len(self._seeds)
        actions = [np.empty((n, *seat.action.row), seat.action.dtype) for seat in self.spec.seats]
        turns: dict[str, Turn] = {}
        for policy, sitter in self._sitters.items():
            if sitter.battles:
                turns[policy] = Turn(sitter.decide(step, keys), sitter.streams)
                sitter.play(turns[policy].decision, actions)
        return actions, turns

    def ends(self, after: VectorStep) -> list[SeatEnds]:
        """The ends of episodes in a step, for each seat. Call once per step, before ``move``."""
        before, self._alive = self._alive, after.alive.copy()
        found = [seat_ends(before, after, seat) for seat in range(len(self._keys))]
        for sitter in self._sitters.values():
            sitter.forget(found)
        return found

    def move(self, ended: Ended | None) -> None:
        """Advance by one decision; where an episode ended, the next one begins with a new cast."""
        for key in self._keys:
            key.move(ended)
        if ended is not None:
            self._episodes[ended.battles] += 1
            if not self.cast.fixed:
                self._draw(ended.battles)

    def _draw(self, battles: I64) -> None:
        """Draw the casts of the episodes that begin in these battles, and assign the seats."""
        names = self.cast.names(self.snapshots)
        numbers = [self._numbers.setdefault(name, len(self._numbers)) for name in names]
        self.who[battles] = np.array(numbers)[
            self.cast.draw(self._seeds[battles], self._episodes[battles], self.snapshots)
        ]
        present = set(np.unique(self.who).tolist())
        for policy, number in self._numbers.items():
            if number in present:
                self._sit(policy, number)
            elif policy in self._learning:
                self._sitters[policy].seat({})
            else:
                self._sitters.pop(policy, None)

    def _sitter(self, policy: str, player: Player, n: int) -> _Sitter:
        return _Sitter(player, self.cast.places(policy), n, self.spec.seats, self._entities)

    def _sit(self, policy: str, number: int) -> None:
        sitter = self._sitters.get(policy)
        if sitter is None:
            sitter = self._sitters[policy] = self._sitter(policy, self._players(policy), len(self.who))
        found = {seat: np.flatnonzero(self.who[:, seat] == number) for seat in sitter.places}
        sitter.seat({seat: battles for seat, battles in found.items() if len(battles)})


def joined(arrays: Sequence[Any]) -> Any:
    """Arrays concatenated; a single one unchanged."""
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)

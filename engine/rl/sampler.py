"""Plays many battles at once with its own copy of a policy, and gives trajectories of exactly one length.

A sampler never waits for a learner: it plays on with the weights it was last given, and every decision carries their
version. Its randomness is that of its seed: battle i of a beginning plays episodes whose seeds are a hash of (seed,
beginning, i, episode), and the policy's noise is a hash of (episode's seed, decision, seat). So the same weights at the
same moments give the same trajectories, whatever else happens.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from engine.errors import ConfigError
from engine.mdp.interface import Array
from engine.mdp.trajectory import Batch, Decision, Recorder, Trajectory
from engine.mdp.vector import Ended, VectorMDP, VectorStep, episode_seeds, seat_ends
from engine.rl.policy import Actor, Model
from engine.rng import battle_seeds, combine64, mix64

F32 = NDArray[np.float32]
U64 = NDArray[np.uint64]
Player = Callable[[Batch], Decision]
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


class Episode(NamedTuple):
    """How an episode ended for one seat: its seed and length in decisions, its returns float64[R] (undiscounted), win,
    score and named signals float64[S]."""

    seat: int
    seed: int
    length: int
    returns: NDArray[np.float64]
    win: float
    score: float
    signals: NDArray[np.float64]


class Keys:
    """The keys of n battles' noise, as ``engine.mdp.vector.noise_keys`` makes them, kept up as episodes go by."""

    def __init__(self, seeds: U64, seat: int) -> None:
        self._seeds, self._seat = seeds, seat
        self._episodes = np.zeros(len(seeds), np.int64)
        self.ticks = np.zeros(len(seeds), np.int64)
        self._base = self._bases(seeds)

    def _bases(self, seeds: U64) -> U64:
        with np.errstate(over="ignore"):
            return mix64(combine64(seeds, self._seat + 1)) + _GOLDEN

    def now(self) -> U64:
        """Keys uint64[n] of this decision."""
        return _mixed(self._base, self.ticks)

    def move(self, ended: Ended | None) -> None:
        """One decision later; where an episode ended the next one begins."""
        self.ticks += 1
        if ended is not None:
            i = ended.battles
            self._episodes[i] += 1
            self.ticks[i] = 0
            self._base[i] = self._bases(episode_seeds(self._seeds[i], self._episodes[i]))


@njit(cache=True)
def _mixed(base: U64, ticks: NDArray[np.int64]) -> U64:
    keys = np.empty_like(base)
    for n in range(len(base)):
        x = base[n] + np.uint64(ticks[n])
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        keys[n] = x ^ (x >> np.uint64(31))
    return keys


class Sampler:
    """n battles of a game of which one or more seats learn, all with the same policy.

    ``learning``: their places among the game's seats; ``others``: who plays each of the rest. Streams of a trajectory
    are the battles of the first learning seat, then those of the next. Raises ConfigError when a seat is not played, or
    when learning seats differ in what they see or do.
    """

    def __init__(
        self,
        mdp: VectorMDP,
        model: Model,
        battles: int,
        length: int,
        seed: int,
        *,
        learning: Sequence[int] = (0,),
        others: Mapping[int, Player] | None = None,
        number: int = 0,
    ) -> None:
        self.mdp, self.actor, self.battles, self.length, self.seed = mdp, Actor(model), battles, length, seed
        self.learning, self.others, self.number = tuple(learning), dict(others or {}), number
        seats = mdp.spec.seats
        if {*self.learning, *self.others} != set(range(len(seats))):
            raise ConfigError([("seats", f"each of the {len(seats)} seats needs a player, and there is none for some")])
        if any(seats[seat] != model.spec.seat for seat in self.learning):
            raise ConfigError([("learning", "all learning seats must see, do and be rewarded as the policy's seat")])
        self.seat = model.spec.seat
        self.episodes: list[Episode] = []
        self._begun = False

    def load(self, weights: F32, version: int) -> None:
        """Play on with these weights."""
        self.actor.load(weights, version)

    def begin(self, beginning: int = 0) -> None:
        """Start all battles afresh; what follows depends on this number and the weights alone."""
        matches = np.array([self.number], np.uint64)
        seeds = battle_seeds(self.seed, matches, beginning * self.battles, (beginning + 1) * self.battles)[0]
        self._step = self.mdp.reset(seeds)
        self._keys = [Keys(seeds, seat) for seat in range(len(self.mdp.spec.seats))]
        streams = len(self.learning) * self.battles
        shapes = self.actor.memory
        self._memory = {name: np.zeros((streams, *shape), np.float32) for name, shape in shapes.items()}
        self._recorder = Recorder(self.seat, streams, self.length)
        self._recorder.begin(self._seen(self._step), self._masks(self._step), self._memory)
        self._alive = np.ones((self.battles, len(self._keys)), np.bool_)
        self._begun = True

    def sample(self, before: Callable[[], None] | None = None) -> Trajectory:
        """The next ``length`` decisions of every stream. ``before``: called before each decision; it may ``load``."""
        if not self._begun:
            self.begin()
        while True:
            if before is not None:
                before()
            if (fragment := self._advance()) is not None:
                return fragment

    def finished(self) -> list[Episode]:
        """The learning seats' episodes that ended since this was last asked."""
        found, self.episodes = self.episodes, []
        return found

    def _advance(self) -> Trajectory | None:
        """One decision of every battle."""
        before = self._step
        keys = [key.now() for key in self._keys]
        mine = self._joined([keys[seat] for seat in self.learning])
        decision = self.actor(Batch(self._seen(before), self._masks(before), mine, self._memory))
        actions: list[Array] = [np.empty(0)] * len(keys)
        for i, seat in enumerate(self.learning):
            actions[seat] = decision.actions[i * self.battles : (i + 1) * self.battles]
        for seat, player in self.others.items():
            actions[seat] = player(Batch(before.observations[seat], before.masks[seat], keys[seat])).actions
        after = self._step = self.mdp.step(actions)
        fragment = self._record(decision, after)
        for key in self._keys:
            key.move(after.ended)
        return fragment

    def _record(self, decision: Decision, after: VectorStep) -> Trajectory | None:
        R = len(self.seat.rewards)
        each = [seat_ends(self._alive, after, seat) for seat in self.learning]
        terminated, truncated, valid = (self._joined(flags) for flags in zip(*each, strict=True))
        rewards = self._joined([after.rewards[:, seat, :R] for seat in self.learning])
        finals = None
        if after.ended is not None:
            finals = self._finals(after.ended)
            self._count(after.ended)
        for array in decision.state.values():
            array[terminated | truncated] = 0
        self._memory = decision.state
        self._alive = after.alive.copy()
        return self._recorder.step(
            decision, self.actor.version, rewards, terminated, truncated, self._seen(after), self._masks(after),
            finals=finals, valid=valid,
        )  # fmt: skip

    def _seen(self, step: VectorStep) -> dict[str, Array]:
        if len(self.learning) == 1:
            return step.observations[self.learning[0]]
        names = step.observations[self.learning[0]]
        return {name: np.concatenate([step.observations[seat][name] for seat in self.learning]) for name in names}

    def _masks(self, step: VectorStep) -> NDArray[np.bool_] | None:
        found = [step.masks[seat] for seat in self.learning]
        return None if found[0] is None else self._joined(found)

    def _finals(self, ended: Ended) -> tuple[NDArray[np.int64], dict[str, Array], NDArray[np.bool_] | None]:
        streams = np.concatenate([ended.battles + i * self.battles for i in range(len(self.learning))])
        names = ended.observations[self.learning[0]]
        seen = {name: np.concatenate([ended.observations[seat][name] for seat in self.learning]) for name in names}
        masks = [ended.masks[seat] for seat in self.learning]
        return streams, seen, None if masks[0] is None else self._joined(masks)

    def _count(self, ended: Ended) -> None:
        R = len(self.seat.rewards)
        for seat in self.learning:
            for i in range(len(ended.battles)):
                self.episodes.append(
                    Episode(
                        seat, int(ended.seeds[i]), int(ended.lengths[i]), ended.returns[i, seat, :R].copy(),
                        float(ended.win[i, seat]), float(ended.score[i, seat]), ended.signals[seat][i].copy(),
                    )
                )  # fmt: skip

    @staticmethod
    def _joined(arrays: Sequence[Any]) -> Any:
        return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)

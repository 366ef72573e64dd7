"""Plays many battles at once with its own copies of policies, and gives trajectories of a fixed length.

A sampler never waits for a learner: it plays on with the weights it has, and every decision carries their version. Its
random numbers derive from its seed: the seed of an episode of battle i is a hash of (seed, beginning, i, episode), and
determines the cast (``engine.rl.cast``) and the noise of every decision. So the same weights at the same moments give
the same trajectories.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.channel import Weights
from engine.errors import ConfigError
from engine.mdp.interface import Array, MDPSpec
from engine.mdp.recorder import Recorder
from engine.mdp.trajectory import Decision, Trajectory, streams_of
from engine.mdp.vector import Ended, SeatEnds, VectorMDP, VectorStep
from engine.rl.cast import Cast, everywhere
from engine.rl.policy import Actor, Model
from engine.rl.seats import Players, Seats, Turn, joined, nobody_else
from engine.rng import battle_seeds


class Episode(NamedTuple):
    """A finished episode for one seat: its seed and length in decisions (the seat's own, where seats take turns), its
    returns float64[R] (undiscounted), win, score and named signals float64[S]; the policy on the seat, and, in seat
    order, those of its ``others``: of all seats that are not on its side."""

    seat: int
    seed: int
    length: int
    returns: NDArray[np.float64]
    win: float
    score: float
    signals: NDArray[np.float64]
    policy: str = ""
    others: tuple[str, ...] = ()


def sides_of(spec: MDPSpec) -> list[int]:
    """The side of each seat. Where nobody says who is on whose side, each seat is one of its own."""
    return [seat // spec.squad for seat in range(len(spec.seats))]


def opposing(who: Sequence[str], seat: int, sides: Sequence[int]) -> tuple[str, ...]:
    """Those on seats of other sides, in seat order."""
    return tuple(name for name, side in zip(who, sides, strict=True) if side != sides[seat])


def cast_for(spec: MDPSpec, learning: Mapping[str, Model], cast: Cast | None) -> Cast:
    """The cast of a game; by default the only learning policy on every seat. Raises ConfigError as ``Sampler``."""
    seats = spec.seats
    cast = cast or everywhere(next(iter(learning)), len(seats))
    if len(cast.seats) != len(seats) or set(cast.learning) != learning.keys():
        known = f"{len(seats)} seats, and policies {', '.join(learning)} that learn"
        raise ConfigError([("policies", f"the cast is not one for {known}")])
    wrong = [p for p, model in learning.items() if any(seats[s] != model.spec.seat for s in cast.places(p))]
    if wrong:
        why = "all its seats must see, do and be rewarded alike"
        raise ConfigError([(f"policies.{policy}.seats", why) for policy in wrong])
    return cast


class Sampler:
    """n battles of a game, some of whose seats learn.

    ``learning``: the models of learning policies by id; ``cast``: the policies on the seats (default: the only learning
    policy on every seat); ``players``: gives the other players; ``entities``: as ``engine.rl.seats.Seats``; ``sides``:
    the side of each seat, if not as the game says. Streams of a policy's trajectory are the battles of its first seat,
    then those of the next. Raises ConfigError when learning policies and cast do not match, or when a seat of a policy
    has other observations, actions or rewards than the policy.
    """

    def __init__(
        self, mdp: VectorMDP, learning: Mapping[str, Model], battles: int, length: int, seed: int, *,
        cast: Cast | None = None, players: Players = nobody_else, number: int = 0,
        entities: Sequence[int] | None = None, sides: Sequence[int] | None = None,
    ) -> None:  # fmt: skip
        self.sides = sides_of(mdp.spec) if sides is None else sides
        self.mdp, self.battles, self.length, self.seed, self.number = mdp, battles, length, seed, number
        cast = cast_for(mdp.spec, learning, cast)
        self.actors = {policy: Actor(model) for policy, model in learning.items()}
        self._seats = Seats(mdp.spec, cast, self.actors, players, entities)
        self._tapes = {policy: _Tape(policy, actor, cast, battles, length) for policy, actor in self.actors.items()}
        self.episodes: list[Episode] = []
        self._snapshots: dict[str, tuple[str, ...]] = {}
        self._begun = False

    @property
    def policies(self) -> tuple[str, ...]:
        """The learning policies."""
        return tuple(self.actors)

    def load(self, weights: Weights) -> None:
        """Play with these weights of a learning policy from now on; its snapshots may play in new episodes."""
        self.actors[weights.policy].load(weights.vectors["actor"], weights.version)
        self._snapshots[weights.policy] = weights.snapshots
        self._seats.snapshots = self._snapshots

    def recall(self, snapshots: Mapping[str, Sequence[str]]) -> None:
        """Earlier selves that may play in new episodes, of policies that do not learn here."""
        self._snapshots.update({policy: tuple(digests) for policy, digests in snapshots.items()})
        self._seats.snapshots = self._snapshots

    def begin(self, beginning: int = 0) -> None:
        """Restart all battles; the trajectories that follow depend only on this number and the weights."""
        matches = np.array([self.number], np.uint64)
        seeds = battle_seeds(self.seed, matches, beginning * self.battles, (beginning + 1) * self.battles)[0]
        self._step = self.mdp.reset(seeds)
        self._seats.begin(seeds)
        for policy, tape in self._tapes.items():
            tape.begin(self._step, self._seats.memory(policy))
        self._begun = True

    def sample(self, before: Callable[[], None] | None = None) -> dict[str, Trajectory]:
        """By policy, the next ``length`` decisions of its streams. ``before``: called before each decision; it may call
        ``load``."""
        if not self._begun:
            self.begin()
        while True:
            if before is not None:
                before()
            if found := self._advance():
                return found

    def finished(self) -> list[Episode]:
        """The learning policies' episodes that ended since the last call."""
        found, self.episodes = self.episodes, []
        return found

    def close(self) -> None:
        """Close the game."""
        self.mdp.close()

    def _advance(self) -> dict[str, Trajectory]:
        """Play one decision of every battle; returns the fragments when it completes them."""
        actions, turns = self._seats.act(self._step)
        after = self._step = self.mdp.step(actions)
        ends = self._seats.ends(after)
        found = {}
        for policy, tape in self._tapes.items():
            if (fragment := tape.step(self._seats, turns.get(policy), ends, after)) is not None:
                found[policy] = fragment
        if after.ended is not None:
            self._count(after.ended)
        self._seats.move(after.ended)
        return found

    def _count(self, ended: Ended) -> None:
        names, who = self._seats.names, self._seats.who[ended.battles]
        for policy, tape in self._tapes.items():
            R = len(tape.spec.rewards)
            for seat in tape.places:
                for i in np.flatnonzero(who[:, seat] == names.index(policy)).tolist():
                    others = opposing([names[k] for k in who[i].tolist()], seat, self.sides)
                    self.episodes.append(
                        Episode(
                            seat, int(ended.seeds[i]), int(ended.lengths[i]), ended.returns[i, seat, :R].copy(),
                            float(ended.win[i, seat]), float(ended.score[i, seat]), ended.signals[seat][i].copy(),
                            policy, others,
                        )
                    )  # fmt: skip


class _Tape:
    """Records the decisions of one policy: all battles on each of its ``places``, marked as not valid where another
    policy plays."""

    def __init__(self, policy: str, actor: Actor, cast: Cast, battles: int, length: int) -> None:
        self.policy, self.actor, self.spec = policy, actor, actor.model.spec.seat
        self.places, self._fixed, self._width = cast.places(policy), cast.fixed, len(cast.places(policy)) * battles
        self._recorder = Recorder(self.spec, self._width, length)
        self._who: list[NDArray[np.int64]] = []

    def begin(self, step: VectorStep, memory: Mapping[str, Array]) -> None:
        """The first observations of fresh battles, and the memory before them."""
        self._recorder.begin(self._seen(step), self._masks(step), memory)
        self._who = []

    def step(self, seats: Seats, turn: Turn | None, ends: Sequence[SeatEnds], after: VectorStep) -> Trajectory | None:
        """Record the policy's decision and its outcome; returns the fragment when it is complete."""
        terminated, truncated, valid = (joined([ends[seat][i] for seat in self.places]) for i in range(3))
        rewards = joined([after.rewards[:, seat, : len(self.spec.rewards)] for seat in self.places])
        decision, sits = self._in_all_streams(turn, seats.memory(self.policy))
        self._who += [] if self._fixed else [seats.who.copy()]
        fragment = self._recorder.step(
            decision, self.actor.version, rewards, terminated, truncated, self._seen(after), self._masks(after),
            finals=self._finals(after),
            valid=valid if sits is None else valid & sits,
        )  # fmt: skip
        return None if fragment is None else self._labelled(fragment, seats)

    def _in_all_streams(self, turn: Turn | None, memory: dict[str, Array]) -> tuple[Decision, NDArray[np.bool_] | None]:
        """A decision for each of its streams, and the streams in which it plays (None: all)."""
        if turn is not None and turn.streams is None:
            return turn.decision, None
        actions, sits = self.spec.action.idle(self._width), np.zeros(self._width, np.bool_)
        log_probs = np.zeros(self._width, np.float32)
        if turn is not None:
            actions[turn.streams], sits[turn.streams] = turn.decision.actions, True
            if turn.decision.log_probs is not None:
                log_probs[turn.streams] = turn.decision.log_probs
        return Decision(actions, log_probs, state=memory), sits

    def _labelled(self, fragment: Trajectory, seats: Seats) -> Trajectory:
        """The fragment with the names of the policy and of the others, without streams in which it never played."""
        names, who = seats.names, np.stack(self._who or [seats.who])
        self._who = []
        others, against = _distinct_rows(np.concatenate([np.delete(who, seat, axis=2) for seat in self.places], axis=1))
        labelled = fragment._replace(
            policy=self.policy, others=tuple(tuple(names[i] for i in row) for row in others),
            against=np.broadcast_to(against, fragment.ended.shape).astype(np.int32) if len(others) > 1 else None,
        )  # fmt: skip
        played = np.ones(self._width, np.bool_) if self._fixed or labelled.valid is None else labelled.valid.any(axis=0)
        return labelled if played.all() or not played.any() else streams_of(labelled, np.flatnonzero(played))

    def _seen(self, step: VectorStep | Ended) -> dict[str, Array]:
        names = step.observations[self.places[0]]
        return {name: joined([step.observations[seat][name] for seat in self.places]) for name in names}

    def _masks(self, step: VectorStep | Ended) -> NDArray[np.bool_] | None:
        found = [step.masks[seat] for seat in self.places]
        return None if found[0] is None else joined(found)

    def _finals(self, after: VectorStep) -> tuple[NDArray[np.int64], dict[str, Array], NDArray[np.bool_] | None] | None:
        """What was seen last in episodes that are over, by stream; of a seat that a limit of its own cut off, what it
        sees now."""
        ended, battles = after.ended, self._width // len(self.places)
        cut = np.empty(0, np.int64) if after.cut is None else np.flatnonzero(after.cut[:, self.places].T)
        if ended is None:
            return (cut, *self._rows(after, cut)) if len(cut) else None
        streams = np.concatenate([ended.battles + i * battles for i in range(len(self.places))])
        seen, masks = self._seen(ended), self._masks(ended)
        if not len(cut):
            return streams, seen, masks
        more, others = self._rows(after, cut)
        seen = {name: np.concatenate([array, more[name]]) for name, array in seen.items()}
        masks = None if masks is None or others is None else np.concatenate([masks, others])
        return np.concatenate([streams, cut]), seen, masks

    def _rows(self, step: VectorStep, streams: NDArray[np.int64]) -> tuple[dict[str, Array], NDArray[np.bool_] | None]:
        seen, masks = self._seen(step), self._masks(step)
        return {name: array[streams] for name, array in seen.items()}, None if masks is None else masks[streams]


def _distinct_rows(sides: NDArray[np.int64]) -> tuple[list[list[int]], NDArray[np.int64]]:
    """The distinct rows of int64[T, B, k], and the index [T, B] of each row among them."""
    rows = sides.reshape(sides.shape[0] * sides.shape[1], sides.shape[2])
    codes = np.zeros(len(rows), np.int64)
    for column in rows.T:
        codes = np.unique(codes * (column.max() + 1) + column, return_inverse=True)[1]
    _, first, way = np.unique(codes, return_index=True, return_inverse=True)
    return rows[first].tolist(), way.reshape(sides.shape[:2])

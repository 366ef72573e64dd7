"""Many battles at once over arrays: the interface that a compiled game implements and a sampler steps.

n battles advance together, one decision of every seat per step. A battle that ends begins its next episode in the same
step: ``observations`` are then the first of the new episode and ``ended`` holds the last of the old one. The seeds of
a battle's episodes are a hash of (the battle's seed, episode number), so nothing depends on the batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from engine.mdp.interface import MDP, Array, MDPSpec, Observations
from engine.rng import combine64

if TYPE_CHECKING:
    from typing_extensions import TypeIs


class Ended(NamedTuple):
    """The m episodes that ended in a step; ``battles`` int64[m]: their indices in the batch, ascending.

    ``seeds`` uint64[m] and ``lengths`` int64[m] (decisions) of the episodes; ``returns`` float64[m, seats, R];
    ``win`` and ``score`` float64[m, seats]; ``signals``: per seat float64[m, S]; ``observations``: per seat, by name,
    [m, …], the last of the old episode, from which a truncated episode's value is bootstrapped; ``masks``: per seat
    bool[m, k] or None. ``out`` bool[m, seats]: who was out at the end, in the last decision or before (None: nobody):
    where the battle was truncated, whoever went out in its last decision has terminated all the same.
    """

    battles: NDArray[np.int64]
    seeds: NDArray[np.uint64]
    lengths: NDArray[np.int64]
    returns: NDArray[np.float64]
    win: NDArray[np.float64]
    score: NDArray[np.float64]
    signals: tuple[NDArray[np.float64], ...]
    observations: tuple[Observations, ...]
    masks: tuple[NDArray[np.bool_] | None, ...]
    out: NDArray[np.bool_] | None = None


class VectorStep(NamedTuple):
    """n battles after a step. The game overwrites these arrays at the next call: copy what you keep.

    ``observations``: per seat, by name, float32 or uint8 [n, …]; ``masks``: per seat bool[n, k], or None where
    everything is always legal; ``rewards`` float32[n, seats, R]; ``terminated`` and ``truncated`` bool[n], never both;
    ``alive`` bool[n, seats]: False for a seat that is out while its battle goes on (its reward is 0, its action is
    ignored, its transition must not be learned from); ``ended``: None when no episode ended; ``cut`` bool[n, seats]:
    seats that are out from now on by a limit of their own while their battle goes on (None: none).
    """

    observations: tuple[Observations, ...]
    masks: tuple[NDArray[np.bool_] | None, ...]
    rewards: NDArray[np.float32]
    terminated: NDArray[np.bool_]
    truncated: NDArray[np.bool_]
    alive: NDArray[np.bool_]
    ended: Ended | None = None
    cut: NDArray[np.bool_] | None = None


class VectorMDP(Protocol):
    """A game played many battles at a time."""

    @property
    def spec(self) -> MDPSpec:
        """The game, with the seats that are played from outside."""
        ...

    def reset(self, seeds: NDArray[np.uint64]) -> VectorStep:
        """Begin n new battles, one for each seed uint64[n]; rewards are 0. Battle i depends only on ``seeds[i]`` and
        its own actions. Raises SimulatorError."""
        ...

    def step(self, actions: Sequence[Array]) -> VectorStep:
        """One decision of every battle: per seat its actions [n, …], in the layout of ``engine.mdp.interface``.
        Raises SimulatorError; ConfigError for actions of a wrong shape, type or choice."""
        ...

    def close(self) -> None:
        """Release the game's resources."""
        ...


Game = VectorMDP | MDP
"""A game in its fastest form: over arrays, unless its seats take turns."""


def in_turns(game: Game) -> TypeIs[MDP]:
    """Whether a game is played by coroutines, because its seats act at different moments."""
    return game.spec.in_turns


def episode_seeds(seeds: NDArray[np.uint64], episodes: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Seeds uint64[n] of the ``episodes``-th episode (from 0) of battles with these seeds: the seed itself for the
    first, then a hash of seed and number."""
    return np.where(episodes == 0, seeds, combine64(seeds, episodes.astype(np.uint64)))


def noise_keys(
    seeds: NDArray[np.uint64], ticks: NDArray[np.int64], seat: NDArray[np.int64] | int
) -> NDArray[np.uint64]:
    """Keys uint64[n] of decisions from (episode seed, decision number, seat): a policy that draws its noise from these
    decides the same in any batch and through either interface."""
    return combine64(combine64(seeds, np.asarray(seat, np.uint64) + np.uint64(1)), ticks.astype(np.uint64))


class SeatEnds(NamedTuple):
    """One seat's part of a step: flags bool[n] of its own episodes, and whether the transition counts."""

    terminated: NDArray[np.bool_]
    truncated: NDArray[np.bool_]
    valid: NDArray[np.bool_]


def seat_ends(before: NDArray[np.bool_], step: VectorStep, seat: int) -> SeatEnds:
    """The ends of one seat's episodes in a step: a seat that goes out while its battle goes on, or with its end, has
    terminated, unless a limit of its own cut it off. A seat that was out already terminates with its battle, in a
    transition that does not count. ``before`` bool[n, seats]: ``alive`` of the step before."""
    was = before[:, seat]
    truncated = was & step.truncated
    if step.ended is not None and step.ended.out is not None:
        truncated[step.ended.battles] &= ~step.ended.out[:, seat]
    if step.cut is not None:
        truncated |= was & step.cut[:, seat]
    out = step.terminated | step.truncated | (was & ~step.alive[:, seat])
    return SeatEnds(out & ~truncated, truncated, was)

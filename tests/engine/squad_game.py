"""A small game for groups: each entity does what its own signal says."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from engine.mdp.groups import Group, Grouped
from engine.mdp.interface import ActionSpec, Array, Continuous, Observations
from engine.mdp.vector import Ended, VectorStep
from tests.engine.rl_game import Signals

LINE = Continuous((-2.0,), (2.0,), (1,))


class SquadSignals:
    """``Signals`` on several seats of the same battles. The i-th sees its signal turned by i, so that no two do the
    same. ``leaves``: decisions after which the second is out (0: never)."""

    def __init__(self, action: ActionSpec = LINE, *, count: int = 2, leaves: int = 0, image: bool = False) -> None:
        self._games = [Signals(action, image=image) for _ in range(count)]
        self._leaves = leaves
        (seat,) = self._games[0].spec.seats
        self.spec = msgspec.structs.replace(self._games[0].spec, seats=(seat,) * count, squad=count)

    def reset(self, seeds: NDArray[np.uint64]) -> VectorStep:
        """As ``VectorMDP.reset``."""
        self._ticks = np.zeros(len(seeds), np.int64)
        return self._joined([game.reset(seeds) for game in self._games])

    def step(self, actions: Sequence[Array]) -> VectorStep:
        """As ``VectorMDP.step``."""
        self._ticks += 1
        return self._joined([game.step([own]) for game, own in zip(self._games, actions, strict=True)])

    def close(self) -> None:
        """Nothing is held."""

    def _joined(self, steps: list[VectorStep]) -> VectorStep:
        first, ended = steps[0], None
        if first.ended is not None:
            self._ticks[first.ended.battles] = 0
            ended = self._ended([step.ended for step in steps if step.ended is not None])
        alive = np.ones((len(self._ticks), len(steps)), np.bool_)
        if self._leaves:
            alive[:, 1] = self._ticks < self._leaves
        return VectorStep(
            tuple(_turned(step.observations[0], i) for i, step in enumerate(steps)), (None,) * len(steps),
            np.concatenate([step.rewards for step in steps], axis=1), first.terminated, first.truncated, alive, ended,
        )  # fmt: skip

    @staticmethod
    def _ended(found: list[Ended]) -> Ended:
        return found[0]._replace(
            returns=np.concatenate([each.returns for each in found], axis=1),
            win=np.concatenate([each.win for each in found], axis=1),
            score=np.concatenate([each.score for each in found], axis=1),
            signals=tuple(each.signals[0] for each in found), masks=(None,) * len(found),
            observations=tuple(_turned(each.observations[0], i) for i, each in enumerate(found)),
        )  # fmt: skip


def _turned(seen: Observations, by: int) -> Observations:
    return {**seen, "signal": np.roll(seen["signal"], by, axis=1)}


def group(*, apart: bool = False, leaves: int = 0, image: bool = False) -> Grouped:
    """Two entities as one group."""
    return Grouped(SquadSignals(leaves=leaves, image=image), [Group((0, 1), apart)])

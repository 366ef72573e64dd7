"""Scripts that play cooperative navigation from an entity's own observations."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from engine.errors import ConfigError, EngineError
from engine.games.navigation import kernel
from engine.games.navigation.game import WAYS
from engine.mdp.interface import Array, Continuous, SeatSpec
from engine.mdp.trajectory import Batch, Decision

Numbers = NDArray[np.float32]
_TIE = 1e-3
Rule = Callable[[Numbers, int], Numbers]
"""Ways float32[n, 2] of entity ``i`` that sees ``view`` float32[n, 5 E - 2]."""
NO_ENTITY = "Whoever asks this script must say which entity it plays."


def _parts(view: Numbers) -> tuple[Numbers, Numbers]:
    """Where the others are from it [n, E - 1, 2], and the targets [n, E, 2]."""
    count = (view.shape[1] + 2) // 5
    others, targets = view[:, : 2 * count - 2], view[:, 2 * count - 2 :]
    return others.reshape(len(view), -1, 2), targets.reshape(len(view), count, 3)[..., :2]


def _towards(offsets: Numbers) -> Numbers:
    """As fast as it gets there, and no farther."""
    return np.asarray(np.clip(offsets / kernel.SPEED, -1.0, 1.0), np.float32)


def still(view: Numbers, entity: int) -> Numbers:
    """Stays."""
    return np.zeros((len(view), 2), np.float32)


def nearest(view: Numbers, entity: int) -> Numbers:
    """To the target that it reaches first, whoever else goes there."""
    _, targets = _parts(view)
    best = np.abs(targets).max(axis=2).argmin(axis=1)
    return _towards(targets[np.arange(len(view)), best])


def numbered(view: Numbers, entity: int) -> Numbers:
    """To the target of its own number: a fixed assignment, as long as targets are not shuffled."""
    return _towards(_parts(view)[1][:, entity])


def optimal(view: Numbers, entity: int) -> Numbers:
    """To its own target in the assignment with the shortest ways in sum, until each is inside. All entities see the
    same ways, so all find the same assignment."""
    others, targets = _parts(view)
    count = targets.shape[1]
    at = np.concatenate([np.zeros((len(view), 1, 2), np.float32), others], axis=1)
    gaps = np.abs(at[:, :, None] - targets[:, None]).max(axis=3).astype(np.float64)
    ways = np.maximum(gaps - kernel.TARGET / 2.0, 0.0) + _TIE * gaps
    orders = np.array(list(permutations(range(count))), np.int64)
    costs = ways[:, np.arange(count), orders].sum(axis=2)
    best = orders[costs.argmin(axis=1), 0]
    return _towards(targets[np.arange(len(view)), best])


RULES: dict[str, Rule] = {"still": still, "nearest": nearest, "numbered": numbered, "optimal": optimal}
"""By name."""


def chosen(ways: Numbers) -> NDArray[np.int64]:
    """The choices int64[n] that are nearest to ways."""
    gaps = np.abs(ways[:, None] - WAYS[None]).sum(axis=2)
    return np.asarray(gaps.argmin(axis=1), np.int64)


class Navigator:
    """A scripted player. Raises ConfigError for a seat that is not one of cooperative navigation."""

    rule: Rule = staticmethod(nearest)

    def __init__(self, seat: SeatSpec) -> None:
        seen = [(each.name, each.shape[0] % 5) for each in seat.observations if len(each.shape) == 1]
        if seen != [("view", 3)]:
            raise ConfigError([("player", "this script covers targets, and this is another game")])
        self.memory: dict[str, tuple[int, ...]] = {}
        self._steers = isinstance(seat.action, Continuous)

    def __call__(self, batch: Batch) -> Decision:
        """The rule's ways."""
        ways: Array = type(self).rule(batch.observations["view"], 0)
        return Decision(ways if self._steers else chosen(ways))


class Still(Navigator):
    """Stays where it is."""

    rule = staticmethod(still)


class Nearest(Navigator):
    """Goes to the nearest target."""

    rule = staticmethod(nearest)


class Numbered(Navigator):
    """Goes to the target of its own number. Raises EngineError where it is not told which entity it plays."""

    def __call__(self, batch: Batch) -> Decision:
        """Each row's way, by its entity."""
        view = batch.observations["view"]
        if batch.entities is None:
            raise EngineError(NO_ENTITY)
        ways: Numbers = np.empty((len(view), 2), np.float32)
        for entity in np.unique(batch.entities).tolist():
            rows = batch.entities == entity
            ways[rows] = numbered(view[rows], entity)
        return Decision(ways if self._steers else chosen(ways))


class Optimal(Navigator):
    """Goes to its own target in the best assignment."""

    rule = staticmethod(optimal)

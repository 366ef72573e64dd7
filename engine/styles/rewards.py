"""The reward of a style: a game whose named rewards are the formulas of a ``StyleReward``.

The game itself is made with every signal that it has. What is learned from has two named rewards, ``winning`` and
``style``; their weights are the learner's, so each has a value of its own in the critic, and a child that inherits a
network goes on with values that do not depend on its parent's weights.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from engine.catalog import built_in
from engine.config.style_reward import TIME, StyleReward, formula_of, identifier
from engine.config.train import TrainGame
from engine.errors import ConfigError
from engine.formula import Formula
from engine.mdp.interface import Array, MDPSpec
from engine.mdp.vector import VectorMDP, VectorStep


def with_signals(game: TrainGame) -> TrainGame:
    """The game so that it tells every signal it has. Raises ConfigError where its settings choose some of them."""
    known = built_in(game.name)
    if known is None or not known.signals:
        return game
    if "rewards" in game.settings:
        raise ConfigError([("game.settings.rewards", "a style learns from all signals of the game: leave this out")])
    return game.model_copy(update={"settings": {**game.settings, "rewards": known.signals}})


def formulas(style: StyleReward, spec: MDPSpec) -> dict[str, Formula]:
    """The formulas of a style's rewards by name, for the one seat of a game. Raises ConfigError at ``style`` with all
    that are wrong, such as a signal that the game does not have."""
    names = (*spec.seats[0].rewards, *([TIME] if spec.max_ticks else []))
    found, wrong = {}, []
    for name, text in style.formulas.items():
        try:
            found[name] = formula_of(text, names, f"style.{name}")
        except ConfigError as error:
            wrong += error.problems
    if wrong:
        raise ConfigError(wrong)
    return found


class Styled:
    """A game for one seat that pays for winning and for a style. A reward that is not a number counts as 0; a study
    refuses such a formula where sample episodes show it. Raises ConfigError as ``formulas``."""

    def __init__(self, game: VectorMDP, style: StyleReward) -> None:
        self.game, self._formulas = game, list(formulas(style, game.spec).values())
        self._names = [identifier(name) for name in game.spec.seats[0].rewards]
        seat = game.spec.seats[0]
        seat = msgspec.structs.replace(seat, rewards=tuple(style.formulas))
        self.spec: MDPSpec = msgspec.structs.replace(game.spec, seats=(seat,))

    def reset(self, seeds: NDArray[np.uint64]) -> VectorStep:
        """As ``VectorMDP.reset``."""
        self._ticks = np.zeros(len(seeds))
        self._returns = np.zeros((len(seeds), 1, len(self._formulas)))
        step = self.game.reset(seeds)
        self._alive = step.alive.copy()
        return step._replace(rewards=self._returns.astype(np.float32))

    def step(self, actions: Sequence[Array]) -> VectorStep:
        """As ``VectorMDP.step``."""
        step = self.game.step(actions)
        rewards = (self._paid(step.rewards[:, 0]) * self._alive)[:, None]
        self._alive = step.alive.copy()
        self._ticks += 1
        self._returns += rewards
        if step.ended is None:
            return step._replace(rewards=rewards)
        ended = step.ended._replace(returns=self._returns[step.ended.battles])
        self._returns[ended.battles] = 0.0
        self._ticks[ended.battles] = 0.0
        return step._replace(rewards=rewards, ended=ended)

    def _paid(self, signals: NDArray[np.float32]) -> NDArray[np.float32]:
        """Rewards float32[n, 2] from signals float32[n, R]."""
        values = dict(zip(self._names, signals.T[:, :, None].astype(np.float64), strict=True))
        values[TIME] = (self._ticks / max(1, self.spec.max_ticks))[:, None]
        found = np.empty((len(signals), len(self._formulas)), np.float32)
        for column, formula in zip(found.T, self._formulas, strict=True):
            column[:] = formula.evaluate(values)
        return np.nan_to_num(found, copy=False, nan=0.0, posinf=0.0, neginf=0.0)

    def close(self) -> None:
        """Release the game's resources."""
        self.game.close()

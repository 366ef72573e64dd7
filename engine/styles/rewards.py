"""The reward of a style: a game that pays w1 · winning + w2 · style, both formulas over its signals.

The game itself is made with every signal that it has. It pays one reward, the weighted sum. With a value for each part
a critic would fit the style at its full size, a hundred times what its weight makes of it, and nothing else would be
learned.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from engine.catalog import built_in
from engine.config.style_reward import STYLE, TIME, StyleReward, formula_of, identifier
from engine.config.train import TrainGame
from engine.errors import ConfigError
from engine.formula import Formula
from engine.mdp.interface import Array, MDPSpec
from engine.mdp.vector import VectorMDP, VectorStep
from engine.styles.preview import LARGEST


def with_signals(game: TrainGame) -> TrainGame:
    """The game so that it tells every signal it has. Raises ConfigError where its settings choose some of them."""
    known = built_in(game.name)
    if known is None or not known.signals:
        return game
    if "rewards" in game.settings:
        raise ConfigError([("game.settings.rewards", "a style learns from all signals of the game: leave this out")])
    return game.model_copy(update={"settings": {**game.settings, "rewards": known.signals}})


def formulas(style: StyleReward, spec: MDPSpec) -> dict[str, Formula]:
    """The formulas of a style by name, for the first seat of a game. Raises ConfigError at ``style`` with all
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
    """A game that pays its first seat for winning and for a style, whose weights are numbers, and others nothing. What
    is not a number counts as 0, and what is beyond ``LARGEST`` as that; a study refuses such a formula where sample
    episodes show it. Raises ConfigError as ``formulas``."""

    def __init__(self, game: VectorMDP, style: StyleReward) -> None:
        self.game, self._weights = game, (style.w1, style.w2)
        self._formulas = list(formulas(style, game.spec).values())
        self._names = [identifier(name) for name in game.spec.seats[0].rewards]
        seats = tuple(msgspec.structs.replace(seat, rewards=(STYLE,)) for seat in game.spec.seats)
        self.spec: MDPSpec = msgspec.structs.replace(game.spec, seats=seats)

    def reset(self, seeds: NDArray[np.uint64]) -> VectorStep:
        """As ``VectorMDP.reset``."""
        self._ticks, self._returns = np.zeros(len(seeds)), np.zeros((len(seeds), len(self.spec.seats), 1))
        step = self.game.reset(seeds)
        self._alive = step.alive.copy()
        return step._replace(rewards=self._returns.astype(np.float32))

    def step(self, actions: Sequence[Array]) -> VectorStep:
        """As ``VectorMDP.step``."""
        step = self.game.step(actions)
        rewards = np.zeros(self._returns.shape, np.float32)
        rewards[:, 0, 0] = self._paid(step.rewards[:, 0]) * self._alive[:, 0]
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
        """Rewards float32[n] from signals float32[n, R]."""
        values = dict(zip(self._names, signals.T[:, :, None].astype(np.float64), strict=True))
        values.setdefault(TIME, (self._ticks / max(1, self.spec.max_ticks))[:, None])
        found = np.zeros(len(signals))
        for weight, formula in zip(self._weights, self._formulas, strict=True):
            if weight:
                paid = np.nan_to_num(formula.evaluate(values), nan=0.0, posinf=0.0, neginf=0.0)
                found += weight * paid.clip(-LARGEST, LARGEST)
        return found.astype(np.float32)

    def close(self) -> None:
        """Release the game's resources."""
        self.game.close()

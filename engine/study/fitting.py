"""The learner of a training study, made for its game before anything starts."""

from __future__ import annotations

import contextlib
from typing import NamedTuple

from engine.catalog import LEARNERS
from engine.config.rl import AnyLearner
from engine.config.train import TrainConfig
from engine.errors import ConfigError
from engine.rl.learner import Learner
from engine.rl.policy import PolicySpec
from engine.study import games
from engine.study.curve import Curve
from engine.study.sampling import policy_spec


class Fitted(NamedTuple):
    """``longest``: moves of the game's longest episode, or 0."""

    learner: Learner
    curve: Curve
    longest: int


def fitted(config: TrainConfig, *, begun: bool = False) -> Fitted:
    """What a study learns with, fresh. Raises ConfigError that names the field when the learner does not fit the game,
    there is no such game, or no battle of it begins; in a study that has ``begun`` nobody tries that again."""
    with contextlib.closing(games.make(config.game, 1)) as game:
        spec = policy_spec(config, game)
        learner = learner_for(config.learner, spec, config.seed, config.steps)
        if not begun:
            games.begin(game, config.seed)
        own = config.learner.rewards
        weights = [own[name].weight if name in own else 1.0 for name in spec.seat.rewards]
        return Fitted(learner, Curve(spec.seat.rewards, weights, spec.seat.signals), game.spec.max_ticks)


def learner_for(chosen: AnyLearner, spec: PolicySpec, seed: int, steps: int) -> Learner:
    """A fresh learner. Raises ConfigError at ``learner.…`` when it does not fit what the policy sees and does."""
    try:
        learner: Learner = LEARNERS[chosen.kind].load()(spec, chosen, seed, steps)
    except ConfigError as error:
        raise ConfigError((_place(p.place), p.message) for p in error.problems) from error
    return learner


def _place(place: str) -> str:
    return "learner.kind" if place == "algorithm" else f"learner.{place}"

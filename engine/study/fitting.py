"""The learner of a training study, made for its game before anything starts."""

from __future__ import annotations

import contextlib
from typing import NamedTuple

import numpy as np

from engine.catalog import LEARNERS
from engine.config.rl import AnyLearner
from engine.config.train import TrainConfig
from engine.errors import ConfigError
from engine.mdp.checks import check_batch
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


def fitted(config: TrainConfig) -> Fitted:
    """What a study learns with, fresh. Raises ConfigError that names the field when the learner does not fit the game,
    or there is no such game, and SimulatorError when it begins otherwise than it describes itself."""
    with contextlib.closing(games.make(config.game, 1)) as game:
        spec = policy_spec(config, game)
        learner = learner_for(config.learner, spec, config.seed, config.steps)
        check_batch(game.spec.name, game.spec, 1, game.reset(np.array([config.seed], np.uint64)))
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

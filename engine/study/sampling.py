"""What one sampler of a training study is: built the same in this process and in an actor."""

from __future__ import annotations

import msgspec

from engine.config.base import parse
from engine.config.evolve import TaskConfig
from engine.config.rl import A3CConfig
from engine.config.train import TrainConfig
from engine.errors import ConfigError
from engine.mdp.vector import VectorMDP
from engine.rl.a3c import Worker
from engine.rl.collector import Collector, Producer
from engine.rl.policy import PolicySpec
from engine.rl.sampler import Sampler
from engine.study import games


class Order(msgspec.Struct, frozen=True):
    """What an actor is told: the study, which of its samplers it is, and how its battles begin."""

    config: dict[str, object]
    number: int
    beginning: int = 0


def policy_spec(config: TrainConfig | TaskConfig, game: VectorMDP) -> PolicySpec:
    """What the policy sees, does and is made of. Raises ConfigError that names the field when it does not fit."""
    seats, learner = game.spec.seats, config.learner
    if len(seats) != 1:
        raise ConfigError([("game.name", f"{game.spec.name} has {len(seats)} seats; training needs a game with one")])
    spec = PolicySpec(seats[0], learner.network, normalise=learner.normalise_observations)
    if learner.kind == "dqn":
        spec = spec._replace(kind="q", duelling=learner.duelling)
    return spec


def sampler(config: TrainConfig, number: int) -> Producer:
    """Sampler ``number`` of a study, with its game. Raises ConfigError, SimulatorError."""
    game, learner = games.make(config.game, config.environments), config.learner
    spec = policy_spec(config, game)
    made = Sampler(game, spec.model(), config.environments, learner.fragment, config.seed, number=number)
    if config.gradients and isinstance(learner, A3CConfig):
        return Worker(made, spec, learner)
    return made


def build(payload: bytes) -> Collector:
    """The sampler of an actor."""
    order = msgspec.json.decode(payload, type=Order)
    config = parse(TrainConfig, order.config)
    fragments = config.fragments if config.sampling == "synchronous" else 0
    return Collector(sampler(config, order.number), fragments=fragments, beginning=order.beginning)

"""Builds one sampler of a training study, in this process as in an actor."""

from __future__ import annotations

from typing import Any

import msgspec

from engine.config.base import parse
from engine.config.train import TrainConfig
from engine.errors import ConfigError, below
from engine.mdp.groups import Group, grouped, seat_of
from engine.mdp.vector import Game, VectorMDP, in_turns
from engine.problem import ShouldStop
from engine.rl.collector import Collector, Producer
from engine.rl.factory import gives_gradients, gradient_worker, policy_spec
from engine.rl.sampler import Sampler
from engine.rl.turns import TurnSampler
from engine.simulators import references
from engine.store import Store
from engine.stores import open_store
from engine.study.casting import cast_of, players_of


class SamplerOrder(msgspec.Struct, frozen=True):
    """The payload for an actor: the study, its store's address, the number of the sampler, and how its battles
    begin."""

    config: dict[str, object]
    store: str
    number: int
    beginning: int = 0


def seated(config: TrainConfig, game: Game) -> Game:
    """The game with a seat for each group of seats that are steered as one, if each of its seats has a policy. Raises
    ConfigError."""
    seats = len(game.spec.seats)
    if not config.policies and config.learner.together and game.spec.squad == seats:
        with below("learner"):
            return grouped(game, [Group(tuple(range(seats)), config.learner.apart)])
    if seats == config.seats:
        return _grouped(config, game)
    if config.policies:
        raise ConfigError(
            [("policies", f"{game.spec.name} has {seats} seats, and there are policies for {config.seats}")]
        )
    table = "name its policies in a table ``policies`` of a study of kind train"
    why = f"{game.spec.name} has {seats} seats; take a game with one, or {table}"
    raise ConfigError([("game.name", why)])


def _grouped(config: TrainConfig, game: Game) -> Game:
    """The game with the groups of a study's policies. Raises ConfigError at the learner of one that cannot be."""
    apart = {
        policy.seats: learner.apart
        for name, learner in config.learners.items()
        if (policy := config.policies.get(name)) is not None
    }
    for name in config.policies:
        if config.steers(name):
            with below(config.place_of(name)):
                seat_of(game.spec.seats, Group(config.policies[name].seats))
    return grouped(game, [Group(group, apart.get(group, False)) for group in config.groups])


def sampler(config: TrainConfig, store: Store, number: int, should_stop: ShouldStop = lambda: False) -> Producer:
    """Sampler ``number`` of a study, with its game. Raises ConfigError, SimulatorError, and Cancelled once
    ``should_stop`` returns True."""
    game = seated(config, references.make(config.game, config.environments, should_stop))
    made = (
        TurnSampler(game, **_settled(config, game, store, number))
        if in_turns(game)
        else at_once(config, game, store, number)
    )
    differentiated = {name: one for name, one in config.learners.items() if gives_gradients(one, config.sampling)}
    return gradient_worker(made, differentiated) if differentiated else made


def at_once(config: TrainConfig, game: VectorMDP, store: Store, number: int) -> Sampler:
    """The sampler of a game whose seats act at once. Raises ConfigError."""
    return Sampler(game, **_settled(config, game, store, number))


def _settled(config: TrainConfig, game: Game, store: Store, number: int) -> dict[str, Any]:
    """What a sampler is made with beside its game."""
    cast, seats, learners = cast_of(config), game.spec.seats, config.learners
    return {
        "learning": {name: policy_spec(one, seats[cast.places(name)[0]]).model() for name, one in learners.items()},
        "battles": config.environments,
        "length": next(iter(learners.values())).fragment,
        "seed": config.seed,
        "cast": cast,
        "players": players_of(config, seats, store, {}, explore=True),
        "number": number,
    }


def build(payload: bytes) -> Collector:
    """The sampler of an actor."""
    order = msgspec.json.decode(payload, type=SamplerOrder)
    config = parse(TrainConfig, order.config)
    fragments = config.fragments if config.sampling == "synchronous" else 0
    made = sampler(config, open_store(order.store), order.number)
    return Collector(made, fragments=fragments, beginning=order.beginning)

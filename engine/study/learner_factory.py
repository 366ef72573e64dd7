"""Makes the learners of a training study for its game, before anything starts."""

from __future__ import annotations

import contextlib
from typing import NamedTuple

from engine.config.train import TrainConfig
from engine.errors import ConfigError, StoreError, below
from engine.mdp.interface import SeatSpec
from engine.problem import ShouldStop
from engine.rl.factory import make_learner
from engine.rl.learner import Learner
from engine.rl.policy import Policy
from engine.rl.surgery import grown
from engine.rng import generator
from engine.simulators import references
from engine.store import Store
from engine.study.casting import cast_of, check_limits, players_of
from engine.study.curve import Curve, policy_curve
from engine.study.policy_training import PolicyTraining, portion
from engine.study.sampler_factory import seated


class Learners(NamedTuple):
    """``longest``: decisions of the game's longest episode, or 0."""

    policies: dict[str, PolicyTraining]
    curve: Curve
    longest: int


def make_learners(
    config: TrainConfig, store: Store, *, begun: bool = False, should_stop: ShouldStop = lambda: False
) -> Learners:
    """Fresh learners of a study. Raises ConfigError that names the field when a learner or another policy does not fit
    the game, the game does not exist, or none of its battles begins (not tried again in a study that has ``begun``).
    Raises Cancelled once ``should_stop`` returns True."""
    with contextlib.closing(references.make(config.game, 1, should_stop)) as game:
        seats = seated(config, game).spec.seats
        policies = {name: _training(config, name, seats, game.spec.max_ticks) for name in config.learners}
        for name, (place, start) in ({} if begun else config.starts).items():
            begin_with(policies[name].learner, place, start, store)
        players = players_of(config, seats, store, {}, explore=True)
        for name, policy in config.policies.items():
            if not policy.learns and not policy.recalls:
                players(name)
                if not begun:
                    check_limits(game, policy, policy.seats, f"policies.{name}", config.seed)
        if not begun:
            references.begin(game, config.seed)
        curve = Curve({name: policy.curve for name, policy in policies.items()})
        return Learners(policies, curve, game.spec.max_ticks)


def begin_with(learner: Learner, place: str, start: str, store: Store) -> None:
    """Begin with a trained policy, as far as it goes; with a new network where ``start`` names none. Raises ConfigError
    at its ``place`` where it is not there or does not fit."""
    if not start:
        return
    with below(place):
        try:
            policy = Policy.stored(store, start)
        except StoreError as error:
            raise ConfigError([("", str(error))]) from error
        learner.warm_start(grown(policy, learner.policy().spec, learner.weights()))


def _training(config: TrainConfig, name: str, seats: tuple[SeatSpec, ...], longest: int) -> PolicyTraining:
    """A policy at the beginning of its training."""
    chosen, (first, *others) = config.learners[name], cast_of(config).places(name)
    if any(seats[seat] != seats[first] for seat in others):
        why = "what is seen, done or rewarded differs between these seats: give each a policy of its own"
        raise ConfigError([(f"policies.{name}.seats", why)])
    seed = int(generator(config.seed, "policy", name).integers(2**63)) if config.policies else config.seed
    learner = make_learner(chosen, seats[first], seed, config.steps_of(name), config.place_of(name))
    curve = policy_curve(config.game, chosen, seats[first], longest)
    kept = any(policy.recalls == name for policy in config.policies.values())
    return PolicyTraining(name, portion(config, name), learner, curve, kept=kept)

"""The policy and the learner of a configuration, made to fit a game."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import torch

from engine.catalog import LEARNERS
from engine.config.rl import AnyLearner
from engine.errors import below
from engine.mdp.interface import SeatSpec
from engine.rl.gradient import GradientWorker, Plays
from engine.rl.learner import Learner
from engine.rl.memory import check_memory
from engine.rl.policy import PolicySpec


def learner_class(chosen: AnyLearner) -> type[Learner]:
    """The class of a learner."""
    found: type[Learner] = LEARNERS[chosen.kind].load()
    return found


def policy_spec(chosen: AnyLearner, seat: SeatSpec) -> PolicySpec:
    """The specification of a learner's policy for a seat."""
    return learner_class(chosen).policy_spec(seat, chosen)


def gives_gradients(chosen: AnyLearner, sampling: Literal["synchronous", "asynchronous"]) -> bool:
    """Whether samplers send gradients instead of trajectories: if the learner takes them and sampling is
    asynchronous."""
    return sampling == "asynchronous" and "gradients" in learner_class(chosen).takes


def gradient_worker(sampler: Plays, chosen: Mapping[str, AnyLearner]) -> GradientWorker:
    """A sampler that computes gradients for the learners of some policies, on the CPU. The seeds and initial weights of
    its own copies of the learners have no effect."""
    on = torch.device("cpu")
    made = {
        policy: LEARNERS[learner.kind].load()(sampler.actors[policy].model.spec.seat, learner, 0, 1, on)
        for policy, learner in chosen.items()
    }
    return GradientWorker(sampler, made)


def make_learner(chosen: AnyLearner, seat: SeatSpec, seed: int, steps: int, place: str = "learner") -> Learner:
    """A new learner. Raises ConfigError below ``place`` when it does not fit the seat's observations and actions, or
    this machine."""
    with below(place):
        check_memory(chosen, seat)
        learner: Learner = LEARNERS[chosen.kind].load()(seat, chosen, seed, steps)
    return learner

"""TD3 keeps the contract of learners, and does what its paper says."""

from __future__ import annotations

from typing import Any, ClassVar

from engine.config.rl import AnyLearner, ApartConfig, RewardConfig, TD3Config
from engine.mdp.interface import ActionSpec, Continuous
from tests.contracts.learner import LearnerContract

SMALL = ApartConfig(policy=(32,), critic=(32,))
LINE = Continuous((-2.0,), (2.0,), (1,))
QUIET = {"still": RewardConfig(weight=0.0)}


class TestTD3(LearnerContract):
    action: ClassVar[ActionSpec] = LINE

    def config(self, **changes: Any) -> AnyLearner:
        given = {"network": SMALL, "fragment": 8, "warmup": 200, "minibatch": 32, "updates": 0.25, "rate": 0.01,
                 "discount": 0.5, "rewards": QUIET}  # fmt: skip
        return TD3Config(**(given | changes))

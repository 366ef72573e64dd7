"""Rock, paper, scissors as a ``VectorMDP`` of two seats: one decision, made at once.

Every pure strategy is beaten by another, and only the even mixture by none. So who trains against the latest opponent
alone runs in circles.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from engine.errors import ConfigError
from engine.mdp.interface import Array, ArraySpec, Discrete, MDPSpec, SeatSpec, action_problem
from engine.mdp.vector import Ended, VectorStep, episode_seeds

CHOICES = ("rock", "paper", "scissors")
PAYOFF = np.array([[0.0, -1.0, 1.0], [1.0, 0.0, -1.0], [-1.0, 1.0, 0.0]])
"""What the row's choice wins against the column's."""


class RockPaperScissors:
    """Episodes of one decision. Nothing is seen but a constant. The reward is 1, 0 or −1; a result's score is half of
    it above a half; its signals say what was chosen."""

    def __init__(self) -> None:
        seat = SeatSpec((ArraySpec("nothing", (1,), "float32", 1.0, 1.0),), Discrete(3), ("score",), CHOICES)
        self.spec = MDPSpec("rock-paper-scissors", "1", (seat, seat), 1)

    def reset(self, seeds: NDArray[np.uint64]) -> VectorStep:
        """As ``VectorMDP.reset``."""
        n = len(seeds)
        self._base, self._episodes = np.array(seeds, np.uint64), np.zeros(n, np.int64)
        self._battles, self._seen = np.arange(n), {"nothing": np.ones((n, 1), np.float32)}
        return self._step(np.zeros((n, 2, 1), np.float32), over=False, ended=None)

    def step(self, actions: Sequence[Array]) -> VectorStep:
        """As ``VectorMDP.step``."""
        for i, given in enumerate(actions):
            if problem := action_problem(self.spec.seats[i].action, given, len(self._base)):
                raise ConfigError([(f"seat {i}", f"the actions {problem}")])
        won = PAYOFF[actions[0], actions[1]]
        rewards = np.stack([won, -won], axis=1)[:, :, None]
        score = rewards[:, :, 0] / 2 + 0.5
        ended = Ended(
            self._battles, episode_seeds(self._base, self._episodes), np.ones(len(won), np.int64), rewards, score,
            score.copy(), tuple(np.eye(3)[given] for given in actions), (self._seen, self._seen), (None, None),
        )  # fmt: skip
        self._episodes += 1
        return self._step(rewards.astype(np.float32), over=True, ended=ended if len(won) else None)

    def _step(self, rewards: NDArray[np.float32], *, over: bool, ended: Ended | None) -> VectorStep:
        n = len(self._base)
        terminated, alive = np.full(n, over), np.ones((n, 2), np.bool_)
        no = np.zeros(n, np.bool_)
        return VectorStep((self._seen, self._seen), (None, None), rewards, terminated, no, alive, ended)

    def close(self) -> None:
        """Nothing is held."""

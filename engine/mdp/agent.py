"""A policy shared by many coroutines: the questions of a round form one batch, answered by one forward pass."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.mdp.interface import Array, SeatSpec, State
from engine.mdp.trajectory import Batch, Decision
from engine.mdp.vector import noise_keys

Policy = Callable[[Batch], Decision]
_ROOM = 16


class Choice(NamedTuple):
    """A policy's decision for one seat; ``version`` is the policy's."""

    action: Any
    log_prob: float
    values: NDArray[np.float32] | None
    state: dict[str, Array]
    version: int


class Question:
    """A seat's wait for its policy: yields itself once, and is answered through ``choice``."""

    __slots__ = ("agent", "choice")

    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        self.choice: Choice | None = None

    def __await__(self) -> Generator[Question, None, Choice]:
        yield self
        assert self.choice is not None
        return self.choice


class Agent:
    """A policy to ask: ``choice = await agent(state)``. Every choice carries ``version``.

    ``memory``: the shapes of one seat's recurrent state by name, float32, zeros when an episode begins.
    """

    def __init__(self, policy: Policy, seat: SeatSpec, *, memory: Mapping[str, tuple[int, ...]] | None = None) -> None:
        self.policy, self.version = policy, 0
        self._shapes = dict(memory or {})
        self._observations = {s.name: np.empty((_ROOM, *s.shape), np.dtype(s.dtype)) for s in seat.observations}
        self._memory = {name: np.empty((_ROOM, *shape), np.float32) for name, shape in self._shapes.items()}
        self._masks, self._masked = np.ones((_ROOM, seat.action.legal), np.bool_), False
        self._places: list[tuple[int, int, int]] = []
        self._questions: list[Question] = []

    def initial(self) -> dict[str, Array]:
        """The recurrent state at the beginning of an episode."""
        return {name: np.zeros(shape, np.float32) for name, shape in self._shapes.items()}

    def __call__(
        self, state: State, memory: Mapping[str, Array] | None = None, seed: int = 0, tick: int = 0, seat: int = 0
    ) -> Question:
        """Ask for a decision; await the Choice. Episode seed, decision number and seat determine the key of its
        noise."""
        i = len(self._questions)
        if i == len(self._masks):
            self._double()
        for name, observation in state.observations.items():
            self._observations[name][i] = observation
        for name, array in (memory or {}).items():
            self._memory[name][i] = array
        if state.mask is not None:
            self._masks[i], self._masked = state.mask, True
        self._places.append((seed, tick, seat))
        question = Question(self)
        self._questions.append(question)
        return question

    def _double(self) -> None:
        """Double the capacity for questions, keeping those present."""
        self._observations = {name: np.concatenate([a, a]) for name, a in self._observations.items()}
        self._memory = {name: np.concatenate([a, a]) for name, a in self._memory.items()}
        self._masks = np.concatenate([self._masks, self._masks])

    def answer(self) -> None:
        """Answer all questions by one forward pass."""
        questions, self._questions = self._questions, []
        seeds, ticks, seats = zip(*self._places, strict=True)
        self._places = []
        n = len(questions)
        keys = noise_keys(np.array(seeds, np.uint64), np.array(ticks), np.array(seats))
        decision = self.policy(
            Batch(
                {name: array[:n] for name, array in self._observations.items()},
                self._masks[:n] if self._masked else None,
                keys,
                {name: array[:n] for name, array in self._memory.items()},
                np.array(seats, np.int64),
            )
        )
        log_probs = [0.0] * n if decision.log_probs is None else decision.log_probs.tolist()
        for i, question in enumerate(questions):
            values = None if decision.values is None else decision.values[i]
            after = {name: array[i] for name, array in decision.state.items()}
            question.choice = Choice(decision.actions[i], log_probs[i], values, after, self.version)

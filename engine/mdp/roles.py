"""The two roles of the paper's Fig. 4b, each a coroutine of its own: training records, sparring only plays."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from engine.mdp.agent import Agent, Choice
from engine.mdp.driver import Slot
from engine.mdp.interface import Array, Controller, Outcome, Result, SeatSpec, State
from engine.mdp.recorder import Recorder
from engine.mdp.trajectory import Decision, Trajectory


async def evaluate(controller: Controller, agent: Agent, seed: int = 0) -> Result:
    """Play a seat with a policy to the end of the episode. ``seed``: the episode's, for the policy's noise."""
    memory, tick = agent.initial(), 0
    outcome = await controller.turn()
    while not outcome.done:
        choice = await agent(controller.get_state(), memory, seed, tick, controller.seat)
        outcome = await controller(choice.action)
        memory, tick = choice.state, tick + 1
    return controller.get_result()


class Trainee:
    """The training role of Fig. 4b for one seat of one slot: plays with a policy and records every step. Its fragments
    have exactly ``length`` steps and go on across episodes; ``emit`` is given each."""

    def __init__(self, agent: Agent, seat: SeatSpec, length: int, emit: Callable[[Trajectory], None]) -> None:
        self._agent, self._emit = agent, emit
        self._recorder = Recorder(seat, 1, length)
        self._rest: tuple[Choice, NDArray[np.float32], Outcome, State] | None = None
        self._begun = False

    async def train(self, controller: Controller, slot: Slot) -> None:
        """Play one episode."""
        memory, tick = self._agent.initial(), 0
        outcome = await controller.turn()
        controller.get_reward()
        state = controller.get_state()
        self._open(state, memory)
        while not outcome.done:
            choice = await self._agent(state, memory, slot.seed, tick, controller.seat)
            outcome = await controller(choice.action)
            reward, state = controller.get_reward(), controller.get_state()
            memory, tick = choice.state, tick + 1
            if outcome.done:
                self._rest = (choice, reward, outcome, _copied(state))
            else:
                self._step(choice, reward, outcome, state)

    def _open(self, state: State, memory: dict[str, Array]) -> None:
        """An episode begins: what it sees first follows the last step of the one before."""
        if self._rest is not None:
            choice, reward, outcome, last = self._rest
            self._rest = None
            self._step(choice, reward, outcome, state, last)
        elif not self._begun:
            self._recorder.begin(*_batch(state), {name: array[None] for name, array in memory.items()})
        self._begun = True

    def _step(
        self, choice: Choice, reward: NDArray[np.float32], outcome: Outcome, follows: State, last: State | None = None
    ) -> None:
        values = None if choice.values is None else choice.values[None]
        log_probs = np.array([choice.log_prob], np.float32)
        decision = Decision(
            np.asarray(choice.action)[None], log_probs, values, {k: v[None] for k, v in choice.state.items()}
        )
        finals = None if last is None else (np.zeros(1, np.int64), *_batch(last))
        fragment = self._recorder.step(
            decision, choice.version, reward[None], np.array([outcome.terminated]), np.array([outcome.truncated]),
            *_batch(follows), finals=finals,
        )  # fmt: skip
        if fragment is not None:
            self._emit(fragment)


def _batch(state: State) -> tuple[dict[str, Array], NDArray[np.bool_] | None]:
    return {k: v[None] for k, v in state.observations.items()}, None if state.mask is None else state.mask[None]


def _copied(state: State) -> State:
    mask = None if state.mask is None else state.mask.copy()
    return State({name: array.copy() for name, array in state.observations.items()}, mask)

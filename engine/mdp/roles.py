"""The two roles of the paper's Fig. 4b, each a coroutine of its own: training records, sparring only plays."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.mdp.agent import Agent, Choice
from engine.mdp.driver import Slot
from engine.mdp.interface import Array, Controller, Outcome, SeatSpec, State
from engine.mdp.recorder import Recorder
from engine.mdp.trajectory import Decision, Trajectory


class SeatResult(NamedTuple):
    """A seat's part in an episode: its own ``decisions``, and its ``returns`` float64[R] (undiscounted), including
    rewards before its first turn."""

    decisions: int
    returns: NDArray[np.float64]


async def evaluate(controller: Controller, agent: Agent, seed: int = 0) -> SeatResult:
    """Play a seat with a policy to the end of the episode. ``seed``: that of the episode, for the policy's noise."""
    memory, tick = agent.initial(), 0
    outcome = await controller.turn()
    while not outcome.done:
        choice = await agent(controller.get_state(), memory, seed, tick, controller.seat)
        outcome = await controller(choice.action)
        memory, tick = choice.state, tick + 1
    return SeatResult(tick, controller.get_reward().astype(np.float64))


class _Rest(NamedTuple):
    """The last step of an episode, kept until the next observation is known."""

    choice: Choice
    reward: NDArray[np.float32]
    outcome: Outcome
    last: State
    others: tuple[str, ...]


class Trainee:
    """The training role of Fig. 4b for one seat of one slot: plays with a policy and records every step. Its fragments
    have exactly ``length`` steps and continue across episodes; each goes to ``emit``. Rewards and ends between two of
    the seat's turns belong to the decision before."""

    def __init__(
        self, agent: Agent, seat: SeatSpec, length: int, emit: Callable[[Trajectory], None], policy: str = ""
    ) -> None:
        """``policy``: the agent's id."""
        self._agent, self._emit, self._policy = agent, emit, policy
        self._recorder = Recorder(seat, 1, length)
        self._rest: _Rest | None = None
        self._begun = False
        self._met: list[tuple[str, ...]] = []

    async def train(self, controller: Controller, slot: Slot, others: tuple[str, ...] = ()) -> SeatResult:
        """Play one episode, with these policies on the other seats."""
        memory, tick = self._agent.initial(), 0
        outcome = await controller.turn()
        returns = controller.get_reward().astype(np.float64)
        state = controller.get_state()
        if not outcome.done:
            self._open(state, memory)
        while not outcome.done:
            choice = await self._agent(state, memory, slot.seed, tick, controller.seat)
            outcome = await controller(choice.action)
            reward, state = controller.get_reward(), controller.get_state()
            memory, tick, returns = choice.state, tick + 1, returns + reward
            if outcome.done:
                self._rest = _Rest(choice, reward, outcome, _copied(state), others)
            else:
                self._step(choice, reward, outcome, state, others)
        return SeatResult(tick, returns)

    def _open(self, state: State, memory: dict[str, Array]) -> None:
        """Begin an episode: its first observation follows the last step of the one before."""
        if self._rest is not None:
            choice, reward, outcome, last, others = self._rest
            self._rest = None
            self._step(choice, reward, outcome, state, others, last)
        elif not self._begun:
            self._recorder.begin(*_batch(state), {name: array[None] for name, array in memory.items()})
        self._begun = True

    def _step(
        self, choice: Choice, reward: NDArray[np.float32], outcome: Outcome, follows: State, others: tuple[str, ...],
        last: State | None = None,
    ) -> None:  # fmt: skip
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
        self._met.append(others)
        if fragment is not None:
            self._emit(self._labelled(fragment))

    def _labelled(self, fragment: Trajectory) -> Trajectory:
        """The fragment with the names of the policy and of its opponents."""
        met, self._met = self._met, []
        rows = tuple(dict.fromkeys(met))
        against = np.array([[rows.index(others)] for others in met], np.int32) if len(rows) > 1 else None
        return fragment._replace(policy=self._policy, others=rows, against=against)


def _batch(state: State) -> tuple[dict[str, Array], NDArray[np.bool_] | None]:
    return {k: v[None] for k, v in state.observations.items()}, None if state.mask is None else state.mask[None]


def _copied(state: State) -> State:
    mask = None if state.mask is None else state.mask.copy()
    return State({name: array.copy() for name, array in state.observations.items()}, mask)

"""PettingZoo's parallel environments as an ``MDP``.

Seats are ``possible_agents`` in their order. A seat that ends before the others is out; the battle ends as its last
seats do. Legal actions are taken from ``action_mask``, in the observation or in the info. A score is the sum of a
seat's rewards; ``win`` is NaN, because these environments do not name a winner.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium.spaces import Dict, Space
from numpy.typing import NDArray
from pettingzoo import ParallelEnv

from engine.errors import ConfigError
from engine.mdp import spaces
from engine.mdp.battle import SteppedMDP, Tick
from engine.mdp.checks import Blame, check_rewards, check_state
from engine.mdp.interface import Discrete, MDPSpec, Result, SeatSpec, State

_SEED_MASK = 0x7FFFFFFF
_MASK = "action_mask"


def parallel_mdp(make: Callable[[], ParallelEnv[Any, Any, Any]]) -> SteppedMDP:
    """The game of a parallel environment; ``make`` makes one for each battle. Raises ConfigError for spaces that cannot
    be used."""
    table = _Table(make())
    return SteppedMDP(table.spec, lambda: _Parallel(make(), table))


class _Table:
    """The fixed part: the agents on the seats, and the layout of observations and actions."""

    def __init__(self, env: Any) -> None:
        self.label = str(env.metadata.get("name", type(env).__name__))
        self.agents = list(env.possible_agents)
        self.leaves, self.actions, seats = [], [], []
        for agent in self.agents:
            where = f"{self.label}, {agent}"
            seen: Space[Any] = env.observation_space(agent)
            if isinstance(seen, Dict) and _MASK in seen.spaces:
                seen = Dict({name: space for name, space in seen.spaces.items() if name != _MASK})
            self.leaves.append(spaces.observation_leaves(seen, where))
            self.actions.append(spaces.actions(env.action_space(agent), where))
            seats.append(SeatSpec(tuple(leaf.spec for leaf in self.leaves[-1]), self.actions[-1].spec))
        self.spec = MDPSpec(self.label, "1", tuple(seats))
        self.values = [_choices(each) for each in self.actions]

    def state(self, seat: int, observation: Any, info: Mapping[str, Any] | None) -> State:
        """A seat's state from the environment's observation and info; checked."""
        mask = info.get(_MASK) if info else None
        if isinstance(observation, Mapping) and _MASK in observation:
            mask = observation[_MASK]
        found = spaces.read(self.leaves[seat], observation)
        state = State(found, None if mask is None else np.asarray(mask).astype(np.bool_))
        if mask is not None or not all(math.isfinite(np.vdot(array, array)) for array in found.values()):
            check_state(f"{self.label}, {self.agents[seat]}", self.spec.seats[seat], state)  # shapes are right already
        return state


def _choices(actions: spaces.Actions) -> Sequence[Any]:
    """What the environment takes for each of a seat's choices; empty where that is not all that it does."""
    spec = actions.spec
    return actions.values(np.arange(spec.choices[0])) if isinstance(spec, Discrete) else ()


class _Parallel:
    """A battle in which all seats act at the same time."""

    def __init__(self, env: Any, table: _Table) -> None:
        self._env, self._table = env, table
        self._blame = Blame(table.label)

    def begin(self, seed: int, played: Sequence[int]) -> None:
        """As ``Simulation.begin``."""
        observations, infos = self._reset(seed, played)
        self._states = [
            self._table.state(seat, observations[agent], infos.get(agent))
            for seat, agent in enumerate(self._table.agents)
        ]

    def _reset(self, seed: int, played: Sequence[int]) -> Any:
        agents = self._table.agents
        if len(played) < len(agents):
            raise ConfigError([("seats", f"{self._table.label} plays no seat itself; ask for all {len(agents)}")])
        self._scores = np.zeros(len(agents))
        self._blame.doing = "reset"
        with self._blame:
            answer = self._env.reset(seed=seed & _SEED_MASK)
        self._blame.doing = "step"
        return answer

    def state(self, seat: int) -> State:
        """A seat's current or last state."""
        return self._states[seat]

    def step(self, actions: Sequence[Any]) -> Tick:
        """One decision of every seat that is in."""
        env, agents = self._env, self._table.agents
        present = env.agents  # once: an environment in wrappers is slow to say anything
        acting = [seat for seat, agent in enumerate(agents) if agent in present]
        with self._blame:
            values = {agents[seat]: self._value(seat, actions[seat]) for seat in acting}
            observations, rewards, terminated, truncated, infos = env.step(values)
        for seat in acting:
            agent = agents[seat]
            if agent in observations:
                self._states[seat] = self._table.state(seat, observations[agent], infos.get(agent))
        found = self._rewards(rewards)
        if len(acting) == len(agents) and not any(map(terminated.get, agents)) and not any(map(truncated.get, agents)):
            return Tick(found)
        return self._ended(found, acting, terminated, truncated)

    def _ended(
        self, found: list[NDArray[np.float32]], acting: Sequence[int], terminated: Mapping[Any, bool],
        truncated: Mapping[Any, bool],
    ) -> Tick:  # fmt: skip
        """The decision of which some seats were out before it or are now."""
        agents = self._table.agents
        ended = {agent for agent in agents if terminated.get(agent) or truncated.get(agent)}
        alive = [seat in acting and agent not in ended for seat, agent in enumerate(agents)]
        cut = [seat in acting and bool(truncated.get(agent)) and not terminated.get(agent)
               for seat, agent in enumerate(agents)]  # fmt: skip
        if any(alive):
            return Tick(found, alive=None if all(alive) else alive, cut=cut if any(cut) else None)
        return Tick(found, terminated=not any(cut), truncated=any(cut), alive=cut if any(cut) else None)

    def _value(self, seat: int, action: Any) -> Any:
        if choices := self._table.values[seat]:
            return choices[int(action)]
        spec = self._table.actions[seat]
        return spec.values(np.asarray(action).astype(spec.spec.dtype, copy=False).reshape(1, *spec.spec.row))[0]

    def _rewards(self, rewards: Mapping[Any, float]) -> list[NDArray[np.float32]]:
        whole = np.array([rewards.get(agent, 0.0) for agent in self._table.agents], np.float32)
        found = list(whole.reshape(len(whole), -1))
        if whole.ndim > 1 or not math.isfinite(np.vdot(whole, whole)):
            check_rewards(self._table.label, self._table.spec, found)
        self._scores += whole.reshape(len(whole))
        return found

    def result(self, seat: int) -> Result:
        """A seat's result in the episode that just ended."""
        return Result(float("nan"), float(self._scores[seat]), {})

    def close(self) -> None:
        """Close the environment."""
        self._env.close()

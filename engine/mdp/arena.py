"""An ``MDP`` from an environment with the AI Arena's list interface (Staley et al. 2021, section 3), which is Gym's
with lists of one entry per entity, except for a single ``done``. An entity that is out sends and receives ``None``; one
that decides less often acts on every n-th observation and repeats its action in between, in the environment itself. The
other way round: ``engine.mdp.lists``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from engine.errors import ConfigError, SimulatorError
from engine.mdp import spaces
from engine.mdp.battle import SteppedMDP, Tick
from engine.mdp.checks import Blame, check_rewards, check_state
from engine.mdp.interface import MDPSpec, Result, SeatSpec, State

_SEED_MASK = 0x7FFFFFFF
_CUT = ("truncated", "TimeLimit.truncated")


class Arena(Protocol):
    """The list interface. ``seed(int)``, if it exists, is called before each reset. An info with a true "truncated" or
    "TimeLimit.truncated" marks a ``done`` as truncation, for all that still see something."""

    @property
    def observation_spaces(self) -> Sequence[Any]:
        """Each entity's."""
        ...

    @property
    def action_spaces(self) -> Sequence[Any]:
        """Each entity's."""
        ...

    def reset(self) -> Sequence[Any]:
        """A new episode: each entity's observation."""
        ...

    def step(self, actions: Sequence[Any]) -> tuple[Sequence[Any], Sequence[float], bool, Sequence[Any]]:
        """Each entity's observation and reward, one done, and infos."""
        ...


def arena_mdp(make: Callable[[], Arena]) -> SteppedMDP:
    """The game of such an environment, entities as seats; ``make`` makes one for each battle. Raises ConfigError for
    spaces that cannot be used."""
    table = _Table(make())
    return SteppedMDP(table.spec, lambda: _Lists(make(), table))


class _Table:
    """The fixed part: the layout of each entity's observations and actions."""

    def __init__(self, env: Arena) -> None:
        self.label = type(env).__name__
        if len(env.observation_spaces) != len(env.action_spaces):
            counts = f"{len(env.observation_spaces)} observation spaces and {len(env.action_spaces)} action spaces"
            raise ConfigError([(self.label, f"it has {counts}; every entity needs one of each")])
        names = [f"{self.label}, entity {i}" for i in range(len(env.action_spaces))]
        self.leaves = [spaces.observation_leaves(s, w) for s, w in zip(env.observation_spaces, names, strict=True)]
        self.actions = [spaces.actions(s, w) for s, w in zip(env.action_spaces, names, strict=True)]
        seats = [
            SeatSpec(tuple(leaf.spec for leaf in leaves), action.spec)
            for leaves, action in zip(self.leaves, self.actions, strict=True)
        ]
        self.spec = MDPSpec(self.label, "1", tuple(seats))


class _Lists:
    """``Simulation`` over lists."""

    def __init__(self, env: Arena, table: _Table) -> None:
        self._env, self._table = env, table
        self._blame = Blame(table.label)

    def begin(self, seed: int, played: Sequence[int]) -> None:
        """As ``Simulation.begin``; the environment has no players of its own."""
        if len(played) < len(self._table.actions):
            raise ConfigError([("seats", f"{self._table.label} plays no entity itself; ask for all of them")])
        self._scores = np.zeros(len(played))
        self._alive = [True] * len(played)
        self._states: list[State] = []
        self._blame.doing = "reset"
        with self._blame:
            if hasattr(self._env, "seed"):
                self._env.seed(seed & _SEED_MASK)
            self._take(self._env.reset())
        self._blame.doing = "step"

    def _take(self, observations: Sequence[Any]) -> None:
        table = self._table
        if len(observations) != len(table.leaves):
            raise SimulatorError(
                f"{table.label}: {len(observations)} observations came for {len(table.leaves)} entities"
            )
        before, self._states = self._states, []
        for i, (leaves, observation) in enumerate(zip(table.leaves, observations, strict=True)):
            self._alive[i] = self._alive[i] and observation is not None
            self._states.append(self._state(i, leaves, observation, before))

    def _state(self, i: int, leaves: tuple[spaces.Leaf, ...], observation: Any, before: Sequence[State]) -> State:
        """An entity's state; the last one that it had where it is out."""
        where = f"{self._table.label}, entity {i}"
        if observation is None:
            if not before:
                raise SimulatorError(f"{where} sees nothing when the episode begins")
            return before[i]
        state = State(spaces.read(leaves, observation))
        check_state(where, self._table.spec.seats[i], state)
        return state

    def state(self, seat: int) -> State:
        """An entity's state."""
        return self._states[seat]

    def step(self, actions: Sequence[Any]) -> Tick:
        """One decision of every entity."""
        table = self._table
        values = [
            spec.values(np.asarray(action).astype(spec.spec.dtype, copy=False).reshape(1, *spec.spec.row))[0]
            if alive else None
            for spec, action, alive in zip(table.actions, actions, self._alive, strict=True)
        ]  # fmt: skip
        with self._blame:
            observations, rewards, done, infos = self._env.step(values)
        found = [np.array([0.0 if reward is None else reward], np.float32) for reward in rewards]
        check_rewards(table.label, table.spec, found)
        self._scores += [float(reward[0]) for reward in found]
        self._take(observations)
        cut = bool(done) and any(isinstance(i, Mapping) and any(i.get(k) for k in _CUT) for i in infos)
        alive = None if all(self._alive) or (done and not cut) else list(self._alive)
        return Tick(found, terminated=bool(done) and not cut, truncated=cut, alive=alive)

    def result(self, seat: int) -> Result:
        """An entity's result: its score is the sum of its rewards; the winner is unknown."""
        return Result(float("nan"), float(self._scores[seat]), {})

    def close(self) -> None:
        """Close the environment if it has ``close``."""
        close = getattr(self._env, "close", None)
        if close is not None:
            close()

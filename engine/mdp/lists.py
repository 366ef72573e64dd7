"""Our games for programs that play others' interfaces, one battle at a time: the list interface of AI Arena (Staley et
al. 2021, section 3), and PettingZoo's parallel environments. The other way round: ``engine.mdp.arena`` and
``engine.mdp.pettingzoo``.

An entity that is out while its battle goes on is ``None`` in every list; PettingZoo leaves it out. A reward is the sum
of a seat's rewards. Whatever a battle begins with is its seed's: the same seed and actions give the same battle.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from gymnasium import spaces
from pettingzoo import ParallelEnv

from engine.errors import ConfigError
from engine.mdp import our_spaces
from engine.mdp.interface import Array
from engine.mdp.vector import VectorMDP, VectorStep

MASKED = "this game forbids actions now and then, which lists cannot say: play it as a PettingZoo environment"


class Moment(NamedTuple):
    """One battle after a step, by seat: what is seen, legal masks, rewards, who is in; whether it is over by its rules
    or was truncated; who of those that go out is ``cut`` off by a limit; and, once over, wins and scores."""

    seen: list[Any]
    masks: list[Any]
    rewards: list[float]
    alive: list[bool]
    terminated: bool
    truncated: bool
    cut: list[bool]
    results: list[dict[str, float]]


class One:
    """A single battle of a game. ``inside``: the seats that are in."""

    def __init__(self, game: VectorMDP) -> None:
        self.game, self.spec = game, game.spec
        self.inside = [True] * len(self.spec.seats)

    def reset(self, seed: int) -> Moment:
        """A new battle."""
        return self._moment(self.game.reset(np.array([seed], np.uint64)))

    def step(self, actions: Sequence[Any]) -> Moment:
        """One decision of every seat; None where a seat is out."""
        rows: list[Array] = [
            seat.action.idle(1) if action is None else our_spaces.row(seat.action, action)
            for seat, action in zip(self.spec.seats, actions, strict=True)
        ]
        return self._moment(self.game.step(rows))

    def _moment(self, step: VectorStep) -> Moment:
        over = step.ended is not None
        source = step if step.ended is None else step.ended  # then the step has the next episode's
        self.inside = [bool(alive) and not over for alive in step.alive[0]]
        seen = [our_spaces.observation(seat, source.observations[i], 0) for i, seat in enumerate(self.spec.seats)]
        masks = [None if mask is None else mask[0].copy() for mask in source.masks]
        return Moment(
            seen, masks, [float(rewards.sum()) for rewards in step.rewards[0]], list(self.inside),
            bool(step.terminated[0]), bool(step.truncated[0]), self._cut(step), self._results(step),
        )  # fmt: skip

    def _cut(self, step: VectorStep) -> list[bool]:
        """Of each seat that goes out now, whether a limit cut it off."""
        if step.ended is None:
            return [False] * len(self.inside) if step.cut is None else step.cut[0].tolist()
        out = np.zeros(len(self.inside), np.bool_) if step.ended.out is None else step.ended.out[0]
        return [bool(step.truncated[0]) and not gone for gone in out.tolist()]

    def _results(self, step: VectorStep) -> list[dict[str, float]]:
        if step.ended is None:
            return [{} for _ in self.spec.seats]
        ended = step.ended
        return [{"win": float(ended.win[0, i]), "score": float(ended.score[0, i])} for i in range(len(self.spec.seats))]


class ArenaGame:
    """A game with the list interface (``engine.mdp.arena.Arena``). Raises ConfigError for one that forbids actions."""

    def __init__(self, game: VectorMDP, seed: int = 0) -> None:
        self._one, self._seed = One(game), seed
        self.observation_spaces = [our_spaces.observation_space(seat) for seat in game.spec.seats]
        self.action_spaces = [our_spaces.action_space(seat.action) for seat in game.spec.seats]

    def seed(self, seed: int) -> None:
        """That of the next battle; further ones count up."""
        self._seed = seed

    def reset(self) -> list[Any]:
        """A new episode: each entity's observation."""
        moment = self._one.reset(self._seed)
        self._seed += 1
        if any(mask is not None for mask in moment.masks):
            raise ConfigError([("game", MASKED)])
        return moment.seen

    def step(self, actions: Sequence[Any]) -> tuple[list[Any], list[Any], bool, list[dict[str, Any]]]:
        """Each entity's observation, reward and info, and whether the episode is over. The reward with which an entity
        goes out is its last."""
        inside = self._one.inside
        moment = self._one.step(actions)
        over = moment.terminated or moment.truncated
        shown = inside if over else moment.alive
        seen = [each if there else None for each, there in zip(moment.seen, shown, strict=True)]
        rewards = [reward if was else None for reward, was in zip(moment.rewards, inside, strict=True)]
        return seen, rewards, over, [{"truncated": moment.truncated, **result} for result in moment.results]

    def close(self) -> None:
        """Release the game's resources."""
        self._one.game.close()


class ParallelGame(ParallelEnv[str, Any, Any]):  # type: ignore[misc]  # PettingZoo says no types
    """A game as a parallel environment: agents are ``entity_0``, ``entity_1``, … A seat some of whose actions may be
    forbidden (``masked``) sees ``observation`` and ``action_mask``."""

    def __init__(self, game: VectorMDP) -> None:
        self._one, self._seed = One(game), 0
        self.metadata = {"name": game.spec.name}
        self.possible_agents = [f"entity_{i}" for i in range(len(game.spec.seats))]
        self.agents: list[str] = []
        self._masked = [mask is not None for mask in self._one.reset(0).masks]
        self._seen = [self._space(i) for i in range(len(game.spec.seats))]
        self._done = [our_spaces.action_space(seat.action) for seat in game.spec.seats]

    def _space(self, i: int) -> spaces.Space[Any]:
        seat = self._one.spec.seats[i]
        plain = our_spaces.observation_space(seat)
        if not self._masked[i]:
            return plain
        named = plain.spaces.items() if isinstance(plain, spaces.Dict) else [(our_spaces.BARE, plain)]
        return spaces.Dict(OrderedDict([*named, ("action_mask", spaces.MultiBinary(seat.action.legal))]))

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """What an agent sees."""
        return self._seen[self._place(agent)]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """What an agent does."""
        return self._done[self._place(agent)]

    def reset(self, seed: int | None = None, options: Any = None) -> tuple[dict[str, Any], dict[str, Any]]:
        """A new battle: that of this seed or, without one, of the seed after the last."""
        self.agents = list(self.possible_agents)
        self._seed = self._seed + 1 if seed is None else seed
        moment = self._one.reset(self._seed)
        return self._observed(moment, self.agents), {agent: {} for agent in self.agents}

    def step(self, actions: dict[str, Any]) -> Any:
        """One decision of all agents that are in."""
        acting = self.agents
        moment = self._one.step([actions.get(agent) for agent in self.possible_agents])
        alive = dict(zip(self.possible_agents, moment.alive, strict=True))
        cut = dict(zip(self.possible_agents, moment.cut, strict=True))
        out = {agent: not alive[agent] for agent in acting}
        rewards = dict(zip(self.possible_agents, moment.rewards, strict=True))
        results = dict(zip(self.possible_agents, moment.results, strict=True))
        self.agents = [agent for agent in acting if alive[agent]]
        return (
            self._observed(moment, acting), {agent: rewards[agent] for agent in acting},
            {agent: out[agent] and not cut[agent] for agent in acting},
            {agent: out[agent] and cut[agent] for agent in acting}, {agent: results[agent] for agent in acting},
        )  # fmt: skip

    def _observed(self, moment: Moment, agents: Sequence[str]) -> dict[str, Any]:
        """What agents see, those included that have just gone out."""
        return {agent: self._with_mask(self._place(agent), moment) for agent in agents}

    def _with_mask(self, i: int, moment: Moment) -> Any:
        if not self._masked[i]:
            return moment.seen[i]
        seen = moment.seen[i]
        named = seen if isinstance(seen, dict) else {our_spaces.BARE: seen}
        return {**named, "action_mask": moment.masks[i].astype(np.int8)}

    def _place(self, agent: str) -> int:
        return self.possible_agents.index(agent)

    def close(self) -> None:
        """Release the game's resources."""
        self._one.game.close()

"""Battles whose seats act at different moments: their casts, and the sampler for them.

Every seat of every battle is a coroutine (``engine.mdp.roles``); a driver advances all battles and answers the requests
to each policy by one forward pass. Seeds, casts and noise are those of ``engine.rl.sampler`` and ``engine.rl.seats``,
so a game that supports both interfaces gives the same trajectories with both.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.channel import Weights
from engine.mdp.agent import Agent
from engine.mdp.driver import Driver, Player, Role, Slot
from engine.mdp.interface import MDP, Controller, Result
from engine.mdp.roles import SeatResult, Trainee, evaluate
from engine.mdp.trajectory import Trajectory, join
from engine.rl.cast import Cast, Snapshots
from engine.rl.policy import Actor, Model
from engine.rl.sampler import Episode, cast_for, opposing, sides_of
from engine.rl.seats import Players, nobody_else
from engine.rng import battle_seeds

AGENTS_KEPT = 64
"""Largest number of agents of non-learning policies kept for reuse."""


class EndedBattle(NamedTuple):
    """A finished episode: its battle, and for each seat the policy, the result, and the seat's own part in it."""

    slot: Slot
    who: tuple[str, ...]
    results: tuple[Result, ...]
    played: tuple[SeatResult, ...]


class Table:
    """Battles with seats for policies. ``agents``: existing agents by policy; ``players`` gives all others. ``trains``:
    the trainee of a policy in a battle and on a seat, None where it only plays. ``snapshots``: those that the casts of
    new episodes may draw from."""

    def __init__(
        self, mdp: MDP, seeds: NDArray[np.uint64], cast: Cast, agents: Mapping[str, Agent], players: Players, *,
        trains: Callable[[str, int, int], Trainee | None] = lambda policy, battle, seat: None,
        snapshots: Snapshots | None = None, episodes: float = math.inf,
    ) -> None:  # fmt: skip
        """``episodes``: number for each battle."""
        self.snapshots: Snapshots = {} if snapshots is None else snapshots
        self._mdp, self._seeds, self._cast, self._agents, self._trains = mdp, seeds, cast, dict(agents), trains
        self._alone = cast(0, 0, {}) if cast.fixed else None
        self._played: dict[tuple[int, int], tuple[tuple[str, ...], SeatResult]] = {}

        @lru_cache(AGENTS_KEPT)
        def agent(policy: str, seat: int) -> Agent:
            player = players(policy)
            return Agent(player, mdp.spec.seats[seat], memory=player.memory)

        self._agent_of = agent
        roles: dict[int, Role] = {seat: self._role(seat) for seat in range(len(mdp.spec.seats))}
        self._driver = Driver(mdp, seeds, roles, episodes=episodes)

    def _role(self, seat: int) -> Role:
        def role(controller: Controller, slot: Slot) -> Player:
            who = self._alone or self._cast(int(self._seeds[slot.place]), slot.episode, self.snapshots)
            return self._sit(controller, slot, who, seat)

        return role

    async def _sit(self, controller: Controller, slot: Slot, who: tuple[str, ...], seat: int) -> None:
        policy = who[seat]
        if (trainee := self._trains(policy, slot.place, seat)) is not None:
            played = await trainee.train(controller, slot, who[:seat] + who[seat + 1 :])
        else:
            played = await evaluate(controller, self._agents.get(policy) or self._agent_of(policy, seat), slot.seed)
        self._played[slot.place, seat] = who, played

    def round(self) -> list[EndedBattle]:
        """As ``Driver.round``."""
        found = []
        for slot, results, _ in self._driver.round():
            pairs = [self._played[slot.place, seat] for seat in range(len(results))]
            found.append(EndedBattle(slot, pairs[0][0], results, tuple(played for _, played in pairs)))
        return found

    @property
    def over(self) -> bool:
        """Whether all requested episodes have ended."""
        return self._driver.over

    def close(self) -> None:
        """End all battles."""
        self._driver.close()


class TurnSampler:
    """``engine.rl.sampler.Sampler`` for a game that is played in turns, with the same constructor.

    A stream is a seat of a battle; its fragments have exactly ``length`` of its own decisions and continue across
    episodes. They are complete at different moments, so one result of ``sample`` may hold a fast stream twice and a
    slow one not at all. Raises ConfigError as ``Sampler``.
    """

    def __init__(
        self, mdp: MDP, learning: Mapping[str, Model], battles: int, length: int, seed: int, *,
        cast: Cast | None = None, players: Players = nobody_else, number: int = 0, sides: Sequence[int] | None = None,
    ) -> None:  # fmt: skip
        self.sides = sides_of(mdp.spec) if sides is None else sides
        self.mdp, self.battles, self.length, self.seed, self.number = mdp, battles, length, seed, number
        self._cast, self._players = cast_for(mdp.spec, learning, cast), players
        self.actors = {policy: Actor(model) for policy, model in learning.items()}
        self.episodes: list[Episode] = []
        self._snapshots: dict[str, tuple[str, ...]] = {}
        self._agents: dict[str, Agent] = {}
        self._table: Table | None = None

    @property
    def policies(self) -> tuple[str, ...]:
        """The learning policies."""
        return tuple(self.actors)

    def load(self, weights: Weights) -> None:
        """As ``Sampler.load``."""
        self.actors[weights.policy].load(weights.vectors["actor"], weights.version)
        if weights.policy in self._agents:
            self._agents[weights.policy].version = weights.version
        self._snapshots[weights.policy] = weights.snapshots

    def recall(self, snapshots: Mapping[str, Sequence[str]]) -> None:
        """As ``Sampler.recall``."""
        self._snapshots.update({policy: tuple(digests) for policy, digests in snapshots.items()})

    def begin(self, beginning: int = 0) -> None:
        """As ``Sampler.begin``; incomplete fragments are discarded."""
        self._end()
        matches = np.array([self.number], np.uint64)
        seeds = battle_seeds(self.seed, matches, beginning * self.battles, (beginning + 1) * self.battles)[0]
        self._agents, self._trainees = {}, dict[tuple[str, int, int], Trainee]()
        self._fragments: dict[str, list[Trajectory]] = {policy: [] for policy in self.actors}
        for policy, actor in self.actors.items():
            agent = self._agents[policy] = Agent(actor, actor.model.spec.seat, memory=actor.memory)
            agent.version = actor.version
            for seat in self._cast.places(policy):
                for battle in range(self.battles):
                    self._trainees[policy, battle, seat] = Trainee(
                        agent, actor.model.spec.seat, self.length, self._fragments[policy].append, policy
                    )
        self._table = Table(
            self.mdp, seeds, self._cast, self._agents, self._players, snapshots=self._snapshots,
            trains=lambda policy, battle, seat: self._trainees.get((policy, battle, seat)),
        )  # fmt: skip

    def sample(self, before: Callable[[], None] | None = None) -> dict[str, Trajectory]:
        """By policy, its complete fragments, stacked, as soon as every policy has as many as it has seats in the
        battles (on average, where seats are drawn). ``before``: called before each round of decisions; it may call
        ``load``."""
        if self._table is None:
            self.begin()
        while any(len(found) < self._wanted(policy) for policy, found in self._fragments.items()):
            if before is not None:
                before()
            self._advance()
        found = {policy: join(fragments) for policy, fragments in self._fragments.items()}
        for fragments in self._fragments.values():
            fragments.clear()
        return found

    def finished(self) -> list[Episode]:
        """As ``Sampler.finished``."""
        found, self.episodes = self.episodes, []
        return found

    def _wanted(self, policy: str) -> int:
        return max(1, round(self.battles * self._cast.expected(policy)))

    def _advance(self) -> None:
        assert self._table is not None
        for slot, who, results, played in self._table.round():
            for seat, (policy, result, own) in enumerate(zip(who, results, played, strict=True)):
                if policy in self.actors:
                    names = self.mdp.spec.seats[seat].signals
                    signals = np.array([result.signals[name] for name in names], np.float64)
                    self.episodes.append(
                        Episode(
                            seat, slot.seed, own.decisions, own.returns, result.win, result.score, signals, policy,
                            opposing(who, seat, self.sides),
                        )
                    )  # fmt: skip

    def _end(self) -> None:
        if self._table is not None:
            self._table.close()
        self._table = None

    def close(self) -> None:
        """End all battles and close the game."""
        self._end()
        self.mdp.close()

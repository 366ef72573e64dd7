"""Advances many battles in one process and answers all waiting inferences by one forward pass.

A bare trampoline: every player is a coroutine that is resumed by ``send`` and stops at a bare ``yield`` when it waits
for the game, or at a question to a policy. A round answers the questions of all battles together, until there are none,
lets every battle tick once, and resumes each player until it waits for the game or asks again. A player must end when
its controller says that the episode is done.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Coroutine, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.mdp.agent import Question
from engine.mdp.checks import Blame
from engine.mdp.interface import MDP, Battle, Controller, Result
from engine.mdp.vector import episode_seeds

Player = Coroutine[Any, Any, Any]


def play(battle: Battle, *players: Player) -> list[Any]:
    """Run one battle with these coroutines, in the order of its controllers; they must not ask an ``Agent``. Returns
    their results, like ``asyncio.gather`` but ten times cheaper. A player that ends early is off line from then on."""
    returned: list[Any] = [None] * len(players)
    waiting = [(i, player.send) for i, player in enumerate(players)]
    tick, over, gone = battle.ticks.__await__().__next__, False, set[int]()
    try:
        while True:
            for i, send in waiting:
                try:
                    send(None)
                except StopIteration as end:
                    returned[i] = end.value
                    gone.add(i)
            if gone:
                waiting = [pair for pair in waiting if pair[0] not in gone]
                _leave(battle, gone)
            if over or battle.done:
                return returned
            try:
                tick()
            except StopIteration:
                over = True
    finally:
        for player in players:
            player.close()


def _leave(battle: Battle, gone: set[int]) -> None:
    """Take players that have ended off line."""
    for i in gone:
        if i < len(battle.controllers):
            battle.controllers[i].leave()
    gone.clear()


def tick_once(tick: Callable[[], Any]) -> None:
    """Resume a battle's ticks once; when they end, the battle is ``done``."""
    try:
        tick()
    except StopIteration:
        return


class Slot(NamedTuple):
    """A battle's slot: its index, and the number (from 0) and seed of its current episode."""

    place: int
    episode: int
    seed: int


Role = Callable[[Controller, Slot], Player]


class Finished(NamedTuple):
    """A finished episode: its slot, the result of each seat that was played, and its length in rounds (equal to its
    ticks, unless they waited for a seat)."""

    slot: Slot
    results: tuple[Result, ...]
    rounds: int


class _Running:
    """One slot's current battle."""

    __slots__ = ("battle", "players", "rounds", "slot", "tick")

    def __init__(self, mdp: MDP, slot: Slot, cast: Mapping[int, Role]) -> None:
        self.slot, self.rounds = slot, 0
        self.battle = mdp.reset(*cast, seed=slot.seed)
        controllers = self.battle.controllers
        self.players = {i: role(controllers[i], slot) for i, role in enumerate(cast.values())}
        self.tick = self.battle.ticks.__await__().__next__

    def resume(self, asked: list[Asked]) -> None:
        """Resume every player; adds those that ask a policy to the list."""
        for i in tuple(self.players):
            self.resume_one(i, asked)

    def resume_one(self, i: int, asked: list[Asked]) -> None:
        """Resume a player until it waits for the game, asks, or ends."""
        try:
            question = self.players[i].send(None)
        except StopIteration:
            del self.players[i]
            self.battle.controllers[i].leave()
        else:
            if question is not None:
                asked.append((self, i, question))

    def close(self) -> None:
        """End the battle and all players that are still running."""
        for player in self.players.values():
            player.close()
        self.battle.close()


Asked = tuple[_Running, int, Question]
"""A question, its battle, and the index of the player that asked it."""


class Driver:
    """Keeps one battle running for each of ``seeds`` uint64[n], episode after episode, or ``episodes`` of each.
    ``cast``: seat to the coroutine function that plays it."""

    def __init__(
        self, mdp: MDP, seeds: NDArray[np.uint64], cast: Mapping[int, Role], *, episodes: float = math.inf
    ) -> None:
        self._mdp, self._seeds, self._cast, self._episodes = mdp, np.asarray(seeds, np.uint64), dict(cast), episodes
        self._blame = Blame(mdp.spec.name)
        self._running = {i: self._begin(i, 0) for i in range(len(self._seeds))}
        self._asked = self._resumed(self._running.values())

    def _begin(self, place: int, episode: int) -> _Running:
        seed = int(episode_seeds(self._seeds[place : place + 1], np.array([episode]))[0])
        self._blame.battle, self._blame.doing = place, "reset"
        with self._blame:
            running = _Running(self._mdp, Slot(place, episode, seed), self._cast)
        self._blame.doing = "step"
        return running

    @property
    def over(self) -> bool:
        """Whether all requested episodes have ended."""
        return not self._running

    def round(self) -> list[Finished]:
        """Let the policies answer, every battle tick once, and every player see the result and ask for its next
        decision; so a decision made before a round is recorded after it. Returns the episodes that ended; the next ones
        have begun."""
        self._answer(self._asked)
        with self._blame:
            for running in self._running.values():
                self._blame.battle = running.slot.place
                tick_once(running.tick)
                running.rounds += 1
        over = [running for running in self._running.values() if running.battle.done]
        self._answer(self._resumed(over))
        finished = [self._replace(running) for running in over]
        self._asked = self._resumed(self._running.values())
        return finished

    def _resumed(self, running: Iterable[_Running]) -> list[Asked]:
        """Resume players; returns those that asked a policy."""
        asked: list[Asked] = []
        for one in running:
            one.resume(asked)
        return asked

    def _answer(self, asked: list[Asked]) -> None:
        """Answer these questions, and further ones that the answers lead to."""
        while asked:
            for agent in dict.fromkeys(question.agent for _, _, question in asked):
                agent.answer()
            again, asked = asked, []
            for one, i, _ in again:
                one.resume_one(i, asked)

    def _replace(self, running: _Running) -> Finished:
        slot = running.slot
        results = tuple(controller.get_result() for controller in running.battle.controllers)
        running.close()
        if slot.episode + 1 < self._episodes:
            self._running[slot.place] = self._begin(slot.place, slot.episode + 1)
        else:
            del self._running[slot.place]
        return Finished(slot, results, running.rounds)

    def close(self) -> None:
        """End all battles."""
        for running in self._running.values():
            running.close()

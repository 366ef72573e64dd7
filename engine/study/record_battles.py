"""Battles recorded to be watched side by side: each agent on the same seed against the same opponent.

A round is one battle. Nothing but the study decides what is in a recording, so it is the same bytes each time.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from engine.arrays import Bundle, pack
from engine.config.agents import RecordConfig
from engine.errors import Cancelled, ConfigError, below
from engine.events import AnyEvent, Counters, Finished, Paused, Progressed, Started, Stopped
from engine.mdp.vector import Game
from engine.rl.recording import LONGEST, Recording, drawing_of, episode_of, record_seated, scenery_of, tally
from engine.rl.seats import Player
from engine.rl.squads import fill
from engine.simulators import references
from engine.store import Store
from engine.study import checkpoint
from engine.study.casting import MAKERS, as_slow_as
from engine.study.control import Control
from engine.study.failures import not_begun, with_failure
from engine.study.session import Session

AGENTS, OPPONENT = "agents", "opponent"
"""Places of the study: who sits on the seats of each side that nobody else has."""


def record_battles(config: RecordConfig, store: Store, resume: str, control: Control) -> Iterator[AnyEvent]:
    """As ``engine.study.lineups``, for battles to watch."""
    return with_failure(_Recordings(config, store, control).events(resume))


class _Recordings(Session):
    """``battles``, ``arrays``: the recordings so far; ``sits``: the seats of all who play, by their places."""

    def __init__(self, config: RecordConfig, store: Store, control: Control) -> None:
        super().__init__(store, control)
        self.config = config
        self.battles: list[dict[str, Any]] = []
        self.arrays: dict[str, Any] = {}
        self.saved, self.before_s, self.began = "", 0.0, time.monotonic()

    def events(self, resume: str) -> Iterator[AnyEvent]:
        if resume:
            self._restore(resume)
        try:
            made = references.make(self.config.game, 1, self.stopped)
        except Cancelled:
            yield not_begun(self.control, resume)
            return
        ticks = self.config.ticks
        with contextlib.closing(made) as game:
            self._seat(game)
            yield self.say(Started, workers=1, pool="local", ticks=ticks, battles=ticks, resumed=bool(resume))
            facing = game
            for place, other in self._others.items():
                facing = as_slow_as(facing, other, self.sits[place], place)
            while len(self.battles) < ticks and not self.control():
                limited = as_slow_as(facing, self.config.agents[len(self.battles)], self.sits[AGENTS])
                yield from self._battle(limited)
        command = self.control() if len(self.battles) < ticks else ""
        if command == "pause":
            yield self.say(Paused, artifacts={"checkpoint": self.saved} if self.saved else {})
        elif command == "stop":
            yield self.say(Stopped, reason="Stopped by request.", artifacts=self._results(), summary={})
        else:
            yield self.say(Finished, artifacts=self._results(), summary={})

    def _player(self, place: str, player: Any, game: Game, seats: Sequence[int]) -> Player:
        with below(place):
            made = MAKERS[player.kind](player, game.spec.seats[seats[0]], self.store, player.sampled)
            fill(made, len(seats))
        return made

    def _seat(self, game: Game) -> None:
        """Settle who sits where. Raises ConfigError for seats that the game does not have, and for seats of nobody."""
        has = len(game.spec.seats)
        self.sits = sits = self.config.sits(has, game.spec.squad)
        for i, other in enumerate(self.config.beside):
            if max(other.seats) >= has:
                raise ConfigError([(f"beside.{i}.seats", f"this game has {has} seats, the last of which is {has - 1}")])
        if OPPONENT in sits and self.config.opponent is None:
            raise ConfigError([(OPPONENT, "this game has other seats, and somebody must sit there")])
        self.agents = [
            self._player(f"{AGENTS}.{i}", each, game, sits[AGENTS]) for i, each in enumerate(self.config.agents)
        ]
        self.others = {place: self._player(place, each, game, sits[place]) for place, each in self._others.items()}

    @property
    def _others(self) -> dict[str, Any]:
        """All who play beside the agents, by place; an opponent that has no seat does not."""
        beside = {f"beside.{i}": other.player for i, other in enumerate(self.config.beside)}
        return ({OPPONENT: self.config.opponent} if OPPONENT in self.sits else {}) | beside

    def _battle(self, game: Game) -> Iterator[AnyEvent]:
        """Record one battle; a command ends it without a result."""
        whose = {seat: place for place, seats in self.sits.items() for seat in seats}
        players = {AGENTS: self.agents[len(self.battles)], **self.others}
        try:
            seated = [whose[seat] for seat in range(len(whose))]
            found = record_seated(game, seated, players, *self._episode(), self.stopped)
        except Cancelled:
            return
        i = len(self.battles)
        self.battles.append(_figures(found, game))
        self.arrays |= {f"positions/{i}": found.positions, f"moves/{i}": found.moves}
        self.drawing = drawing_of(game) if found.positions.shape[1] else ""
        if (scenery := scenery_of(game)) is not None:
            self.arrays["scenery"] = scenery
        meta = {"told": self.battles, "drawing": self.drawing, "seconds": self._seconds}
        parts = {"recorded": Bundle(meta, self.arrays)}
        self.saved = checkpoint.write(self.config, len(self.battles), parts, self.store)
        yield self.say(Progressed, metrics={"moves": float(len(found.moves))}, artifacts=self._results())

    def _episode(self) -> tuple[int, int]:
        """The seed of the next battle's episode, and after how many decisions it is cut."""
        agent = self.config.agents[len(self.battles)]
        if agent.kind == "moves":
            return agent.episode, len(agent.moves)
        return episode_of(self.config.seed), LONGEST

    def _results(self) -> dict[str, str]:
        """The recordings so far."""
        if not self.battles:
            return {}
        titles = [agent.title for agent in self.config.agents]
        opponent = "" if self.config.opponent is None else self.config.opponent.title
        meta = {"drawing": self.drawing, "battles": self.battles, "titles": titles, "opponent": opponent}
        return {"recording": self.store.put(pack(meta, self.arrays)), "checkpoint": self.saved}

    def _restore(self, digest: str) -> None:
        """Continue from a checkpoint. Raises ConfigError and StoreError as ``checkpoint.read``."""
        (_, parts), self.saved = checkpoint.read(self.config, digest, self.store), digest
        recorded = parts["recorded"]
        self.battles, self.arrays = recorded.meta["told"], recorded.arrays
        self.drawing, self.before_s = recorded.meta["drawing"], recorded.meta["seconds"]

    @property
    def _seconds(self) -> float:
        return self.before_s + time.monotonic() - self.began

    def reached(self) -> tuple[int, Counters]:
        moves = sum(battle["length"] for battle in self.battles)
        return len(self.battles), Counters(battles=len(self.battles), steps=moves, seconds=self._seconds)


def _figures(found: Recording, game: Game) -> dict[str, Any]:
    """What a recording says in numbers; None where the game does not say."""
    counts = tally(game.spec.seats[0].action, found.moves)
    named = {"labels": list(found.labels)} if found.labels else {}
    return {"length": len(found.moves), "score": _known(found.score), "win": _known(found.win), "over": found.over,
            "signals": found.signals, "counts": counts, **named}  # fmt: skip


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


class Words:
    """Console texts of recordings."""

    def planned(self, event: Started, study: Mapping[str, Any]) -> str:
        """Battles."""
        return f"{event.battles:,} battles to watch"

    def done(self, counters: Counters) -> str:
        """Battles."""
        return f"{counters.battles:,} battles"

    def round(self, metrics: Mapping[str, float], study: Mapping[str, Any]) -> str:
        """Decisions of the battle."""
        return f"{metrics['moves']:,.0f} decisions"

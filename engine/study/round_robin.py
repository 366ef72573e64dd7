"""Evaluations: every policy plays every other one, as often on one seat as on the other, and a table says who wins.

A round is one pair. Episode k of a pair has a seed made of the study's seed, the pair and k, and is played twice, once
with exchanged seats. So the table depends neither on batches nor on interruptions: an interrupted pair is played again,
with the same result. The measure is a policy's share of wins, draws as half, averaged over both seatings of a seed;
these averages are independent and between 0 and 1, so their ranges hold for any game.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Generator, Iterator, Mapping
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.arrays import Bundle, pack
from engine.config.evaluate import EvaluateConfig
from engine.errors import Cancelled, below
from engine.events import AnyEvent, Counters, Finished, Logged, Paused, Progressed, Started, Stopped
from engine.mdp.vector import Game
from engine.means import range_of
from engine.rl.seats import Player
from engine.rl.squads import fill
from engine.rng import battle_seeds, combine64
from engine.simulators import references
from engine.store import Store
from engine.study import checkpoint
from engine.study.casting import as_slow_as, player_of
from engine.study.control import Control
from engine.study.failures import not_begun, with_failure
from engine.study.meetings import Meeting, two_sides
from engine.study.session import Session

Floats = NDArray[np.float64]
EVALUATION = 0xE7A4
"""First match key of evaluations, so that no training has their seeds."""
BATCH = 100
"""Seeds played at once."""
DOUBT = 0.05
"""Probability that a range misses and, over the whole table, that any "beats" is luck."""


def evaluate(config: EvaluateConfig, store: Store, resume: str, control: Control) -> Iterator[AnyEvent]:
    """As ``engine.study.lineups``, for policies that play each other."""
    return with_failure(_RoundRobin(config, store, control).events(resume))


class _RoundRobin(Session):
    """``shares`` [rounds, seeds]: share of wins of the first policy of each pair so far; ``drawn``: share of draws.
    ``under_way``: episodes and decisions of a pair that is not complete."""

    def __init__(self, config: EvaluateConfig, store: Store, control: Control) -> None:
        super().__init__(store, control)
        self.config = config
        self.seeds = config.episodes // 2
        self.shares: Floats = np.empty((0, self.seeds))
        self.drawn: Floats = np.empty((0, self.seeds))
        self.moves, self.saved, self.before_s = 0, "", 0.0
        self.under_way = 0, 0
        self.began = time.monotonic()

    @property
    def tick(self) -> int:
        return len(self.shares)

    def events(self, resume: str) -> Iterator[AnyEvent]:
        if resume:
            self._restore(resume)
        try:
            made = references.make(self.config.game, min(BATCH, self.seeds), self.stopped)
        except Cancelled:
            yield not_begun(self.control, resume)
            return
        with contextlib.closing(made) as game:
            players = self._players(game)
            battles = self.config.ticks * self.config.episodes
            yield self.say(Started, workers=1, pool="local", ticks=self.config.ticks, battles=battles,
                            resumed=bool(resume))  # fmt: skip
            while self.tick < self.config.ticks and not self.control():
                yield from self._pair(*self.config.pairs[self.tick], game, players)
        command = self.control() if self.tick < self.config.ticks else ""
        if command == "pause":
            yield self.say(Paused, artifacts={"checkpoint": self.saved} if self.saved else {})
        elif command == "stop":
            yield self.say(Stopped, reason="Stopped by request.", artifacts=self._results(), summary={})
        else:
            yield self.say(Finished, artifacts=self._results(), summary={})

    def _players(self, game: Game) -> dict[str, Player]:
        """All players. Raises ConfigError where the game does not have two equal seats, or a policy cannot play it."""
        two_sides(game.spec)
        seat, found = game.spec.seats[0], {}
        for name, policy in self.config.policies.items():
            found[name] = player_of(name, policy, seat, self.store)
            with below(f"policies.{name}"):
                fill(found[name], game.spec.squad)
        return found

    def _pair(self, first: str, second: str, game: Game, players: Mapping[str, Player]) -> Iterator[AnyEvent]:
        """Play one pair; a command ends it without a result."""
        self.throttle.restart()
        try:
            found = yield from self._battles(first, second, game, players)
        except Cancelled:
            return
        finally:
            moves, self.under_way = self.under_way[1], (0, 0)
        self.moves += moves
        self.shares = np.concatenate([self.shares, found[:, :, 0].mean(axis=0)[None]])
        self.drawn = np.concatenate([self.drawn, (found[:, :, 0] == 0.5).mean(axis=0)[None]])
        yield from self._close_round(first, second)

    def _battles(
        self, first: str, second: str, game: Game, players: Mapping[str, Player]
    ) -> Generator[AnyEvent, None, Floats]:
        """Wins [seatings, seeds, policies] of a pair. Raises Cancelled."""
        found = np.empty((2, self.seeds, 2))
        seeds = battle_seeds(self.config.seed, np.array([combine64(EVALUATION, self.tick)]), 0, self.seeds)[0]
        for at in range(0, self.seeds, BATCH):
            for i, seated in enumerate(((first, second), (second, first))):
                won = yield from self._played(seated, seeds[at : at + BATCH], game, players)
                found[i, at : at + BATCH] = won if i == 0 else won[:, ::-1]
        return found

    def _played(
        self, seated: tuple[str, str], seeds: NDArray[np.uint64], game: Game, players: Mapping[str, Player]
    ) -> Generator[AnyEvent, None, Floats]:
        """Wins [seeds, seats]; tells in between how far it is. Raises Cancelled."""
        squad = game.spec.squad
        for side, name in enumerate(seated):
            taken = range(side * squad, (side + 1) * squad)
            game = as_slow_as(game, self.config.policies[name], taken, f"policies.{name}")
        meeting, (episodes, moves) = Meeting(game, seated, players, seeds, self.stopped), self.under_way
        for _ in meeting.decisions():
            self.under_way = episodes + meeting.ended, moves + meeting.moves
            if self.throttle.due():
                yield self.say(Logged, message="")
        return meeting.won

    def _close_round(self, first: str, second: str) -> Iterator[AnyEvent]:
        """A pair is complete: report the result, and write the table and the checkpoint."""
        share, ends = float(self.shares[-1].mean()), range_of(self.shares[-1], 0.0, 1.0, DOUBT)
        percent = f"{100 * share:.0f} % ({100 * ends.low:.0f} to {100 * ends.high:.0f} %)"
        drawn = float(self.drawn[-1].mean())
        draws = f"; draws, {100 * drawn:.0f} % of them, count half" if drawn else ""
        result = (
            f"{self._title(first)} won {percent} of {self.config.episodes:,} episodes against {self._title(second)}"
        )
        yield self.say(Logged, message=f"{result}{draws}.")
        state = {"shares": self.shares, "drawn": self.drawn}
        counted = {"moves": self.moves, "seconds": self._seconds}
        self.saved = checkpoint.write(self.config, self.tick, {"table": Bundle(counted, state)}, self.store)
        metrics = {"share": share, "low": ends.low, "high": ends.high, "drawn": drawn}
        yield self.say(Progressed, metrics=metrics, artifacts=self._results())

    def _title(self, name: str) -> str:
        return f"“{self.config.policies[name].title or name}”"

    def _results(self) -> dict[str, str]:
        """The table so far."""
        if not self.tick:
            return {}
        titles = [policy.title or name for name, policy in self.config.policies.items()]
        meta = {"names": list(self.config.policies), "titles": titles, "episodes": self.config.episodes}
        table = self.store.put(pack(meta, table_of(len(titles), self.config.ticks, self.shares, self.drawn)))
        return {"table": table, "checkpoint": self.saved}

    def _restore(self, digest: str) -> None:
        """Continue from a checkpoint. Raises ConfigError and StoreError as ``checkpoint.read``."""
        (_, parts), self.saved = checkpoint.read(self.config, digest, self.store), digest
        table = parts["table"]
        self.shares, self.drawn = table.arrays["shares"], table.arrays["drawn"]
        self.moves, self.before_s = table.meta["moves"], table.meta["seconds"]

    @property
    def _seconds(self) -> float:
        return self.before_s + time.monotonic() - self.began

    def reached(self) -> tuple[int, Counters]:
        episodes, moves = self.under_way
        battles = self.tick * self.config.episodes + episodes
        return self.tick, Counters(battles=battles, steps=self.moves + moves, seconds=self._seconds)


def table_of(policies: int, pairs: int, shares: Floats, drawn: Floats) -> dict[str, NDArray[Any]]:
    """The table of the rounds so far: ``share``, ``low``, ``high`` and ``drawn`` [policies, policies] of the row policy
    against the column policy, NaN where they have not met; ``beats`` int8, 1 where the row policy is surely better, -1
    where it is surely worse. ``overall`` [policies, 3]: share and range against all opponents that it has met."""
    table = {name: np.full((policies, policies), np.nan) for name in ("share", "low", "high", "drawn")}
    beats, met = np.zeros((policies, policies), np.int8), [list[Floats]() for _ in range(policies)]
    for (i, j), values, draws in zip(combinations(range(policies), 2), shares, drawn, strict=False):
        for a, b, own in ((i, j, values), (j, i, 1 - values)):
            ends, sure = range_of(own, 0.0, 1.0, DOUBT), range_of(own, 0.0, 1.0, DOUBT / pairs)
            table["share"][a, b], table["low"][a, b], table["high"][a, b] = own.mean(), ends.low, ends.high
            table["drawn"][a, b], beats[a, b] = draws.mean(), (sure.low > 0.5) - (sure.high < 0.5)
            met[a].append(own)
    overall = [_overall(np.stack(values)) if values else (np.nan, np.nan, np.nan) for values in met]
    return {**table, "beats": beats, "overall": np.array(overall)}


def _overall(values: Floats) -> tuple[float, float, float]:
    """Share and range against several opponents: pairs are independent, so episodes of equal number are averaged."""
    averages = values.mean(axis=0)
    ends = range_of(averages, 0.0, 1.0, DOUBT)
    return float(averages.mean()), ends.low, ends.high


class Words:
    """Console texts of evaluations."""

    def planned(self, event: Started, study: Mapping[str, Any]) -> str:
        """Pairs and episodes."""
        return f"{event.ticks:,} pairs, {event.battles:,} episodes"

    def done(self, counters: Counters) -> str:
        """Episodes."""
        return f"{counters.battles:,} episodes"

    def round(self, metrics: Mapping[str, float], study: Mapping[str, Any]) -> str:
        """The pair's result."""
        m = metrics
        return f"the first of this pair won {100 * m['share']:.1f} % ({100 * m['low']:.1f} to {100 * m['high']:.1f} %)"

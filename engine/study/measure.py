"""Measurements of a saved agent: what it does on fresh episodes, with ranges, and the file that people take home.

A round is fifty episodes, played at once. The seed of episode k is made of the study's seed and k, so the numbers
depend neither on rounds nor on interruptions: an interrupted round is played again, with the same result. After the
usual opponent come the strangers, each on the same seeds. The situations that go along as vectors are those of the
first round. Processor time is measured here, and is the one
number that is not the same each time.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.arrays import Bundle, pack
from engine.catalog import declared_ends, of_two
from engine.config.agents import PART, MeasureConfig, PlayerConfig
from engine.config.train import TrainGame
from engine.errors import Cancelled, ConfigError, below
from engine.events import AnyEvent, Counters, Finished, Logged, Paused, Progressed, Started, Stopped
from engine.mdp.trajectory import Batch
from engine.mdp.vector import Game, in_turns
from engine.means import range_of
from engine.rl.cast import Candidate, Cast
from engine.rl.devices import on_threads
from engine.rl.examine import ends_by_settings, first_episodes, first_in_turns
from engine.rl.observed import Observed, arrays_of, batch_of
from engine.rl.onnx_acting import acting
from engine.rl.played import played
from engine.rl.policy import Policy
from engine.rl.recording import tally
from engine.rl.seats import Player, Seats, nobody_else
from engine.rl.squads import fill, fits, on_seats
from engine.rl.take_home import VECTORS, Arrays, checked, milliseconds, processor, vectors, zipped
from engine.rl.turns import Table
from engine.rng import battle_seeds
from engine.simulators import references
from engine.store import Store
from engine.study import checkpoint
from engine.study.casting import MAKERS, as_slow_as
from engine.study.clip import clip_of
from engine.study.control import Control
from engine.study.failures import not_begun, with_failure
from engine.study.model_card import card_of, in_words
from engine.study.session import Session
from engine.styles.strangers import ERROR, Shift, facing_strangers, moved, paired

Floats = NDArray[np.float64]
MEASUREMENT = 0xE7A6
"""The match key of measurements: their seeds are never those of training or of evaluations."""
PLAYED = 0xE7A7
"""The match key of the sequence that goes along with an agent with limits."""
EPISODES_PLAYED = 3
_MINE, _OTHER = "measured", "opponent"


def measure(config: MeasureConfig, store: Store, resume: str, control: Control) -> Iterator[AnyEvent]:
    """As ``engine.study.lineups``, for one agent."""
    return with_failure(_Measurement(config, store, control).events(resume))


class _Ground(NamedTuple):
    """Where an agent is measured: the game, and who sits on its other seats (None: it has none)."""

    game: Game
    opponent: Player | None


class _Measurement(Session):
    """``values``: what each episode told [episodes, measures], against the usual opponent and then against each
    stranger; ``seen``: situations of the first round."""

    def __init__(self, config: MeasureConfig, store: Store, control: Control) -> None:
        super().__init__(store, control)
        self.config = config
        self.values: list[Floats] = [np.empty((0, 0)) for _ in range(1 + len(config.strangers))]
        self.seen: Batch | None = None
        self.moves, self.saved, self.before_s = 0, "", 0.0
        self.began = time.monotonic()

    @property
    def tick(self) -> int:
        return sum(map(len, self.values)) // PART

    def events(self, resume: str) -> Iterator[AnyEvent]:
        self.policy = _stored(self.config, self.store)
        agent = self.config.agent
        model = acting(self.policy, agent.sampled, agent.limits)  # one that cannot do it fails before it has played
        if resume:
            self._restore(resume)
        with contextlib.ExitStack() as games:
            try:
                grounds = self._grounds(games)
            except Cancelled:
                yield not_begun(self.control, resume)
                return
            yield self.say(Started, workers=1, pool="local", ticks=self.config.ticks, battles=self.config.ticks * PART,
                           resumed=bool(resume))  # fmt: skip
            while self.tick < self.config.ticks and not self.control():
                yield from self._round(grounds)
            command = self.control() if self.tick < self.config.ticks else ""
            results = {} if command else self._results(grounds[0], model)
        if command == "pause":
            yield self.say(Paused, artifacts={"checkpoint": self.saved} if self.saved else {})
        elif command == "stop":
            yield self.say(Stopped, reason="Stopped by request.", artifacts={}, summary={})
        else:
            yield self.say(Finished, artifacts=results, summary={})

    def _grounds(self, games: contextlib.ExitStack) -> list[_Ground]:
        """Where it is measured, the usual one first. Raises ConfigError and Cancelled."""
        config = self.config
        if config.strangers and not of_two(config.game.name):
            raise ConfigError([("strangers", "nobody else can sit down in this game: leave them out")])
        found = [self._ground(games, config.game, config.opponent, "opponent")]
        away = facing_strangers(config.game)
        found += [self._ground(games, away, s, f"strangers.{i}") for i, s in enumerate(config.strangers)]
        return found

    def _ground(
        self, games: contextlib.ExitStack, wanted: TrainGame, other: PlayerConfig | None, place: str
    ) -> _Ground:
        """Raises ConfigError where the game does not fit the agent or the opponent."""
        made = games.enter_context(contextlib.closing(references.make(wanted, PART, self.stopped)))
        seats = made.spec.seats
        if self.config.seat >= len(seats):
            raise ConfigError([("seat", f"this game has {len(seats)} seats, counted from 0")])
        own = self._own(made)
        game = as_slow_as(made, self.config.agent, own)
        seat = seats[self.config.seat]
        if not fits(self.policy, seat):
            raise ConfigError([("agent", "this agent sees or does something else than this game shows and takes")])
        with below("agent"):
            fill(on_seats(self.policy, self.policy.actor(False)), len(own))
        self.names = (*seat.rewards, *seat.signals)
        others = [seat for seat in range(len(seats)) if seat not in own]
        if not others:
            return _Ground(game, None)
        if other is None:
            raise ConfigError([(place, "this game has other seats, and somebody must sit there")])
        with below(place):
            game = as_slow_as(game, other, others)
            facing = seats[others[0]]
            opponent = MAKERS[other.kind](other, facing, self.store, other.sampled)
            fill(opponent, made.spec.squad)
        return _Ground(game, opponent)

    def _own(self, game: Game) -> range:
        """The seats of its side."""
        squad = game.spec.squad
        first = self.config.seat // squad * squad
        return range(first, first + squad)

    def _round(self, grounds: Sequence[_Ground]) -> Iterator[AnyEvent]:
        """Fifty more episodes; a command ends them without a result."""
        self.throttle.restart()
        which = self.tick * PART // self.config.episodes
        first = len(self.values[which])
        seeds = battle_seeds(self.config.seed, np.array([MEASUREMENT], np.uint64), first, first + PART)[0]
        me, (game, opponent) = Observed(self.policy.actor(self.config.agent.sampled), VECTORS), grounds[which]
        players = {_MINE: on_seats(self.policy, me), **({_OTHER: opponent} if opponent else {})}
        try:
            with on_threads(1):  # a small network only waits for further threads, the longer the busier the machine is
                found = self._played(game, players, seeds)
        except Cancelled:
            return
        self.values[which] = found if not first else np.concatenate([self.values[which], found])
        self.moves += int(found[:, _LENGTH].sum())
        self.seen = self.seen or me.situations()
        state = {**{f"values{_nth(i)}": each for i, each in enumerate(self.values)}, **arrays_of(self.seen)}
        counted = {"moves": self.moves, "seconds": self._seconds}
        self.saved = checkpoint.write(self.config, self.tick, {"measured": Bundle(counted, state)}, self.store)
        metrics = {m["name"]: m["mean"] for m in self._measures(grounds[0].game, 0) if m["mean"] is not None}
        yield self.say(Progressed, metrics=metrics, artifacts={"checkpoint": self.saved})
        if self.tick == self.config.ticks:
            yield self.say(Logged, message="All episodes are played. The files are written and tested now.")

    def _played(self, game: Game, players: Mapping[str, Player], seeds: NDArray[np.uint64]) -> Floats:
        """Win, score, length, returns and signals of each episode. Raises Cancelled."""
        seat = self.config.seat
        side = self._own(game)
        names = [_MINE if i in side else _OTHER for i in range(len(game.spec.seats))]
        cast = Cast([[Candidate(name, learns=True)] for name in names])
        found = np.full((len(seeds), _LENGTH + 1 + len(self.names)), np.nan)
        if in_turns(game):
            table = Table(game, seeds, cast, {}, players.__getitem__, episodes=1)
            for slot, _, results, played in first_in_turns(table, self.stopped):
                own, result = played[seat], results[seat]
                signals = [result.signals[name] for name in game.spec.seats[seat].signals]
                found[slot.place] = [result.win, result.score, own.decisions, *own.returns, *signals]
            return found
        seats = Seats(game.spec, cast, dict(players), nobody_else)
        width = len(game.spec.seats[seat].rewards)
        for battles, ended, rows in first_episodes(game, seats, seeds, self.stopped):
            plain = np.stack([ended.win[rows, seat], ended.score[rows, seat], ended.lengths[rows]], axis=1)
            found[battles] = np.concatenate(
                [plain, ended.returns[rows, seat, :width], ended.signals[seat][rows]], axis=1
            )
        return found

    def _ends(self, game: Game) -> dict[str, tuple[float, float]]:
        """Between what measures lie, by name: those that have ends on both sides."""
        return {**declared_ends(self.config.game.name), **ends_by_settings(game)}

    def _measures(self, game: Game, which: int) -> list[dict[str, Any]]:
        """Every measure that the game gives, with its mean and its 95 % range (None: unknown), against the usual
        opponent (0) or a stranger."""
        ends_of, found = self._ends(game), []
        for name, column in zip(self._named(game), self.values[which].T, strict=True):
            if not np.isnan(column).any():
                ends = range_of(column, *ends_of.get(name, (-math.inf, math.inf)))
                found.append({"name": name, "mean": float(column.mean()), "low": _known(ends.low),
                              "high": _known(ends.high)})  # fmt: skip
        return found

    def _named(self, game: Game) -> list[str]:
        seat = game.spec.seats[self.config.seat]
        return ["win", "score", "length", *(f"return:{r}" for r in seat.rewards), *seat.signals]

    def _results(self, ground: _Ground, model: bytes) -> dict[str, str]:
        """The figures, and the file to take home. Raises ConfigError where the exported agent is another one."""
        assert self.seen is not None
        config, sampled, (game, opponent) = self.config, self.config.agent.sampled, ground
        given = vectors(self.policy, self.seen, sampled)
        check = checked(model, given)
        if not check.good:
            raise ConfigError([("agent", f"the exported agent does not play as the saved one: {check.same:,} of "
                                f"{check.situations:,} actions are the same, and its numbers differ by "
                                f"{check.difference:.1e} of their scale; nothing was written")])  # fmt: skip
        found = {
            "measures": self._measures(game, 0), "episodes": len(self.values[0]), **self._strangers(game),
            "declared": sorted(self._ends(game)),
            "draws": sum(int(((each[:, 0] > 0) & (each[:, 0] < 1)).sum()) for each in self.values),
            "game": game.spec.name, "game_version": game.spec.version, "milliseconds": milliseconds(model, given),
            "processor": processor(),
            "check": check._asdict(), "sampled": sampled, "idle": self._idle(game), "clip": self._clip(game, opponent),
            "moves": tally(self.policy.spec.seat.action, given["out.action"]),
        }  # fmt: skip
        card = card_of(config, self.policy, found)
        taken = zipped(self.policy, model, given | self._sequence(ground), card, in_words(card))
        return {"table": self.store.put(pack(found, {"values": self.values[0]})), "take_home": self.store.put(taken)}

    def _idle(self, game: Game) -> Any:
        """The action of idle hands, as JSON."""
        return game.spec.seats[self.config.seat].action.idle(1)[0].tolist()

    def _sequence(self, ground: _Ground) -> Arrays:
        """What an agent with limits played, for whoever holds it back elsewhere; nothing where it has none."""
        config, limits, game = self.config, self.config.agent.limits, ground.game
        if limits is None or not limits.any or in_turns(game):
            return {}
        seeds = battle_seeds(config.seed, np.array([PLAYED], np.uint64), 0, EPISODES_PLAYED)[0]
        own = self._own(game)
        return played(game, self.policy, ground.opponent, own, seeds, config.agent.sampled, limits)

    def _strangers(self, game: Game) -> dict[str, Any]:
        """How it does against strangers, and whether its style holds there."""
        titles = [other.title or "a saved agent" for other in self.config.strangers]
        against = [{"opponent": t, "measures": self._measures(game, i)} for i, t in enumerate(titles, 1)]
        found = moved(*self._shifts(game, titles), self.config.origin.spans_episodes)
        return {"against": against, "moved": None if found is None else found._asdict()}

    def _shifts(self, game: Game, titles: Sequence[str]) -> tuple[list[Shift], dict[str, float]]:
        """How far each measure of its style shifts against each stranger, and the span of each: of its search, also
        where that is 0, or else of all that was measured here."""
        names, found, spans = self._named(game), list[Shift](), dict[str, float]()
        ends_of = self._ends(game)
        style = [name for name in self.config.style if name in names]
        for name in style:
            own, *others = (each[:, names.index(name)] for each in self.values)
            spans[name] = self.config.origin.spans.get(name, float(np.ptp([own, *others])))
            error = ERROR / (len(style) * len(others))
            for title, other in zip(titles, others, strict=True):
                found.append(paired(name, title, other - own, ends_of.get(name), error))
        return [each for each in found if math.isfinite(each.mean)], spans

    def _clip(self, game: Game, opponent: Player | None) -> dict[str, Any]:
        """Some seconds of one battle; nothing where the game has no drawing or its seat is another."""
        if in_turns(game) or self.config.seat:
            return {}
        player = on_seats(self.policy, self.policy.actor(self.config.agent.sampled))
        return clip_of(self.config.game, game, player, opponent, self.config.seed)

    def _restore(self, digest: str) -> None:
        """Continue from a checkpoint. Raises ConfigError and StoreError as ``checkpoint.read``."""
        (_, parts), self.saved = checkpoint.read(self.config, digest, self.store), digest
        measured = parts["measured"]
        self.values = [measured.arrays[f"values{_nth(i)}"] for i in range(len(self.values))]
        self.seen = batch_of(measured.arrays)
        self.moves, self.before_s = measured.meta["moves"], measured.meta["seconds"]

    @property
    def _seconds(self) -> float:
        return self.before_s + time.monotonic() - self.began

    def reached(self) -> tuple[int, Counters]:
        return self.tick, Counters(battles=self.tick * PART, steps=self.moves, seconds=self._seconds)


_LENGTH = 2


def _stored(config: MeasureConfig, store: Store) -> Policy:
    return Policy.stored(store, config.agent.policy)


def _nth(i: int) -> str:
    """The end of a name in checkpoints; nothing for the usual opponent."""
    return f"/{i}" if i else ""


def _known(end: float) -> float | None:
    return end if math.isfinite(end) else None


class Words:
    """Console texts of measurements."""

    def planned(self, event: Started, study: Mapping[str, Any]) -> str:
        """Episodes."""
        return f"{event.battles:,} fresh episodes"

    def done(self, counters: Counters) -> str:
        """Episodes."""
        return f"{counters.battles:,} episodes"

    def round(self, metrics: Mapping[str, float], study: Mapping[str, Any]) -> str:
        """The means so far."""
        return ", ".join(f"{name} {value:.3g}" for name, value in metrics.items())

"""The tasks of a study, each made once before anything starts: all that does not fit is said at its place."""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from engine.catalog import LEARNERS, built_in, declared_ends, ends_of_returns
from engine.config.rl import ACTIONS, ReplayedConfig
from engine.config.starts import REPLAYED, StartsConfig
from engine.config.train import TrainGame
from engine.errors import Cancelled, ConfigError
from engine.mdp.interface import ActionSpec, SeatSpec
from engine.mdp.trajectory import Batch
from engine.mdp.vector import Game, VectorStep, in_turns, noise_keys
from engine.problem import ShouldStop
from engine.rl.players import RandomPlayer
from engine.rl.task_learner import Ends
from engine.simulators import references
from engine.study.sampler_factory import seated

Fault = tuple[str, str]
TRIED = 10_000
"""Decisions by chance in which an episode must end for it to be known whether its game tells of wins."""
TRIES = 100
"""Episodes by chance of which one must outlast its first decision, or be won by it."""
SAY_ENDS = "say the least score of an episode (low) and the largest one (high)"


class AllTasks(NamedTuple):
    """What holds for all tasks: their ``seat``, the decisions of their ``longest`` episode (0: not known), and between
    what scores lie (``ends``; None: nobody says, and the game tells of wins)."""

    seat: SeatSpec
    longest: int
    ends: Ends | None


def seat_of_all(config: StartsConfig, *, begun: bool, should_stop: ShouldStop) -> AllTasks:
    """What holds for all tasks; an episode of each begins, unless the study has ``begun``. Raises ConfigError with all
    that does not fit, SimulatorError, and Cancelled."""
    checks = _Checks(config, begun, should_stop)
    wrong = [fault for i in range(len(config.tasks)) for fault in checks.task(i)]
    wrong += checks.lost_at_once()
    wrong += [] if wrong else checks.learner()
    wrong += [] if wrong or begun else checks.success()
    if wrong:
        raise ConfigError(dict.fromkeys(wrong))
    assert checks.first is not None
    return AllTasks(checks.first, checks.longest, checks.ends)


class _Checks:
    def __init__(self, config: StartsConfig, begun: bool, should_stop: ShouldStop) -> None:
        self.config, self.begun, self.should_stop = config, begun, should_stop
        self.first: SeatSpec | None = None
        self.longest = 0
        self._ends: list[Ends] = []
        self._wins: bool | None = None
        self._lost: list[int] = []
        self._outlasts = False  # an episode of some task may

    @property
    def ends(self) -> Ends | None:
        """Between what scores of all tasks lie: as the study says or, where it does not, as the game declares."""
        if self.config.scheduler.ends is not None:
            return self.config.scheduler.ends
        low, high = min(low for low, _ in self._ends), max(high for _, high in self._ends)
        return (low, high) if math.isfinite(high - low) else None

    def learner(self) -> Iterator[Fault]:
        """What is wrong with a learner of other actions than the game's, and which of these studies fit."""
        assert self.first is not None
        action, chosen = self.first.action, self.config.learner
        if _plays(chosen, action):
            return
        label, needs = LEARNERS[chosen.kind].label, [words for kind, words in ACTIONS.items() if kind in chosen.actions]
        able = [LEARNERS[each.model_fields["kind"].default].label for each in REPLAYED if _plays(each, action)]
        here = f"it is {ACTIONS[action.kind]}" if _numbered(action) else "no choice has a number of its own"
        advice = f"take {' or '.join(able)}" if able else "nothing that learns from easier starts can play this game"
        yield "learner.kind", f"{label} needs {' or '.join(needs)} as action, and here {here}; {advice}"

    def success(self) -> Iterator[Fault]:
        """What is wrong where nothing says when an episode succeeds."""
        if self.ends is None and not self._wins:
            name = self.config.game.name
            why = "tells of no wins" if self._wins is not None else f"ended no episode in {TRIED:,} decisions by chance"
            yield (
                "scheduler.high",
                f"{name} {why} and does not declare how far its scores go, so nobody knows what success is; {SAY_ENDS}",
            )

    def task(self, i: int) -> Iterator[Fault]:
        """What is wrong with a task, by its place in the list."""
        known, task = built_in(self.config.game.name), self.config.tasks[i]
        if known is not None and not known.starts:
            yield "game.name", f"nothing says where an episode of {known.label} begins, so it has no easier starts"
            return
        at = self.config.ordered.index(task)
        training = self.config.training(at)
        try:
            game = references.make(training.game, 1, self.should_stop)
        except ConfigError as error:
            yield from ((self._place(i, p.place), p.message) for p in error.problems)
            return
        with contextlib.closing(game):
            program = references.program_of(game)
            if program is not None and not program.spec.starts:
                yield "game.name", f"{program.label} does not say where an episode begins, so it has no easier starts"
                return
            whole = seated(training, game)
            self.longest = max(self.longest, whole.spec.max_ticks)
            self._ends.append(_declared(training.game, whole.spec.max_ticks))
            yield from self._shape(i, whole.spec.seats[0])
            if not self.begun:
                yield from self._begins(i, whole)

    def _begins(self, i: int, game: Game) -> Iterator[Fault]:
        try:
            references.begin(game, self.config.seed)
        except ConfigError as error:
            yield f"tasks.{i}", f"no episode can begin here: {error.problems[0].message}"
            return
        if _lost_at_once(game, self.config.seed, self.should_stop):
            self._lost.append(i)
            return
        self._outlasts = True
        if self.ends is None and self._wins is None:
            self._wins = _tells_wins(game, self.config.seed, self.should_stop)

    def lost_at_once(self) -> Iterator[Fault]:
        """Tasks whose episodes are over as soon as they begin, in a game in which others are not. Of one that nobody
        knows, and that ends so in every task, perhaps that is how it is: one throw, and a goal that is rarely hit."""
        if self._outlasts or built_in(self.config.game.name) is not None:
            for i in self._lost:
                yield (
                    f"tasks.{i}",
                    f"no episode can begin here: by chance, all of {TRIES} were lost at the first decision",
                )

    def _shape(self, i: int, seat: SeatSpec) -> Iterator[Fault]:
        """All tasks are one agent's: it sees, does and is rewarded alike in them."""
        if self.first is None:
            self.first = seat
            return
        parts = {"observations": "sees", "action": "does", "rewards": "is rewarded with", "signals": "is told"}
        differs = [words for part, words in parts.items() if getattr(seat, part) != getattr(self.first, part)]
        if differs:
            first, task = (self.config.tasks[k].name for k in (0, i))
            yield (
                f"tasks.{i}.settings",
                f"in “{task}” the agent {' and '.join(differs)} something else than in “{first}”",
            )

    def _place(self, i: int, place: str) -> str:
        setting = place.removeprefix("game.settings.")
        own = setting != place and setting in self.config.tasks[i].settings
        return f"tasks.{i}.settings.{setting}" if own else place


def _numbered(action: ActionSpec) -> bool:
    """Whether any of its choices has a number, if it is of the kind in which they may."""
    return action.kind != "parameterised" or len(action.bounds[0]) > 0


def _plays(learner: ReplayedConfig | type[ReplayedConfig], action: ActionSpec) -> bool:
    return action.kind in learner.actions and _numbered(action)


def _declared(game: TrainGame, longest: int) -> Ends:
    """Between what a game says that its scores lie; infinite where it does not."""
    if built_in(game.name) is not None:
        return declared_ends(game.name).get("score", (-math.inf, math.inf))
    return ends_of_returns(game.name, game.settings, longest)


def _by_chance(game: Game, seed: int, should_stop: ShouldStop) -> Iterator[VectorStep]:
    """What follows each decision of an episode that is played by chance, and then of the next ones. Raises
    SimulatorError and Cancelled."""
    assert not in_turns(game)
    player, seeds = RandomPlayer(game.spec.seats[0]), np.array([seed], np.uint64)
    step = game.reset(seeds)
    for tick in itertools.count():
        if should_stop():
            raise Cancelled("The study was asked to stop")
        keys = noise_keys(seeds, np.array([tick]), 0)
        step = game.step([player(Batch(step.observations[0], step.masks[0], keys)).actions])
        yield step


def _lost_at_once(game: Game, seed: int, should_stop: ShouldStop) -> bool:
    """Whether every one of ``TRIES`` episodes that are played by chance is lost at its first decision, though episodes
    of the game may have more."""
    if in_turns(game) or game.spec.max_ticks == 1:
        return False
    steps = itertools.islice(_by_chance(game, seed, should_stop), TRIES)
    return all(step.ended is not None and bool((step.ended.win == 0).all()) for step in steps)


def _tells_wins(game: Game, seed: int, should_stop: ShouldStop) -> bool | None:
    """Whether a game tells who won, by an episode by chance; None if none ends in ``TRIED`` decisions."""
    if in_turns(game):
        return None
    for step in itertools.islice(_by_chance(game, seed, should_stop), TRIED):
        if step.ended is not None:
            return bool(np.isfinite(step.ended.win).all())
    return None

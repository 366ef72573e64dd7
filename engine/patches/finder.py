"""The search for the smallest change that works, as an ``Algorithm``: an experiment, then the steps of a ``Course``.

What comes next is decided when a step is complete, by nothing but the battles so far. So outcomes are all that a
checkpoint keeps: who goes on decides the same steps again, without playing them.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from engine.arrays import Bundle
from engine.config.patch import PatchConfig
from engine.errors import Cancelled
from engine.evolution.algorithm import Parts, Progress
from engine.lineups.rules import compile_rules
from engine.patches.budget import EXPERIMENT
from engine.patches.course import Course
from engine.patches.plays import Play, Plays
from engine.problem import Evaluation, Request
from engine.simulators.contract import GameSpec
from engine.worth.experiment import BLOCK, TICKS, Experiment
from engine.worth.prices import cost_bounds


class Finder:
    """Asks for battles and takes in what they say. ``spec`` is the game as the study plays it; what is known by now is
    in ``course``."""

    def __init__(self, spec: GameSpec, config: PatchConfig, stopped: Callable[[], bool] = lambda: False) -> None:
        self.config = config
        rules, share = compile_rules(spec, config.pairings), int(EXPERIMENT * config.battles)
        self.experiment = Experiment(rules, share, config.matters, config.seed, cost_bounds(spec), stopped)
        self.course = Course(self.experiment, spec, config, stopped)
        self.tick, self.done, self._cancelled = 0, False, False
        self._over: list[NDArray[np.float64]] = []
        self._plays: Plays | None = None
        self._steps = self.course.steps()

    @property
    def played(self) -> int:
        """Battles that are over."""
        own = int(self._plays.received.sum()) * BLOCK if self._plays else 0
        return self.experiment.played + sum(map(len, self._over)) + own

    @property
    def deciding(self) -> bool:
        """Whether the next ``ask`` decides what is played next, which takes a while."""
        experiment = self.experiment
        return not self.done and (self._plays.over if self._plays else bool(experiment.received.all()))

    def ask(self, room: int) -> list[Request]:
        """``room`` requests at most; of the next step once one is complete. Raises Cancelled where it was stopped while
        that was decided, ConfigError where the rules leave hardly any two teams."""
        if not self.experiment.done and (found := self.experiment.ask(room)):
            return found
        if self.experiment.done and not self.done:
            if self._plays is None:
                self._decide()
            while self._plays is not None and self._plays.over and not self.done:
                self._decide()
        return [] if self._plays is None or self.done else self._plays.ask(room)

    def tell(self, evaluation: Evaluation) -> list[Progress]:
        """Take in a block. Raises KeyError for one that is not outstanding."""
        if self._plays is None:
            self.experiment.tell(evaluation)
        else:
            self._plays.tell(evaluation)
        tick = min(TICKS * self.played // self.config.battles, TICKS)
        if tick == self.tick:
            return []
        self.tick = tick
        return [Progress(tick)]

    def state(self) -> Parts:
        """The outcomes so far; everything else follows from them."""
        own = [self._plays.ahead] if self._plays else []
        received = self._plays.received if self._plays else np.empty(0, np.bool_)
        meta = {"steps": [len(each) for each in self._over], "begun": self._plays is not None, "tick": self.tick}
        arrays = {"ahead": np.concatenate([*self._over, *own, np.empty((0, 2))]), "told": received}
        return {**self.experiment.state(), "finder": Bundle(meta, arrays)}

    def load(self, parts: Parts) -> None:
        """Go on from a state. Raises Cancelled as ``ask`` does."""
        self.experiment.load(parts)
        meta, arrays = parts["finder"]
        at = 0
        if meta["begun"]:
            self._decide()
        for many in meta["steps"]:
            self._fill(arrays["ahead"][at : at + many], True)
            self._decide()
            at += many
        if meta["begun"]:
            self._fill(arrays["ahead"][at:], arrays["told"])
        self.tick = meta["tick"]

    def _fill(self, ahead: NDArray[np.float64], received: NDArray[np.bool_] | bool) -> None:
        if self._plays is not None:
            self._plays.ahead[:], self._plays.received[:] = ahead, received

    def _decide(self) -> None:
        """Take in the step that is complete, if there was one, and open the next."""
        if self._cancelled:
            raise Cancelled("The search for changes was asked to stop")
        plays, later = self._plays, list[Play]()
        try:
            later = next(self._steps) if plays is None else self._steps.send(plays.outcomes())
        except StopIteration:
            self.done = True
        except Cancelled:
            self._cancelled = True
            raise
        self._over += [plays.ahead] if plays is not None else []
        self._plays = Plays(later, sum(map(len, self._over)) // BLOCK, self.config.seed)

"""The record of a study of tasks: the agent as a whole, each task, what is learned from at present, what is forgotten
again, and how hard each task is."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

import numpy as np

from engine.columns import Arrays
from engine.confidence import Range
from engine.config.starts import LARGEST, LEAST, MASTERED, StartsConfig, name_of
from engine.errors import SimulatorError
from engine.mdp.interface import SeatSpec
from engine.means import range_of
from engine.rl.collector import Arrival
from engine.rl.dpcer import Scheduler
from engine.rl.examine import Examination
from engine.rl.learner import Metrics, averaged
from engine.rl.task_learner import Ends, by_scores
from engine.study.curve import Curve, PolicyCurve
from engine.study.start_tasks import SAY_ENDS

PLAYED = ("return", "score", "win", "length")
LEARNED = ("td", "q")
MISSES = 0.05
"""How often a range misses, at most."""


class Success(NamedTuple):
    """How well fresh episodes of a task went, from 0 to 1, with its 95 % range: the share that was won or, where the
    game tells of no wins, how far the mean score is on the way from the least to the largest."""

    mean: float
    low: float
    high: float


class Difficulty:
    """How hard a task is: after how many minibatches its success reached ``MASTERED``: more than ``perhaps``, those of
    the last evaluation whose whole range was below it before one was not (0: there was none), and ``surely`` at most,
    those of the first whose whole range was not; None: not yet."""

    def __init__(self) -> None:
        self.perhaps: int | None = None
        self.surely: int | None = None
        self._below = 0
        self.now: Success | None = None
        self.best_low, self.high = -math.inf, math.inf

    def examined(self, success: Success, iterations: int, at_once: Range) -> None:
        """An evaluation after so many minibatches; ``at_once``: the range of its success where those of all evaluations
        of all tasks hold at once."""
        self.now, self.best_low, self.high = success, max(self.best_low, at_once.low), at_once.high
        if self.perhaps is None and success.high >= MASTERED:
            self.perhaps = self._below
        self._below = iterations
        if self.surely is None and success.low >= MASTERED:
            self.surely = iterations

    @property
    def forgotten(self) -> float:
        """How much of its success is surely lost again: what it once was at least, less what it is at most. In 19 of 20
        trainings nothing is claimed, at any time, that was not lost."""
        return max(0.0, self.best_low - self.high)

    def state(self) -> dict[str, Any]:
        """As JSON."""
        best = self.best_low if math.isfinite(self.best_low) else None
        return {
            "perhaps": self.perhaps, "surely": self.surely, "below": self._below, "best": best,
            "high": self.high if math.isfinite(self.high) else None, "now": self.now and list(self.now),
        }  # fmt: skip

    def load(self, state: Mapping[str, Any]) -> None:
        """Continue from ``state``."""
        self.perhaps, self.surely, self._below = state["perhaps"], state["surely"], state.get("below", 0)
        self.now = None if state["now"] is None else Success(*state["now"])
        self.best_low = -math.inf if state["best"] is None else float(state["best"])
        high = state.get("high")  # earlier versions did not keep it
        self.high = math.inf if high is None else float(high)


class WholeCurve(PolicyCurve):
    """That of the agent over all tasks. An update without new decisions is no skipped one: it learns from old ones."""

    def learned(self, arrivals: Any, metrics: Metrics, steps: int, seconds: float) -> None:
        """As ``PolicyCurve.learned``."""
        super().learned(arrivals, metrics, steps, seconds)
        self.totals["skipped"] = 0


class StartsCurve(Curve):
    """``whole``: the agent; ``each``: it in each task, easiest first. ``practised``: minibatches of each task in this
    round; ``iterations``: in all. ``ends``: between what scores lie (None: nobody says); ``by_score``: whether success
    is told from scores, as no episode of the first evaluation told whether it was won (None: there was none yet). That
    stays so, or success would change its meaning in the middle of a curve."""

    def __init__(self, config: StartsConfig, seat: SeatSpec, scheduler: Scheduler, ends: Ends | None) -> None:
        rewards = config.learner.rewards
        weights = [rewards[name].weight if name in rewards else 1.0 for name in seat.rewards]
        arguments = seat.rewards, weights, seat.signals, config.game.least_return
        self.config, self.scheduler, self.iterations = config, scheduler, 0
        self.ends, self.by_score = ends, cast("bool | None", None)
        self.whole, self.each = WholeCurve(*arguments), [PolicyCurve(*arguments) for _ in config.tasks]
        self.difficulty = [Difficulty() for _ in config.tasks]
        super().__init__({"agent": self.whole})

    def restart(self) -> None:
        """Begin a round."""
        super().restart()
        self.practised = [0] * len(self.each)
        self._minibatches: list[list[Metrics]] = [[] for _ in self.each]
        for curve in self.each:
            curve.restart()

    def taken(self, arrivals: Sequence[Arrival], minibatches: Sequence[tuple[int, Metrics]]) -> None:
        """What arrived of each task, and what was learned from each."""
        for task, metrics in minibatches:
            self.practised[task] += 1
            self._minibatches[task].append({name: metrics[name] for name in LEARNED})
        self.iterations += len(minibatches)
        for arrival in arrivals:
            parcel: Any = arrival.work
            self.each[parcel.task].episodes += arrival.episodes

    def examined(self, found: Sequence[Examination]) -> None:
        """An evaluation of every task, the easiest first. Raises SimulatorError where nothing says how well an episode
        went."""
        if self.by_score is None:
            self.by_score = not any(np.isfinite(one.win).any() for one in found)
        if self.by_score and self.ends is None:
            game = self.config.game.name
            why = f"{game} told of no win in an episode, and nobody says how far its scores go; {SAY_ENDS}"
            raise SimulatorError(why, permanent=True)
        ends = self.ends if self.by_score else None
        for curve, difficulty, one in zip(self.each, self.difficulty, found, strict=True):
            curve.examined({"": one})
            at_once = success_of(one, ends, MISSES / (self.config.evaluations * len(self.each)))
            difficulty.examined(success_of(one, ends), self.iterations, Range(at_once.low, at_once.high))

    def metrics(self) -> Metrics:
        """The numbers of a closed round: of the agent, and of each task."""
        found = super().metrics() | {"iterations": float(self.iterations)}
        every, chances = max(1, sum(self.practised)), self.scheduler.p.tolist()
        for task, curve in enumerate(self.each):
            numbers = {name: value for name, value in curve.played().items() if name in PLAYED}
            numbers |= averaged(self._minibatches[task]) if self._minibatches[task] else {}
            numbers |= {"practised": self.practised[task] / every, "chance": chances[task]}
            found |= {f"{name_of(task)}/{name}": value for name, value in numbers.items()}
        return found

    def evaluations(self) -> Metrics:
        """The last evaluation of each task; those of the hard one also as the agent's."""
        found = dict(self.each[-1].evaluation)
        if self.by_score and self.ends is not None:
            found |= dict(zip((LEAST, LARGEST), self.ends, strict=True))
        for task, one in enumerate(self.difficulty):
            if one.now is not None:
                numbers = {"success": one.now.mean, "success_low": one.now.low, "success_high": one.now.high}
                found |= {f"{name_of(task)}/{name}": v for name, v in numbers.items() if math.isfinite(v)}
                found[f"{name_of(task)}/forgotten"] = one.forgotten
        return found

    def table(self) -> Arrays:
        """A row for each task, easiest first: success with its range, the least and the most minibatches after which
        it was mastered (−1: not yet), and how much of its success is surely lost again."""
        nothing = Success(math.nan, math.nan, math.nan)
        rows = [one.now or nothing for one in self.difficulty]
        columns = dict(zip(("success", "low", "high"), np.array(rows, np.float64).T, strict=True))
        for name in ("perhaps", "surely"):
            known = [getattr(one, name) for one in self.difficulty]
            columns[name] = np.array([-1 if value is None else value for value in known], np.int64)
        return columns | {"forgotten": np.array([one.forgotten for one in self.difficulty])}

    def state(self) -> dict[str, Any]:
        """As JSON."""
        difficulty = [one.state() for one in self.difficulty]
        mine = {"iterations": self.iterations, "difficulty": difficulty, "by_score": self.by_score}
        each = [curve.state() for curve in self.each]
        return super().state() | mine | {"whole": self.whole.state(), "each": each}

    def load(self, state: Mapping[str, Any]) -> None:
        """Continue from ``state``."""
        self.iterations, self.by_score = int(state["iterations"]), state.get("by_score")
        for one, known in zip(self.difficulty, state["difficulty"], strict=True):
            one.load(known)
        if not self.by_score:  # earlier versions said so, too, before there was any evaluation
            self.by_score = False if any(one.now is not None for one in self.difficulty) else None
        self.whole.load(state["whole"])
        for curve, known in zip(self.each, state["each"], strict=True):
            curve.load(known)
        super().load(state)


def success_of(found: Examination, ends: Ends | None, error: float = MISSES) -> Success:
    """Of one evaluation: by wins or, where scores between these ``ends`` are given, by scores. Its range misses with
    probability ``error`` at most. An episode that did not tell whether it was won was not."""
    each = np.nan_to_num(found.win) if ends is None else by_scores(found.score, ends)
    return Success(float(each.mean()), *range_of(each, 0.0, 1.0, error))

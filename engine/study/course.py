"""The state of a course between two checkpoints: which lesson is under way, how its policies fare in it, what they once
were; and what happens to them at a lesson's end."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.arrays import Bundle
from engine.config.arena import ArenaConfig
from engine.config.arena_plan import steps_of
from engine.config.lessons import BestConfig, LessonConfig, Measure
from engine.evorl.opponents import Faced, remembered, restored
from engine.mdp.interface import SeatSpec
from engine.means import range_of
from engine.rl.factory import make_learner
from engine.rl.learner import Learner, Metrics, State
from engine.rl.sampler import Episode
from engine.rng import generator
from engine.study.curve import Curve, PolicyCurve

Floats = NDArray[np.float64]
MEASURES: tuple[Measure, ...] = ("win", "score", "return")


class Rung(NamedTuple):
    """A policy as it was after a lesson: store hashes of its weights and of its description."""

    lesson: int
    policy: str
    tensors: str
    description: str

    @property
    def roles(self) -> dict[str, str]:
        """Its artifacts by role."""
        return {f"policy/{self._name}": self.tensors, f"policy_description/{self._name}": self.description}

    @property
    def opponent_roles(self) -> dict[str, str]:
        """Its artifacts by role where it is to be played against, though it may not have learned in the lesson."""
        return {f"opponent/{self._name}": self.tensors, f"opponent_description/{self._name}": self.description}

    @property
    def _name(self) -> str:
        return f"{self.policy}@{self.lesson}"


class Recent:
    """The last episodes of each policy in the lesson under way, float64[n, 3] in the order of ``MEASURES``; ``most`` of
    each are kept. An episode of a squad is one, with the means of its seats."""

    def __init__(self, most: int) -> None:
        self._most = most
        self.rows: dict[str, Floats] = {}

    def clear(self) -> None:
        """Begin a lesson."""
        self.rows = {}

    def add(self, policy: str, episodes: Sequence[Episode], weights: Floats) -> None:
        """Episodes that have just ended; ``weights`` float64[R] of their rewards."""
        if episodes:
            seats: dict[int, list[tuple[float, ...]]] = {}
            for e in episodes:  # all seats of a battle end at once, so they come together
                seats.setdefault(e.seed, []).append((e.win, e.score, float(e.returns @ weights)))
            new = np.array([np.mean(own, axis=0) for own in seats.values()], np.float64)
            kept = self.rows.get(policy, np.empty((0, len(MEASURES))))
            self.rows[policy] = np.concatenate([kept, new])[-self._most :]

    def mean(self, policy: str, measure: Measure, of: int, *, whole: bool) -> float:
        """The mean over the last ``of`` episodes; NaN without any, and where ``whole`` and there were fewer."""
        column = self.rows.get(policy, np.empty((0, len(MEASURES))))[-of:, MEASURES.index(measure)]
        return float(column.mean()) if len(column) >= (of if whole else 1) else math.nan


class Course:
    """``number``: lessons that are over; ``before``: decisions learned from in them; ``base``: the tick at which the
    one under way began; ``rungs``: its policies after each; ``faced``: by policy that learns and earlier self
    (NAME@HASH) what is known from lessons that are over, each a step as in self-play; ``met``: by the same the episodes
    in the lesson under way and the wins in them."""

    def __init__(self, config: ArenaConfig) -> None:
        self.config = config
        self.number, self.before, self.base = 0, 0, 0
        self.rungs: list[Rung] = []
        self.faced: dict[str, Faced] = {}
        self.met: dict[str, dict[str, tuple[float, float]]] = {}
        self.recent = Recent(_longest(config))

    @property
    def over(self) -> bool:
        """Whether all lessons are."""
        return self.number >= self.config.count

    @property
    def lesson(self) -> LessonConfig:
        """The one under way."""
        return self.config.lesson(self.number)[1]

    def reached(self) -> bool:
        """Whether the condition of the lesson under way holds."""
        until = self.lesson.until
        return until is not None and self.stands() >= until.reaches

    def stands(self) -> float:
        """Where the measure of its condition stands; NaN without one, or with too few episodes."""
        until = self.lesson.until
        return math.nan if until is None else self.recent.mean(until.policy, until.measure, until.of, whole=True)

    def note(self, policy: str, episodes: Sequence[Episode], weights: Floats) -> None:
        """Episodes of a policy that have just ended, on all its seats."""
        self.recent.add(policy, episodes, weights)
        own, battles = self.met.setdefault(policy, {}), dict[int, list[Episode]]()
        for one in episodes:
            if math.isfinite(one.win):
                battles.setdefault(one.seed, []).append(one)
        for seats in battles.values():
            win = sum(one.win for one in seats) / len(seats)
            for other in {name for one in seats for name in one.others if "@" in name}:
                games, wins = own.get(other, (0.0, 0.0))
                own[other] = games + 1, wins + win

    def best(self, best: BestConfig) -> list[str]:
        """The best of several policies by their last episodes in this lesson: all that did equally well, and nobody
        where none of them ended an episode."""
        means = {name: self.recent.mean(name, best.measure, best.of, whole=False) for name in best.among}
        known = {name: mean for name, mean in means.items() if not math.isnan(mean)}
        return [name for name, mean in known.items() if mean == max(known.values())]

    def end(self, learned: int, tick: int) -> None:
        """Close a lesson in which policies learned from ``learned`` decisions."""
        self.number, self.before, self.base = self.number + 1, self.before + learned, tick
        self.recent.clear()
        for policy, met in self.met.items():
            self.faced[policy] = remembered(self.faced.get(policy, {}), met)
        self.met = {}

    def part(self) -> Bundle:
        """As a part of a checkpoint."""
        meta = {"number": self.number, "before": self.before, "base": self.base, "rungs": [list(r) for r in self.rungs],
                "faced": self.faced, "met": self.met}  # fmt: skip
        return Bundle(meta, {f"recent/{name}": rows for name, rows in self.recent.rows.items()})

    def load(self, part: Bundle) -> None:
        """Continue from a part."""
        self.number, self.before, self.base = (int(part.meta[name]) for name in ("number", "before", "base"))
        self.rungs = [Rung(*row) for row in part.meta["rungs"]]
        self.faced = {name: restored(saved) for name, saved in part.meta["faced"].items()}
        self.met = {
            name: {other: (games, wins) for other, (games, wins) in met.items()}
            for name, met in part.meta["met"].items()
        }
        self.recent.rows = {name.removeprefix("recent/"): rows for name, rows in part.arrays.items()}


def _longest(config: ArenaConfig) -> int:
    conditions = [lesson.until.of for lesson in config.lessons if lesson.until]
    choices = [lesson.after.best.of for lesson in config.lessons if lesson.after.best]
    return max([1, *conditions, *choices])


def beginner(config: ArenaConfig, name: str, seat: SeatSpec) -> Learner:
    """The learner of a policy on such a seat, as it begins the course."""
    seed = int(generator(config.seed, "policy", name).integers(2**63))
    return make_learner(config.learners[name], seat, seed, steps_of(config, name), config.place_of(name))


def copied(learner: Learner) -> State:
    """What a learner keeps, its weights and all, so that another one can go on from it (AI Arena's ``fork``)."""
    return {
        name: Bundle(dict(part.meta), {key: array.copy() for key, array in part.arrays.items()})
        for name, part in learner.state().items()
    }


class PupilCurve(PolicyCurve):
    """The curve of one policy of a course; also with ranges of what it played, where they are known: of 95 % for wins;
    for scores and returns, of which nobody says how far they go, only if rare episodes are not far beyond those
    played."""

    def played(self) -> Metrics:
        """Battles count, not seats: those of a squad, or of both sides, end alike."""
        found = super().played()
        recent = Recent(len(self.episodes))
        recent.add("", self.episodes, self.weights)
        for i, what in enumerate(MEASURES if found else ()):
            ends = range_of(recent.rows[""][:, i], *self.known[what])
            if math.isfinite(ends.high - ends.low):
                found |= {f"{what}_low": ends.low, f"{what}_high": ends.high}
        return found


class CourseCurve(Curve):
    """How all policies of a course learn: each number has its policy's name and a slash in front. ``active``: those of
    the lesson under way; ``last``: what each played in the last round in which it ended an episode."""

    def __init__(self, policies: Mapping[str, PolicyCurve]) -> None:
        self.active: tuple[str, ...] = tuple(policies)
        self.last: dict[str, Metrics] = {}
        super().__init__(policies)

    def restart(self) -> None:
        """Begin a round; what the policies played in the one before is kept for the summary."""
        self.last |= {name: numbers for name, policy in self.policies.items() if (numbers := policy.played())}
        super().restart()

    def summary(self, steps: int) -> dict[str, Any]:
        """Adds what each policy played in its last round."""
        last = {f"{policy}/{name}": v for policy, numbers in self.last.items() for name, v in numbers.items()}
        return super().summary(steps) | last

    def state(self) -> dict[str, Any]:
        """As JSON."""
        return super().state() | {"last": self.last}

    def load(self, state: Mapping[str, Any]) -> None:
        """Continue from ``state``."""
        super().load(state)
        self.last = dict(state["last"])

    def _named(self, each: Mapping[str, Metrics]) -> Metrics:
        found = each.items()
        return {
            f"{policy}/{name}": v for policy, numbers in found if policy in self.active for name, v in numbers.items()
        }

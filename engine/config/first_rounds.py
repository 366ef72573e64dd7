"""How long a course will take, by first rounds of its lessons, which are played in one process before it starts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby, pairwise
from math import ceil
from statistics import fmean
from typing import Any, NamedTuple

from engine.config import arena_plan
from engine.config.arena import ArenaConfig
from engine.config.lessons import AfterwardsConfig, LessonConfig
from engine.config.rl import ReplayedConfig
from engine.config.tournament import TournamentConfig
from engine.config.train import TrainPool

FASTER, SLOWER = 0.85, 1.5
"""What is left of a sum of parts: caches that are warm, and processors that others use too."""
FIRST = 8
"""Lessons of which first rounds are played."""
FEW = 200
"""Decisions by chance at most, in first rounds."""
UPDATES = 3
"""Updates of each lesson in first rounds: the first one, in which the game comes up, and two that tell its speed."""
LARGE = 10**9
"""Decisions of a lesson in which updates have their usual size."""
LONG_S = 60.0
"""Seconds from which on a lesson's start makes little difference."""
LESSON_S = 4.0
"""Seconds in which the processes of a lesson come up, where no earlier course tells."""


class SecondsRange(NamedTuple):
    """Seconds that something takes, at least and at most."""

    least: float
    most: float

    def times(self, many: int) -> SecondsRange:
        """Of so many."""
        return SecondsRange(many * self.least, many * self.most)


class CourseSpeed(NamedTuple):
    """How fast a course goes. ``lessons``: seconds for a decision of each, by its place, that is known, ``others``: of
    all others; ``start``: seconds in which a lesson's processes come up; ``pair``: seconds for a pair of the
    tournament, None without one."""

    lessons: Mapping[int, SecondsRange]
    others: SecondsRange
    start: float
    pair: SecondsRange | None

    def lesson(self, place: int, decisions: int) -> SecondsRange:
        """How long so many decisions of a lesson take."""
        low, high = self.lessons.get(place, self.others).times(decisions)
        return SecondsRange(self.start + low, self.start + high)

    def meetings(self, study: ArenaConfig) -> SecondsRange:
        """How long the tournament takes; without one no time."""
        return self.pair.times(study.pairs) if self.pair else SecondsRange(0.0, 0.0)

    def whole(self, study: ArenaConfig) -> SecondsRange:
        """How long the course takes."""
        each = [self.lesson(one.place, one.pace.decisions).times(one.times) for one in arena_plan.plan(study)]
        ends = [*each, self.meetings(study)]
        return SecondsRange(sum(one.least for one in ends), sum(one.most for one in ends))


class Round(NamedTuple):
    """What was told at its end. ``lesson``: which was under way, from 1; ``pair``: whether two met in the
    tournament; ``seconds`` since the course began, and decisions learned from in all; ``learning`` and ``playing``:
    seconds of the round that went into each."""

    lesson: int
    pair: bool
    seconds: float
    steps: int
    learning: float = 0.0
    playing: float = 0.0

    @classmethod
    def of(cls, metrics: Mapping[str, float], seconds: float, steps: int) -> Round:
        """By what it said, and what was counted until then."""
        learning, playing = metrics.get("learning_seconds", 0.0), metrics.get("sampling_seconds", 0.0)
        return cls(int(metrics["lesson"]), "pairs" in metrics, seconds, steps, learning, playing)


class Timed(NamedTuple):
    """How long everything in a course took, in seconds. ``decision``: one of each lesson in which that is known by its
    number, from 1; ``starts``: until the processes of each lesson had come up; ``pairs``: each of the tournament;
    ``learning``: the share of each lesson's time that goes into learning, where that is known."""

    decision: Mapping[int, float]
    starts: list[float]
    pairs: list[float]
    learning: Mapping[int, float]


def timed(rounds: Sequence[Round]) -> Timed:
    """What rounds tell. A lesson with one round alone does not say which part of it was its start: it counts as played
    at the mean pace of the others. Where there are none, long ones count as without a start, and short ones tell
    nothing: their starts may be most of their time."""
    learned = [one for one in rounds if not one.pair]
    within = {which: list(own) for which, own in groupby(learned, key=lambda one: one.lesson)}
    decision = {
        which: (own[-1].seconds - own[0].seconds) / (own[-1].steps - own[0].steps)
        for which, own in within.items() if own[-1].steps > own[0].steps
    }  # fmt: skip
    learning = {which: _learning(own[1:] or own) for which, own in within.items()}
    if not decision:
        return Timed(_of_long_lessons(learned), [], _pairs(rounds), learning)
    usual = fmean(decision.values())
    starts, before = [], Round(0, False, 0.0, 0)
    for which, own in within.items():
        took, steps = own[0].seconds - before.seconds, own[0].steps - before.steps
        starts.append(max(0.0, took - steps * decision.get(which, usual)))
        before = own[-1]
    return Timed(decision, starts, _pairs(rounds), learning)


def _learning(rounds: Sequence[Round]) -> float:
    """The share of learning in the time of rounds."""
    learning, playing = sum(one.learning for one in rounds), sum(one.playing for one in rounds)
    return learning / (learning + playing) if learning + playing > 0 else 0.0


def _of_long_lessons(learned: Sequence[Round]) -> dict[int, float]:
    """The mean pace of lessons with one round each, where they were long."""
    if not learned or not learned[-1].steps or learned[-1].seconds < LONG_S * len(learned):
        return {}
    return {one.lesson: learned[-1].seconds / learned[-1].steps for one in learned}


def _pairs(rounds: Sequence[Round]) -> list[float]:
    return [now.seconds - before.seconds for before, now in pairwise(rounds) if now.pair]


def rehearsal(study: ArenaConfig) -> ArenaConfig:
    """The first rounds of a course: of each of its first lessons a few updates, in one process."""
    lessons = study.lessons[:FIRST]
    cast = {name for lesson in lessons for match in lesson.matches for name in match.policies}
    cast |= {old for name in cast for old in study.roster[name].recalls}
    roster = {name: _early(member) for name, member in study.roster.items() if name in cast}
    turn = _one_turn(study.tournament)
    course = study.model_copy(update={
        "name": f"speed of {study.game.name}"[:120], "roster": roster, "copies": 1, "pool": TrainPool(kind="local"),
        "sampling": "synchronous", "tournament": turn, "seed": 1, "minutes": 0.0,
        "checkpoint_every": 1, "learner": _sooner(study.learner),
    })  # fmt: skip
    course = course.model_copy(update={"lessons": tuple(_in_short(course, lessons))})
    if turn is None or course.entrants > 1:
        return course
    return course.model_copy(update={"tournament": turn.model_copy(update={"rungs": True})})


def _one_turn(tournament: TournamentConfig | None) -> TournamentConfig | None:
    """A tournament in which everybody meets one other."""
    if tournament is None:
        return None
    return tournament.model_copy(update={"kind": "swiss", "turns": 1, "rungs": False})


def _early(member: Any) -> Any:
    """A player that learns as it begins, soon."""
    if not member.learns:
        return member
    learner = None if member.learner is None else _sooner(member.learner)
    return member.model_copy(update={"start": "", "learner": learner})


def _sooner(learner: Any) -> Any:
    """A learner that does not wait long for its first decisions."""
    if not isinstance(learner, ReplayedConfig):
        return learner
    return learner.model_copy(update={"warmup": min(learner.warmup, FEW)})


def _in_short(course: ArenaConfig, lessons: Iterable[LessonConfig]) -> Iterator[LessonConfig]:
    """A few updates of each lesson; of the first in which a replay learns so many more that it has its first decisions,
    and then some to learn from."""
    replays = {name: one.warmup for name, one in course.learners.items() if isinstance(one, ReplayedConfig)}
    for lesson in lessons:
        short = _short(course, lesson)
        pace = course.pace(short)
        here = {name: replays.pop(name) for name in [*replays] if pace.fragment.get(name)}
        whole = sum(pace.fragment.values())
        first = max((ceil(warmup * whole / pace.fragment[name]) for name, warmup in here.items()), default=0)
        yield short.model_copy(update={"steps": (short.steps or 0) + first})


def _short(course: ArenaConfig, lesson: LessonConfig) -> LessonConfig:
    """A few updates of a lesson, without what it ends with."""
    frozen = tuple(name for name in lesson.frozen if name in course.roster)
    alone = {"times": 1, "until": None, "after": AfterwardsConfig(), "title": "", "frozen": frozen}
    usual = course.pace(lesson.model_copy(update={**alone, "steps": LARGE})).update
    return lesson.model_copy(update={**alone, "steps": UPDATES * usual})


def measured(study: ArenaConfig, rounds: Sequence[Round], processors: int) -> CourseSpeed | None:
    """By first rounds: of each lesson the time of all updates but the first; None where none has told enough. Copies
    share what is played on so many processors, and never what is learned, which one process does."""
    timings = timed(rounds)
    each = {
        which - 1: _shared(study, pace * (1.0 - timings.learning[which]), pace * timings.learning[which], processors)
        for which, pace in timings.decision.items()
    }
    if not each or (study.tournament is not None and not timings.pairs):
        return None
    ranges = {place: _about(pace) for place, pace in each.items()}
    others = SecondsRange(min(one.least for one in ranges.values()), max(one.most for one in ranges.values()))
    start = LESSON_S if arena_plan.started(study) else 0.0
    return CourseSpeed(ranges, others, start, _about(fmean(timings.pairs)) if study.tournament is not None else None)


def _about(seconds: float) -> SecondsRange:
    return SecondsRange(FASTER * seconds, SLOWER * seconds)


def _shared(study: ArenaConfig, playing: float, learning: float, processors: int) -> float:
    """Seconds for a decision that takes so long to play and to learn from, with the course's copies on so many
    processors."""
    if study.sampling == "synchronous":
        return playing / min(study.copies, processors) + learning
    return max((playing + learning) / processors, learning, playing / study.copies)

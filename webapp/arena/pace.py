"""What a course amounts to before it starts, and how long it will take: by earlier ones in the same game, else by first
rounds of its lessons, which are played in one process."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, pairwise
from statistics import fmean
from typing import Any, NamedTuple

from django.conf import settings

from engine.config import arena_plan
from engine.config.arena import ArenaConfig
from engine.config.lessons import AfterwardsConfig, LessonConfig
from engine.config.rl import ReplayedConfig
from engine.config.tournament import TournamentConfig
from engine.config.train import TrainPool
from webapp.lib.words import about, number, plural
from webapp.projects.models import Project
from webapp.studies.estimates import FASTER, SLOWER
from webapp.studies.models import Job, Status

EARLIER = 20
"""Courses that are looked at."""
SHOWN = 8
"""Lessons that are told one by one."""
NEAR = 0.95
"""Share of the decisions asked for from which on nobody needs to know why they are not all."""
FEW = 200
"""Decisions by chance at most, in first rounds."""
UPDATES = 3
"""Updates of each lesson in first rounds: the first one, in which the game comes up, and two that tell its speed."""
LARGE = 10**9
"""Decisions of a lesson in which updates have their usual size."""
LEAST_S = 5.0
"""Seconds that one must have lasted to tell anything."""
LONG_S = 60.0
"""Seconds from which on a lesson's start makes little difference."""
LESSON_S = 4.0
"""Seconds in which the processes of a lesson come up, where no earlier course tells."""


class SecondsRange(NamedTuple):
    """Seconds that one of something takes, at least and at most: a decision, or a pair of a tournament."""

    least: float
    most: float

    def seconds(self, many: int) -> tuple[float, float]:
        """Of so many."""
        return many * self.least, many * self.most


class Fast(NamedTuple):
    """How fast a course goes. ``lessons``: seconds for a decision of each that is known, ``others``: of all others;
    ``start``: seconds in which a lesson's processes come up; ``pair``: seconds for a pair of the tournament, None where
    nobody knows; ``note``: what all this rests on."""

    lessons: Mapping[int, SecondsRange]
    others: SecondsRange
    start: float
    pair: SecondsRange | None
    note: str

    def lesson(self, place: int, decisions: int) -> str:
        """How long so many decisions of a lesson take, in words."""
        return words(*self._lesson(place, decisions))

    def _lesson(self, place: int, decisions: int) -> tuple[float, float]:
        low, high = self.lessons.get(place, self.others).seconds(decisions)
        return self.start + low, self.start + high

    def meetings(self, study: ArenaConfig) -> tuple[float, float]:
        """How long the tournament takes; without one no time."""
        return self.pair.seconds(pairs(study)) if self.pair else (0.0, 0.0)

    def whole(self, study: ArenaConfig) -> str:
        """How long the course takes, in words."""
        each = [(one.times, self._lesson(one.place, one.pace.decisions)) for one in arena_plan.plan(study)]
        ends = [*((times * low, times * high) for times, (low, high) in each), self.meetings(study)]
        return words(sum(low for low, _ in ends), sum(high for _, high in ends))


def pairs(study: ArenaConfig) -> int:
    """Pairs that meet in its tournament."""
    return 0 if study.tournament is None else study.tournament.pairs(study.entrants)


def words(low: float, high: float) -> str:
    """A time between two ends."""
    least, most = about(low), about(high)
    if least == most:
        return most if most.startswith("under ") else f"about {most}"
    return f"{least} to {most}"


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


class Timed(NamedTuple):
    """How long everything in a course took, in seconds. ``decision``: one of each lesson in which that is known by its
    number, from 1; ``starts``: until the processes of each lesson had come up; ``pairs``: each of the tournament;
    ``learning``: the share of each lesson's time that goes into learning, where that is known."""

    decision: Mapping[int, float]
    starts: list[float]
    pairs: list[float]
    learning: Mapping[int, float]


def _rounds(job: Job) -> list[Round]:
    events = job.events.filter(kind="progressed").order_by("tick").values_list("body__metrics", "body__counters")
    return [
        Round(
            int(metrics["lesson"]),
            "pairs" in metrics,
            counters["seconds"],
            counters["steps"],
            metrics.get("learning_seconds", 0.0),
            metrics.get("sampling_seconds", 0.0),
        )
        for metrics, counters in events
    ]


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


def earlier(study: ArenaConfig, project: Project) -> Fast | None:
    """By earlier courses with the same game, learners and battles; None where there are none, or none whose pairs met
    as in this one's tournament."""
    done = project.jobs.filter(kind="arena", status__in=(Status.FINISHED, Status.STOPPED)).order_by("-pk")[:EARLIER]
    alike = [_rounds(job) for job in done if _work(job.config) == _work(study.model_dump(mode="json"))]
    timings = [timed(rounds) for rounds in alike if rounds and rounds[-1].seconds >= LEAST_S]
    speeds = [pace for one in timings for pace in one.decision.values()]
    met = [fmean(one.pairs) for one in timings if one.pairs]
    if not speeds or (study.tournament is not None and not met):
        return None
    starts = [start for one in timings for start in one.starts]
    pair = SecondsRange(0.9 * min(met), 1.1 * max(met)) if study.tournament is not None else None
    each = SecondsRange(0.9 * min(speeds), 1.1 * max(speeds))
    return Fast({}, each, fmean(starts) if starts else 0.0, pair, "As fast as earlier ones.")


def rehearsal(study: ArenaConfig) -> ArenaConfig:
    """The first rounds of a course: of each of its first lessons a few updates, in one process."""
    lessons = study.lessons[:SHOWN]
    cast = {name for lesson in lessons for match in lesson.matches for name in match.policies}
    cast |= {old for name in cast for old in study.roster[name].recalls}
    roster = {name: _early(member) for name, member in study.roster.items() if name in cast}
    turn = _one_turn(study.tournament)
    course = study.model_copy(update={
        "name": f"speed of {study.game.name}"[:120], "roster": roster, "copies": 1, "pool": TrainPool(kind="local"),
        "sampling": "synchronous", "tournament": turn, "seed": 1, "minutes": 0.0,
        "checkpoint_every": 1, "learner": _sooner(study.learner),
    })  # fmt: skip
    course = course.model_copy(update={"lessons": tuple(_short(course, lesson) for lesson in lessons)})
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


def _short(course: ArenaConfig, lesson: LessonConfig) -> LessonConfig:
    """A few updates of a lesson, without what it ends with."""
    frozen = tuple(name for name in lesson.frozen if name in course.roster)
    alone = {"times": 1, "until": None, "after": AfterwardsConfig(), "title": "", "frozen": frozen}
    usual = course.pace(lesson.model_copy(update={**alone, "steps": LARGE})).update
    return lesson.model_copy(update={**alone, "steps": UPDATES * usual})


def measured(study: ArenaConfig, played: Job) -> Fast | None:
    """By first rounds: of each lesson the time of all updates but the first; None where none has told enough. Copies
    share what is played, and never what is learned, which one process does."""
    timings = timed(_rounds(played))
    each = {
        which - 1: _shared(study, pace * (1.0 - timings.learning[which]), pace * timings.learning[which])
        for which, pace in timings.decision.items()
    }
    if not each or (study.tournament is not None and not timings.pairs):
        return None
    spans = {place: _about(pace) for place, pace in each.items()}
    slowest = SecondsRange(min(one.least for one in spans.values()), max(one.most for one in spans.values()))
    start = LESSON_S if arena_plan.started(study) else 0.0
    pair = _about(fmean(timings.pairs)) if study.tournament is not None else None
    which = "each lesson" if len(study.lessons) <= SHOWN else f"the first {SHOWN} lessons"
    return Fast(spans, slowest, start, pair, f"Measured just now, a few rounds of {which} on one processor.")


def _shared(study: ArenaConfig, playing: float, learning: float) -> float:
    """Seconds for a decision that takes so long to play and to learn from, with the course's copies on this site's
    processors."""
    if study.sampling == "synchronous":
        return playing / min(study.copies, settings.CPUS) + learning
    return max((playing + learning) / settings.CPUS, learning, playing / study.copies)


def _about(seconds: float) -> SecondsRange:
    return SecondsRange(FASTER * seconds, SLOWER * seconds)


def _work(config: Mapping[str, Any]) -> tuple[Any, ...]:
    """What decides how fast a course goes: its game, its learners, and how many battles are played together."""
    game, same = config["game"], ("environments", "copies", "fragment", "sampling", "learner")
    learners = [one.get("learner") for one in config["roster"].values()]
    tournament = config["tournament"] and config["tournament"]["episodes"]
    return game, learners, tournament, *(config[name] for name in same)


def whole(study: ArenaConfig) -> Iterator[str]:
    """Lessons and decisions of a course, and why these are not what was asked for, in sentences."""
    yield f"{plural(study.count, 'lesson')}, {number(study.steps)} decisions{'' if study.exact else ' at most'}."
    yield from _rounded(study.steps, sum(lesson.times * lesson.most for lesson in study.lessons))


def plan_lines(study: ArenaConfig, fast: Fast | None) -> Iterator[str]:
    """The plan of a course line by line; with the time of each lesson, where its speed is known."""
    plans = arena_plan.plan(study)
    for one in plans[:SHOWN]:
        most = "" if study.lessons[one.place].until is None else " at most"
        times = f", {plural(one.times, 'time')}" if one.times > 1 else ""
        work = f"{number(one.pace.decisions)} decisions{most}, {plural(one.pace.updates, 'update')}"
        each = " each" if one.times > 1 else ""
        lasts = "" if fast is None else f", {fast.lesson(one.place, one.pace.decisions)}{each}"
        yield f"Lesson {one.place + 1}{times}: {work}, {plural(one.battles, 'battle')} at once{lasts}."
    if len(plans) > SHOWN:
        yield f"And {plural(len(plans) - SHOWN, 'more lesson')}."
    if met := pairs(study):
        lasts = "" if fast is None else f", {words(*fast.meetings(study))}"
        most = "at most " if arena_plan.may_repeat(study) else ""
        yield f"Tournament: {most}{plural(met, 'pair')} of {plural(study.entrants, 'player')}{lasts}."
        if left_out := arena_plan.without_groups(study):
            yield left_out


def process_lines(study: ArenaConfig) -> Iterator[str]:
    """For specialists, how many processes it takes: by the paper's count, and here."""
    plans = arena_plan.plan(study)
    largest = max((one.counted for one in plans), key=lambda how: how.processes)
    parts = f"{plural(largest.environments, 'environment')} and {plural(largest.workers, 'worker')}"
    yield f"AI Arena would start {number(largest.processes)} processes for that: {parts}."
    playing = arena_plan.started(study)
    yield f"Here {plural(playing, 'process', 'processes')} {'plays' if playing == 1 else 'play'}, and one learns."


def too_short(study: ArenaConfig, longest: int) -> str:
    """A warning where battles may not end within a lesson; ``longest``: decisions of an episode at most (0: nobody
    knows)."""
    each = [(one.place, _each(study, one)) for one in arena_plan.plan(study)]
    short = [(place, decisions) for place, decisions in each if decisions < longest]
    if not short:
        return ""
    place, decisions = min(short, key=lambda one: one[1])
    return (
        f"In lesson {place + 1} each battle goes on for {plural(decisions, 'decision')}, and one can last "
        f"{number(longest)}. What does not end within a lesson shows nobody who won, and no condition can be reached "
        "by it: make the lesson longer, or play fewer battles together."
    )


def _each(study: ArenaConfig, one: arena_plan.Planned) -> int:
    """Decisions of everybody in one battle of a lesson."""
    return one.pace.decisions // (study.copies * study.environments * max(1, sum(one.pace.workers.values())))


def _rounded(played: int, asked: int) -> Iterator[str]:
    """Why it is not what was asked for."""
    if played > asked:
        yield (
            f"You asked for {number(asked)}, but every battle plays a few decisions before anybody learns: play fewer "
            "battles together, or make lessons longer."
        )
    elif played < NEAR * asked:
        yield f"You asked for {number(asked)}; each lesson ends with the last whole update that fits in."

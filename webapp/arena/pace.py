"""What a course amounts to before it starts, and how long it will take: by earlier ones in the same game, else by first
rounds of its lessons, which are played in one process."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from statistics import fmean
from typing import Any, NamedTuple

from django.conf import settings

from engine.config import arena_plan, first_rounds
from engine.config.arena import ArenaConfig
from engine.config.first_rounds import FIRST, CourseSpeed, Round, SecondsRange, timed
from webapp.lib.words import about, number, plural
from webapp.projects.models import Project
from webapp.studies.models import Job, Status

EARLIER = 20
"""Courses that are looked at."""
SHOWN = 8
"""Lessons that are told one by one."""
NEAR = 0.95
"""Share of the decisions asked for from which on nobody needs to know why they are not all."""
LEAST_S = 5.0
"""Seconds that one must have lasted to tell anything."""


class Forecast(NamedTuple):
    """How fast a course goes, and what that rests on."""

    speed: CourseSpeed
    note: str


def words(seconds: SecondsRange) -> str:
    """A time between two ends."""
    least, most = about(seconds.least), about(seconds.most)
    if least == most:
        return most if most.startswith("under ") else f"about {most}"
    return f"{least} to {most}"


def _rounds(job: Job) -> list[Round]:
    events = job.events.filter(kind="progressed").order_by("tick").values_list("body__metrics", "body__counters")
    return [Round.of(metrics, counters["seconds"], counters["steps"]) for metrics, counters in events]


def earlier(study: ArenaConfig, project: Project) -> Forecast | None:
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
    return Forecast(CourseSpeed({}, each, fmean(starts) if starts else 0.0, pair), "As fast as earlier ones.")


def measured(study: ArenaConfig, played: Job) -> Forecast | None:
    """By first rounds; None where they have not told enough."""
    speed = first_rounds.measured(study, _rounds(played), settings.CPUS)
    which = "each lesson" if len(study.lessons) <= FIRST else f"the first {FIRST} lessons"
    note = f"Measured just now, a few rounds of {which} on one processor."
    return None if speed is None else Forecast(speed, note)


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


def plan_lines(study: ArenaConfig, fast: Forecast | None) -> Iterator[str]:
    """The plan of a course line by line; with the time of each lesson, where its speed is known."""
    plans = arena_plan.plan(study)
    for one in plans[:SHOWN]:
        most = "" if study.lessons[one.place].until is None else " at most"
        times = f", {plural(one.times, 'time')}" if one.times > 1 else ""
        work = f"{number(one.pace.decisions)} decisions{most}, {plural(one.pace.updates, 'update')}"
        each = " each" if one.times > 1 else ""
        lasts = "" if fast is None else f", {words(fast.speed.lesson(one.place, one.pace.decisions))}{each}"
        yield f"Lesson {one.place + 1}{times}: {work}, {plural(one.battles, 'battle')} at once{lasts}."
    if len(plans) > SHOWN:
        yield f"And {plural(len(plans) - SHOWN, 'more lesson')}."
    if met := study.pairs:
        lasts = "" if fast is None else f", {words(fast.speed.meetings(study))}"
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

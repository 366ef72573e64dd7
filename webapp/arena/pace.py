"""What a course amounts to before it starts, and how long it will take by earlier ones in the same game."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from engine.config import arena_plan
from engine.config.arena import ArenaConfig
from webapp.lib.words import duration, number, plural
from webapp.projects.models import Project
from webapp.studies.models import Status

EARLIER = 20
"""Courses that are looked at."""
SHOWN = 4
"""Lessons that are told one by one."""
NEAR = 0.95
"""Share of the decisions asked for from which on nobody needs to know why they are not all."""
LEAST_S = 5.0
"""Seconds that one must have lasted to tell anything."""


class Speed(NamedTuple):
    """Seconds that a decision takes: the fewest and the most by earlier courses."""

    least: float
    most: float

    def words(self, decisions: int) -> str:
        """How long so many take, in words."""
        low, high = (duration(decisions * each) for each in (0.9 * self.least, 1.1 * self.most))
        return f"about {high}" if low == high else f"{low} to {high}"


def speed(study: ArenaConfig, project: Project) -> Speed | None:
    """That of earlier courses with the same game, learners and battles; None where there are none."""
    done = project.jobs.filter(kind="arena", status__in=(Status.FINISHED, Status.STOPPED)).order_by("-pk")[:EARLIER]
    alike = [job for job in done if _work(job.config) == _work(study.model_dump(mode="json"))]
    told = [(job.counters.get("seconds", 0.0), job.counters.get("steps", 0)) for job in alike]
    speeds = [seconds / steps for seconds, steps in told if steps and seconds >= LEAST_S]
    return Speed(min(speeds), max(speeds)) if speeds else None


def _work(config: Mapping[str, Any]) -> tuple[Any, ...]:
    """What decides how fast a course goes: its game, its learners, and how many battles are played together."""
    game, same = config["game"], ("environments", "copies", "fragment", "sampling", "learner")
    learners = [one.get("learner") for one in config["roster"].values()]
    return game["name"], learners, *(config[name] for name in same)


def whole(study: ArenaConfig) -> Iterator[str]:
    """Lessons and decisions of a course, and why these are not what was asked for, in sentences."""
    yield f"{plural(study.count, 'lesson')}, {number(study.steps)} decisions{'' if study.exact else ' at most'}."
    yield from _rounded(study.steps, sum(lesson.times * lesson.most for lesson in study.lessons))


def plan_lines(study: ArenaConfig, fast: Speed | None) -> Iterator[str]:
    """The plan of a course line by line; with the time of each lesson, where its speed is known."""
    plans = arena_plan.plan(study)
    for one in plans[:SHOWN]:
        most = "" if study.lessons[one.place].until is None else " at most"
        times = f", {plural(one.times, 'time')}" if one.times > 1 else ""
        work = f"{number(one.pace.decisions)} decisions{most}, {plural(one.pace.updates, 'update')}"
        lasts = "" if fast is None else f", {fast.words(one.pace.decisions)}{' each' if one.times > 1 else ''}"
        yield f"Lesson {one.place + 1}{times}: {work}, {plural(one.battles, 'battle')} at once{lasts}."
    if fast is None:
        yield "How long a lesson takes is told here once a course with the same game and learners has been held."
    largest = max((one.counted for one in plans), key=lambda how: how.processes)
    parts = f"{plural(largest.environments, 'environment')} and {plural(largest.workers, 'worker')}"
    yield f"AI Arena would start {number(largest.processes)} processes for that: {parts}."
    yield f"Here {number(arena_plan.started(study))} play and one learns."


def _rounded(played: int, asked: int) -> Iterator[str]:
    """Why it is not what was asked for."""
    if played > asked:
        yield (
            f"You asked for {number(asked)}, but every battle plays a few decisions before anybody learns: play fewer "
            "battles together, or make lessons longer."
        )
    elif played < NEAR * asked:
        yield f"You asked for {number(asked)}; each lesson ends with the last whole update that fits in."

"""What a course amounts to before it starts, and how long it will take: by earlier ones in the same game, else by first
rounds of its lessons, which are played in one process."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from django.conf import settings

from engine.config import arena_plan
from engine.config.arena import ArenaConfig
from engine.config.lessons import AfterwardsConfig, LessonConfig
from engine.config.rl import ReplayedConfig
from engine.config.train import TrainPool
from webapp.lib.words import duration, number, plural
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
"""Updates of each lesson in first rounds. Two tell its speed; where earlier selves play before there are any, they
learn, too, and an update is larger."""
LARGE = 10**9
"""Decisions of a lesson in which updates have their usual size."""
LEAST_S = 5.0
"""Seconds that one must have lasted to tell anything."""


class Speed(NamedTuple):
    """Seconds that a decision takes, at least and at most."""

    least: float
    most: float

    def seconds(self, decisions: int) -> tuple[float, float]:
        """Of so many."""
        return decisions * self.least, decisions * self.most


class Fast(NamedTuple):
    """How fast a course goes. ``lessons``: the speed of each that is known, ``others``: of all others; ``note``: what
    it rests on."""

    lessons: Mapping[int, Speed]
    others: Speed
    note: str

    def lesson(self, place: int, decisions: int) -> str:
        """How long so many decisions of a lesson take, in words."""
        return words(*self.lessons.get(place, self.others).seconds(decisions))

    def whole(self, study: ArenaConfig) -> str:
        """How long the course takes, in words."""
        ends = [
            self.lessons.get(one.place, self.others).seconds(one.times * one.pace.decisions)
            for one in arena_plan.plan(study)
        ]
        return words(sum(low for low, _ in ends), sum(high for _, high in ends))


def words(low: float, high: float) -> str:
    """A time between two ends."""
    least, most = duration(low), duration(high)
    if least == most:
        return most if most.startswith("under ") else f"about {most}"
    return f"{least} to {most}"


def earlier(study: ArenaConfig, project: Project) -> Fast | None:
    """By earlier courses with the same game, learners and battles; None where there are none."""
    done = project.jobs.filter(kind="arena", status__in=(Status.FINISHED, Status.STOPPED)).order_by("-pk")[:EARLIER]
    alike = [job for job in done if _work(job.config) == _work(study.model_dump(mode="json"))]
    counters = [(job.counters.get("seconds", 0.0), job.counters.get("steps", 0)) for job in alike]
    speeds = [seconds / steps for seconds, steps in counters if steps and seconds >= LEAST_S]
    return Fast({}, Speed(0.9 * min(speeds), 1.1 * max(speeds)), "As fast as earlier ones.") if speeds else None


def rehearsal(study: ArenaConfig) -> ArenaConfig:
    """The first rounds of a course: of each of its first lessons a few updates, in one process."""
    lessons = study.lessons[:SHOWN]
    cast = {name for lesson in lessons for match in lesson.matches for name in match.policies}
    cast |= {old for name in cast for old in study.roster[name].recalls}
    roster = {name: _early(member) for name, member in study.roster.items() if name in cast}
    course = study.model_copy(update={
        "name": f"speed of {study.game.name}"[:120], "roster": roster, "copies": 1, "pool": TrainPool(kind="local"),
        "sampling": "synchronous", "tournament": None, "seed": 1, "minutes": 0.0, "checkpoint_every": 1,
        "learner": _sooner(study.learner),
    })  # fmt: skip
    return course.model_copy(update={"lessons": tuple(_short(course, lesson) for lesson in lessons)})


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
    alone = {"times": 1, "until": None, "after": AfterwardsConfig(), "title": ""}
    usual = course.pace(lesson.model_copy(update={**alone, "steps": LARGE})).update
    return lesson.model_copy(update={**alone, "steps": UPDATES * usual})


def measured(study: ArenaConfig, played: Job) -> Fast | None:
    """By first rounds: of each lesson the time of all updates but the first; None where none has told enough."""
    events = played.events.filter(kind="progressed").order_by("tick").values_list("body__metrics", "body__counters")
    rounds: dict[int, list[tuple[float, float]]] = {}
    for metrics, counters in events:
        rounds.setdefault(int(metrics["lesson"]) - 1, []).append((counters["seconds"], counters["steps"]))
    shared = min(study.copies, settings.CPUS)
    each = {
        place: (lasts[-1][0] - lasts[0][0]) / (lasts[-1][1] - lasts[0][1]) / shared
        for place, lasts in rounds.items() if len(lasts) > 1
    }  # fmt: skip
    if not each:
        return None
    speeds = {place: Speed(FASTER * pace, SLOWER * pace) for place, pace in each.items()}
    slowest = Speed(min(one.least for one in speeds.values()), max(one.most for one in speeds.values()))
    return Fast(speeds, slowest, "Measured just now, a few rounds of each lesson on one processor.")


def _work(config: Mapping[str, Any]) -> tuple[Any, ...]:
    """What decides how fast a course goes: its game, its learners, and how many battles are played together."""
    game, same = config["game"], ("environments", "copies", "fragment", "sampling", "learner")
    learners = [one.get("learner") for one in config["roster"].values()]
    return game["name"], learners, *(config[name] for name in same)


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

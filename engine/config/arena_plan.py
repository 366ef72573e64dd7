"""What a course amounts to before it starts: the paper's count of processes, what is started here, and each lesson.

AI Arena (Staley et al. 2021, sections 4.1 and 4.4) starts one process for each environment and one for each worker, the
top-level entries of a match. Here a match's battles and all that play in it share a process, many battles at a time,
and each copy of the match list is one sampler.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from engine.config.arena import ArenaConfig
from engine.config.lesson_pace import LessonPace
from engine.config.lessons import LessonConfig
from engine.config.matches import MatchConfig


class Counted(NamedTuple):
    """Processes by the paper's count, without the one that starts all others."""

    environments: int
    workers: int

    @property
    def processes(self) -> int:
        """Both."""
        return self.environments + self.workers


class Planned(NamedTuple):
    """A lesson of a plan: its place in the list, how often it is held, and what it amounts to each time; ``battles``
    that are played at once; ``asked``: decisions that it was to last."""

    place: int
    times: int
    counted: Counted
    battles: int
    asked: int
    pace: LessonPace


def counted(matches: Iterable[MatchConfig], copies: int = 1) -> Counted:
    """Processes that the paper would start for these matches."""
    workers = [len(match.who) for match in matches]
    return Counted(copies * len(workers), copies * sum(workers))


def plan(config: ArenaConfig) -> list[Planned]:
    """All lessons."""
    found = []
    for i, (lesson, pace) in enumerate(config.lesson_plans):
        battles = config.copies * len(lesson.matches) * config.environments
        how = counted(lesson.matches, config.copies)
        found.append(Planned(i, lesson.times, how, battles, lesson.most, pace))
    return found


def steps_of(config: ArenaConfig, policy: str) -> int:
    """Decisions that a policy learns from in the whole course, at most: the length of its schedules."""
    return _steps(policy, config.lesson_plans)


def _steps(policy: str, lesson_plans: Iterable[tuple[LessonConfig, LessonPace]]) -> int:
    total = 0
    for lesson, one in lesson_plans:
        total += lesson.times * one.decisions * one.fragment.get(policy, 0) // sum(one.fragment.values())
    return max(1, total)


def started(config: ArenaConfig) -> int:
    """Processes that play here, beside the one that learns."""
    return 0 if config.pool.kind == "local" else config.copies


def may_repeat(config: ArenaConfig) -> bool:
    """Whether two who enter the tournament may have the same network, which then enters once."""
    copied = any(lesson.after.fork or lesson.after.best for lesson in config.lessons)
    return copied or (config.tournament is not None and config.tournament.rungs)


def without_groups(config: ArenaConfig) -> str:
    """Who does not enter the tournament; empty where everybody does."""
    left_out = config.left_out
    own = [name for name in config.roster if name in left_out and config.roster[name].own_code]
    smaller = [name for name in config.roster if name in left_out and name not in own]
    said = []
    if smaller:
        does = "steers a group that is not a whole side, and does" if len(smaller) == 1 else (
            "steer groups that are no whole sides, and do"
        )  # fmt: skip
        said.append(f"{' and '.join(smaller)} {does} not enter the tournament, in which everybody plays a whole side.")
    if own:
        are = "is a player of one's own that steers a group, and does" if len(own) == 1 else (
            "are players of one's own that steer groups, and do"
        )  # fmt: skip
        said.append(f"{' and '.join(own)} {are} not enter the tournament.")
    return " ".join(said)


def misfits(config: ArenaConfig) -> Iterator[tuple[str, str]]:
    """(place, sentence) of learners that do not go with the length of the course, or with one another."""
    synchronous, learners, lesson_plans = config.sampling == "synchronous", config.learners, [*config.lesson_plans]
    for name, learner in learners.items():
        together = max(pace.fragment.get(name, 0) for _, pace in lesson_plans)
        if not together:
            continue  # it learns in no lesson
        most = together * (config.copies if synchronous else 1)
        found = learner.misfits(_steps(name, lesson_plans), most, synchronous=synchronous)
        yield from ((f"{config.place_of(name)}.{place}", f"{name}: {why}") for place, why in found)
    for i, lesson in enumerate(config.lessons):
        for at, new, old in lesson.after.goes_on:
            if learners[new] != learners[old]:
                yield (
                    f"lessons.{i}.after.{at}",
                    f"{new!r} cannot go on from {old!r}: their learners have other settings",
                )

"""What a course amounts to before it starts: the paper's count of processes, what is started here, and each lesson.

AI Arena (Staley et al. 2021, sections 3.3 and 4.4) starts one process for each environment and one for each worker, the
top-level entries of a match. Here a match's battles and all that play in it share a process, many battles at a time,
and each copy of the match list is one sampler.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from engine.config.arena import PARTS, ArenaConfig, LessonConfig
from engine.config.matches import MatchConfig
from engine.config.rl import AnyLearner


class Counted(NamedTuple):
    """Processes by the paper's count, without the one that starts all others."""

    environments: int
    workers: int

    @property
    def processes(self) -> int:
        """Both."""
        return self.environments + self.workers


class Pace(NamedTuple):
    """One lesson as it is learned. By policy: ``workers``, the places that it steers in the match list, and
    ``fragment``, its decisions in one fragment of one copy; ``fragments`` of each copy in an update; ``update``:
    decisions of all policies in one; ``every``: decisions between checkpoints; ``ticks``: of these, at most."""

    workers: Mapping[str, int]
    fragment: Mapping[str, int]
    fragments: int
    update: int
    every: int
    ticks: int


class Planned(NamedTuple):
    """A lesson of a plan: its place in the list, how often it is held, and what it amounts to each time; ``battles``
    that are played at once; ``updates`` of every policy that learns."""

    place: int
    times: int
    counted: Counted
    battles: int
    decisions: int
    updates: int
    pace: Pace


def counted(matches: Iterable[MatchConfig], copies: int = 1) -> Counted:
    """Processes that the paper would start for these matches."""
    workers = [len(match.who) for match in matches]
    return Counted(copies * len(workers), copies * sum(workers))


def workers(lesson: LessonConfig, learners: Mapping[str, AnyLearner]) -> dict[str, int]:
    """The places of each policy that learns in a lesson, over all its matches."""
    found = dict.fromkeys((name for name in learners if name not in lesson.frozen), 0)
    for match in lesson.matches:
        for seated in match.seated:
            if seated.policy in found:
                found[seated.policy] += 1
    return {name: places for name, places in found.items() if places}


def pace(config: ArenaConfig, lesson: LessonConfig) -> Pace:
    """How a lesson is learned."""
    learners = config.learners
    places = workers(lesson, learners)
    fragment = {name: config.environments * config.fragment * count for name, count in places.items()}
    needed = [-(-learners[name].least_batch // (config.copies * size)) for name, size in fragment.items()]
    fragments = max(1, *needed)
    update = fragments * config.copies * sum(fragment.values())
    every = max(config.checkpoint_every or lesson.most // PARTS, update)
    return Pace(places, fragment, fragments, update, every, -(-lesson.most // every))


def plan(config: ArenaConfig) -> list[Planned]:
    """All lessons."""
    found = []
    for i, lesson in enumerate(config.lessons):
        one = pace(config, lesson)
        battles = config.copies * len(lesson.matches) * config.environments
        updates = -(-lesson.most // one.update)
        how = counted(lesson.matches, config.copies)
        found.append(Planned(i, lesson.times, how, battles, lesson.most, updates, one))
    return found


def steps_of(config: ArenaConfig, policy: str) -> int:
    """Decisions that a policy learns from in the whole course, at most: the length of its schedules."""
    total = 0
    for lesson in config.lessons:
        one = pace(config, lesson)
        total += lesson.times * lesson.most * one.fragment.get(policy, 0) // sum(one.fragment.values())
    return max(1, total)


def started(config: ArenaConfig) -> int:
    """Processes that play here, beside the one that learns."""
    return 0 if config.pool.kind == "local" else config.copies


def ticks(config: ArenaConfig) -> int:
    """Rounds of the whole course, at most; a pair of its tournament is one."""
    lessons = sum(lesson.times * pace(config, lesson).ticks for lesson in config.lessons)
    return lessons + (config.tournament.pairs(entrants(config)) if config.tournament else 0)


def entrants(config: ArenaConfig) -> int:
    """How many enter its tournament, at most."""
    players = sum(not member.recalls for member in config.roster.values())
    earlier = sum(lesson.times * len(lesson.learns(config.roster)) for lesson in config.lessons)
    return players + (earlier if config.tournament is not None and config.tournament.rungs else 0)


def misfits(config: ArenaConfig) -> Iterator[tuple[str, str]]:
    """(place, sentence) of learners that do not go with the length of the course."""
    synchronous = config.sampling == "synchronous"
    for name, learner in config.learners.items():
        together = [pace(config, lesson).fragment.get(name, 0) for lesson in config.lessons]
        most = max(together) * (config.copies if synchronous else 1)
        found = learner.misfits(steps_of(config, name), most, synchronous=synchronous)
        yield from ((f"{config.place_of(name)}.{place}", why) for place, why in found)

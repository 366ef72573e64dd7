"""Who a player of a course was in a lesson: its policy at that time, and whom a pool of earlier selves stood for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, repeat
from typing import NamedTuple

from engine.config.arena import ArenaConfig
from engine.config.lessons import LessonConfig
from engine.config.roster import PupilConfig
from webapp.training.entrants import ROLE

STRETCHES = 4
"""Stretches of lessons that a sentence names."""


class Self(NamedTuple):
    """A player that learns, as it was at some time: its ``name``, the ``lesson`` that it had learned in last (0: none
    yet), and the store hash of its policy's description, empty where that was not kept."""

    name: str
    lesson: int
    policy: str

    @property
    def words(self) -> str:
        """ "main after lesson 3"."""
        return f"{self.name} after lesson {self.lesson}" if self.lesson else f"{self.name} before lesson 1"


class Selves:
    """Those of a course that left these ``artifacts``, by name and by number of a lesson that was held, from 1."""

    def __init__(self, config: ArenaConfig, artifacts: Mapping[str, str]) -> None:
        self._config, self._artifacts = config, artifacts
        each = (repeat(lesson, lesson.times) for lesson in config.lessons)
        self._lessons: list[LessonConfig] = [*chain.from_iterable(each)]

    def at_end(self, name: str, number: int) -> Self:
        """As it was at the end of a lesson, before anything was done to it there."""
        while number > 0:
            if name in self._lessons[number - 1].learns(self._config.roster):
                return Self(name, number, self._artifacts.get(f"{ROLE}/{name}@{number}", ""))
            number -= 1
            source = self._source(name, number)
            if source is None:
                return Self(name, number, "")
            name = source
        member = self._config.roster[name]
        return Self(name, 0, member.start if isinstance(member, PupilConfig) else "")

    def after(self, name: str, number: int) -> Self:
        """As it went on after a lesson; after lesson 0, as it began the course."""
        source = self._source(name, number)
        return Self(name, number, "") if source is None else self.at_end(source, number)

    def _source(self, name: str, number: int) -> str | None:
        """From whose network a player went on after a lesson; None where that was the best of several, as nobody has
        kept who that is."""
        if not number:
            return name
        lesson = self._lessons[number - 1]
        name = lesson.after.fork.get(name, name)
        best = lesson.after.best
        return None if best and name in best.among and name in lesson.learns(self._config.roster) else name

    def stands_for(self, pool: str, number: int) -> Self:
        """One of those that a pool stood for in a lesson: the latest. While there were none, its first policy as it
        was when the lesson began or, where that was not kept, when it ended."""
        found = [(lessons[-1], name) for name, lessons in self._pooled(pool, number) if lessons]
        if found:
            lesson, name = max(found, key=lambda latest: latest[0])
            return self.at_end(name, lesson)
        first = self._config.roster[pool].recalls[0]
        begun = self.after(first, number - 1)
        return begun if begun.policy else self.at_end(first, number)

    def words(self, pool: str, number: int) -> str:
        """All that a pool stands for in a lesson: "main after lessons 1 to 3"."""
        found = [f"{name} after {_listed(lessons)}" for name, lessons in self._pooled(pool, number) if lessons]
        return " or ".join(found) or " or ".join(
            f"{name} as it began lesson {number}" for name in self._config.roster[pool].recalls
        )

    def _pooled(self, pool: str, number: int) -> Iterator[tuple[str, list[int]]]:
        """The lessons before this one after which each policy of a pool came into it."""
        for name in self._config.roster[pool].recalls:
            before = enumerate(self._lessons[: number - 1], 1)
            yield name, [k for k, lesson in before if name in lesson.after.pool]


def _listed(lessons: Iterable[int]) -> str:
    """ "lesson 3", "lessons 1 to 4 and 7"."""
    stretches: list[list[int]] = []
    for k in lessons:
        if stretches and k == stretches[-1][-1] + 1:
            stretches[-1].append(k)
        else:
            stretches.append([k])
    texts = [str(each[0]) if len(each) == 1 else f"{each[0]} to {each[-1]}" for each in stretches]
    if len(texts) == 1:
        return f"{'lesson' if len(stretches[0]) == 1 else 'lessons'} {texts[0]}"
    left = len(texts) - STRETCHES
    last = f"{left} more" if left > 0 else texts.pop()
    return f"lessons {', '.join(texts[:STRETCHES])} and {last}"

"""How a lesson is learned: what a batch, an update and a round are, before anything is played.

A lesson consists of whole updates, and what they amount to is no more than was asked for (except where the first
fragments of all copies are more already). In a short lesson an update has more or fewer fragments than the learners ask
for, so that little of the lesson is left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from engine.config.lessons import PARTS, LessonConfig
from engine.config.rl import AnyLearner


class LessonPace(NamedTuple):
    """One lesson as it is learned. By policy: ``workers``, the places that it steers in the match list, and
    ``fragment``, its decisions in one fragment of one copy; ``fragments`` of each copy in an update; ``update``:
    decisions of all policies in one (asynchronous: in an update of each of them); ``updates`` in the lesson;
    ``decisions``: learned from in it, asynchronous: at most; ``every``: between checkpoints; ``ticks``: of these, at
    most."""

    workers: Mapping[str, int]
    fragment: Mapping[str, int]
    fragments: int
    update: int
    updates: int
    decisions: int
    every: int
    ticks: int


NEAR = 0.95
"""Share of a lesson that updates of the usual size must make up, or their size changes."""


def workers(lesson: LessonConfig, learners: Mapping[str, AnyLearner]) -> dict[str, int]:
    """The places of each policy that learns in a lesson, over all its matches."""
    found = dict.fromkeys((name for name in learners if name not in lesson.frozen), 0)
    for match in lesson.matches:
        for seated in match.seated:
            if seated.policy in found:
                found[seated.policy] += 1
    return {name: places for name, places in found.items() if places}


class Sampled(NamedTuple):
    """How a course is played. ``decisions`` of one entity in a fragment, over the battles of a match in a copy;
    ``copies`` that an update waits for; ``waiting``: whether copies wait for updates, too."""

    decisions: int
    copies: int
    waiting: bool


def whole(room: int, usual: int) -> tuple[int, int]:
    """Fragments of an update and updates in a lesson that has room for so many fragments: the ``usual`` ones, unless
    that leaves too much out; then two thirds to three halves of them, fewer only where there is no room for more."""
    if room // usual * usual >= NEAR * room:
        return usual, room // usual
    fewest, most = -(-2 * room // (3 * usual)), 3 * room // (2 * usual)
    found = [(room // updates, updates) for updates in range(fewest, max(fewest, most) + 1)]
    return max(found, key=lambda each: (each[0] * each[1], -abs(each[0] - usual)))


def pace(lesson: LessonConfig, learners: Mapping[str, AnyLearner], how: Sampled, checkpoint_every: int) -> LessonPace:
    """How a lesson is learned."""
    places = workers(lesson, learners)
    fragment = {name: how.decisions * count for name, count in places.items()}
    usual = [-(-learners[name].least_batch // (how.copies * size)) for name, size in fragment.items()]
    together = how.copies * sum(fragment.values())
    fragments, updates = whole(max(1, lesson.most // together), max(1, *usual))
    update = fragments * together
    decisions = updates * update if how.waiting else max(update, lesson.most)
    every = max(checkpoint_every or -(-decisions // PARTS), update)
    return LessonPace(places, fragment, fragments, update, updates, decisions, every, -(-decisions // every))

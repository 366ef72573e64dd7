"""How a lesson is learned: what a batch, an update and a round are, before anything is played."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from engine.config.lessons import PARTS, LessonConfig
from engine.config.rl import AnyLearner


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


def workers(lesson: LessonConfig, learners: Mapping[str, AnyLearner]) -> dict[str, int]:
    """The places of each policy that learns in a lesson, over all its matches."""
    found = dict.fromkeys((name for name in learners if name not in lesson.frozen), 0)
    for match in lesson.matches:
        for seated in match.seated:
            if seated.policy in found:
                found[seated.policy] += 1
    return {name: places for name, places in found.items() if places}


def pace(
    lesson: LessonConfig, learners: Mapping[str, AnyLearner], decisions: int, copies: int, checkpoint_every: int
) -> Pace:
    """How a lesson is learned. ``decisions``: of one entity in a fragment, over the battles of a match in a copy."""
    places = workers(lesson, learners)
    fragment = {name: decisions * count for name, count in places.items()}
    needed = [-(-learners[name].least_batch // (copies * size)) for name, size in fragment.items()]
    fragments = max(1, *needed)
    update = fragments * copies * sum(fragment.values())
    every = max(checkpoint_every or lesson.most // PARTS, update)
    return Pace(places, fragment, fragments, update, every, -(-lesson.most // every))

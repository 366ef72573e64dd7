"""What a course says of its lessons, in sentences."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from engine.config import arena_plan
from engine.config.arena import ArenaConfig
from engine.config.lessons import LessonConfig


def announced(config: ArenaConfig, number: int) -> str:
    """What lesson ``number``, from 0 on, is and what it amounts to."""
    place, lesson = config.lesson(number)
    how, one = arena_plan.plan(config)[place], f"{number + 1} of {config.count}"
    title, pace = f", “{lesson.title}”" if lesson.title else "", how.pace
    return (
        f"Lesson {one}{title}: {many(pace.decisions, 'decision')}{_at_most(config, lesson)}, "
        f"{many(pace.updates, 'update')} of {', '.join(pace.workers)}, {many(how.battles, 'battle')} at once."
    )


def stopped_in(config: ArenaConfig, number: int, learned: int) -> str:
    """That a course was stopped in lesson ``number`` once so many decisions were learned from."""
    _, lesson = config.lesson(number)
    when = f"after {learned:,} of its {config.pace(lesson).decisions:,} decisions{_at_most(config, lesson)}"
    return f"Stopped in lesson {number + 1} of {config.count}, {when}."


def no_episode_ended(battles: int, each: int, longest: int) -> str:
    """What to tell of a round in which none of so many battles, ``each`` of so many decisions, ended an episode, where
    battles begin afresh at its end. ``longest``: decisions of an episode at most (0: nobody knows)."""
    lasts = f" (an episode can last {longest:,})" if longest else ""
    return (
        f"No episode ended in this round: at its end all battles begin afresh, and {each:,} decisions of everybody "
        f"in each battle were too few{lasts}. So how episodes end is not learned, and no condition can be reached. "
        f"Make the lesson, or its checkpoints, longer; play fewer battles together than {battles:,} of each match; "
        "or let copies not wait for each update: then battles go on."
    )


def _at_most(config: ArenaConfig, lesson: LessonConfig) -> str:
    """A lesson may end before its last decision where it has a condition, and where nobody waits."""
    return " at most" if lesson.until or config.sampling != "synchronous" else ""


def ended_by(config: ArenaConfig, number: int, learned: int, mean: float, *, reached: bool) -> Iterator[str]:
    """By what lesson ``number``, from 0 on, ended: its condition or its limit; nothing where it has no condition.
    ``mean``: where its measure stands, NaN with too few episodes."""
    until = config.lesson(number)[1].until
    if until is None:
        return
    how = "by its condition" if reached else "at its limit"
    if math.isnan(mean):
        stands = f"fewer than {until.of:,} battles of {until.policy} had ended"
    elif until.measure == "win":
        stands = f"{until.policy} won {100 * mean:.1f} % of its last {until.of:,} battles"
    else:
        stands = f"{until.policy} had a {until.measure} of {mean:.4g} over its last {until.of:,} battles"
    yield f"Lesson {number + 1} of {config.count} ended {how}, after {learned:,} decisions: {stands}."


def happened(chosen: Sequence[str], compared: Sequence[str], lesson: LessonConfig) -> Iterator[str]:
    """Sentences on what a lesson's end did to policies; ``chosen``: the best of those that it ``compared``."""
    after = lesson.after
    if after.pool:
        yield f"Among the earlier selves from now on, to be played against: {_and(after.pool)}."
    if after.best is not None:
        yield _compared(chosen, compared)
    for new, old in after.fork.items():
        yield f"{new} goes on as a copy of {old}."


def _compared(chosen: Sequence[str], among: Sequence[str]) -> str:
    """Who was best, and who goes on from its network."""
    if len(among) < 2:
        who = f"only {among[0]}" if among else "nobody"
        return (
            f"Of those of whom the best was to go on, {who} learned in this lesson: each goes on from its own network."
        )
    if not chosen:
        return f"None of {_and(among)} ended an episode, so nobody goes on from another one's network."
    others = [name for name in among if name not in chosen]
    if not others:
        return f"{_and(chosen)} did equally well, so each goes on from its own network."
    verb = "goes" if len(others) == 1 else "go"
    if len(chosen) == 1:
        return f"{chosen[0]} was best, and {_and(others)} {verb} on from its network."
    return f"{_and(chosen)} did equally well, and {_and(others)} {verb} on from {chosen[0]}'s network."


def many(count: int, what: str) -> str:
    """A count with its noun."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _and(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"

"""``python -m engine plan``: what a course amounts to, and how long it will take, before it starts."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from engine.config import arena_plan, first_rounds
from engine.config.arena import ArenaConfig
from engine.config.first_rounds import CourseSpeed, Round, SecondsRange
from engine.console import many
from engine.errors import LONGEST_SAID, ConfigError, EngineError
from engine.events import Failed, Progressed
from engine.job_folder import checked, read, store_of, with_stored_starts
from engine.store import FolderStore, Store
from engine.stores import open_store
from engine.text import printable

_UNITS = ((7200.0, 3600.0, "h", ".1f"), (120.0, 60.0, "min", ".0f"), (0.0, 1.0, "s", ".0f"))
"""From so many seconds on, a unit's seconds, its name, and how its numbers are written."""
_TITLE = 40
"""Characters of a lesson's title that are shown."""


def add(commands: Any) -> None:
    """The command and what it takes."""
    plan = commands.add_parser(
        "plan",
        help="what does a course amount to, and how long will it take?",
        description="Plays a few rounds of each of the first lessons in one process, keeps none of them, and says how "
        "long each lesson will take here, how many processes play, and how many AI Arena's authors would start.",
    )
    plan.add_argument("study", help="a YAML or JSON file of kind arena")
    plan.add_argument(
        "-m", dest="settings", action="append", default=[], metavar="PATH=VALUE",
        help="a setting that replaces the file's, such as -m copies=2",
    )  # fmt: skip
    plan.add_argument("--no-times", action="store_true", help="play nothing, and say all but how long it takes")
    plan.add_argument("--store", default="", metavar="ADDRESS", help="where saved agents are that play in it")
    plan.set_defaults(do=run)


def run(args: argparse.Namespace) -> int:
    """Print the plan. Raises ConfigError, and EngineError where first rounds fail."""
    from engine.config.overrides import overridden

    data = overridden(read(Path(args.study)), args.settings)
    if data.setdefault("kind", "arena") != "arena":
        raise ConfigError([("kind", f"must be arena, not {str(data['kind'])[:40]!r}: only a course has a plan")])
    with TemporaryDirectory(prefix="equipoise-plan-") as folder:
        study = checked(with_stored_starts(data, folder), new=True)
        speed = None if args.no_times else _speed(study, open_store(store_of(Path(folder), args.store)), folder)
    print("\n".join(printable(line, LONGEST_SAID) for line in lines(study, speed)))
    return 0


def _speed(study: ArenaConfig, store: Store, folder: str) -> CourseSpeed | None:
    """By first rounds, which are played now, with the saved agents of ``store``; what they leave is in ``folder``."""
    from engine.study import run as run_study

    own = FolderStore(Path(folder) / "own")
    for digest in {policy for member in study.roster.values() if (policy := getattr(member, "policy", ""))}:
        from engine.rl.policy import Policy  # few courses have saved agents, and this loads torch

        for part in Policy.stored(store, digest).pack():
            own.put(part)
    print("Playing a few rounds of each lesson to see how fast this goes …", file=sys.stderr, flush=True)
    rounds = []
    for event in run_study(first_rounds.rehearsal(study), own):
        if isinstance(event, Failed):
            raise EngineError(event.message)
        if isinstance(event, Progressed):
            rounds.append(Round.of(event.metrics, event.counters.seconds, event.counters.steps))
    return first_rounds.measured(study, rounds, len(os.sched_getaffinity(0)))


def lines(study: ArenaConfig, speed: CourseSpeed | None) -> Iterator[str]:
    """The plan line by line; with how long everything takes where ``speed`` is known."""
    plans = arena_plan.plan(study)
    for one in plans:
        lesson = study.lessons[one.place]
        most = "" if lesson.until is None else " at most"
        times = "" if one.times == 1 else f", {many(one.times, 'time')}"
        lasts = "" if speed is None else f", {_words(speed.lesson(one.place, one.pace.decisions))}"
        title = printable(lesson.title, _TITLE)
        yield (
            f"Lesson {one.place + 1}{f' “{title}”' if title else ''}{times}: {many(one.pace.decisions, 'decision')}"
            f"{most}, {many(one.pace.updates, 'update')}, {many(one.battles, 'battle')} at once{lasts}"
        )
    if study.pairs:
        most = "at most " if arena_plan.may_repeat(study) else ""
        lasts = "" if speed is None else f", {_words(speed.meetings(study))}"
        yield f"Tournament: {most}{many(study.pairs, 'pair')} of {many(study.entrants, 'player')}{lasts}"
        if left_out := arena_plan.without_groups(study):
            yield left_out
    in_all = (
        f"In all: {many(study.count, 'lesson')}, {many(study.steps, 'decision')}{'' if study.exact else ' at most'}"
    )
    yield in_all if speed is None else f"{in_all}, {_words(speed.whole(study))}"
    largest = max((one.counted for one in plans), key=lambda how: how.processes)
    playing = arena_plan.started(study)
    alone = "one process plays and learns" if not playing else (
        f"{playing:,} process{' plays' if playing == 1 else 'es play'}, and one learns"
    )  # fmt: skip
    yield (
        f"AI Arena would start {largest.processes:,} processes for that: {many(largest.environments, 'environment')} "
        f"and {many(largest.workers, 'worker')}; here {alone}"
    )


def _words(seconds: SecondsRange) -> str:
    """A time between two ends: "3 to 5 min"."""
    _, unit, name, form = next(row for row in _UNITS if seconds.most >= row[0])
    least, most = (format(end / unit, form) for end in seconds)
    return f"about {most} {name}" if least == most else f"{least} to {most} {name}"

"""How long a study will take: by earlier ones like it, else by its first rounds, which are played in one process before
the start where its kind has any (``Parts.first_rounds``)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from django.conf import settings

from engine.catalog import STUDIES
from engine.config import Study, parse, study_hash
from engine.config.first_rounds import FASTER, SLOWER
from engine.errors import ConfigError
from webapp.lib.words import NBSP, duration, number, plural
from webapp.projects.models import Project
from webapp.studies import kinds
from webapp.studies.models import ACTIVE, Job, Status

START_S = 8.0
"""Seconds before the first decision: samplers come up and load the game."""
LONG = 3600.0
EARLIER = 20
"""Jobs of the kind that are looked at."""
_PROBLEM = re.compile(r"(?P<place>[a-z_]+(?:\.[\w-]+)*): (?P<message>.*)", re.DOTALL)


@dataclass(frozen=True)
class Estimate:
    """``low`` and ``high`` seconds of a whole study, what they rest on, and its speed in their middle: decisions a
    second, or rounds where its kind counts those."""

    low: float
    high: float
    note: str
    speed: float


def known(study: Study, project: Project) -> Job | None:
    """The first rounds of such a study, if it has any and they were played."""
    first = kinds.parts_of(study.kind).first_rounds(study)
    return None if first is None else latest(first, project)


def latest(trial: Study, project: Project) -> Job | None:
    """The last time that a trial was played."""
    mine = Job.objects.for_forms().filter(project=project)
    return mine.filter(config_hash=study_hash(trial)).order_by("-pk").first()


def problems(trial: Job | None) -> list[tuple[str, str]]:
    """(place, message) of what a trial found wrong with the settings."""
    if trial is None or trial.status != Status.FAILED:
        return []
    return misfits(trial) or [("game.name", f"It was tried and did not work: {trial.message}")]


def misfits(trial: Job | None) -> list[tuple[str, str]]:
    """(place, message) of the settings that a trial refused; none where it failed otherwise, as it might not again."""
    if trial is None or trial.status != Status.FAILED:
        return []
    failed = trial.events.filter(kind="failed").order_by("-sequence").values_list("body", flat=True).first() or {}
    parts = [_PROBLEM.fullmatch(part) for part in str(failed.get("places", "")).split("; ")]
    return [(part["place"], part["message"]) for part in parts if part is not None]


def wrong(study: Study, played: Job | None) -> list[tuple[str, str]]:
    """(place, message) of what its first rounds found wrong with a study."""
    refuted = [] if played is None else kinds.parts_of(study.kind).refuted(study, played)
    return refuted or problems(played)


def estimate(study: Study, played: Job | None, project: Project) -> Estimate | None:
    """How long a study takes; None while nothing is known, and where nobody knows how much it will do."""
    parts, row = kinds.parts_of(study.kind), STUDIES[study.kind]
    if not parts.amount(study):
        return None
    if earlier := _earlier(study, project):
        low, high = min(earlier), max(earlier)
        which = "one earlier job" if len(earlier) == 1 else f"{len(earlier)} earlier jobs"
        return _whole(study, 0.9 * low, 1.1 * high, f"As fast as {which} like this one.")
    pace = _pace(played, _as(study, played)) if played is not None else None
    if pace is None:
        return None
    each = pace / min(parts.side_by_side(study), settings.CPUS)
    done = parts.speed_in or (parts.decided if parts.counted else f"{row.tick}s")
    speed = float(f"{1 / pace:.1e}")
    note = f"Measured just now: {number(speed, 0 if speed >= 1 else None)} {done} a second on one processor."
    return _whole(study, FASTER * each, SLOWER * each, note)


def _whole(study: Any, low: float, high: float, note: str) -> Estimate:
    parts, minutes = kinds.parts_of(study.kind), limit(study)
    amount = parts.amount(study)
    most = START_S + (60 * minutes if minutes else float("inf"))
    least, longest = (min(most, START_S + each * amount) for each in (low, high))
    return Estimate(least, longest, f"{note} {parts.on_top}".strip(), 2 / (low + high))


def limit(study: Any) -> float:
    """The minutes after which a study ends at the latest; 0 where it has no such setting, or none is set."""
    return float(getattr(study, "minutes", 0.0))


def _pace(job: Job, study: Study | None) -> float | None:
    """Seconds for one of what the kind of its study counts, start and first round left out; None where too little was
    done."""
    if study is None:
        return None
    parts = kinds.parts_of(study.kind)
    counters = job.events.filter(kind="progressed").order_by("tick").values_list("tick", "body__counters")
    rounds = [{"tick": tick, **counted} for tick, counted in counters]
    if parts.concludes and rounds and rounds[-1]["tick"] == getattr(study, "ticks", 0):
        rounds.pop()
    if len(rounds) < 2:
        return None
    first, last = rounds[min(1, len(rounds) - 2)], rounds[-1]
    done = parts.done(study, last) - parts.done(study, first)
    return (last["seconds"] - first["seconds"]) / done if done > 0 else None


def _earlier(study: Study, project: Project) -> list[float]:
    """Seconds for one of what its kind counts, in the latest that did the same work on as many processes."""
    wanted = _work(study)
    done = project.jobs.filter(kind=study.kind, status__in=(Status.FINISHED, Status.STOPPED)).order_by("-pk")
    known = ((job, _as(study, job)) for job in done[:EARLIER])
    alike = ((job, other) for job, other in known if other is not None and _work(other) == wanted)
    return [pace for job, other in alike if (pace := _pace(job, other)) is not None][:5]


def _as(study: Study, job: Job) -> Study | None:
    """The study of another job of the kind; None where an earlier version of the engine made it."""
    try:
        return parse(type(study), job.config)
    except ConfigError:
        return None


def _work(study: Study) -> tuple[str, int]:
    """What decides how fast a study goes: its first rounds, or all of it but its seed; and on how many processes."""
    parts = kinds.parts_of(study.kind)
    alike = parts.first_rounds(study) or study
    return study_hash(alike.model_copy(update={"seed": 1})), parts.side_by_side(study)


def before_start(found: Estimate | None, trial: Job | None, minutes: float) -> dict[str, Any]:
    """What the page says before the start; ``minutes``: when it ends at the latest, or 0."""
    if found is None:
        return {"time": "…", "note": _waiting(trial), "long": ""}
    low, high = (duration(_rounded(value)) for value in (found.low, found.high))
    time = f"About {high}" if low == high else f"{low} to {high}"
    clock = f"Ends after {number(minutes)}{NBSP}min at the latest, and a last evaluation." if minutes else ""
    long = "That is long. It goes on when you close the page, and can be paused." if found.low > LONG else ""
    return {"time": time, "note": " ".join(filter(None, (found.note, _beside(), clock))), "long": long}


def _beside() -> str:
    """What the estimate leaves out: jobs that share the processors."""
    statuses = Job.objects.filter(status__in=ACTIVE).placed().values_list("status", flat=True)
    running = sum(status == Status.RUNNING for status in statuses)
    waiting = len(statuses) - running
    if not statuses:
        return "As long as nothing else runs."
    if not running:
        return f"{plural(waiting, 'other job is', 'other jobs are')} waiting now, so it may take longer."
    also = f" and {number(waiting)} {'is' if waiting == 1 else 'are'} waiting" if waiting else ""
    return f"{plural(running, 'other job is', 'other jobs are')} running now{also}, so it may take longer."


def _waiting(trial: Job | None) -> str:
    if trial is None:
        return ""
    if trial.active:
        return kinds.of(trial).trying
    return "How fast this goes could not be measured." if trial.status != Status.PAUSED else "The trial was put aside."


def _rounded(value: float) -> float:
    """To what people say: 5 s steps under two minutes, minutes under two hours, then quarters of an hour."""
    step = 5 if value < 120 else 60 if value < 7200 else 900
    return max(step, step * round(value / step))

"""The jobs a person should know about, on Home: those that run, and those to review."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, NamedTuple

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from engine.catalog import STUDIES
from webapp.accounts.models import User
from webapp.lib.words import plural
from webapp.studies import kinds
from webapp.studies.alongside import Beside, going
from webapp.studies.at_once import with_relatives
from webapp.studies.last_front import last_front
from webapp.studies.looks import seen_by
from webapp.studies.models import ACTIVE, TERMINAL, Job, ShortlistEntry, Status

MOST_WAITING = 8
"""Waiting jobs that are listed; the others are counted."""


class More(NamedTuple):
    """Jobs of a project that wait and are not listed."""

    project: str
    slug: str
    jobs: int


@dataclass(frozen=True)
class AtHand:
    """``running`` includes queued and paused jobs: somebody meant them to go on. ``sample``: what is played before the
    first search of a project. ``more``: the waiting ones beyond those. ``next_look``: the one of all that wait whose
    lineups this person would look at next. ``beside``: what goes on beside searches that have ended. ``others``: how
    many ended as lately and do not wait any more."""

    running: list[Job]
    waiting: list[Job]
    sample: Job | None = None
    more: Sequence[More] = ()
    next_look: Job | None = None
    beside: Sequence[Beside] = ()
    others: int = 0

    @property
    def wait(self) -> int:
        """How many jobs there are to review, listed or not."""
        return len(self.waiting) + sum(each.jobs for each in self.more)

    @property
    def under_way(self) -> str:
        """ "2 running, 1 waiting": how those stand that are to go on; "2 jobs running" where all stand the same."""
        counts = Counter(
            "waiting" if job.status in (Status.QUEUED, Status.WAITING) else job.status for job in self.running
        )
        parts = [f"{counts[each]:,} {each}" for each in ("running", "waiting", "paused") if counts[each]]
        return ", ".join(parts) if len(parts) > 1 else " ".join([plural(len(self.running), "job"), *counts])


@dataclass(frozen=True)
class Pace:
    """How far a job is, and how long it still needs at the pace so far; else ``why`` nobody can say, while it runs."""

    share: float
    seconds_left: float | None = None
    why: str = ""


def pace(job: Job) -> Pace:
    """Progress of a job by its work or by its clock. No time is given before a twentieth of it is done."""
    share, seconds = _share(job), float(job.counters.get("seconds", 0.0))
    if job.status != Status.RUNNING:
        return Pace(share)
    if share >= 1:
        return Pace(share, why="about to end")
    if share < 0.05 or seconds <= 0 or not kinds.of(job).steady(job):
        return Pace(share, why="too early to say when it ends")
    return Pace(share, _seconds_left(job))


def _seconds_left(job: Job) -> float:
    """Until its work is done or its minutes are over, whichever comes first."""
    parts, seconds, minutes = kinds.of(job), float(job.counters["seconds"]), minutes_of(job)
    (before, began), work = parts.settled(job), parts.work(job)
    by_work = (seconds - began) * (1 - work) / (work - before) if work > before else math.inf
    return min(by_work, 60 * minutes - seconds if minutes else math.inf)


def minutes_of(job: Job) -> float:
    """Minutes after which a job ends whatever it has done; 0: it has all the time it needs."""
    rules = (rule["most"] for rule in job.config.get("stop", ()) if rule["kind"] == "minutes")
    return float(job.config.get("minutes", 0) or next(rules, 0))


def _share(job: Job) -> float:
    """The share of its work that is done, or of its minutes, whichever ends it first; what has finished is done, though
    it may have played fewer battles than it was allowed."""
    if job.status == Status.FINISHED:
        return 1.0
    work = kinds.of(job).work(job)
    minutes = minutes_of(job)
    by_clock = job.counters.get("seconds", 0.0) / (60 * minutes) if minutes else 0.0
    return float(min(1.0, max(work, by_clock)))


def _first_sample(person: User) -> Job | None:
    searched = Job.objects.listed().filter(project=OuterRef("project"))
    samples = Job.objects.for_forms().filter(status__in=ACTIVE, project__members=person)
    first = samples.filter(~Exists(searched)).select_related("project")
    # A form of agents has its game played for it, too: no random lineups, and no line.
    return next((each for each in first if each.config.get("kind", "sample") == "sample"), None)


def _visible(person: User) -> QuerySet[Job]:
    return with_relatives(Job.objects.on_home().filter(project__members=person))


def _still_shown() -> Q:
    """Jobs that ended as short ago as their kind says that they are told."""
    recent, now = Q(pk__in=[]), timezone.now()
    for kind in STUDIES:
        recent |= Q(kind=kind, finished_at__gt=now - timedelta(days=kinds.parts_of(kind).waits))
    return recent


def jobs_at_hand(person: User) -> AtHand:
    """Jobs of this person's projects. An ended one waits until this person looks at it, or until somebody shortlists
    something of it or runs it again."""
    shortlisted = ShortlistEntry.objects.filter(job=OuterRef("pk"))
    followed = Job.objects.filter(parent=OuterRef("pk"))
    running = _visible(person).filter(status__in=[*ACTIVE, Status.PAUSED])
    ended = _visible(person).filter(_still_shown(), status__in=TERMINAL)
    waiting = ended.filter(~Exists(shortlisted), ~Exists(followed), ~seen_by(person)).order_by("-finished_at")
    listed, beside = list(waiting[:MOST_WAITING]), going(Job.objects.filter(project__members=person))
    more = _more(waiting) if len(listed) == MOST_WAITING else []
    others = ended.count() - len(listed) - sum(each.jobs for each in more)
    return AtHand(list(running), listed, _first_sample(person), more, _next_look(waiting), beside, others)


def _more(waiting: QuerySet[Job]) -> list[More]:
    """Those that are not listed, by their projects, the one with the most first."""
    beyond = Counter(waiting.values_list("project__name", "project__slug")[MOST_WAITING:])
    return [More(name, slug, jobs) for (name, slug), jobs in beyond.most_common()]


def _next_look(waiting: QuerySet[Job]) -> Job | None:
    """The one that ended last and has lineups to explore."""
    explored = [kind for kind in STUDIES if kinds.parts_of(kind).explored]
    return waiting.filter(kind__in=explored).exclude(status=Status.FAILED).first()


def home(person: User) -> dict[str, Any]:
    """What Home shows of studies."""
    at_hand = jobs_at_hand(person)
    drafts = person.drafts.filter(project__members=person).select_related("project").order_by("-kept_at")
    return {"at_hand": at_hand, "next_look": at_hand.next_look, "last_front": last_front(person), "drafts": drafts}

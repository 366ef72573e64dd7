"""The jobs a person should know about: those that run, and those that wait for a look."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from webapp.accounts.models import User
from webapp.studies.models import ACTIVE, TERMINAL, Job, ShortlistEntry, Status

WAITS_FOR, TRAINED_WAITS_FOR = timedelta(days=30), timedelta(days=2)
"""How long an ended job waits for a look; nothing of a training is shortlisted, so it is only told for a while."""
MOST_WAITING = 8


@dataclass(frozen=True)
class AtHand:
    """``running`` includes queued and paused jobs: somebody meant them to go on."""

    running: list[Job]
    waiting: list[Job]


@dataclass(frozen=True)
class Pace:
    """How far a job is, and how long it still needs at the pace so far."""

    share: float
    seconds_left: float | None


def pace(job: Job) -> Pace:
    """Progress of a job from its ticks, and within one from its evaluations or moves. No time is given before a
    twentieth of the work is done."""
    share = _trained(job) if job.trains else min(1.0, max(job.tick, _rounds(job)) / job.ticks) if job.ticks else 0.0
    seconds = float(job.counters.get("seconds", 0.0))
    known = job.status == Status.RUNNING and 0.05 <= share < 1.0 and seconds > 0
    return Pace(share, seconds * (1 - share) / share if known else None)


def _trained(job: Job) -> float:
    """The share of its moves that a training has learned from, or of its minutes, whichever ends it first."""
    if job.status == Status.FINISHED:
        return 1.0
    steps, minutes = job.config["steps"], job.config.get("minutes", 0)
    by_clock = job.counters.get("seconds", 0.0) / (60 * minutes) if minutes else 0.0
    return float(min(1.0, max(job.counters.get("steps", 0) / steps, by_clock)))


def _rounds(job: Job) -> float:
    """Rounds by the evaluations that a search has counted, whole and in part; never more than the one under way."""
    population = job.config.get("algorithm", {}).get("population", 0)
    return min(job.counters.get("evaluations", 0) / population, job.tick + 1) if population else 0.0


def _visible(person: User) -> QuerySet[Job]:
    jobs = Job.objects.filter(project__members=person).exclude(kind=Job.Kind.SAMPLE)
    return jobs.select_related("project", "created_by")


def jobs_at_hand(person: User) -> AtHand:
    """Jobs of this person's projects. A finished one waits until something of it is shortlisted or it is run again."""
    shortlisted = ShortlistEntry.objects.filter(job=OuterRef("pk"))
    followed = Job.objects.filter(parent=OuterRef("pk"))
    running = _visible(person).filter(status__in=[*ACTIVE, Status.PAUSED])
    ended = _visible(person).filter(status__in=TERMINAL, finished_at__gt=timezone.now() - WAITS_FOR)
    ended = ended.exclude(kind=Job.Kind.TRAIN, finished_at__lt=timezone.now() - TRAINED_WAITS_FOR)
    waiting = ended.filter(~Exists(shortlisted), ~Exists(followed)).order_by("-finished_at")
    return AtHand(list(running), list(waiting[:MOST_WAITING]))


def next_look(at_hand: AtHand) -> Job | None:
    """The job whose lineups this person would look at next: the one that ended last and found something."""
    return next((job for job in at_hand.waiting if job.status != Status.FAILED and not job.teaches), None)

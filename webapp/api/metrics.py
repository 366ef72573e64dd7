"""``/metrics``: numbers of the whole site for Prometheus, for site operators: signed in, or with a token of theirs.

No label names a person, a project or a game. What jobs did is summed over the jobs that are kept, so it falls when jobs
are deleted.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import redis
from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.db.models import BigIntegerField, Count, Max, Min, Q, Sum
from django.db.models.fields.json import KT
from django.db.models.functions import Cast
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from webapp.api import tokens
from webapp.api.models import Token
from webapp.lib import alive, health
from webapp.lib.turns import never_waits
from webapp.lib.visits import REGISTRY
from webapp.studies.models import Job, JobEvent, Status
from webapp.studies.stream import places

PLAIN = "text/plain; charset=utf-8"
FOR_OPERATORS = "Only a site operator reads the numbers of this site."
WORK = {
    "battles": ("equipoise_battles_played", "Battles that jobs asked for."),
    "steps": (
        "equipoise_decisions_made",
        "Decisions that jobs were asked for: to learn from, or to measure agents. Those of evaluations within a "
        "training are not counted.",
    ),
    "evaluations": ("equipoise_candidates_evaluated", "Candidates that jobs evaluated."),
}
"""What jobs count, with the name and the words of its sum."""
Families = Iterator[GaugeMetricFamily]


@never_waits
@csrf_exempt
@login_not_required
@never_cache
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Everything that the registry holds, in Prometheus's text format. Raises PermissionDenied."""
    scheme, _, text = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        try:
            token = tokens.holder(text, str(request.META.get("REMOTE_ADDR", "")))
        except tokens.Denied as refusal:
            return _refused(refusal)
        if why := _kept_out(token):
            return HttpResponse(f"{why}\n", status=403, content_type=PLAIN)
    elif not request.user.is_authenticated:
        return redirect_to_login(request.path)  # not its query: somebody may have put a token there
    elif not request.user.is_staff:
        raise PermissionDenied(FOR_OPERATORS)
    return HttpResponse(generate_latest(REGISTRY), content_type=CONTENT_TYPE_LATEST)


def _kept_out(token: Token) -> str:
    """Why a token reads no numbers: it is not an operator's, or is for one project alone. Empty when it does."""
    if not token.user.is_staff:
        return FOR_OPERATORS
    return "" if token.project is None else "This token is for one project, and these are numbers of the whole site."


def _refused(refusal: tokens.Denied) -> HttpResponse:
    if isinstance(refusal, tokens.TooMany):
        wait = {"Retry-After": str(refusal.seconds)}
        return HttpResponse(f"{refusal}\n", status=429, content_type=PLAIN, headers=wait)
    scheme = {"WWW-Authenticate": "Bearer"}
    return HttpResponse(f"{refusal}\n", status=401, content_type=PLAIN, headers=scheme)


class Site(Collector):
    """What the database, Redis and the disk say at the moment of asking."""

    def describe(self) -> Families:
        """Nothing is asked when it is registered."""
        return iter(())

    def collect(self) -> Families:
        """Every family of numbers."""
        for family in (_jobs, _queue, _parts, _disk, _streams):
            yield from family()


def _jobs() -> Families:
    """Jobs by kind and state, and what they did."""
    number = {name: Sum(Cast(KT(f"counters__{name}"), BigIntegerField())) for name in WORK}
    jobs: Any = Job.objects.order_by().values("kind", "status")
    rows: list[dict[str, Any]] = list(jobs.annotate(n=Count("pk"), tries=Sum("attempt"), **number))
    counted = {(row["kind"], row["status"]): row["n"] for row in rows}
    states = {(kind, str(status)): 0 for kind, _ in counted for status in Status.values} | counted
    yield _family("equipoise_jobs", "Jobs by kind and state.", ("kind", "state"), states)
    totals = {"tries": ("equipoise_job_attempts", "Attempts of jobs: each start, and each time one went on."), **WORK}
    for column, (name, words) in totals.items():
        sums: dict[tuple[str, ...], float] = {}
        for row in rows:
            sums[row["kind"],] = sums.get((row["kind"],), 0) + (row[column] or 0)
        yield _family(name, words, ("kind",), sums)


def _queue() -> Families:
    """How many jobs wait, and for how long; what runs, and has a worker that is still heard of."""
    now = timezone.now()
    waits = Q(status__in=(Status.QUEUED, Status.WAITING))
    lost = Q(status=Status.RUNNING, lease_until__lt=now)
    found = Job.objects.aggregate(n=Count("pk", waits), since=Min("created_at", filter=waits), lost=Count("pk", lost))
    age = max(0.0, (now - found["since"]).total_seconds()) if found["since"] else 0.0
    yield _one("equipoise_queue_length", "Jobs that wait to start.", found["n"])
    yield _one("equipoise_queue_oldest_seconds", "Since when the oldest of them was asked for.", age)
    yield _one("equipoise_jobs_without_worker", "Running jobs whose worker is not heard of any more.", found["lost"])
    yield _one("equipoise_job_slots", "Jobs that may run at once.", settings.JOB_SLOTS)


def _parts() -> Families:
    """Which parts are up. Of workers nothing is told while Redis, which knows it, is away."""
    checks: dict[str, Callable[[], str]] = {"redis": health.redis_server, "ray": health.ray}
    up: dict[tuple[str, ...], float] = {(name,): check() == health.OK for name, check in checks.items()}
    kept = (*alive.WORKERS, alive.RECONCILER)
    try:
        silent = alive.silent(*kept)
        up |= {(part,): part not in silent for part in kept}
    except redis.RedisError:
        pass
    yield _family("equipoise_up", "1 for each part of the site that is at work.", ("part",), up)


def _disk() -> Families:
    """Room for what jobs write."""
    free = {(_called(folder),): shutil.disk_usage(folder).free for folder in settings.WATCHED_FOLDERS}
    yield _family("equipoise_disk_free_bytes", "Room on the disk, by folder.", ("folder",), free)
    yield _one("equipoise_disk_reserve_bytes", "Room below which running jobs are paused.", settings.DISK_RESERVE)


def _called(folder: Path) -> str:
    """A folder without its path, which may tell of other things."""
    return "var" if folder == settings.VAR else folder.name


def _streams() -> Families:
    """Streams of events that browsers have open, and events so far."""
    last = JobEvent.objects.aggregate(last=Max("pk"))["last"] or 0
    yield _one("equipoise_event_streams_open", "Streams of events that browsers and scripts have open.", places.open)
    yield _one("equipoise_job_events_written", "Events of jobs written so far.", last)


def _family(name: str, words: str, labels: tuple[str, ...], values: Mapping[Any, float]) -> GaugeMetricFamily:
    family = GaugeMetricFamily(name, words, labels=labels)
    for at, value in sorted(values.items()):
        family.add_metric(at, float(value))
    return family


def _one(name: str, words: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(name, words, value=float(value))


REGISTRY.register(Site())

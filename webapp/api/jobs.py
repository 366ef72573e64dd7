"""Jobs: listing, starting, watching and steering them. Whatever happens to one is written by ``studies.actions``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from ninja import Header, Query, Router
from ninja import Status as Answer

from engine.config import Config, parse
from webapp.accounts.people import signed_in
from webapp.api import body
from webapp.api.auth import job_of, project_of, record
from webapp.api.rechecking import Recheck, play_again
from webapp.api.results import there
from webapp.api.shapes import REFUSALS, WRITING, CheckedJob, Events, EventsQuery, JobDetail, JobPage, JobsQuery, Keyed
from webapp.api.starting import Changes, Wanted, again, checked, start
from webapp.games.called import public_config
from webapp.lib import disk
from webapp.lib.once import Kept, once
from webapp.projects.models import Project
from webapp.studies import actions, companion, kinds, wire
from webapp.studies.models import Job, Status
from webapp.studies.overview import pace

router = Router(tags=["Jobs"])
JOBS = "/projects/{slug:project}/jobs"
JOB = JOBS + "/{int:number}"
BEGINNING: dict[int, Any] = {200: JobDetail, 201: JobDetail, **WRITING}
"""What an address that starts a job answers with: 200 where an earlier request of the same key did so."""


def sends(model: type[Config], example: dict[str, Any]) -> dict[str, Any]:
    """What an address reads, for the description of the API."""
    content = {"schema": model.model_json_schema(), "example": example}
    return {"requestBody": {"content": {"application/json": content}}}


def shape(job: Job) -> dict[str, Any]:
    """A job as it is now: what the event stream's snapshot says, and how far it is. Points in time are ISO 8601."""
    how = pace(job)
    return {
        **wire.state(job),
        "message": _message(job),
        "metrics": kinds.of(job).metrics(job),
        "project": job.project.slug,
        "share": how.share,
        "seconds_left": how.seconds_left,
        "created": job.created_at,
        "started": job.started_at,
        "ended": job.finished_at,
        "created_by": str(job.created_by or ""),
    }


def _message(job: Job) -> str:
    """What it waits for, or what went wrong. On a full disk nobody can write down that a job is paused."""
    short = disk.shortage() if job.active else None
    return short.sentences if short is not None and short.full else job.message


def detailed(job: Job) -> dict[str, Any]:
    """A job with its settings and what can be fetched of it."""
    return {
        **shape(job),
        "config": public_config(job.config, job.project),
        "config_hash": job.config_hash,
        "game_version": job.game_version.number if job.game_version else None,
        "experiment": beside.pk if (beside := companion.of(job)) else None,
        "summary": job.summary,
        "results": there(job),
        "notes": list(job.events.filter(body__note=True).order_by("sequence").values_list("body__message", flat=True)),
        "exit_code": _exit_code(job),
    }


def _exit_code(job: Job) -> int | None:
    if not job.terminal:
        return None
    if job.status != Status.FAILED:
        return kinds.of(job).exit_code(job)
    body = job.events.filter(kind="failed").order_by("-sequence").values_list("body", flat=True).first() or {}
    return 2 if body.get("permanent") else 1


@router.get(JOBS, response={200: JobPage, **REFUSALS, 422: WRITING[422]}, url_name="jobs", summary="A project's jobs")
def listing(request: HttpRequest, project: str, query: Query[JobsQuery]) -> Any:
    """The newest first; status and kind narrow them."""
    rows = project_of(request, project).jobs.listed().select_related("project", "created_by")
    wanted = {name: value for name in ("status", "kind") if (value := getattr(query, name))}
    pages = Paginator(rows.filter(**wanted), query.size)
    shown = pages.page(query.page).object_list if query.page <= pages.num_pages else []
    return {"jobs": [shape(job) for job in shown], "count": pages.count, "page": query.page, "pages": pages.num_pages}


@router.post(
    JOBS, response=BEGINNING, url_name="jobs", summary="Start a job",
    openapi_extra=sends(Wanted, {"kind": "search", "set": {"algorithm.population": 50, "ticks": 20}}),
)  # fmt: skip
def create(request: HttpRequest, project: str, response: HttpResponse, header: Header[Keyed]) -> Any:
    """From a study's settings: what they leave out comes from the project. All that is wrong is told at once. With an
    Idempotency-Key, the same request sent again starts no second job."""
    found, user = project_of(request, project, "write"), signed_in(request)
    sent = body.table(request)
    return begun(request, response, header, found, sent, lambda kept: start(found, user, parse(Wanted, sent), kept))


@router.post(
    f"{JOBS}/check", response={200: CheckedJob, **WRITING}, url_name="check", summary="Check a job before it starts",
    openapi_extra=sends(Wanted, {"kind": "search", "set": {"algorithm.population": 50, "ticks": 20}}),
)  # fmt: skip
def check(request: HttpRequest, project: str) -> Any:
    """The same body as to start it, and nothing is started: all that is wrong, or the whole study and its plan."""
    found, user = project_of(request, project, "write"), signed_in(request)
    return checked(found, user, parse(Wanted, body.table(request)))


def begun(
    request: HttpRequest, response: HttpResponse, header: Keyed, project: Project, sent: dict[str, Any],
    begin: Callable[[Kept], Job],
) -> Any:  # fmt: skip
    """The job that ``begin`` makes of what was ``sent``; once, where the request has a key."""
    job, new = once(request, project.jobs.filter(created_by=signed_in(request)), header.key.strip(), sent, begin)
    if new:
        record(request, "started", job)
    return _there(response, job_of(request, project.slug, job.pk), 201 if new else 200)


def _there(response: HttpResponse, job: Job, status: int) -> Any:
    response["Location"] = reverse("api-v1:job", args=[job.project.slug, job.pk])
    return Answer(status, detailed(job))


@router.get(JOB, response={200: JobDetail, **REFUSALS}, url_name="job", summary="One job")
def detail(request: HttpRequest, project: str, number: int) -> Any:
    """Its state, progress, counters, time left and settings."""
    return detailed(job_of(request, project, number))


def _act(request: HttpRequest, project: str, number: int, word: str, act: Callable[[Job], None]) -> Any:
    job = job_of(request, project, number, "write")
    act(job)
    record(request, word, job)
    return detailed(job_of(request, project, number))


@router.post(f"{JOB}/stop", response={200: JobDetail, **WRITING}, url_name="stop", summary="Stop a job")
def stop(request: HttpRequest, project: str, number: int) -> Any:
    """It ends and keeps what it found; a running one within seconds."""
    return _act(request, project, number, "stopped", actions.stop)


@router.post(f"{JOB}/pause", response={200: JobDetail, **WRITING}, url_name="pause", summary="Pause a job")
def pause(request: HttpRequest, project: str, number: int) -> Any:
    """It gives its place to others, and can go on where it was."""
    return _act(request, project, number, "paused", actions.pause)


@router.post(f"{JOB}/resume", response={200: JobDetail, **WRITING}, url_name="resume", summary="Resume a job")
def resume(request: HttpRequest, project: str, number: int) -> Any:
    """A paused job goes on, a failed one tries again."""
    return _act(request, project, number, "resumed", actions.resume)


@router.post(
    f"{JOB}/clone", response=BEGINNING, url_name="clone", summary="Start a job like this one",
    openapi_extra=sends(Changes, {"set": {"seed": 2}}),
)  # fmt: skip
def clone(request: HttpRequest, project: str, number: int, response: HttpResponse, header: Header[Keyed]) -> Any:
    """With its settings, and those of set in their places."""
    job, user = job_of(request, project, number, "write"), signed_in(request)
    sent = body.table(request)
    return begun(
        request, response, header, job.project, sent, lambda kept: again(job, user, parse(Changes, sent), kept)
    )


@router.post(
    f"{JOB}/recheck", response={**BEGINNING, 503: WRITING[422]}, url_name="recheck", summary="Play lineups again",
    openapi_extra=sends(Recheck, {"lineups": [17, 42], "replicates": 64}),
)  # fmt: skip
def recheck(request: HttpRequest, project: str, number: int, response: HttpResponse, header: Header[Keyed]) -> Any:
    """A job that plays lineups of a search on fresh battles, which no earlier one played: those named, or those of its
    shortlist that are not settled. What they say then stands in the search's results, as finding. While a job plays
    them already, as often as asked, the answer is that one, with 200."""
    job, user = job_of(request, project, number, "write"), signed_in(request)
    sent = body.table(request)
    try:
        return begun(
            request, response, header, job.project, sent, lambda kept: play_again(job, user, parse(Recheck, sent), kept)
        )
    except actions.PlayedAlready as already:
        return _there(response, already.job, 200)


@router.get(
    f"{JOB}/events", response={200: Events, **REFUSALS, 422: WRITING[422]}, url_name="events", summary="What happened"
)
def events(request: HttpRequest, project: str, number: int, query: Query[EventsQuery]) -> Any:
    """The job's events in order, from the one after number after on; each has its own number, sequence."""
    job = job_of(request, project, number)
    later = wire.readable(job.events.filter(sequence__gt=query.after)).order_by("sequence")
    rows = list(later[: query.limit + 1])
    messages = [{**wire.message(event), "at": event.at} for event in rows[: query.limit]]
    return {
        "events": messages,
        "next": messages[-1]["sequence"] if messages else query.after,
        "more": len(rows) > query.limit,
    }

"""What a job's charts fetch: pictures of its rounds, which never change, and the numbers of its rounds so far."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from django.http import Http404, HttpRequest, HttpResponse
from django.utils.cache import get_conditional_response
from django.views.decorators.http import require_safe

from engine.catalog import STUDIES
from engine.errors import StoreError
from webapp.accounts.people import signed_in
from webapp.lib.digits import whole
from webapp.lib.page_json import PageJson, written
from webapp.lib.queries import choice
from webapp.lib.storage import store
from webapp.projects.access import project_for
from webapp.studies import course as telling
from webapp.studies import front as drawing
from webapp.studies import kinds, progress
from webapp.studies.looks import looked
from webapp.studies.models import Job

FOR_GOOD = "private, max-age=31536000, immutable"


def job_for(request: HttpRequest, slug: str, pk: int, need: str = "read", *, kind: str = "") -> Job:
    """A job of the project; ``kind``: of this kind of study, for a page that only those have. Raises Http404 and
    PermissionDenied as ``project_for`` does."""
    project = project_for(request, slug, need)  # type: ignore[arg-type]  # one of the needs
    job = Job.objects.select_related("project", "created_by", "game_version").filter(project=project, pk=pk).first()
    if job is None:
        raise Http404("No job of this project has this number.")
    if kind and job.kind != kind:
        raise Http404(f"This job is not {STUDIES[kind].called}.")
    return job


def _tick(request: HttpRequest) -> int | None:
    text = request.GET.get("tick", "")
    if not text:
        return None
    if (number := whole(text, 10**9)) is None:
        raise Http404("A round is a whole number.")
    return number


def _with_edge(request: HttpRequest, slug: str, pk: int) -> Job:
    """A job whose candidates can be drawn in a plane. Players with one goal cannot: nothing tells them apart."""
    job = job_for(request, slug, pk)
    if not kinds.of(job).edged(job):
        raise Http404("This job has no edge to be drawn.")
    return job


@require_safe
def front(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """The edge of the search after a round (``tick``), or at its end, on the search's battles or on fresh ones
    (``of=fresh``). JSON for the chart, along two objectives (``x`` and ``y``, from 0); with ``as=arrays`` the engine's
    own container."""
    job = _with_edge(request, slug, pk)
    looked(signed_in(request), [job])  # also on a page that was open when the job ended
    role = choice(request, "of", ["front", "fresh"])
    digest = drawing.artifact(job, role, None if role == "fresh" else _tick(request))
    if request.GET.get("as") == "arrays":
        return _kept(request, digest, f'"{digest}"', store().get, "application/octet-stream")
    return _edge_picture(request, job, digest, dots=False)


@require_safe
def around(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Some of the lineups, or players, that were measured in a round."""
    job = _with_edge(request, slug, pk)
    digest = drawing.artifact(job, "chunk", _tick(request) or 0)
    return _edge_picture(request, job, digest, dots=True)


def _edge_picture(request: HttpRequest, job: Job, digest: str, *, dots: bool) -> HttpResponse:
    objectives = drawing.of_job(job).objectives
    known = {str(i): i for i in range(len(objectives))}
    x, y = (known.get(request.GET.get(name, "")) for name in ("x", "y"))
    chosen = x is not None and y is not None and x != y
    pair = (drawing.axis(objectives, x or 0), drawing.axis(objectives, y or 0)) if chosen else drawing.axes(objectives)
    make = partial(drawing.picture, job, pair=pair, dots=dots)
    return _kept(request, digest, drawing.tag(digest, pair), make)


@require_safe
def grid(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """The map that the search has filled after a round (``tick``), or as the end measured it anew (``of=fresh``)."""
    job = job_for(request, slug, pk)
    role, tick = ("fresh_grid", None) if choice(request, "of", ["", "fresh"]) else ("grid", _tick(request) or job.tick)
    digest = drawing.artifact(job, role, tick)
    return _kept(request, digest, drawing.tag(digest), lambda d: written(telling.grid(job, d)).encode())


@require_safe
def lineage(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Who has copied whom by a round."""
    job = job_for(request, slug, pk)
    digest = drawing.artifact(job, "lineage", _tick(request) or job.tick)
    return _kept(request, digest, drawing.tag(digest), lambda d: written(telling.lineage(d)).encode())


@require_safe
def course(request: HttpRequest, slug: str, pk: int) -> PageJson:
    """How the search went so far, round by round."""
    job = job_for(request, slug, pk)
    if not kinds.of(job).course:
        raise Http404("Only a search has rounds of lineups.")
    answer = PageJson(telling.course(job))
    answer["Cache-Control"] = "no-store"
    return answer


def _kept(
    request: HttpRequest, digest: str, tag: str, make: Callable[[str], bytes], kind: str = "application/json"
) -> HttpResponse:
    """An answer that browsers may keep for good; 404 when the round has no such artifact (yet)."""
    if not digest:
        raise Http404("This job has no such round.")
    answer = get_conditional_response(request, etag=tag)
    if answer is None or answer.status_code != 304:
        try:
            answer = HttpResponse(make(digest), content_type=kind)
        except StoreError as error:
            raise Http404(str(error)) from error
    answer["ETag"], answer["Cache-Control"] = tag, FOR_GOOD
    return answer


@require_safe
def rounds(request: HttpRequest, slug: str, pk: int) -> PageJson:
    """The numbers of the job's rounds so far, as columns."""
    answer = PageJson(progress.rounds(job_for(request, slug, pk)))
    answer["Cache-Control"] = "no-store"
    return answer

"""The front explorer: its page, its data, the shortlist, re-checks, and what is taken away."""

from __future__ import annotations

import gzip
from typing import Any

from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseNotModified,
    HttpResponseRedirect,
)
from django.shortcuts import get_object_or_404, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from django.utils.http import parse_etags
from django.views.decorators.http import require_safe

from engine.config import LineupConfig, ObjectiveConfig, ObjectiveSetConfig
from engine.errors import ConfigError, StoreError
from webapp.accounts.people import signed_in
from webapp.balance import lines
from webapp.balance.forms import sentence
from webapp.balance.saving import Replaced
from webapp.games.numbers import field_text, sensible
from webapp.lib.deadline import FILE_SECONDS, may_take
from webapp.lib.digits import fraction, whole
from webapp.lib.page_json import PageJson
from webapp.lib.posts import posts_only
from webapp.projects.access import Need, allowed, project_for, role_in
from webapp.studies import actions, checks, kinds
from webapp.studies import explore_build as build
from webapp.studies import explore_filter as narrowing
from webapp.studies import explore_line as drawing
from webapp.studies import explore_source as source
from webapp.studies.accepted_line import later
from webapp.studies.explore_export import FILE_ROWS, Taken, to_csv, to_xlsx
from webapp.studies.explore_offline import to_html
from webapp.studies.explore_page import context, counted, judged
from webapp.studies.explore_replay import replay
from webapp.studies.explore_shortlist import Shortlist, ShortlistError, decide
from webapp.studies.looks import looked
from webapp.studies.models import Job
from webapp.studies.pictures import FOR_GOOD

PLAYING = "These battles are being played now; the verdicts come by themselves."
SETTLED = "By the job’s own line, every lineup of the shortlist has a verdict already, or is too close to tell."
LOOPBACK = ("127.0.0.1", "::1")
WHOLE = {"xlsx": "Excel", "html": "one page"}
TYPES = {
    "csv": "text/csv; charset=utf-8",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "html": "text/html; charset=utf-8",
}


def _sentence(text: str, status: int) -> HttpResponse:
    return HttpResponse(text, status=status, content_type="text/plain; charset=utf-8")


def _job(request: HttpRequest, slug: str, pk: int, need: Need = "read") -> Job:
    project = project_for(request, slug, need)
    job = get_object_or_404(Job.objects.select_related("project", "game_version__simulator"), pk=pk, project=project)
    if not kinds.of(job).explored:
        raise Http404("This job has no lineups to explore.")
    return job


def _address(name: str, job: Job, *more: str) -> str:
    return reverse(f"studies:{name}", args=[job.project.slug, job.pk, *more])


@require_safe
def explore(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """The page. Everything that changes while one looks at it comes from ``state`` and ``data``."""
    job = _job(request, slug, pk)
    looked(signed_in(request), [job, *source.rechecks(job)])
    if job.parent is not None:
        return HttpResponseRedirect(_address("explore", job.parent))
    can_write = allowed(role_in(signed_in(request), job.project), "write")
    config = {
        "job": job.pk,
        "project": slug,
        "running": job.active,
        "state": _address("explore-state", job),
        "shortlist": _address("explore-shortlist", job),
        "recheck": _address("explore-recheck", job),
        "line": _address("explore-line", job),
        "later": later(job, source.objectives(job)),
        "person": signed_in(request).pk,
        "events": f"/events/?project={slug}",
        "export": {kind: _address(f"export-{kind}", job) for kind in TYPES},
        "data": _data(job),
        "fileRows": FILE_ROWS,
    }
    about = {"job": job, "project": job.project, "config": config, "data": config["data"], "can_write": can_write,
             "listed": job.shortlist.exists()}  # fmt: skip
    return render(request, "studies/explore.html", {**context(job), **about})


def _data(job: Job) -> dict[str, str]:
    state = source.key(job)
    return {"key": state, **{part: _address("explore-data", job, state, part) for part in build.PARTS}}


@require_safe
def data(request: HttpRequest, slug: str, pk: int, state: str, part: str) -> HttpResponse:
    """One file of the explorer, for good: another state of the job has another address."""
    job = _job(request, slug, pk)
    tag = f'"{state}-{part}"'
    if part not in build.PARTS or not state.isalnum():
        raise Http404("There is no such file.")
    if tag in parse_etags(request.headers.get("If-None-Match", "")):
        return HttpResponseNotModified()
    try:
        path = build.file(job, state, part)
    except StoreError as error:
        return PageJson({"error": str(error)}, status=503)
    if path is None:
        raise Http404("The job has gone on since. Ask for its state again.")
    content, zipped = path.read_bytes(), False
    if "gzip" in request.headers.get("Accept-Encoding", "") and request.META.get("REMOTE_ADDR") not in LOOPBACK:
        content, zipped = gzip.compress(content, 4), True
    response = HttpResponse(content, content_type="application/octet-stream")
    if zipped:
        response["Content-Encoding"] = "gzip"
    response["ETag"] = tag
    response["Cache-Control"] = FOR_GOOD
    patch_vary_headers(response, ["Accept-Encoding"])
    return response


@require_safe
def state(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """What changes: how the job stands, where its lineups are now, the shortlist and what fresh battles say."""
    job = _job(request, slug, pk)
    return PageJson(_state(request, job))


def _state(request: HttpRequest, job: Job) -> dict[str, Any]:
    plain: dict[str, Any] = {
        "status": job.status,
        "statusWords": job.get_status_display(),
        "message": job.message,
        "running": job.active,
        "tick": job.tick,
        "data": _data(job),
    }
    try:
        explored = build.explored(job)
        shortlist = Shortlist(job, explored, source.spec(job))
    except (StoreError, ConfigError) as error:
        return {**plain, "error": str(error)}
    can_write = allowed(role_in(signed_in(request), job.project), "write")
    checking = any(listed.checking for listed in shortlist.all.values())
    plan = replay(shortlist, again=not shortlist.due and not checking)
    panel = {"shortlist": shortlist, "can_write": can_write, "job": job, "words": source.words(job), "replay": plan}
    return {
        **plain,
        "counted": counted(job, explored.meta),
        "judged": judged(explored.meta),
        "listed": {i: {"state": listed.state, "words": listed.words, "on": listed.on, "reason": listed.reason.reason}
                   for i, listed in shortlist.all.items()},
        "due": shortlist.due,
        "settled": shortlist.settled,
        "checking": checking,
        "replay": plan.label if plan.lineups else "",
        "html": render_to_string("studies/explore/shortlist.html", panel, request),
    }  # fmt: skip


@posts_only("studies:explore", "slug", "pk")
def shortlist(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Write down one decision about one lineup; answers with the new state."""
    job = _job(request, slug, pk, "write")
    lineup = whole(request.POST.get("lineup", ""))
    if lineup is None:
        return PageJson({"error": "Choose a lineup first."}, status=400)
    try:
        action, reason = request.POST.get("action", ""), request.POST.get("reason", "")
        decide(job, build.explored(job), signed_in(request), lineup, action, reason)
    except (ShortlistError, StoreError) as error:
        return PageJson({"error": str(error)}, status=400)
    return PageJson(_state(request, job))


@posts_only("studies:explore", "slug", "pk")
def recheck(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Play what is on the shortlist and not told yet, as often as its sentences say; with ``again``, what is told, as
    many times as before, which makes its ranges narrower. Answers with the new state."""
    job = _job(request, slug, pk, "write")
    try:
        listed = Shortlist(job, build.explored(job), source.spec(job))
    except (StoreError, ConfigError) as error:
        return PageJson({"error": str(error)}, status=400)
    plan = replay(listed, again=bool(request.POST.get("again")))
    if not plan.lineups and not listed.on:
        return PageJson({"error": "Nothing is on the shortlist."}, status=400)
    if not plan.lineups:  # asked twice: the first time did it
        playing = any(each.checking for each in listed.on)
        return PageJson({**_state(request, job), "said": PLAYING if playing else SETTLED})
    genomes, anchors = [d.genome for d in plan.lineups], [d.anchors for d in plan.lineups]
    try:
        started, said = actions.recheck(job, signed_in(request), genomes, anchors, plan.times), plan.started
    except actions.PlayedAlready as already:
        started, said = already.job, str(already)
    except actions.Refused as refusal:
        return PageJson({"error": str(refusal)}, status=409)
    return PageJson({**_state(request, job), "started": started.pk, "said": said})


@posts_only("studies:explore", "slug", "pk")
def keep_line(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Let later searches that ask this job's question begin with a line that was moved here; the job keeps its own."""
    job = _job(request, slug, pk, "write")
    objectives = {o.name: o for o in source.objectives(job).objectives if o.threshold is not None}
    objective, line = objectives.get(request.POST.get("objective", "")), fraction(request.POST.get("line", "").strip())
    if objective is None or line is None:
        return PageJson({"error": "Move the line to a number first."}, status=400)
    if not sensible(line):
        return PageJson({"error": "No line can be there: the number is too large or too near to zero."}, status=400)
    try:
        _check_line(job, objective.model_copy(update={"threshold": line}))
        if job.objective_set is not None:
            lines.keep_in_set(job.objective_set, signed_in(request), objective.name, line)
        else:
            lines.keep(job.project, signed_in(request), job.template, objective.name, line)
    except (Replaced, ValueError, StoreError) as error:
        return PageJson({"error": str(error)}, status=400)
    kept = f"{field_text(line)} {objective.unit}".strip()
    said = f"Later searches that ask this begin with a line at {kept}. This one keeps its own."
    return PageJson({"said": said, "later": later(job, source.objectives(job))})


def _check_line(job: Job, objective: ObjectiveConfig) -> None:
    """Raises ValueError where every lineup is on one side of an objective's line, and StoreError."""
    alone = ObjectiveSetConfig(objectives=(objective,))
    for problem in checks.lines(alone, source.spec(job), LineupConfig.model_validate(job.config["lineups"])):
        raise ValueError(f"{sentence(problem.message)} Later searches begin where they did.")


@may_take(FILE_SECONDS)
@require_safe
def export(request: HttpRequest, slug: str, pk: int, kind: str) -> HttpResponse:
    """The lineups the address asks for, as a file."""
    job = _job(request, slug, pk)
    try:
        explored, spec = build.explored(job), source.spec(job)
        listed = Shortlist(job, explored, spec)
        explored = drawing.moved(explored, drawing.asked(request.GET, explored.meta))
        rows = narrowing.chosen(request.GET, explored, {d.lineup for d in listed.on})
    except ValueError as error:
        return _sentence(f"This address cannot be read: {error}.", 400)
    except (StoreError, ConfigError) as error:
        return _sentence(str(error), 503)
    if not explored.lineups:
        return _sentence("This job has measured no lineups yet.", 404)
    if kind in WHOLE and len(rows) > FILE_ROWS:
        most = f"Filter to at most {FILE_ROWS:,}, or take CSV."
        return _sentence(f"{len(rows):,} lineups are too many for {WHOLE[kind]}. {most}", 400)
    query = request.META.get("QUERY_STRING", "")
    taken = Taken(job, explored, explored.genome, spec, listed, rows, signed_in(request), query)
    content = {"csv": to_csv, "xlsx": to_xlsx, "html": to_html}[kind](taken)
    response = HttpResponse(content, content_type=TYPES[kind])
    response["Content-Disposition"] = f'attachment; filename="{taken.stem}.{kind}"'
    return response

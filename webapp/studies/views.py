"""The pages of jobs: the list, and the live page of one."""

from __future__ import annotations

from collections.abc import Callable

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.views.decorators.http import require_safe

from engine.errors import ConfigError, StoreError
from webapp.accounts.people import signed_in
from webapp.lib.page_json import PageJson
from webapp.lib.posts import posts_only
from webapp.lib.queries import choice
from webapp.projects.access import allowed, project_for, role_in
from webapp.studies import actions, alongside, kinds, lineup_parts, progress
from webapp.studies.at_once import with_relatives
from webapp.studies.looks import looked
from webapp.studies.models import ACTIVE, Job, Status
from webapp.studies.pictures import job_for
from webapp.studies.table_rows import TableRows

A_PAGE = 50
COMMANDS = (Job.Command.STOP, Job.Command.PAUSE)
LATEST = 60


@require_safe
def jobs(request: HttpRequest, slug: str) -> HttpResponse:
    """Every search and re-check of the project, newest first; htmx gets the list alone."""
    project = project_for(request, slug)
    rows = with_relatives(project.jobs.listed())
    going = rows.filter(status__in=[*ACTIVE, Status.PAUSED])
    ended = Paginator(rows.exclude(status__in=[*ACTIVE, Status.PAUSED]), A_PAGE).get_page(request.GET.get("page"))
    beside = alongside.going(Job.objects.filter(pk__in=[job.pk for job in ended]))
    context = {"project": project, "going": going, "ended": ended, "beside": beside}
    by_htmx = request.headers.get("HX-Request") == "true"
    return render(request, "studies/partials/jobs_list.html" if by_htmx else "studies/jobs.html", context)


@require_safe
def job(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """One job, live. What was played for a form has no page: its numbers are told there."""
    found = job_for(request, slug, pk)
    parts = kinds.of(found)
    if found.for_form:
        messages.info(request, f"Job {found.pk} {parts.trial_words}, and has no page of its own.")
        return redirect("studies:jobs", slug)
    looked(signed_in(request), [found])
    return parts.page(request, found, {
        "job": found,
        "parts": parts,
        "project": found.project,
        "may_change": allowed(role_in(signed_in(request), found.project), "write"),
        "history": progress.history(found, LATEST),
        "chips": [*(Job(status=s) for s in Status), *(Job(status=Status.RUNNING, command=c) for c in COMMANDS)],
    })  # fmt: skip


@require_safe
def results(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """A table of what a job found, as CSV: the usual one, or the one that ``of`` names."""
    found = job_for(request, slug, pk)
    parts = kinds.of(found)
    if not parts.results:
        raise Http404("This kind of job has no table of results.")
    of = choice(request, "of", parts.results)
    try:
        content = parts.table(found, of, signed_in(request)).csv()
    except (StoreError, ConfigError) as error:
        raise Http404(str(error)) from error
    answer = HttpResponse(content, content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="{slug}-job-{pk}-{of}.csv"'
    return answer


@require_safe
def book(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """The usual table of what a job found, as a workbook."""
    found = job_for(request, slug, pk)
    parts = kinds.of(found)
    rows = parts.table(found, parts.results[0], signed_in(request)) if "table" in parts.results else None
    if not isinstance(rows, TableRows):
        raise Http404("This kind of job has no table of rows.")
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
    answer = HttpResponse(rows.xlsx("Table"), content_type=kind)
    answer["Content-Disposition"] = f'attachment; filename="{slug}-job-{pk}.xlsx"'
    return answer


@require_safe
def checked(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """What a re-check says by now of each of its lineups: as rows for its page, and as marks for its chart."""
    found = job_for(request, slug, pk, kind="recheck")
    lineups = lineup_parts.checked(found)
    html = render_to_string("studies/partials/checked.html", {"checked": lineups, "job": found})
    answer = PageJson({"html": html, "marks": lineup_parts.marks(lineups)})
    answer["Cache-Control"] = "no-store"
    return answer


def _act(request: HttpRequest, slug: str, pk: int, act: Callable[[Job], None]) -> HttpResponse:
    job, refused = job_for(request, slug, pk, "write"), ""
    try:
        act(job)
    except actions.Refused as refusal:
        refused = str(refusal)
    if request.headers.get("Accept") == "application/json":
        return PageJson({"refused": refused})
    if refused:
        messages.warning(request, refused)
    return redirect("studies:job", slug, pk)


@posts_only("studies:job", "slug", "pk")
def stop(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """End the job and keep what it found."""
    return _act(request, slug, pk, actions.stop)


@posts_only("studies:job", "slug", "pk")
def pause(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Put the job aside."""
    return _act(request, slug, pk, actions.pause)


@posts_only("studies:job", "slug", "pk")
def resume(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Let the job go on."""
    return _act(request, slug, pk, actions.resume)

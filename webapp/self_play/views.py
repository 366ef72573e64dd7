"""Watching and keeping a member of the ladder."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect

from webapp.accounts.people import signed_in
from webapp.agents import unkept
from webapp.agents.models import Agent
from webapp.agents.naming import keep_named, page_of
from webapp.agents.watched import ladder_of
from webapp.lib.posts import posts_only
from webapp.lib.text import judges_names
from webapp.self_play import members
from webapp.studies import actions
from webapp.studies.pictures import job_for

NOBODY = "The ladder of this job has no such member."


@posts_only("studies:job", "slug", "pk")
def watch(request: HttpRequest, slug: str, pk: int, version: int) -> HttpResponse:
    """Have a battle recorded of a member that nobody has kept, and go and watch it."""
    job = job_for(request, slug, pk, "write", kind="self-play")
    try:
        study = unkept.recording(job, [members.member(job, version)])
        recording = actions.sample(job.project, signed_in(request), study, parent=job)
    except LookupError as error:
        raise Http404(NOBODY) from error
    except actions.Refused as refused:
        messages.warning(request, str(refused))
        return redirect(ladder_of(job))
    return redirect("agents:battles", slug, recording.pk)


@judges_names
@posts_only("studies:job", "slug", "pk")
def keep(request: HttpRequest, slug: str, pk: int, version: int) -> HttpResponse:
    """Keep a member as an agent of the project."""
    job = job_for(request, slug, pk, "write", kind="self-play")

    def keep_it(name: str) -> Agent:
        return members.keep(job, signed_in(request), version, name)

    try:
        return page_of(keep_named(request, job, keep_it, ladder_of(job)))
    except LookupError as error:
        raise Http404(NOBODY) from error

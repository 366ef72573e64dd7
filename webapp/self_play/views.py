"""Watching a member of the ladder."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect

from webapp.accounts.people import signed_in
from webapp.agents import unkept
from webapp.agents.watched import ladder_of
from webapp.lib.posts import posts_only
from webapp.self_play import members
from webapp.studies import actions
from webapp.studies.pictures import job_for


@posts_only("studies:job", "slug", "pk")
def watch(request: HttpRequest, slug: str, pk: int, version: int) -> HttpResponse:
    """Have a battle recorded of a member that nobody has kept, and go and watch it."""
    job = job_for(request, slug, pk, "write", kind="self-play")
    try:
        study = unkept.recording(job, [members.member(job, version)])
        recording = actions.sample(job.project, signed_in(request), study, parent=job)
    except LookupError as error:
        raise Http404("The ladder of this job has no such member.") from error
    except actions.Refused as refused:
        messages.warning(request, str(refused))
        return redirect(ladder_of(job))
    return redirect("agents:battles", slug, recording.pk)

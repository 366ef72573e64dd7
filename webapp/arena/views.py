"""A match of a course that somebody wants to watch."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect

from webapp.accounts.people import signed_in
from webapp.arena import watching
from webapp.lib.posts import posts_only
from webapp.studies import actions
from webapp.studies.pictures import job_for


@posts_only("studies:job", "slug", "pk")
def watch(request: HttpRequest, slug: str, pk: int, place: int) -> HttpResponse:
    """Have a match of the lesson that is under way recorded, and go and watch it."""
    job = job_for(request, slug, pk, "write")
    if job.kind != "arena":
        raise Http404("This job has no lessons.")
    try:
        recorded = actions.sample(job.project, signed_in(request), watching.recording(job, place), parent=job)
    except actions.Refused as refused:
        messages.warning(request, str(refused))
        return redirect("studies:job", slug, pk)
    except LookupError:
        raise Http404("There is no such match in this lesson.") from None
    return redirect("agents:battles", slug, recorded.pk)

"""A match of a course that somebody wants to watch."""

from __future__ import annotations

from collections.abc import Callable

from django.contrib import messages
from django.core.exceptions import BadRequest
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect

from engine.config.agents import RecordConfig
from engine.config.lessons import MOST_LESSONS
from webapp.accounts.people import signed_in
from webapp.arena import watching
from webapp.lib.digits import whole
from webapp.lib.posts import posts_only
from webapp.studies import actions
from webapp.studies.models import Job
from webapp.studies.pictures import job_for

MOST_MATCHES = 200


@posts_only("studies:job", "slug", "pk")
def watch(request: HttpRequest, slug: str, pk: int, place: int) -> HttpResponse:
    """Have a match of the lesson that is under way recorded, and go and watch it."""
    return _watched(request, slug, pk, lambda job: watching.recording(job, place))


@posts_only("studies:job", "slug", "pk")
def watch_past(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Have a match of a lesson that is over recorded, with everybody as they were, and go and watch it."""
    number = whole(request.POST.get("lesson", ""), MOST_LESSONS)
    place = whole(request.POST.get("match", ""), MOST_MATCHES)
    if number is None or place is None:
        raise BadRequest("the lesson or the match is no number")
    return _watched(request, slug, pk, lambda job: watching.past_recording(job, number, place))


def _watched(request: HttpRequest, slug: str, pk: int, recording: Callable[[Job], RecordConfig]) -> HttpResponse:
    job = job_for(request, slug, pk, "write", kind="arena")
    try:
        recorded = actions.sample(job.project, signed_in(request), recording(job), parent=job)
    except actions.Refused as refused:
        messages.warning(request, str(refused))
        return redirect("studies:job", slug, pk)
    except LookupError:
        raise Http404("There is no such match in this lesson.") from None
    return redirect("agents:battles", slug, recorded.pk)

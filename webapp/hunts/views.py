"""A bug to take away, and to watch."""

from __future__ import annotations

import json

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_safe

from webapp.accounts.people import signed_in
from webapp.agents.keeping import unplayable
from webapp.hunts import found, watching
from webapp.hunts.found import Kept
from webapp.lib.posts import posts_only
from webapp.studies import actions
from webapp.studies.models import Job
from webapp.studies.pictures import job_for


@require_safe
def bug(request: HttpRequest, slug: str, pk: int, number: int) -> HttpResponse:
    """The seed and the moves of one bug, for ``python -m engine replay-bug``."""
    kept = _kept(job_for(request, slug, pk, kind="hunt"), number)
    answer = HttpResponse(json.dumps(kept.file(number)), content_type="application/json")
    answer["Content-Disposition"] = f'attachment; filename="{slug}-job-{pk}-bug-{number}.json"'
    return answer


@posts_only("studies:job", "slug", "pk")
def watch(request: HttpRequest, slug: str, pk: int, number: int) -> HttpResponse:
    """Has one bug recorded to be watched, or finds that it was recorded before."""
    job = job_for(request, slug, pk, "write", kind="hunt")
    kept = _kept(job, number)
    if not watching.drawn(kept):
        raise Http404("This game has no drawing.")
    if why := unplayable(kept.bundle.meta["game"]["name"], job.project):
        messages.warning(request, why)
        return redirect("studies:job", slug, pk)
    try:
        battle = watching.recording(kept, number)
    except actions.Refused as refused:
        messages.warning(request, f"Bug {number} cannot be watched. {refused}")
        return redirect("studies:job", slug, pk)
    recorded = actions.sample(job.project, signed_in(request), battle, parent=job)
    return redirect("agents:battles", slug, recorded.pk)


def _kept(job: Job, number: int) -> Kept:
    """The findings of a hunt that has a bug with this number. Raises Http404."""
    kept = found.of(job)
    if kept is None or not 0 < number <= kept.listed:
        raise Http404("This hunt has no such bug.")
    return kept

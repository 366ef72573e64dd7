"""A bug to take away."""

from __future__ import annotations

import json

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from webapp.hunts import found
from webapp.studies.pictures import job_for


@require_safe
def bug(request: HttpRequest, slug: str, pk: int, number: int) -> HttpResponse:
    """The seed and the moves of one bug, for ``python -m engine replay-bug``."""
    job = job_for(request, slug, pk, kind="hunt")
    kept = found.of(job)
    if kept is None or not 0 < number <= len(kept.bugs) + len(kept.untried):
        raise Http404("This hunt has no such bug.")
    answer = HttpResponse(json.dumps(kept.file(number)), content_type="application/json")
    answer["Content-Disposition"] = f'attachment; filename="{slug}-job-{pk}-bug-{number}.json"'
    return answer

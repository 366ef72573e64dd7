"""The gates of a project, the newest first, and one as JUnit XML."""

from __future__ import annotations

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from webapp.accounts.people import signed_in
from webapp.gates.parts import Gating, listed
from webapp.projects.access import allowed, project_for, role_in
from webapp.studies.pictures import job_for

A_PAGE = 50


@require_safe
def history(request: HttpRequest, slug: str) -> HttpResponse:
    """Builds over time, each with its verdict."""
    project = project_for(request, slug)
    gates = project.jobs.filter(kind="gate").select_related("project", "game_version__simulator", "created_by")
    page = Paginator(gates.order_by("-pk"), A_PAGE).get_page(request.GET.get("page"))
    context = {
        "project": project, "page": page, "gates": listed(page),
        "may_change": allowed(role_in(signed_in(request), project), "write"),
    }  # fmt: skip
    return render(request, "gates/history.html", context)


@require_safe
def junit(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """What build servers draw."""
    job = job_for(request, slug, pk, kind="gate")
    answer = HttpResponse(Gating().junit(job), content_type="application/xml; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="{slug}-job-{pk}-gate.xml"'
    return answer

"""Making a report of a search: what is typed is kept until it is published or given up."""

from __future__ import annotations

import hashlib
from typing import Any

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from webapp.accounts.people import signed_in
from webapp.lib.once import FIELD
from webapp.lib.posts import posts_only
from webapp.projects.access import allowed, role_in
from webapp.reports.content import ReportText, content
from webapp.reports.forms import FIELDS, ReportForm
from webapp.reports.models import ReportDraft
from webapp.reports.proposals import kept_change
from webapp.reports.publishing import Replaced, current, made_by, publish
from webapp.studies.models import Job
from webapp.studies.pictures import job_for

WRONG = 422
GOING = "A report is made once the search has ended and found something."
LONGEST_DRAFT = 20_000
"""Characters of one field that a draft keeps."""


@require_http_methods(["GET", "HEAD", "POST"])
def page(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """The form with what the report says by now; POST publishes, and leads to the same edition however often it comes.
    Who only reads is led to the newest report."""
    search = job_for(request, slug, pk, "write" if request.method == "POST" else "read", kind="search")
    if not allowed(role_in(signed_in(request), search.project), "write"):
        return _reads(request, search)
    if request.method == "POST" and (made := made_by(search.project, signed_in(request), _key(request))):
        return redirect(made)  # it was published, and nobody was told: the answer took too long
    draft = ReportDraft.objects.filter(search=search, person=signed_in(request)).first()
    form = ReportForm(request.POST or None, search=search, kept=draft.typed if draft else None)
    if request.method == "POST" and form.is_valid() and _ready(search):
        try:
            replaces, key = form.cleaned_data["replaces"], _key(request)
            made = publish(search, signed_in(request), form.typed, replaces, key, form.proposes)
        except Replaced as error:
            form.add_error("replaces", str(error))
        else:
            messages.success(request, "The report is published.")
            return redirect(made)
    if request.method == "POST":
        _keep(request, search)
    return _shown(request, search, form, draft)


def _reads(request: HttpRequest, search: Job) -> HttpResponse:
    found = current(search.project).filter(search=search).first()
    if found is not None:
        return redirect(found)
    messages.info(request, "Nobody has made a report of this search yet.")
    return redirect("reports:list", search.project.slug)


def _ready(search: Job) -> bool:
    return search.terminal and search.tick > 0


def _shown(request: HttpRequest, search: Job, form: ReportForm, draft: ReportDraft | None) -> HttpResponse:
    ready = _ready(search)
    context = {
        "job": search,
        "project": search.project,
        "form": form,
        "draft": draft,
        "obstacle": "" if ready else GOING,
        "content": content(search, form.proposes) if ready else None,
        "earlier": current(search.project).filter(search=search),
        **_written({name: form[name].value() or "" for name in FIELDS}),
    }
    return render(request, "reports/compose.html", context, status=WRONG if form.errors else 200)


def _written(typed: dict[str, Any]) -> dict[str, Any]:
    """What the preview shows of what was typed."""
    return {"written": ReportText(*(str(typed.get(name, "")) for name in ReportText._fields)), "now": timezone.now()}


@posts_only("reports:compose", "slug", "pk")
def preview(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """What was typed, as the report will show it; it is kept."""
    search = job_for(request, slug, pk, "write", kind="search")
    typed = _keep(request, search)
    change = kept_change(ReportForm(typed, search=search).proposes) if _ready(search) else None
    context = {"project": search.project, "kept": True, "change": change, **_written(typed)}
    return render(request, "reports/previewed.html", context)


def _keep(request: HttpRequest, search: Job) -> dict[str, str]:
    """Keep what was typed, but for what came late: the form says what was published from it meanwhile."""
    typed = {name: request.POST.get(name, "")[:LONGEST_DRAFT] for name in FIELDS}
    person = signed_in(request)
    with transaction.atomic():  # written first: whoever publishes meanwhile waits, and removes it then
        draft, _ = ReportDraft.objects.update_or_create(search=search, person=person, defaults={"typed": typed})
        if made_by(search.project, person, _key(request)):
            draft.delete()
    return typed


@posts_only("reports:compose", "slug", "pk")
def forget(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Begin anew."""
    search = job_for(request, slug, pk, "write", kind="search")
    ReportDraft.objects.filter(search=search, person=signed_in(request)).delete()
    return redirect("reports:compose", slug, pk)


def _key(request: HttpRequest) -> str:
    """Of the page that the form stood on, and of what it says: two clicks are one report."""
    once = request.POST.get(FIELD, "")
    said = "\x00".join([once, *(request.POST.get(name, "") for name in FIELDS)])
    return hashlib.sha256(said.encode()).hexdigest() if once else ""

"""The New job page: what is typed is kept, a sample shows where the line falls, and Start makes a job of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from webapp.accounts.people import signed_in
from webapp.balance.models import Draft
from webapp.lib.once import once_by_form
from webapp.lib.page_json import PageJson
from webapp.lib.posts import posts_only
from webapp.projects.access import project_for
from webapp.projects.models import Project
from webapp.studies import actions, kinds, line_origin, pending, previews, retired
from webapp.studies.asked import last_search
from webapp.studies.form_values import first_values
from webapp.studies.forms import NewJobForm
from webapp.studies.method_menu import lineups
from webapp.studies.models import Job
from webapp.studies.pictures import job_for
from webapp.studies.plans import EFFORTS, OWN, PLAN
from webapp.studies.questions import QUESTIONS, verdict_words
from webapp.studies.starting import SearchStart

WRONG = 422
"""The status of a page that says what is wrong."""
BEFORE = "before"
"""Where a draft keeps the one that a clone took the place of."""


@require_http_methods(["GET", "HEAD", "POST"])
def new(request: HttpRequest, slug: str) -> HttpResponse:
    """Compose a job; POST starts it."""
    project = project_for(request, slug, "write")
    if not project.versions.exists():
        return render(request, "studies/no_data.html", {"project": project, "others": kinds.without_data()})
    if request.method == "POST":
        user, asked = signed_in(request), _typed(request.POST)
        start = SearchStart(project, user, request.POST)
        job, first = once_by_form(
            request, project.jobs.filter(created_by=user), lambda kept: pending.begin(start, project, user, asked, kept)
        )
        if job is not None and first:
            Draft.objects.filter(project=project, user=user).delete()
        typed = dict(request.POST.items())
        return started(request, job, lambda: _page(request, project, start.form, typed, status=WRONG))
    draft = Draft.objects.filter(project=project, user=signed_in(request)).first()
    # A blank form, so that the project has its first rules and objectives before their numbers are looked up.
    NewJobForm(None, project=project, user=signed_in(request))
    typed = {**first_values(project), **retired.for_form(request, draft.form if draft else {})}
    newest = project.versions.first()
    if draft and newest and newest.created_at > draft.kept_at:
        typed["version"] = str(newest.pk)  # whoever typed the draft could not choose it yet
    return _page(request, project, NewJobForm(typed, project=project, user=signed_in(request)), typed, draft=draft)


def started(request: HttpRequest, job: Job | None, refused: Callable[[], HttpResponse]) -> HttpResponse:
    """The way to a job that was started; without one the page that says what is wrong. A script that asks gets only the
    address, or nothing."""
    address = job and reverse("studies:job", args=[job.project.slug, job.pk])
    if request.headers.get("Accept") == "application/json":
        return PageJson({"job": address}, status=200 if address else WRONG)
    return HttpResponseRedirect(address) if address else refused()


def _page(
    request: HttpRequest,
    project: Project,
    form: NewJobForm,
    typed: dict[str, Any],
    *,
    draft: Draft | None = None,
    status: int = 200,
) -> HttpResponse:
    form.is_valid()
    measures = form.measured.objectives if form.measured else ()
    asked = QUESTIONS.get(typed.get("question", ""), QUESTIONS["unfair"])
    context = {
        "project": project,
        "form": form,
        "measures": [(o.name, o.title, o.name == form.cleaned_data["measure"]) for o in measures],
        "typed": typed,
        "draft": draft,
        "earlier": bool(draft and draft.form.get(BEFORE)),
        "asked": asked,
        "over": (verdict_words(asked.key, form.measured) if form.measured else asked.words).over,
        "line_words": line_origin.WORDS,
        "questions": QUESTIONS.values(),
        "others": kinds.offered(),
        "efforts": [*((e.key, e.title) for e in EFFORTS.values()), (OWN, "Your own numbers")],
        "effort": OWN if any(typed.get(name) for name in PLAN) else typed.get("effort", "usual"),
        "experiment": {"wanted": form.ticked, "possible": True, "text": ""},
        "method": lineups(typed, form.errors if status == WRONG else {}),
        "errors": previews.errors(form) if status == WRONG else None,
    }
    return render(request, "studies/new.html", context, status=status)


@posts_only("studies:new", "slug")
def preview(request: HttpRequest, slug: str) -> PageJson:
    """What the page says about the form as it stands; ``keep=1`` also keeps it as the draft. Starts a sample if one is
    needed, ``again=1`` even where one failed."""
    project = project_for(request, slug, "write")
    form = NewJobForm(request.POST, project=project, user=signed_in(request))
    kept = _keep(request, project) if request.POST.get("keep") else None
    sample = None
    form.is_valid()
    if form.measured is not None and not {"version", "rules", "objectives", ""} & form.errors.keys():
        refers = {**form.refers(), "objective_set": None}
        sample = actions.sample(
            project,
            signed_in(request),
            form.sample(),
            again=bool(request.POST.get("again")),
            **refers,
        )
    return PageJson({**previews.preview(form, sample), "kept": kept})


def _typed(data: QueryDict) -> dict[str, str]:
    """What was typed, field by field; nothing else gets into a draft, and nothing long."""
    return {name: str(data[name])[:200] for name in NewJobForm.base_fields if name in data}


def _keep(request: HttpRequest, project: Project) -> str:
    draft, _ = Draft.objects.get_or_create(project=project, user=signed_in(request))
    before = draft.form.get(BEFORE)
    draft.form = {**_typed(request.POST), **({BEFORE: before} if before else {})}
    draft.save()
    return timezone.localtime(draft.kept_at).isoformat()


@posts_only("studies:new", "slug")
def forget(request: HttpRequest, slug: str) -> HttpResponseRedirect:
    """Throw the draft away; where a clone had taken the place of an earlier one, that comes back."""
    project = project_for(request, slug, "write")
    draft = Draft.objects.filter(project=project, user=signed_in(request)).first()
    if draft is not None:
        earlier = draft.form.get(BEFORE)
        if earlier:
            draft.form = earlier
            draft.save()
        else:
            draft.delete()
    return redirect("studies:new", slug)


@posts_only("studies:job", "slug", "pk")
def clone(request: HttpRequest, slug: str, pk: int) -> HttpResponseRedirect:
    """Compose a new job that begins with this one's settings."""
    job = job_for(request, slug, pk, "write")
    if kinds.of(job).clone != "studies:clone":
        raise Http404("This job was not asked for on the New job page.")
    note = f"These are the settings of “{job.title}”. Change what you like, then start."
    return _begin_with(request, job, {}, note)


@posts_only("studies:new", "slug")
def ask_again(request: HttpRequest, slug: str, number: int) -> HttpResponseRedirect:
    """Compose a new job that asks the project's last question of this version of the data."""
    project = project_for(request, slug, "write")
    version = get_object_or_404(project.versions, number=number)
    last = last_search(version)
    if last is None:
        return HttpResponseRedirect(reverse("studies:new", args=[slug]))
    note = f"These are the settings of “{last.title}”, now with {version}. Change what you like, then start."
    return _begin_with(request, last, {"version": str(version.pk)}, note)


def _begin_with(request: HttpRequest, job: Job, changes: Mapping[str, str], note: str) -> HttpResponseRedirect:
    """Make the settings of ``job`` the draft; one that was there is kept beside it."""
    draft, _ = Draft.objects.get_or_create(project=job.project, user=signed_in(request))
    earlier = draft.form.get(BEFORE) or {k: v for k, v in draft.form.items() if k != BEFORE}
    messages.info(request, note)
    typed = retired.for_form(request, {**(job.asked.get("typed") or kinds.of(job).typed(job)), **changes})
    draft.form = {**typed, **({BEFORE: earlier} if earlier else {})}
    draft.save()
    return HttpResponseRedirect(reverse("studies:new", args=[job.project.slug]))

"""The New job page: what is typed is kept, a sample shows where the line falls, and Start makes a job of it."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from engine.errors import ConfigError
from webapp.balance.models import Draft
from webapp.games.simulators import obstacle, plays_inside
from webapp.lib.posts import posts_only
from webapp.projects.access import project_for
from webapp.projects.models import Project
from webapp.studies import actions, previews
from webapp.studies.forms import NewJobForm, first_values, values_of
from webapp.studies.method_menu import lineups
from webapp.studies.models import Job
from webapp.studies.paces import pace_of
from webapp.studies.pictures import job_for, person
from webapp.studies.plans import EFFORTS, OWN, PLAN
from webapp.studies.questions import QUESTIONS

WRONG, NOT_YET = 422, 202
"""The status of a page that says what is wrong, or that only has to find something out before it starts."""
BEFORE = "before"
"""Where a draft keeps the one that a clone took the place of."""


@require_http_methods(["GET", "HEAD", "POST"])
def new(request: HttpRequest, slug: str) -> HttpResponse:
    """Compose a job; POST starts it."""
    project = project_for(request, slug, "write")
    if not project.versions.exists():
        return render(request, "studies/no_data.html", {"project": project})
    if request.method == "POST":
        form = NewJobForm(request.POST, project=project, user=person(request))
        job = _start(request, project, form)
        if job is not None:
            return redirect("studies:job", slug, job.pk)
        status = WRONG if form.errors else NOT_YET
        return _page(request, project, form, dict(request.POST.items()), status=status)
    draft = Draft.objects.filter(project=project, user=person(request)).first()
    # A blank form, so that the project has its first rules and objectives before their numbers are looked up.
    NewJobForm(None, project=project, user=person(request))
    typed = {**first_values(project), **(draft.form if draft else {})}
    return _page(request, project, NewJobForm(typed, project=project, user=person(request)), typed, draft=draft)


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
    context = {
        "project": project,
        "form": form,
        "measures": [(o.name, o.title, o.name == form.cleaned_data["measure"]) for o in measures],
        "typed": typed,
        "draft": draft,
        "earlier": bool(draft and draft.form.get(BEFORE)),
        "asked": QUESTIONS.get(typed.get("question", ""), QUESTIONS["unfair"]),
        "questions": QUESTIONS.values(),
        "efforts": [*((e.key, e.title) for e in EFFORTS.values()), (OWN, "Your own numbers")],
        "effort": OWN if any(typed.get(name) for name in PLAN) else typed.get("effort", "usual"),
        "method": lineups(typed, form.errors if status == WRONG else {}),
        "errors": previews.errors(form) if status == WRONG else None,
    }
    return render(request, "studies/new.html", context, status=status)


def _start(request: HttpRequest, project: Project, form: NewJobForm) -> Job | None:
    """The job that the form describes, started; None when something is wrong with it, or has to be found out first."""
    if not form.is_valid() or form.measured is None:
        return None
    sample = Job.objects.filter(
        project=project, kind=Job.Kind.SAMPLE, config_hash=actions.content_hash(form.sample())
    ).first()
    previews.settle(form, sample)
    if form.proposes and form.cleaned_data["line"] is None:
        if sample is not None and sample.terminal:
            form.add_error("line", "Too few random lineups could be played to propose a line. Type one.")
        else:
            form.waits["line"] = "The line is proposed once the random lineups are played. Or type one."
        return None
    if reason := obstacle(form.cleaned_data["version"].simulator):
        form.add_error("version", reason)
        return None
    if _unmeasured(form, sample):
        form.waits[""] = "How fast this game plays is being measured: that decides how far we look."
        return None
    try:
        search = form.search(pace_of(sample))
    except ConfigError as error:  # the pace of a slow game makes its rounds smaller
        form.refuse(error)
        return None
    job = actions.submit(
        project, person(request), search, title=form.asked.title, parent=None, **form.refers(),
    )  # fmt: skip
    Draft.objects.filter(project=project, user=person(request)).delete()
    return job


def _unmeasured(form: NewJobForm, sample: Job | None) -> bool:
    """Whether the search's size is still to be found out: a game beside the engine may be a thousand times slower."""
    beside = not plays_inside(form.cleaned_data["version"].simulator) and not form.own_numbers
    return beside and pace_of(sample) is None and (sample is None or sample.active)


@posts_only("studies:new", "slug")
def preview(request: HttpRequest, slug: str) -> JsonResponse:
    """What the page says about the form as it stands; ``keep=1`` also keeps it as the draft. Starts a sample if one is
    needed, ``again=1`` even where one failed."""
    project = project_for(request, slug, "write")
    form = NewJobForm(request.POST, project=project, user=person(request))
    kept = _keep(request, project) if request.POST.get("keep") else None
    sample = None
    form.is_valid()
    if form.measured is not None and not {"version", "rules", "objectives", ""} & form.errors.keys():
        refers = {**form.refers(), "objective_set": None}
        sample = actions.sample(
            project,
            person(request),
            form.sample(),
            again=bool(request.POST.get("again")),
            **refers,
        )
    return JsonResponse({**previews.preview(form, sample), "kept": kept})


def _typed(data: QueryDict) -> dict[str, str]:
    """What was typed, field by field; nothing else gets into a draft, and nothing long."""
    return {name: str(data[name])[:200] for name in NewJobForm.base_fields if name in data}


def _keep(request: HttpRequest, project: Project) -> str:
    draft, _ = Draft.objects.get_or_create(project=project, user=person(request))
    before = draft.form.get(BEFORE)
    draft.form = {**_typed(request.POST), **({BEFORE: before} if before else {})}
    draft.save()
    return timezone.localtime(draft.kept_at).isoformat()


@posts_only("studies:new", "slug")
def forget(request: HttpRequest, slug: str) -> HttpResponseRedirect:
    """Throw the draft away; where a clone had taken the place of an earlier one, that comes back."""
    project = project_for(request, slug, "write")
    draft = Draft.objects.filter(project=project, user=person(request)).first()
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
    """Compose a new job that begins with this one's settings; a draft that was there is kept beside it."""
    job = job_for(request, slug, pk, "write")
    if job.teaches:
        raise Http404("This job trains agents.")
    draft, _ = Draft.objects.get_or_create(project=job.project, user=person(request))
    earlier = draft.form.get(BEFORE) or {k: v for k, v in draft.form.items() if k != BEFORE}
    draft.form = {**values_of(job), **({BEFORE: earlier} if earlier else {})}
    draft.save()
    messages.info(request, f"These are the settings of “{job.title}”. Change what you like, then start.")
    return HttpResponseRedirect(reverse("studies:new", args=[slug]))

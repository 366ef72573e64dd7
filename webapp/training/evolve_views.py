"""The Search-for-good-settings page, and the players of such a search for its live page."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.views.decorators.http import require_http_methods, require_safe

from engine.errors import StoreError
from webapp.accounts.people import signed_in
from webapp.lib.digits import whole
from webapp.lib.page_json import PageJson
from webapp.lib.posts import posts_only
from webapp.lib.text import judges_names
from webapp.lib.words import number
from webapp.projects.access import project_for
from webapp.projects.models import Project
from webapp.studies import retired
from webapp.studies.pictures import job_for
from webapp.training import composing, drafts, evolve_page, evolved
from webapp.training.evolving import EPISODES, FRESH, POPULATION, ROUNDS, START, EvolveForm
from webapp.training.models import TrainDraft
from webapp.training.starting import SettingsStart

PAGE = TrainDraft.Page.EVOLVE


@judges_names
@require_http_methods(["GET", "HEAD", "POST"])
def new(request: HttpRequest, slug: str) -> HttpResponse:
    """Compose a search for settings; POST starts it."""
    project = project_for(request, slug, "write")
    if request.method == "POST":
        start = SettingsStart(project, signed_in(request), composing.typed(request.POST, EvolveForm))
        return composing.begun(request, start, PAGE, _page)
    draft = drafts.of(project, signed_in(request), PAGE)
    typed = retired.for_form(request, draft.form) if draft else START
    return _page(request, project, EvolveForm(typed, project=project), draft=draft)


def _page(
    request: HttpRequest, project: Project, form: EvolveForm, *, draft: TrainDraft | None = None, status: int = 200
) -> HttpResponse:
    form.is_valid()
    context = {
        "usual": {
            "population": POPULATION,
            "rounds": ROUNDS,
            "steps": form.usual_steps,
            "episodes": EPISODES,
            "fresh": FRESH,
        },
        "goals": evolve_page.goal_rows(form),
        "method": evolve_page.method(form, form.errors if status == composing.WRONG else {}),
        **composing.context_of(project, form, draft, errors=status == composing.WRONG),
    }
    return render(request, "training/evolve_new.html", context, status=status)


@judges_names
@posts_only("training:evolve", "slug")
def preview(request: HttpRequest, slug: str) -> PageJson:
    """What the page says about the form as it stands; ``keep=1`` and ``again=1`` as for a training."""
    project = project_for(request, slug, "write")
    form = EvolveForm(composing.typed(request.POST, EvolveForm), project=project)
    answer, parts = composing.previewed(request, project, form, PAGE), composing.parts(form)
    groups = parts["groups"]
    shown: dict[str, dict[str, Any]] = {
        "searched": {"groups": groups[:1]},
        "details": {"groups": groups[1:], "elsewhere": parts["elsewhere"]},
    }
    html = {name: render_to_string("training/partials/details.html", context) for name, context in shown.items()}
    html |= {name: render_to_string(f"training/partials/{name}.html", parts) for name in ("algorithms", "presets")}
    offers = {"measures": evolve_page.measures(form), "objectives": evolve_page.chosen_goals(form)}
    return PageJson({**answer, "html": html, "steps": number(form.usual_steps), "offers": offers})


@posts_only("training:evolve", "slug")
def forget(request: HttpRequest, slug: str) -> HttpResponseRedirect:
    """Throw the draft away; where a clone had taken the place of an earlier one, that comes back."""
    drafts.forget(project_for(request, slug, "write"), signed_in(request), PAGE)
    return redirect("training:evolve", slug)


@require_safe
def players(request: HttpRequest, slug: str, pk: int) -> PageJson:
    """The players of a round (``tick``) with their settings, and the best so far."""
    job, tick = job_for(request, slug, pk, kind="evolve"), whole(request.GET.get("tick", ""), 10**9)
    try:
        found = evolved.players(job, job.tick if tick is None else tick)
    except StoreError as error:
        raise Http404(str(error)) from error
    answer = PageJson(found)
    answer["Cache-Control"] = "no-store"
    return answer

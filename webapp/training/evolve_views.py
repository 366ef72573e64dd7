"""The Search-for-good-settings page, and the players of such a search for its live page."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.views.decorators.http import require_http_methods, require_safe

from engine.errors import StoreError
from webapp.lib.posts import posts_only
from webapp.lib.words import number
from webapp.projects.access import project_for
from webapp.projects.models import Project
from webapp.studies import actions
from webapp.studies.pictures import job_for, person
from webapp.training import composing, evolved, searching
from webapp.training.evolving import EPISODES, POPULATION, ROUNDS, START, STEPS, EvolveForm, values_of
from webapp.training.games import OFFERS


@require_http_methods(["GET", "HEAD", "POST"])
def new(request: HttpRequest, slug: str) -> HttpResponse:
    """Compose a search for settings; POST starts it. ``like``: the job whose settings it begins with."""
    project = project_for(request, slug, "write")
    if request.method == "POST":
        form = EvolveForm(_typed(request.POST), project=project)
        if form.is_valid() and form.study is not None:
            job = actions.submit(project, person(request), form.study, title=form.name, template=form.shown.key)
            return redirect("studies:job", slug, job.pk)
        return _page(request, project, form, status=422)
    return _page(request, project, EvolveForm(_start(request, slug, project), project=project))


def _start(request: HttpRequest, slug: str, project: Project) -> dict[str, Any]:
    like = request.GET.get("like", "")
    if not like:
        return dict(START)
    job = job_for(request, slug, int(like) if like.isdecimal() and len(like) < 10 else 0, "write")
    if not job.evolves:
        raise Http404("This job searches no settings.")
    return dict(values_of(job, project))


def _typed(data: QueryDict) -> dict[str, str]:
    return composing.typed(data, EvolveForm)


def _page(request: HttpRequest, project: Project, form: EvolveForm, *, status: int = 200) -> HttpResponse:
    form.is_valid()
    context = {
        "project": project,
        "offers": OFFERS.values(),
        "menu": [searching.MENU[kind] for kind in searching.FIRST],
        "further": [m for m in searching.MENU.values() if m.kind not in searching.FIRST],
        "usual": {"population": POPULATION, "rounds": ROUNDS, "steps": STEPS, "episodes": EPISODES},
        "errors": composing.errors_of(form) if status != 200 else None,
        **composing.parts(form),
    }
    return render(request, "training/evolve_new.html", context, status=status)


@posts_only("training:evolve", "slug")
def preview(request: HttpRequest, slug: str) -> JsonResponse:
    """What the page says about the form as it stands."""
    form = EvolveForm(_typed(request.POST), project=project_for(request, slug, "write"))
    form.is_valid()
    parts = composing.parts(form)
    groups = parts["groups"]
    shown = {"searched": {"groups": groups[:1]}, "details": {"groups": groups[1:], "elsewhere": parts["elsewhere"]}}
    html = {name: render_to_string("training/partials/details.html", context) for name, context in shown.items()}
    html |= {name: render_to_string(f"training/partials/{name}.html", parts) for name in ("algorithms", "presets")}
    players, rounds, steps = form.plan()
    told = f"{number(players)} players, {number(rounds)} rounds, {number(steps)} moves each."
    return JsonResponse(
        {
            "errors": composing.errors_of(form),
            "shape": form.shape,
            "html": html,
            "name": "" if form.data.get("title") else form.name,
            "steps": number(STEPS),
            "before": {"time": f"{number(players * rounds * steps)} moves", "note": told, "long": ""},
            "kept": None,
            "trial": None,
            "failed": False,
        }
    )


@require_safe
def players(request: HttpRequest, slug: str, pk: int) -> JsonResponse:
    """The players of a round (``tick``) with their settings, and the best so far."""
    job, tick = job_for(request, slug, pk), request.GET.get("tick", "")
    if not job.evolves:
        raise Http404("This job searches no settings.")
    try:
        found = evolved.players(job, int(tick) if tick.isdecimal() and len(tick) < 10 else job.tick)
    except StoreError as error:
        raise Http404(str(error)) from error
    answer = JsonResponse(found)
    answer["Cache-Control"] = "no-store"
    return answer

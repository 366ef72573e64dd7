"""Objectives: formulas with their unit, direction and line, a live sample value, and every earlier version."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBadRequest
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_safe

from engine.config import ObjectiveConfig, parse
from engine.errors import ConfigError
from engine.lineups.schema import variables
from engine.simulators.contract import GameSpec
from webapp.accounts.people import signed_in
from webapp.balance import saving
from webapp.balance.beginnings import begins
from webapp.balance.models import ObjectiveSet
from webapp.balance.objectives import ObjectiveForm, ObjectiveSetForm, fairness, functions
from webapp.balance.samples import FormulaValues, on_made_up, on_played
from webapp.balance.views.newest_game import game_of
from webapp.lib.digits import whole
from webapp.lib.posts import posts_only
from webapp.lib.text import judges_names
from webapp.projects.access import allowed, project_for, role_in
from webapp.projects.models import Project


@require_safe
def objectives(request: HttpRequest, slug: str) -> HttpResponse:
    """The project's sets of objectives."""
    project = project_for(request, slug)
    _, spec = game_of(project)
    rows = project.objective_sets.filter(replaced_by=None).select_related("created_by")
    listed = [{"row": row, "objectives": _listed(row)} for row in rows]
    return render(request, "balance/objectives.html", {"project": project, "spec": spec, "listed": listed})


def _listed(row: ObjectiveSet) -> list[tuple[ObjectiveConfig, float | None]]:
    """Its objectives, each with the line that a search begins with where that is another than its own."""
    begin = begins(row)
    found = [(o, begin.get(o.name)) for o in saving.objective_config(row).objectives]
    return [(o, line if line != o.threshold else None) for o, line in found]


def _row(project: Project, pk: int) -> ObjectiveSet:
    return get_object_or_404(ObjectiveSet.objects.select_related("created_by", "replaced_by"), pk=pk, project=project)


def _teams(project: Project) -> int:
    """How many teams a lineup of this project has, which decides what formulas may use."""
    rules = project.lineup_rules.filter(replaced_by=None).first()
    return saving.lineup_config(rules).teams if rules else 3


@judges_names
def edit(request: HttpRequest, slug: str, pk: int | None = None) -> HttpResponse:
    """One set: read by everybody, changed by writers. A saved change is a new version."""
    project = project_for(request, slug, "write" if request.method == "POST" or pk is None else "read")
    version, spec = game_of(project)
    if version is None or spec is None:
        return redirect("games:data", slug)
    row = _row(project, pk) if pk is not None else None
    teams = _teams(project)
    if request.method == "POST":
        return _posted(request, project, spec, row, teams)
    if row is not None:
        form = ObjectiveSetForm.of(saving.objective_config(row), spec, teams, row.name)
    else:
        form = ObjectiveSetForm.of(fairness(spec), spec, teams, "Fairness")
    return _page(request, project, form, row)


def _posted(
    request: HttpRequest, project: Project, spec: GameSpec, row: ObjectiveSet | None, teams: int
) -> HttpResponse:
    form = ObjectiveSetForm.typed(request.POST.dict(), spec, teams)
    action = request.POST.get("action", "")
    if action == "fairness":
        form = ObjectiveSetForm.of(fairness(spec), spec, teams, form.name or "Fairness")
    if action != "save":
        return _page(request, project, form, row)
    if not form.check() or form.config is None:
        return _page(request, project, form, row, status=422)
    base = whole(request.POST.get("base", ""))
    old = row if base is None else _row(project, base)
    try:
        new = saving.save(
            ObjectiveSet, project, form.name, form.config.model_dump(mode="json"), signed_in(request), old
        )
    except saving.Replaced as error:
        form.errors[""] = [str(error)]
        return _page(request, project, form, _row(project, error.pk), status=422)
    messages.success(request, f"“{new}” is saved. Jobs that were started keep the objectives they had.")
    return redirect("balance:objective-edit", project.slug, new.pk)


def _page(
    request: HttpRequest, project: Project, form: ObjectiveSetForm, row: ObjectiveSet | None, status: int = 200
) -> HttpResponse:
    team, lineup = variables(form.spec, form.teams)
    context = {
        "project": project,
        "form": form,
        "row": row,
        "parts": [
            {"form": part, "sample": _sample(project, part, raw)}
            for part, raw in zip(form.forms, form.raw, strict=True)
        ],
        "can_write": allowed(role_in(signed_in(request), project), "write") and not (row and row.replaced_by_id),
        "newest": saving.newest(row) if row and row.replaced_by else None,
        "history": saving.history(row) if row else [],
        "team_metrics": team.items(),
        "lineup_metrics": lineup.items(),
        "functions": functions(),
    }
    template = "balance/partials/objective_set.html" if _part_only(request) else "balance/objective.html"
    return render(request, template, context, status=status)


def _part_only(request: HttpRequest) -> bool:
    return request.headers.get("HX-Request") == "true" and request.POST.get("action", "") != "save"


@posts_only("balance:objectives", "slug")
def sample(request: HttpRequest, slug: str) -> HttpResponse:
    """What one objective comes to as typed so far, for htmx: ``part`` is its number in the form."""
    project = project_for(request, slug, "write")
    _, spec = game_of(project)
    if spec is None:
        raise Http404("This project has no game data yet.")
    at = whole(request.GET.get("part", ""), 99)
    if at is None:
        return HttpResponseBadRequest("Say which objective: ?part=NUMBER.")
    fields = request.POST.dict()
    form = ObjectiveForm(fields, prefix=f"o{at}", spec=spec, teams=_teams(project))
    form.is_valid()
    context = {
        "sample": _sampled(project, form),
        "errors": form.errors.get("formula", []) if fields.get(f"{form.prefix}-formula", "").strip() else [],
        "unit": form.cleaned_data.get("unit", ""),
    }
    return render(request, "balance/partials/sample.html", context)


def _sample(project: Project, part: ObjectiveForm, raw: dict[str, str]) -> FormulaValues | None:
    """The sample value of a part of the page, whether it is bound or not."""
    if not raw.get("formula"):
        return None
    prefix = part.prefix
    bound = ObjectiveForm({f"{prefix}-{k}": v for k, v in raw.items()}, prefix=prefix, spec=part.spec, teams=part.teams)
    bound.is_valid()
    return _sampled(project, bound)


def _sampled(project: Project, form: ObjectiveForm) -> FormulaValues | None:
    if form.parsed is None:
        return None
    objective = _objective(form)
    if objective is not None:
        played = on_played(project, objective)
        if played is not None:
            return played
    return on_made_up(form.parsed, objective, form.spec, form.teams)


def _objective(form: ObjectiveForm) -> ObjectiveConfig | None:
    """The objective as far as it is typed; None while floor, cap or line cannot be read."""
    plain: dict[str, Any] = {key: form.cleaned_data.get(key) for key in ("low", "high", "threshold", "direction")}
    if any(key in form.errors for key in plain):
        return None
    try:
        return parse(ObjectiveConfig, {"name": "sample", "title": "sample", **plain,
                                       "formula": form.cleaned_data["formula"]})  # fmt: skip
    except ConfigError:
        return None

"""Lineup rules: what one lineup is, whether that can be met, and every earlier version."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_safe

from engine.config import LineupConfig
from engine.simulators.contract import GameSpec
from webapp.accounts.people import signed_in
from webapp.balance import feasible, saving, teams
from webapp.balance.forms import LineupForm, initial
from webapp.balance.models import LineupRules
from webapp.balance.views.newest_game import game_of
from webapp.lib.digits import whole
from webapp.lib.posts import posts_only
from webapp.projects.access import allowed, project_for, role_in
from webapp.projects.models import Project


@require_safe
def lineups(request: HttpRequest, slug: str) -> HttpResponse:
    """The project's lineup rules, each with whether it can be met on the newest data."""
    project = project_for(request, slug)
    version, spec = game_of(project)
    rows = list(project.lineup_rules.filter(replaced_by=None).select_related("created_by"))
    listed = [{"row": row, **_summary(row, spec)} for row in rows]
    objectives = project.objective_sets.filter(replaced_by=None)
    context = {"project": project, "version": version, "spec": spec, "listed": listed, "objectives": objectives}
    return render(request, "balance/lineups.html", context)


def _summary(row: LineupRules, spec: GameSpec | None) -> dict[str, Any]:
    config = saving.lineup_config(row)
    if spec is None:
        return {"config": config, "verdict": None}
    return {"config": config, "verdict": feasible.judge(LineupForm(initial(config, spec, row.name), spec=spec))}


def _row(project: Project, pk: int) -> LineupRules:
    return get_object_or_404(LineupRules.objects.select_related("created_by", "replaced_by"), pk=pk, project=project)


def edit(request: HttpRequest, slug: str, pk: int | None = None) -> HttpResponse:
    """One set of rules: read by everybody, changed by writers. A saved change is a new version."""
    project = project_for(request, slug, "write" if request.method == "POST" or pk is None else "read")
    version, spec = game_of(project)
    if version is None or spec is None:
        return redirect("games:data", slug)
    row = _row(project, pk) if pk is not None else None
    if request.method == "POST":
        return _save(request, project, spec, row)
    config = saving.lineup_config(row) if row else LineupConfig()
    form = LineupForm(initial=initial(config, spec, row.name if row else "The game’s own rules"), spec=spec)
    checked = LineupForm(initial(config, spec, row.name if row else "-"), spec=spec)
    return _page(request, project, spec, form, row, feasible.judge(checked))


def _save(request: HttpRequest, project: Project, spec: GameSpec, row: LineupRules | None) -> HttpResponse:
    form = LineupForm(request.POST, spec=spec)
    verdict = feasible.judge(form)
    if form.config is None or form.errors or not verdict.feasible:
        return _page(request, project, spec, form, row, verdict, status=422)
    base = whole(request.POST.get("base", ""))
    old = row if base is None else _row(project, base)
    try:
        content = form.config.model_dump(mode="json")
        new = saving.save(LineupRules, project, form.cleaned_data["name"], content, signed_in(request), old)
    except saving.Replaced as error:
        form.add_error(None, str(error))
        return _page(request, project, spec, form, _row(project, error.pk), verdict, status=422)
    messages.success(request, f"“{new}” is saved. Jobs that were started keep the rules they had.")
    return redirect("balance:lineup-edit", project.slug, new.pk)


@posts_only("balance:lineups", "slug")
def check(request: HttpRequest, slug: str) -> HttpResponse:
    """The verdict on the rules as typed so far, for htmx."""
    project = project_for(request, slug, "write")
    _, spec = game_of(project)
    if spec is None:
        raise Http404("This project has no game data yet.")
    form = LineupForm(request.POST, spec=spec)
    context = {"verdict": feasible.judge(form), "teams": _teams(form, spec)}
    return render(request, "balance/partials/verdict.html", context)


def _teams(form: LineupForm, spec: GameSpec) -> list[teams.Team]:
    return teams.described(tuple(form.read_teams.rows), spec) if form.read_teams else []


def _page(
    request: HttpRequest,
    project: Project,
    spec: GameSpec,
    form: LineupForm,
    row: LineupRules | None,
    verdict: feasible.Verdict,
    status: int = 200,
) -> HttpResponse:
    own = saving.lineup_config(row).baselines if row else None
    context = {
        "project": project,
        "spec": spec,
        "form": form,
        "row": row,
        "verdict": verdict,
        "can_write": allowed(role_in(signed_in(request), project), "write") and not (row and row.replaced_by_id),
        "newest": saving.newest(row) if row and row.replaced_by else None,
        "history": saving.history(row) if row else [],
        "pickers": [_picker(form, spec, "required_pieces"), _picker(form, spec, "banned_pieces")],
        "slots": _slots(spec),
        "teams": _teams(form, spec)
        or (teams.described(own.teams, spec) if own is not None and own.kind == "pasted" and not form.is_bound else []),
        "example": teams.example(spec),
        "units": any(slot.kind == "count" for slot in spec.slots),
        "limits": spec.rules,
    }
    return render(request, "balance/lineup.html", context, status=status)


def _picker(form: LineupForm, spec: GameSpec, name: str) -> dict[str, Any]:
    """A searchable list of all pieces a slot can take, by category, with those chosen."""
    chosen = set(form[name].value() or [])
    used = {slot.category for slot in spec.slots if slot.kind == "piece"}
    groups = []
    for category in spec.categories:
        pieces = [p for p in spec.pieces if p.category == category.id]
        if category.id in used and pieces:
            count = sum(p.id in chosen for p in pieces)
            groups.append({"title": category.plural, "pieces": pieces, "count": count})
    names = [p.name for p in spec.pieces if p.id in chosen]
    return {"field": form[name], "name": name, "groups": groups, "chosen": chosen, "names": names}


def _slots(spec: GameSpec) -> list[dict[str, str]]:
    """The game's slots in words."""
    titles = {slot.id: slot.title for slot in spec.slots}
    found = []
    for slot in spec.slots:
        if slot.kind == "count":
            what = f"{slot.low} to {slot.high} of {titles.get(slot.of, slot.of).lower()}"
        else:
            what = f"one of {sum(p.category == slot.category for p in spec.pieces)}"
            what += ", may stay empty" if slot.optional else ""
            what += ", order has no meaning" if slot.group else ""
        found.append({"title": slot.title, "what": what})
    return found

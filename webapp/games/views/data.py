"""The game data page: tables of the newest version, editing by hand, choosing the game."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBadRequest, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_safe

from engine.errors import ConfigError
from engine.lineups.schema import merged_patch
from webapp.accounts.people import signed_in
from webapp.games import choosing, edits, exports, tables, versions
from webapp.games.models import GameVersion
from webapp.games.simulators import obstacle, with_data
from webapp.games.specs import version_spec
from webapp.lib.digits import whole
from webapp.lib.posts import posts_only
from webapp.projects.access import project_for
from webapp.projects.models import Project

MOST_OPEN = 30


def typed(request: HttpRequest, name: str, longest: int) -> str:
    """A text of the form, trimmed."""
    return request.POST.get(name, "").strip()[:longest]


def base(request: HttpRequest) -> int:
    """The number of the version that the changes of the form were made against; -1, which no version has, where it
    says none."""
    number = whole(request.POST.get("base", ""))
    return -1 if number is None else number


@require_safe
def data(request: HttpRequest, slug: str) -> HttpResponse:
    """The newest version's tables, or an earlier one's (``?version=``); without any, the choice of a game."""
    project = project_for(request, slug)
    newest = versions.current(project)
    if newest is None:
        return _choice(request, project)
    version = _asked_version(request, project) or newest
    try:
        spec = version_spec(version)
    except ConfigError as error:
        return render(request, "games/lost.html", {"project": project, "version": version, "error": error}, status=500)
    tabs = tables.tabs(spec, version.patch)
    tab = request.GET.get("table") or tabs[0].key
    if tab not in {t.key for t in tabs}:
        raise Http404("The game has no such table.")
    context: dict[str, Any] = {
        "project": project,
        "version": version,
        "newest": newest,
        "is_newest": version.pk == newest.pk,
        "spec": spec,
        "tabs": tabs,
        "table": tables.table(spec, version.patch, tab),
        "open": set(request.GET.get("edit", "").split(",")[:MOST_OPEN]) if version.pk == newest.pk else set(),
        "history": project.versions.select_related("created_by")[:8],
        "sheets": exports.own_sheets(version),
        "moved_on": versions.moved_on(version),
    }
    return render(request, "games/data.html", context)


def _asked_version(request: HttpRequest, project: Project) -> GameVersion | None:
    number = request.GET.get("version", "")
    if not number:
        return None
    return get_object_or_404(project.versions.select_related("simulator", "project"), number=whole(number))


def _choice(request: HttpRequest, project: Project) -> HttpResponse:
    simulators = [(simulator, obstacle(simulator)) for simulator in with_data(project)]
    ready = next((simulator for simulator, why in simulators if simulator.spec and not why), None)
    context = {"project": project, "simulators": simulators, "ready": ready}
    return render(request, "games/choose.html", context)


@posts_only("games:data", "slug")
def choose(request: HttpRequest, slug: str) -> HttpResponse:
    """Make the chosen simulator's own data the project's next version."""
    project = project_for(request, slug, "write")
    simulator = with_data(project).filter(pk=whole(request.POST.get("simulator", "")) or 0).first()
    if simulator is None:
        messages.error(request, "Choose one of the games in the list.")
        return redirect("games:data", slug)
    if why := obstacle(simulator):
        messages.error(request, why)
        return redirect("games:data", slug)
    try:
        version = choosing.choose(project, simulator, signed_in(request))
    except ConfigError as error:
        messages.error(request, error.problems[0].message)
        return redirect("games:data", slug)
    messages.success(request, f"{simulator} is this project's game now. {version} holds its own numbers.")
    return redirect("games:data", slug)


@require_GET
def row(request: HttpRequest, slug: str) -> HttpResponse:
    """One row of a table for htmx: with fields (``open=1``), brought back by a script (``back=1``), or as it stands."""
    project = project_for(request, slug, "write")
    version = versions.current(project)
    if version is None:
        raise Http404("This project has no game data.")
    if not request.GET.get("row"):
        return HttpResponseBadRequest("Say which row: ?row=ID.")
    try:
        key, found = tables.row_of(version_spec(version), version.patch, request.GET.get("row", ""))
    except KeyError:
        raise Http404("The game has no such piece.") from None
    opened = bool(request.GET.get("open"))
    name = "row_open" if opened else "row"
    context = {"project": project, "row": found, "table": {"key": key}, "can_edit": True}
    at_work = not request.GET.get("back")  # a row that comes back with what was typed takes no focus
    context |= {"just_opened": opened and at_work, "just_closed": not opened}
    return render(request, f"games/partials/{name}.html", context)


@posts_only("games:data", "slug")
def edit(request: HttpRequest, slug: str) -> HttpResponse:
    """Check what was typed, show it as changes, then save it as a new version."""
    project = project_for(request, slug, "write")
    version = versions.current(project)
    if version is None:
        raise Http404("This project has no game data.")
    action, stale = request.POST.get("action"), ""
    found, patch, changes = _typed(request, version)
    if action == "save" and changes and not found.typed.problems:
        try:
            return _saved(request, project, version, patch)
        except versions.Stale as error:
            stale, version = str(error), error.newest
            found, patch, changes = _typed(request, version)
    if not changes and not found.typed.problems and action != "back":
        messages.info(request, f"Nothing differs from version {version.number}.")
        return redirect(_data_page(slug, request.POST))
    return _review(request, project, version, found, changes, stale)


def _typed(request: HttpRequest, version: GameVersion) -> tuple[edits.Edits, dict[str, float], list[versions.Change]]:
    """What was typed, the patch it makes of the version's, and the changes that are."""
    spec = version_spec(version)
    found = edits.read(spec, request.POST.dict())
    patch = merged_patch(spec, version.patch, found.values)
    return found, patch, versions.changes(spec, version.patch, patch)


def _saved(request: HttpRequest, project: Project, version: GameVersion, patch: dict[str, float]) -> HttpResponse:
    new = versions.save(
        project,
        version.simulator,
        version_spec(version),
        patch,
        user=signed_in(request),
        label=typed(request, "label", 80),
        note=typed(request, "note", 2000),
        base=base(request),
    )
    messages.success(request, f"Saved as version {new.number}.")
    return redirect(_data_page(project.slug, request.POST))


def _data_page(slug: str, fields: QueryDict) -> str:
    page = reverse("games:data", args=[slug])
    query = QueryDict(mutable=True)
    if fields.get("table"):
        query["table"] = fields.get("table", "")
    return f"{page}?{query.urlencode()}" if query else page


def _review(
    request: HttpRequest,
    project: Project,
    version: GameVersion,
    found: edits.Edits,
    changes: list[versions.Change],
    stale: str,
) -> HttpResponse:
    spec = version_spec(version)
    fields = request.POST.get("action") == "back" or bool(found.typed.problems)
    keys = dict.fromkeys(path if path in {p.path for p in spec.parameters} else path.rpartition(".")[0]
                         for path in found.typed.texts)  # fmt: skip
    context = {
        "project": project,
        "version": version,
        "rows": [tables.row_of(spec, version.patch, key, found.typed) for key in keys] if fields else [],
        "typed": found.typed,
        "changes": changes,
        "stale": stale,
        "table": request.POST.get("table", ""),
        "label": request.POST.get("label", version.label),
        "note": request.POST.get("note", ""),
        "spec": spec,
    }
    bad = bool(found.typed.problems) or bool(stale)
    return render(request, "games/edit.html", context, status=422 if bad else 200)

"""Versions of the game data: what changed between any two, going back, moving to a newer simulator, taking away."""

from __future__ import annotations

import re

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.http import content_disposition_header
from django.views.decorators.http import require_http_methods, require_safe

from engine.errors import ConfigError, StoreError
from webapp.accounts.people import signed_in
from webapp.games import exports, handshake, tables, versions
from webapp.games.errors import SheetError
from webapp.games.models import GameVersion
from webapp.games.specs import version_spec
from webapp.games.views.data import base
from webapp.lib.deadline import FILE_SECONDS, may_take
from webapp.lib.digits import whole
from webapp.lib.once import filled
from webapp.lib.posts import one_of, posts_only
from webapp.projects.access import project_for
from webapp.projects.models import Project

MOST_SHOWN = 200


def _version(project: Project, number: int) -> GameVersion:
    return get_object_or_404(
        project.versions.select_related("simulator", "created_by", "project"), number=min(number, 2**31 - 1)
    )


@require_safe
def version(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """One version, and what differs from another: the one before it, or ``?against=``."""
    project = project_for(request, slug)
    shown = _version(project, number)
    others = list(project.versions.select_related("created_by").exclude(pk=shown.pk))
    wanted = whole(request.GET.get("against", ""))
    against = next((v for v in others if v.number == wanted), None) if wanted is not None else None
    if against is None:
        against = next((v for v in others if v.number < shown.number), None)
    try:
        spec = version_spec(shown)
        changes = versions.changes(spec, against.patch if against else {}, shown.patch)
    except ConfigError as error:
        return render(request, "games/lost.html", {"project": project, "version": shown, "error": error}, status=500)
    context = {
        "project": project,
        "version": shown,
        "against": against,
        "others": others,
        "changes": changes,
        "newest": versions.current(project),
        "spec": spec,
        "other_game": against is not None and against.spec_hash != shown.spec_hash,
        "sheets": exports.own_sheets(shown),
        "tables": tables.tabs(spec, shown.patch),
    }
    return render(request, "games/version.html", context)


@posts_only("games:version", "slug", "number")
def restore(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """Make an earlier version's data the newest again."""
    project = project_for(request, slug, "write")
    old = _version(project, number)
    filled(request)
    try:
        new = versions.restore(old, signed_in(request))
    except ConfigError as error:
        messages.error(request, error.problems[0].message)
        return redirect("games:version", slug, number)
    messages.success(request, f"Version {new.number} has the numbers of version {number}.")
    return redirect("games:data", slug)


@require_http_methods(["GET", "HEAD", "POST"])
def adopt(request: HttpRequest, slug: str) -> HttpResponse:
    """The newest version's changes on the game as its simulator describes it now: what would differ, then saved."""
    project = project_for(request, slug, "write")
    newest = versions.current(project)
    if newest is None:
        raise Http404("This project has no game data yet.")
    if request.method == "POST" and one_of(request, "action", "ask", "save") == "ask":
        handshake.ask_a_worker(newest.simulator, signed_in(request))
        return redirect("games:adopt", slug)
    if request.method != "POST":
        return _move_page(request, project, newest)
    return _adopted(request, project, newest)


def _move_page(request: HttpRequest, project: Project, newest: GameVersion) -> HttpResponse:
    try:
        move = versions.move(newest)
    except ConfigError as error:
        return render(request, "games/lost.html", {"project": project, "version": newest, "error": error}, status=500)
    context = {
        "project": project,
        "version": newest,
        "move": move,
        "moved_on": versions.moved_on(newest),
        "testing": handshake.under_way(newest.simulator),
        "shown": move.changes[:MOST_SHOWN] if move else [],
    }
    return render(request, "games/move.html", context, status=409 if request.method == "POST" else 200)


def _adopted(request: HttpRequest, project: Project, newest: GameVersion) -> HttpResponse:
    """Saved, if that is what was looked at: the newest version, and another game than the one it was made for."""
    try:
        if base(request) != newest.number:
            raise versions.Stale(newest)
        saved = versions.adopt(newest, signed_in(request))
    except versions.Stale as error:
        if versions.moved_on(error.newest):
            messages.warning(request, str(error))
        return _move_page(request, project, error.newest)
    except ConfigError:
        saved = None  # its page says what is lost
    if saved is None:
        return _move_page(request, project, newest)
    new, dropped = saved
    if dropped:
        messages.warning(
            request, f"These changes no longer fit the game and were left out: {', '.join(sorted(dropped)[:10])}."
        )
    messages.success(request, f"Saved as version {new.number}.")
    return redirect("games:data", project.slug)


@may_take(FILE_SECONDS)
@require_safe
def export(request: HttpRequest, slug: str) -> HttpResponse:
    """A version as a file: ``sheet=ID`` the designer's own, ``format=xlsx`` everything, ``table=KEY`` one as CSV."""
    project = project_for(request, slug)
    wanted = whole(request.GET.get("version", ""))
    chosen = _version(project, wanted) if wanted is not None else versions.current(project)
    if chosen is None:
        raise Http404("This project has no game data yet.")
    try:
        file = _file(request, chosen)
    except (SheetError, StoreError, ConfigError) as error:
        messages.error(request, f"This file cannot be made: {error}")
        return redirect("games:version", slug, chosen.number)
    response = HttpResponse(file.data, content_type=file.content_type)
    response.headers["Content-Disposition"] = _attachment(file.name)
    response.headers["X-Content-Type-Options"] = "nosniff"
    return response


def _file(request: HttpRequest, chosen: GameVersion) -> exports.File:
    sheet = whole(request.GET.get("sheet", ""))
    if sheet is not None:
        row = next((row for row in exports.own_sheets(chosen) if row.pk == sheet), None)
        if row is None:
            raise Http404("There is no such sheet.")
        return exports.as_own_sheet(chosen, row)
    if request.GET.get("format") == "xlsx":
        return exports.as_workbook(chosen, signed_in(request))
    keys = [tab.key for tab in tables.tabs(version_spec(chosen), {})]
    key = request.GET.get("table") or keys[0]
    if key not in keys:
        raise Http404("The game has no such table.")
    return exports.as_csv(chosen, key)


def _attachment(name: str) -> str:
    return content_disposition_header(True, re.sub(r"[\x00-\x1f\x7f/\\]", "-", name)) or "attachment"

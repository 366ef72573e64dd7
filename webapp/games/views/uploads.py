"""Handing in a sheet, as a file or a paste, while the page says how far it is read."""

from __future__ import annotations

import uuid
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from engine.errors import StoreError
from webapp.accounts.people import signed_in
from webapp.games import exports, reading
from webapp.games.forms import ImportForm
from webapp.games.limits import MOST_BYTES
from webapp.games.models import GameVersion, SheetImport
from webapp.games.reading import Progress
from webapp.games.uploads import too_large
from webapp.games.views.imports import needs_a_game, newest
from webapp.lib import disk
from webapp.lib.bodies import may_send
from webapp.lib.deadline import FILE_SECONDS, may_take
from webapp.lib.digits import whole
from webapp.lib.storage import store
from webapp.lib.text import keeps_cells
from webapp.projects.access import project_for
from webapp.projects.models import Project


@may_send(MOST_BYTES + settings.DATA_UPLOAD_MAX_MEMORY_SIZE)
@may_take(FILE_SECONDS)
@keeps_cells("text")
@needs_a_game
def start(request: HttpRequest, slug: str) -> HttpResponse:
    """The sheet itself. One whose columns are known goes straight to the preview. The page's script asks for JSON, so
    that what was chosen and typed stays where it is."""
    project = project_for(request, slug, "write")
    version = newest(project)
    form = ImportForm(
        request.POST if request.method == "POST" else None,
        request.FILES if request.method == "POST" else None,
        dropped=too_large(request),
        progress=_progress(request, request.POST.get("ticket", "")),
        initial=_pasted(request, project),
    )
    if form.is_bound and (short := disk.shortage()):
        form.add_error(None, short.refusal)
    by_script = not request.accepts("text/html")
    if request.method == "POST" and form.is_valid():
        page = reverse("games:sheet", args=[slug, _kept(version, form.cleaned_data, request).pk])
        return JsonResponse({"next": page}) if by_script else redirect(page)
    if by_script:
        errors = {name: [str(error) for error in found] for name, found in form.errors.items()}
        return JsonResponse({"errors": errors}, status=422)
    context = {
        "project": project,
        "version": version,
        "form": form,
        "known": project.mappings.order_by("-used_at")[:5],
        "ticket": uuid.uuid4(),
        "most_bytes": MOST_BYTES,
    }
    return render(request, "games/import.html", context, status=422 if form.errors else 200)


def _progress(request: HttpRequest, ticket: str) -> Progress:
    """The reading that one of this person's pages waits for."""
    return reading.progress(f"{signed_in(request).pk} {ticket[:60]}") if ticket else Progress()


@require_http_methods(["GET", "POST"])
def progress(request: HttpRequest, slug: str) -> JsonResponse:
    """How far the sheet with this ticket is read, in per cent; a POST ends the reading."""
    project_for(request, slug, "write")
    found = _progress(request, request.GET.get("ticket", ""))
    if request.method == "POST":
        found.stop()
    return JsonResponse({"share": found.share})


def _pasted(request: HttpRequest, project: Project) -> dict[str, str]:
    """The text of an earlier paste, to be corrected and pasted again."""
    wanted = request.GET.get("again", "")
    row = project.sheets.filter(pk=whole(wanted) or 0, pasted=True).first()
    try:
        return {"text": store().get(row.digest).decode()} if row else {}
    except StoreError:
        return {}


def _kept(version: GameVersion, cleaned: dict[str, Any], request: HttpRequest) -> SheetImport:
    return SheetImport.objects.create(
        project=version.project,
        name=cleaned["name"],
        digest=store().put(cleaned["data"]),
        pasted=cleaned["pasted"],
        columns=exports.known_columns(version, cleaned["sheet"]),
        created_by=signed_in(request),
    )

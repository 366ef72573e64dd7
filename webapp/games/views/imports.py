"""Importing a sheet: a file or a paste, what its columns mean, what would change, and the new version."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from engine.errors import StoreError
from engine.simulators.contract import GameSpec
from webapp.games import columns, csvfile, exports, importing, numbers, sheets, versions
from webapp.games.errors import SheetError
from webapp.games.forms import ImportForm
from webapp.games.models import GameVersion, SheetImport, SheetMapping
from webapp.games.sheets import Cell, How, Sheet
from webapp.games.specs import version_spec
from webapp.games.uploads import too_large
from webapp.games.views.data import person, typed
from webapp.lib.storage import store
from webapp.projects.access import project_for
from webapp.projects.models import Project

SHOWN_PROBLEMS, SHOWN_CHANGES, SAMPLE_ROWS = 60, 400, 3


class _NoGame(Exception):
    """The project has no game whose data a sheet could change."""


V = TypeVar("V", bound=Callable[..., HttpResponse])


def _needs_a_game(view: V) -> V:
    """Before a game is chosen, an import leads to the choice and says so."""

    @wraps(view)
    def answer(request: HttpRequest, slug: str, **kwargs: Any) -> HttpResponse:
        try:
            return view(request, slug, **kwargs)
        except _NoGame:
            messages.info(request, "Choose the game first: a sheet changes the numbers of its pieces.")
            return redirect("games:data", slug)

    return answer  # type: ignore[return-value]  # the same signature


def _newest(project: Project) -> GameVersion:
    version = versions.current(project)
    if version is None:
        raise _NoGame
    return version


@_needs_a_game
def start(request: HttpRequest, slug: str) -> HttpResponse:
    """The sheet itself. A sheet whose columns are known goes straight to the preview."""
    project = project_for(request, slug, "write")
    version = _newest(project)
    form = ImportForm(
        request.POST or None, request.FILES or None, dropped=too_large(request), initial=_pasted(request, project)
    )
    if request.method == "POST" and form.is_valid():
        row = _kept(project, form.cleaned_data, request)
        return redirect("games:sheet", slug, row.pk)
    known = project.mappings.order_by("-used_at")[:5]
    context = {"project": project, "version": version, "form": form, "known": known}
    return render(request, "games/import.html", context, status=422 if form.errors else 200)


def _pasted(request: HttpRequest, project: Project) -> dict[str, str]:
    """The text of an earlier paste, to be corrected and pasted again."""
    wanted = request.GET.get("again", "")
    if not wanted.isdigit() or len(wanted) > 9:
        return {}
    row = project.sheets.filter(pk=int(wanted), pasted=True).first()
    try:
        return {"text": store().get(row.digest).decode()} if row else {}
    except StoreError:
        return {}


def _kept(project: Project, cleaned: dict[str, Any], request: HttpRequest) -> SheetImport:
    sheet = sheets.read(cleaned["data"])
    return SheetImport.objects.create(
        project=project,
        name=cleaned["name"],
        digest=store().put(cleaned["data"]),
        pasted=cleaned["pasted"],
        columns=_known_columns(project, sheet),
        created_by=person(request),
    )


def _known_columns(project: Project, sheet: Sheet) -> dict[Any, str]:
    """What the columns mean, where that was confirmed before or the header is one that is written here."""
    mapping = project.mappings.filter(header_hash=columns.header_hash(sheet.columns)).first()
    return mapping.columns if mapping else exports.own_columns(version_spec(_newest(project)), sheet.columns)


@_needs_a_game
def sheet(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """One import: first what its columns mean (until that is confirmed), then the preview."""
    project = project_for(request, slug, "write")
    row = get_object_or_404(SheetImport.objects.select_related("version"), pk=pk, project=project)
    version = _newest(project)
    action = request.POST.get("action", "") if request.method == "POST" else ""
    if action == "worksheet":
        return redirect("games:sheet", slug, _beside(row, request.POST.get("worksheet", "")[:120], request).pk)
    if row.version is not None:
        return redirect("games:version", slug, row.version.number)
    if action == "read":
        return _read_differently(request, row)
    try:
        found = exports.read_import(row)
    except (SheetError, StoreError) as error:
        context = {"project": project, "row": row, "error": error}
        return render(request, "games/sheet_unreadable.html", context, status=422)
    if action == "columns":
        return _confirm_columns(request, row, version, found)
    if not row.columns or request.GET.get("step") == "columns":
        suggested = exports.matched_columns(row) or columns.suggest(version_spec(version), found)
        return _columns_page(request, row, version, found, suggested, {})
    if action == "mark" and request.POST.get("mark") in numbers.MARKS:
        row.mark = request.POST["mark"]
        row.save(update_fields=["mark"])
        return redirect("games:sheet", slug, row.pk)
    return _preview(request, row, version, found)


def _beside(row: SheetImport, worksheet: str, request: HttpRequest) -> SheetImport:
    """The import of another worksheet of the same workbook: one that is under way, or a new one. A worksheet that
    cannot be read says so on its page."""
    same = row.project.sheets.filter(digest=row.digest, worksheet=worksheet, version=None).first()
    if same is not None:
        return same
    known: dict[Any, str] = {}
    with contextlib.suppress(SheetError, StoreError):
        known = _known_columns(row.project, sheets.read(store().get(row.digest), How(worksheet=worksheet)))
    return SheetImport.objects.create(
        project=row.project,
        name=row.name,
        digest=row.digest,
        worksheet=worksheet,
        columns=known,
        created_by=person(request),
    )


def _next_worksheet(row: SheetImport, spec: GameSpec) -> str:
    """The next worksheet of the same workbook that names pieces of the game and was not imported; or none."""
    with contextlib.suppress(SheetError, StoreError):
        data = store().get(row.digest)
        first = exports.read_import(row)
        done = {first.worksheet, *row.project.sheets.filter(digest=row.digest).values_list("worksheet", flat=True)}
        for name in first.worksheets:
            if name not in done and _is_game_data(data, name, spec):
                return name
    return ""


def _is_game_data(data: bytes, worksheet: str, spec: GameSpec) -> bool:
    with contextlib.suppress(SheetError):
        there = sheets.read(data, How(worksheet=worksheet))
        suggested = columns.suggest(spec, there)
        return bool(suggested) and not columns.problems(spec, suggested, there.columns)
    return False


def _read_differently(request: HttpRequest, row: SheetImport) -> HttpResponse:
    """Another delimiter, worksheet or header row; the columns have to be matched again."""
    delimiter, header = request.POST.get("delimiter", ""), request.POST.get("header", "")
    row.delimiter = delimiter if delimiter in csvfile.DELIMITERS else ""
    row.worksheet = request.POST.get("worksheet", "")[:120]
    row.header = int(header) - 1 if header.isdigit() and 0 < int(header) < 10**5 else -1
    row.columns, row.mark = {}, ""
    row.save()
    return redirect("games:sheet", row.project.slug, row.pk)


def _confirm_columns(request: HttpRequest, row: SheetImport, version: GameVersion, found: Sheet) -> HttpResponse:
    chosen = {c: key for c in range(len(found.columns)) if (key := request.POST.get(f"column-{c}", ""))}
    problems = columns.problems(version_spec(version), chosen, found.columns)
    if problems:
        return _columns_page(request, row, version, found, chosen, problems)
    row.columns = {str(c): key for c, key in chosen.items()}
    row.save(update_fields=["columns"])
    SheetMapping.objects.update_or_create(
        project=row.project,
        header_hash=columns.header_hash(found.columns),
        defaults={"header": found.columns, "columns": row.columns},
    )
    return redirect("games:sheet", row.project.slug, row.pk)


def _columns_page(
    request: HttpRequest,
    row: SheetImport,
    version: GameVersion,
    found: Sheet,
    chosen: dict[int, str],
    problems: dict[int, str],
) -> HttpResponse:
    context = {
        "project": row.project,
        "row": row,
        "version": version,
        "sheet": found,
        "columns": [
            {
                "number": c,
                "name": name or f"Column {c + 1}",
                "samples": [_sample(found.cell(r, c)) for r in found.body[:SAMPLE_ROWS]],
                "key": chosen.get(c, ""),
                "problem": problems.get(c, ""),
            }
            for c, name in enumerate(found.columns)
        ],
        "fields": columns.fields(version_spec(version)),
        "whole": problems.get(-1, ""),
        "problems": problems,
        "delimiters": csvfile.DELIMITERS.items(),
    }
    return render(request, "games/sheet_columns.html", context, status=422 if problems else 200)


def _sample(cell: Cell) -> str:
    return (numbers.shown(cell) if isinstance(cell, float) else cell)[:24]


def _preview(request: HttpRequest, row: SheetImport, version: GameVersion, found: Sheet) -> HttpResponse:
    spec = version_spec(version)
    reading = importing.read_values(found, exports.matched_columns(row), spec, exports.mark_of(row))
    patch = versions.merged(spec, version.patch, reading.values)
    changes = versions.changes(spec, version.patch, patch)
    stale = ""
    if request.method == "POST" and request.POST.get("action") == "save" and reading.usable and changes:
        try:
            return _saved(request, row, version, spec, patch)
        except versions.Stale as error:
            stale, version = str(error), error.newest
            patch = versions.merged(spec, version.patch, reading.values)
            changes = versions.changes(spec, version.patch, patch)
    context = {
        "project": row.project,
        "row": row,
        "version": version,
        "sheet": found,
        "reading": reading,
        "problems": reading.problems[:SHOWN_PROBLEMS],
        "more_problems": max(0, len(reading.problems) - SHOWN_PROBLEMS),
        "changes": changes[:SHOWN_CHANGES],
        "more_changes": max(0, len(changes) - SHOWN_CHANGES),
        "count": len(changes),
        "same": len(reading.values) - sum(c.path in reading.values for c in changes),
        "left_out": [name or f"Column {c + 1}" for c, name in enumerate(found.columns) if str(c) not in row.columns],
        "stale": stale,
        "note": request.POST.get("note", row.note),
        "label": request.POST.get("label", version.label),
    }
    bad = not reading.usable or bool(stale)
    return render(request, "games/sheet_preview.html", context, status=422 if bad and request.method == "POST" else 200)


def _saved(
    request: HttpRequest, row: SheetImport, version: GameVersion, spec: GameSpec, patch: dict[str, float]
) -> HttpResponse:
    base = request.POST.get("base", "")
    with transaction.atomic():
        new = versions.save(
            row.project,
            version.simulator,
            spec,
            patch,
            user=person(request),
            label=typed(request, "label", 80),
            note=typed(request, "note", 2000) or f"Imported from {row.name}",
            base=int(base) if base.isdigit() and len(base) < 10 else -1,
        )
        row.version = new
        row.save(update_fields=["version"])
    if another := _next_worksheet(row, spec):
        messages.success(request, f"Saved as version {new.number}. Next in {row.name}: the worksheet “{another}”.")
        return redirect("games:sheet", row.project.slug, _beside(row, another, request).pk)
    messages.success(request, f"Saved as version {new.number}.")
    return redirect("games:version", row.project.slug, new.number)

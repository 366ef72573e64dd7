"""The steps of an import after the sheet was handed in: what its columns mean, what would change, the new version."""

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
from engine.lineups.schema import merged_patch
from engine.simulators.contract import GameSpec
from webapp.accounts.people import signed_in
from webapp.games import build_data, columns, csvfile, exports, importing, numbers, reading, versions
from webapp.games.errors import SheetError
from webapp.games.models import GameVersion, SheetImport, SheetMapping
from webapp.games.sheets import Cell, How, Sheet
from webapp.games.specs import version_spec
from webapp.games.views.data import base, typed
from webapp.lib.deadline import FILE_SECONDS, may_take
from webapp.lib.digits import whole
from webapp.lib.storage import store
from webapp.projects.access import project_for
from webapp.projects.models import Project

SHOWN_PROBLEMS, SHOWN_CHANGES, SAMPLE_ROWS = 60, 400, 3


class NoGame(Exception):
    """The project has no game whose data a sheet could change."""


V = TypeVar("V", bound=Callable[..., HttpResponse])


def needs_a_game(view: V) -> V:
    """Before a game is chosen, an import leads to the choice and says so."""

    @wraps(view)
    def answer(request: HttpRequest, slug: str, **kwargs: Any) -> HttpResponse:
        try:
            return view(request, slug, **kwargs)
        except NoGame:
            messages.info(request, "Choose the game first: a sheet changes the numbers of its pieces.")
            return redirect("games:data", slug)

    return answer  # type: ignore[return-value]  # the same signature


def newest(project: Project) -> GameVersion:
    """The project's newest version. Raises NoGame."""
    version = versions.current(project)
    if version is None:
        raise NoGame
    return version


@may_take(FILE_SECONDS)
@needs_a_game
def sheet(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """One import: first what its columns mean (until that is confirmed), then the preview."""
    project = project_for(request, slug, "write")
    row = get_object_or_404(SheetImport.objects.select_related("version"), pk=pk, project=project)
    version = newest(project)
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
        there = reading.read(store().get(row.digest), How(worksheet=worksheet))
        known = exports.known_columns(newest(row.project), there)
    return SheetImport.objects.create(
        project=row.project,
        name=row.name,
        digest=row.digest,
        worksheet=worksheet,
        columns=known,
        created_by=signed_in(request),
    )


def _next_worksheet(row: SheetImport, spec: GameSpec) -> str:
    """The next worksheet of the same workbook that names pieces of the game and was not imported; or none."""
    with contextlib.suppress(SheetError, StoreError):
        data = store().get(row.digest)
        first = exports.read_import(row)
        done = {first.worksheet, *row.project.sheets.filter(digest=row.digest).values_list("worksheet", flat=True)}
        for head in reading.heads(data, build_data.HEAD_ROWS):
            if head.worksheet not in done and build_data.is_game_data(head, spec):
                return head.worksheet
    return ""


def _read_differently(request: HttpRequest, row: SheetImport) -> HttpResponse:
    """Another delimiter, worksheet or header row; the columns have to be matched again."""
    delimiter, header = request.POST.get("delimiter", ""), request.POST.get("header", "")
    row.delimiter = delimiter if delimiter in csvfile.DELIMITERS else ""
    row.worksheet = request.POST.get("worksheet", "")[:120]
    row.header = (whole(header, 10**5) or 0) - 1
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
    said = importing.read_values(found, exports.matched_columns(row), spec, exports.mark_of(row))
    patch = merged_patch(spec, version.patch, said.values)
    changes = versions.changes(spec, version.patch, patch)
    stale = ""
    if request.method == "POST" and request.POST.get("action") == "save" and said.usable and changes:
        try:
            return _saved(request, row, version, spec, patch)
        except versions.Stale as error:
            stale, version = str(error), error.newest
            patch = merged_patch(spec, version.patch, said.values)
            changes = versions.changes(spec, version.patch, patch)
    context = {
        "project": row.project,
        "row": row,
        "version": version,
        "sheet": found,
        "reading": said,
        "problems": said.problems[:SHOWN_PROBLEMS],
        "more_problems": max(0, len(said.problems) - SHOWN_PROBLEMS),
        "changes": changes[:SHOWN_CHANGES],
        "more_changes": max(0, len(changes) - SHOWN_CHANGES),
        "count": len(changes),
        "same": len(said.values) - sum(c.path in said.values for c in changes),
        "left_out": [name or f"Column {c + 1}" for c, name in enumerate(found.columns) if str(c) not in row.columns],
        "stale": stale,
        "note": request.POST.get("note", row.note),
        "label": request.POST.get("label", version.label),
    }
    bad = not said.usable or bool(stale)
    return render(request, "games/sheet_preview.html", context, status=422 if bad and request.method == "POST" else 200)


def _source(row: SheetImport) -> str:
    """The note of a version whose designer wrote none."""
    return "Imported from pasted cells" if row.pasted else f"Imported from {row.name}"


def _saved(
    request: HttpRequest, row: SheetImport, version: GameVersion, spec: GameSpec, patch: dict[str, float]
) -> HttpResponse:
    with transaction.atomic():
        new = versions.save(
            row.project,
            version.simulator,
            spec,
            patch,
            user=signed_in(request),
            label=typed(request, "label", 80),
            note=typed(request, "note", 2000) or _source(row),
            base=base(request),
        )
        row.version = new
        row.save(update_fields=["version"])
    if another := _next_worksheet(row, spec):
        messages.success(request, f"Saved as version {new.number}. Next in {row.name}: the worksheet “{another}”.")
        return redirect("games:sheet", row.project.slug, _beside(row, another, request).pk)
    messages.success(request, f"Saved as version {new.number}.")
    return redirect("games:version", row.project.slug, new.number)

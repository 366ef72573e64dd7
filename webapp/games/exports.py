"""Game data as a file to take away: a table of a category, a workbook of everything, or the designer's own sheet."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from django.utils import timezone

from engine.simulators.contract import GameSpec
from webapp.games import csvfile, numbers, reading, sheets, xlsxedit
from webapp.games.columns import COST, ID, NAME, VALUE, attribute_field, header_hash
from webapp.games.importing import SheetContents, read_values
from webapp.games.models import GameVersion, SheetImport
from webapp.games.numbers import Mark
from webapp.games.sheets import How, Sheet
from webapp.games.specs import patched_spec, version_spec
from webapp.games.versions import values
from webapp.lib.first import first
from webapp.lib.storage import store
from webapp.lib.text import plain

if TYPE_CHECKING:
    from openpyxl import Workbook

Row = Sequence[str | float]
PARAMETERS = "parameters"
CSV_TYPE = "text/csv; charset=utf-8"
XLSX_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
_NO_TITLE = re.compile(r"[\[\]:*?/\\]")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_HARMLESS = re.compile(r"[+-]|[+-]?[0-9][0-9.,' ]*[A-Za-z%]{0,12}")


@dataclass(frozen=True)
class File:
    """What a browser is handed."""

    name: str
    content_type: str
    data: bytes


def escaped(text: str) -> str:
    """``text`` as every spreadsheet opens it, with an apostrophe in front where one would run it as a formula; numbers
    stay."""
    text = plain(text)
    if not text.startswith(_FORMULA) or _HARMLESS.fullmatch(text):
        return text
    return f"'{text}"


def table(spec: GameSpec, category: str) -> Iterator[Row]:
    """The column names and rows of one category, or of the game's settings (``parameters``)."""
    if category == PARAMETERS:
        yield ("Path", "Setting", "Value", "Lowest", "Highest", "Unit")
        for p in spec.parameters:
            yield (p.path, p.title, p.default, p.low, p.high, p.unit)
        return
    attributes = spec.category(category).attributes
    yield ("Id", "Name", "Cost", *(f"{a.title} ({a.unit})" if a.unit else a.title for a in attributes))
    for piece in spec.pieces:
        if piece.category == category:
            yield (piece.id, piece.name, piece.cost, *(piece.attributes.get(a.id, 0.0) for a in attributes))


def own_columns(spec: GameSpec, names: Sequence[str]) -> dict[int, str]:
    """What the columns of a table mean that was taken away here and comes back; empty for any other header."""
    settings = {0: ID, 1: NAME, 2: VALUE}
    pieces = {0: ID, 1: NAME, 2: COST}
    for key in [PARAMETERS, *(c.id for c in spec.categories)]:
        if list(names) == list(first(table(spec, key))):
            attributes = [] if key == PARAMETERS else spec.category(key).attributes
            return (settings if key == PARAMETERS else pieces) | {
                3 + i: attribute_field(a.id) for i, a in enumerate(attributes)
            }
    return {}


def known_columns(version: GameVersion, sheet: Sheet) -> dict[Any, str]:
    """What the columns mean, where that was confirmed before or the header is one that is written here."""
    mapping = version.project.mappings.filter(header_hash=header_hash(sheet.columns)).first()
    return mapping.columns if mapping else own_columns(version_spec(version), sheet.columns)


def as_csv(version: GameVersion, category: str) -> File:
    """One table, with decimal points and commas between columns."""
    out = io.StringIO()
    writer = csv.writer(out)
    for row in table(patched_spec(version), category):
        writer.writerow([numbers.shown(c) if isinstance(c, float) else escaped(str(c)) for c in row])
    return File(f"{_stem(version)}-{category}.csv", CSV_TYPE, out.getvalue().encode("utf-8-sig"))


def as_workbook(version: GameVersion, user: object) -> File:
    """Every table as a worksheet, and one that says where the numbers come from."""
    from openpyxl import Workbook  # many processes of the site never write one

    spec = patched_spec(version)
    book = Workbook(write_only=True)
    parts = [(c.plural, c.id) for c in spec.categories]
    if spec.parameters:
        parts.append(("Settings", PARAMETERS))
    for title, key in parts:
        _worksheet(book, title, list(table(spec, key)))
    _worksheet(book, "About", list(_about(version, spec, user)))
    out = io.BytesIO()
    book.save(out)
    return File(f"{_stem(version)}.xlsx", XLSX_TYPE, out.getvalue())


def _worksheet(book: Workbook, title: str, rows: list[Row]) -> None:
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.styles import Font

    sheet = book.create_sheet(_NO_TITLE.sub(" ", plain(title))[:31])
    sheet.freeze_panes = "A2"
    for letter, width in (("A", 22), ("B", 26)):
        sheet.column_dimensions[letter].width = width
    for number, row in enumerate(rows):
        values = [escaped(c) if isinstance(c, str) else c for c in row]
        cells = [WriteOnlyCell(sheet, value=value) for value in values]
        for cell in cells if number == 0 else ():
            cell.font = Font(bold=True)
        sheet.append(cells)


def _about(version: GameVersion, spec: GameSpec, user: object) -> Iterator[Row]:
    yield ("What", "Value")
    yield ("Project", version.project.name)
    yield ("Game data", str(version))
    yield ("Content hash", version.content_hash)
    yield ("Game", f"{spec.title} {spec.version}")
    yield ("Spec hash", version.spec_hash)
    yield ("Changed numbers", float(len(version.patch)))
    yield ("Saved", f"{timezone.localtime(version.created_at):%Y-%m-%d %H:%M} by {version.created_by or 'nobody'}")
    yield ("Taken out", f"{timezone.localtime():%Y-%m-%d %H:%M} by {user}")


def _stem(version: GameVersion) -> str:
    return f"{version.project.slug}-data-{version.number}-{version.content_hash[:8]}"


def own_sheets(version: GameVersion) -> list[SheetImport]:
    """The designer's own sheets that can be taken away with this version's numbers: the newest of each name."""
    found: dict[str, SheetImport] = {}
    for sheet in SheetImport.objects.filter(project=version.project, version__number__lte=version.number):
        found.setdefault(sheet.name, sheet)
    return list(found.values())


def read_import(row: SheetImport) -> Sheet:
    """The sheet of an import as it was given. Raises SheetError, StoreError."""
    return reading.read(store().get(row.digest), How(row.delimiter, row.worksheet, row.header))


def matched_columns(row: SheetImport) -> dict[int, str]:
    """The confirmed matching, by column number."""
    return {int(column): key for column, key in row.columns.items()}


def as_own_sheet(version: GameVersion, row: SheetImport) -> File:
    """The very file that was imported, with only those cells changed whose numbers differ in this version."""
    spec = version_spec(version)
    data = store().get(row.digest)
    sheet = read_import(row)
    said = read_values(sheet, matched_columns(row), spec, mark_of(row))
    edits = _edits(sheet, said, spec, version, row)
    stem, _, ending = row.name.rpartition(".")
    name = f"{stem or row.name}-data-{version.number}.{ending if stem else 'csv'}"
    if sheet.kind == sheets.XLSX:
        every = {sheet.worksheet: edits, **_other_worksheets(version, row, sheet)}
        changed = {worksheet: cells for worksheet, cells in every.items() if cells}
        return File(name, XLSX_TYPE, xlsxedit.changed(data, changed) if changed else data)
    text, encoding = csvfile.decode(data)
    texts = {place: str(value) for place, value in edits.items()}
    for r, cells in enumerate(csvfile.rows_of(text, sheet.delimiter)):
        for c, span in enumerate(cells):
            if (safe := escaped(span.text)) != span.text:
                texts.setdefault((r, c), safe)
    return File(name, CSV_TYPE, csvfile.encode(csvfile.spliced(text, sheet.delimiter, texts), encoding))


def _other_worksheets(version: GameVersion, row: SheetImport, sheet: Sheet) -> dict[str, xlsxedit.Cells]:
    """The changed cells of the workbook's other worksheets that were imported: of each, its newest import."""
    spec = version_spec(version)
    asked, found = {row.worksheet}, dict[str, xlsxedit.Cells]()
    same = SheetImport.objects.filter(project=row.project, digest=row.digest, version__number__lte=version.number)
    for other in same.select_related("version"):
        if other.worksheet in asked:
            continue
        asked.add(other.worksheet)
        there = read_import(other)
        if there.worksheet != sheet.worksheet and there.worksheet not in found:
            said = read_values(there, matched_columns(other), spec, mark_of(other))
            found[there.worksheet] = _edits(there, said, spec, version, other)
    return found


def mark_of(row: SheetImport) -> Mark | None:
    return row.mark if row.mark in numbers.MARKS else None


def _edits(
    sheet: Sheet, said: SheetContents, spec: GameSpec, version: GameVersion, row: SheetImport
) -> dict[tuple[int, int], str | float]:
    now = values(spec, version.patch)
    imported = values(spec, row.version.patch if row.version else {})
    mark: Mark = said.mark or ("," if sheet.delimiter == ";" else ".")
    tunables = spec.tunables()
    edits: dict[tuple[int, int], str | float] = {}
    for path, place in said.cells.items():
        stood = said.values.get(path)
        empty = not str(sheet.cell(*place)).strip()
        if now[path] == stood or (empty and now[path] == imported[path]):
            continue
        edits[place] = _cell(sheet, place, now[path], mark, tunables[path].unit)
    return edits


def _cell(sheet: Sheet, place: tuple[int, int], value: float, mark: Mark, unit: str) -> str | float:
    """The new content of a cell, written the way the sheet writes it."""
    old = sheet.cell(*place)
    if sheet.kind == sheets.XLSX and (isinstance(old, float) or not str(old).strip()):
        as_percent = unit == "%" and any(column == place[1] for _, column in sheet.percents)
        return float(Decimal(repr(value)) / 100) if as_percent else value
    return numbers.rewritten(str(old), value, mark, unit)

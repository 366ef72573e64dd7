"""Changing cells of a workbook in place: every other byte of every part stays as the designer's program wrote it.

openpyxl would drop what it does not know (charts, pictures, conditional formats of newer programs), so the changed
cells are cut out of the worksheet's XML by their byte positions and written anew.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass

from webapp.games.errors import SheetError, column_letters
from webapp.games.numbers import shown
from webapp.games.safexml import COUNTED, Done, Work, feed, guarded
from webapp.games.xlsxfile import column_of
from webapp.games.xlsxparts import opened, outline

Cells = Mapping[tuple[int, int], str | float]
"""New content by (row, column), both from 0: a number, or text."""


def changed(data: bytes, worksheets: Mapping[str, Cells]) -> bytes:
    """The workbook with these cells of its worksheets replaced. Raises SheetError when it cannot be read."""
    with opened(data) as archive:
        parts = outline(archive, Work()).worksheets
        return _rewritten(archive, {parts[name]: cells for name, cells in worksheets.items()})


def _rewritten(archive: zipfile.ZipFile, edits: Mapping[str, Cells]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as copy:
        for info in archive.infolist():
            content = archive.read(info)
            if info.filename in edits:
                content = _spliced(content, edits[info.filename])
            elif info.filename == "xl/workbook.xml":
                content = _recalculating(content)
            copy.writestr(info, content)
    return out.getvalue()


def _recalculating(workbook: bytes) -> bytes:
    """Formulas that read a changed cell are computed anew when the workbook is next opened."""
    match = re.search(rb"<(?:\w+:)?calcPr\b[^>]*?(?=/?>)", workbook)
    if match is None or b"fullCalcOnLoad" in match[0]:
        return workbook
    return workbook[: match.end()] + b' fullCalcOnLoad="1"' + workbook[match.end() :]


@dataclass
class _Edit:
    start: int
    end: int
    new: bytes


class _Finder:
    """Walks the worksheet's XML once and notes where each wanted cell stands, or where it would."""

    def __init__(self, xml: bytes, cells: Cells) -> None:
        self.xml = xml
        self.wanted: dict[int, dict[int, str | float]] = {}
        for (r, c), value in cells.items():
            self.wanted.setdefault(r, {})[c] = value
        self.edits: list[_Edit] = []
        self.row, self.column = -1, -1
        self.open: _Edit | None = None
        self.todo: dict[int, str | float] = {}
        self.work = Work()
        self.parser = guarded()
        self.parser.namespace_prefixes = True
        self.parser.StartElementHandler, self.parser.EndElementHandler = self._start, self._end

    def run(self) -> list[_Edit]:
        feed(self.parser, self.xml, self.work, b"sheetData")
        left = [r for r, todo in self.wanted.items() if todo]
        if left:
            raise SheetError(f"Row {left[0] + 1} of the workbook that was imported is missing from it.")
        return self.edits

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self.work.elements += 1
        if not self.work.elements % COUNTED:
            self.work.visited(0)
        local, prefix = _named(name)
        if local == "row":
            self.row = int(attributes["r"]) - 1 if "r" in attributes else self.row + 1
            self.column, self.todo = -1, self.wanted.get(self.row, {})
        elif local == "c":
            self.column = column_of(attributes["r"]) if "r" in attributes else self.column + 1
            at = self.parser.CurrentByteIndex
            for c in sorted(c for c in self.todo if c < self.column):
                self.edits.append(_Edit(at, at, _cell(prefix, self.row, c, "", self.todo.pop(c))))
            if self.column in self.todo:
                new = _cell(prefix, self.row, self.column, attributes.get("s", ""), self.todo.pop(self.column))
                self.open = _Edit(at, -1, new)

    def _end(self, name: str) -> None:
        local, prefix = _named(name)
        at = self.parser.CurrentByteIndex
        if local == "sheetData":
            raise Done
        if local == "c" and self.open is not None:
            # For <c/> both events stand at the same place, and the element ends at its own ">".
            self.open.end = self.xml.index(b">", at) + 1
            self.edits.append(self.open)
            self.open = None
        elif local == "row":
            for c in sorted(self.todo):
                self.edits.append(_Edit(at, at, _cell(prefix, self.row, c, "", self.todo.pop(c))))


def _named(name: str) -> tuple[str, str]:
    """Local name and prefix of an element that the parser calls ``namespace}name}prefix``."""
    _, local, prefix = (*name.split("}"), "", "")[:3]
    return local, prefix


def _cell(prefix: str, row: int, column: int, style: str, value: str | float) -> bytes:
    tag = f"{prefix}:" if prefix else ""
    look = f' s="{int(style)}"' if style else ""
    place = f"{column_letters(column)}{row + 1}"
    if isinstance(value, float):
        return f'<{tag}c r="{place}"{look}><{tag}v>{shown(value)}</{tag}v></{tag}c>'.encode()
    text = value.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    body = f'<{tag}is><{tag}t xml:space="preserve">{text}</{tag}t></{tag}is>'
    return f'<{tag}c r="{place}"{look} t="inlineStr">{body}</{tag}c>'.encode()


def _spliced(xml: bytes, cells: Cells) -> bytes:
    edits = sorted(_Finder(xml, cells).run(), key=lambda edit: edit.start)
    parts, at = [], 0
    for edit in edits:
        parts += [xml[at : edit.start], edit.new]
        at = edit.end
    return b"".join((*parts, xml[at:]))

"""Reading sheets in every form they come in, and changing them in place."""

from __future__ import annotations

import contextlib
import csv
import io
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openpyxl import Workbook, load_workbook
from openpyxl.chart import BarChart, Reference
from openpyxl.styles import Font

from tests.webapp.games_data import saved, workbook
from webapp.games import csvfile, limits, sheets, xlsxedit
from webapp.games.errors import SheetError

CELL = st.text(st.characters(exclude_categories=("Cs", "Cc")) | st.sampled_from('";,\t\n'), max_size=8)
TABLE = st.integers(1, 4).flatmap(lambda width: st.lists(st.lists(CELL, min_size=width, max_size=width), min_size=1))


def written(rows: list[list[str]], delimiter: str) -> str:
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter).writerows(rows)
    return out.getvalue()


@given(TABLE, st.sampled_from(list(csvfile.DELIMITERS)))
def test_the_tokeniser_agrees_with_the_csv_module(rows: list[list[str]], delimiter: str) -> None:
    text = written(rows, delimiter)
    ours = [[span.text for span in row] for row in csvfile.rows_of(text, delimiter)]
    theirs = [row or [""] for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)]
    assert ours == theirs


@given(TABLE, st.data(), st.sampled_from(list(csvfile.DELIMITERS)))
def test_a_change_in_place_changes_that_cell_only(rows: list[list[str]], data: st.DataObject, delimiter: str) -> None:
    row = data.draw(st.integers(0, len(rows) - 1))
    column = data.draw(st.integers(0, len(rows[row]) - 1))
    new = data.draw(CELL)
    text = csvfile.spliced(written(rows, delimiter), delimiter, {(row, column): new})
    rows[row][column] = new
    assert [[span.text for span in r] for r in csvfile.rows_of(text, delimiter)] == rows


@given(st.binary(max_size=400))
def test_no_bytes_break_the_reader(data: bytes) -> None:
    with contextlib.suppress(SheetError):
        assert sheets.read(data).body


@pytest.mark.parametrize(
    ("data", "delimiter", "encoding"),
    [
        ("\ufeffName;Cost\nFrost Captain;1,5\n".encode(), ";", "utf-8-sig"),
        (b"Name\tCost\nFrost Captain\t450\n", "\t", "utf-8"),
        ("Name,Cost\r\nHéros,450\r\n".encode("cp1252"), ",", "cp1252"),
        ("Name|Cost\nFrost Captain|450".encode("utf-16"), "|", "utf-16"),
        (b"sep=;\nName;Cost, gold\nA;1\n", ";", "utf-8"),
    ],
)
def test_delimiter_and_encoding_are_found(data: bytes, delimiter: str, encoding: str) -> None:
    sheet = sheets.read(data)
    assert (sheet.delimiter, sheet.encoding) == (delimiter, encoding)
    assert sheet.columns[0] == "Name"


def test_a_title_above_the_table_is_skipped() -> None:
    sheet = sheets.read(b"Spring balance\n\nName,Cost\nPikes,95\n")
    assert (sheet.header, sheet.body) == (2, [3])


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "nothing"),
        (b" \n ", "nothing"),
        (b"Name\nPikes\n", "one column"),
        (b"Name,Cost\n", "no rows"),
        (b"\x00\x01\x02binary", "characters that no table has"),
        (b"\x81\x8d\x90", "not a table of text"),
        (b'Name,Cost\n"Pikes,95\n', "never closes"),
        (b"a,b\n" + b"1,2\n" * (limits.MOST_ROWS + 1), "20,000 rows"),
        (b",".join([b"x"] * 201) + b"\n1,2\n", "201 columns"),
        (b"a,b\n" + b"x" * limits.MOST_BYTES, "5 MB"),
    ],
)
def test_a_bad_text_says_what_to_do(data: bytes, words: str) -> None:
    with pytest.raises(SheetError, match=words):
        sheets.read(data)


def test_a_workbook_is_read_with_its_own_numbers() -> None:
    book = Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.append(["Name", "Cost", "Rally", "Sum", "Since"])
    sheet.append(["Pikes", 95, 0.3, "=B2*2", None])
    sheet["C2"].number_format = "0 %"
    read = sheets.read(saved(book))
    assert read.rows[1][:3] == ["Pikes", 95.0, 0.3]
    assert read.percents == {(1, 2)}
    assert read.problems[1, 3].place == "D2"


def _with_part(data: bytes, name: str, content: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for info in old.infolist():
            if info.filename != name:
                new.writestr(info, old.read(info))
        new.writestr(name, content)
    return out.getvalue()


PLAIN = workbook([["Name", "Cost"], ["Pikes", 95]])
ENTITIES = b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]><x>&b;</x>'


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"PK\x03\x04 but no zip", "cannot be read"),
        (PLAIN[:2000], "cannot be read"),
        (b"\xd0\xcf\x11\xe0 an older workbook", "older or password-protected"),
        (_with_part(PLAIN, "xl/worksheets/sheet1.xml", ENTITIES), "definitions"),
        (_with_part(PLAIN, "xl/sharedStrings.xml", ENTITIES.decode().encode("utf-16")), "definitions"),
        (_with_part(PLAIN, "xl/worksheets/sheet1.xml", b"<worksheet"), "cannot be read"),
        (_with_part(PLAIN, "xl/worksheets/sheet1.xml", b"\0" * (limits.MOST_UNPACKED + 1)), "unpacks to more"),
        (_with_part(PLAIN, "xl/vbaProject.bin", b"macro"), "macros"),
        (_with_part(PLAIN, "xl/externalLinks/externalLink1.xml", b"<externalLink/>"), "links to other files"),
        (_with_part(PLAIN, "xl/workbook.xml", b"<workbook/>"), "worksheet|cannot be read"),
    ],
)
def test_a_hostile_workbook_is_refused_with_a_sentence(data: bytes, words: str) -> None:
    with pytest.raises(SheetError, match=words):
        sheets.read(data)


def test_a_workbook_with_a_far_cell_does_not_fill_the_memory() -> None:
    far = b"""<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>
    <row r="1"><c r="A1"><v>1</v></c><c r="XFD1"><v>1</v></c></row>
    <row r="1048576"><c r="A1048576"><v>1</v></c></row></sheetData></worksheet>"""
    with pytest.raises(SheetError):
        sheets.read(_with_part(PLAIN, "xl/worksheets/sheet1.xml", far))


def test_cells_of_a_workbook_change_in_place_and_everything_else_stays() -> None:
    book = Workbook()
    sheet = book.active
    assert sheet is not None
    for row in (["Name", "Cost", "Twice"], ["Pikes", 95, "=B2*2"], ["Bows", None, None]):
        sheet.append(row)
    sheet["B2"].font = Font(bold=True)
    chart = BarChart()
    chart.add_data(Reference(sheet, min_col=2, min_row=1, max_row=3), titles_from_data=True)
    sheet.add_chart(chart, "E2")
    before = saved(book)
    after = xlsxedit.changed(before, {"Sheet": {(1, 1): 99.5, (2, 1): 101.0, (2, 4): "new"}})
    table = load_workbook(io.BytesIO(after))["Sheet"]
    assert [[c.value for c in row] for row in table["A1:C3"]] == [
        ["Name", "Cost", "Twice"], ["Pikes", 99.5, "=B2*2"], ["Bows", 101, None],
    ]  # fmt: skip
    assert (table["E3"].value, table["B2"].font.bold) == ("new", True)
    with zipfile.ZipFile(io.BytesIO(before)) as old, zipfile.ZipFile(io.BytesIO(after)) as new:
        changed = {name for name in old.namelist() if old.read(name) != new.read(name)}
    assert changed <= {"xl/worksheets/sheet1.xml", "xl/workbook.xml"}

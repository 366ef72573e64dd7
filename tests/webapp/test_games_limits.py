"""Sheets by an outsider's hand: each is refused with a sentence before it costs anything, or read within the limits.

Nothing here is timed: what is counted is the XML elements that were visited and the bytes that were parsed.
"""

from __future__ import annotations

import io
import re
import signal
import subprocess
import sys
import threading
import zipfile
from collections import OrderedDict
from pathlib import Path
from typing import Any

import pytest
from defusedxml.common import DTDForbidden
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from tests.factories import Studio, signed_in, studio
from tests.webapp.games_data import SPEC, with_data
from tests.webapp.raw_workbooks import HEADER, MAIN, PIKES, raw_workbook, strings, styles, worksheet
from webapp.games import columns, importing, limits, reader, reading, safexml, sheets, xlsxedit, xlsxfile
from webapp.games.errors import SheetError
from webapp.games.models import SheetImport
from webapp.games.reading import Progress
from webapp.games.safexml import Work
from webapp.games.views import imports, uploads
from webapp.games.views import versions as views_of_versions

IMPORT = "/p/herobattle/data/import/"
SMALL = worksheet(HEADER + PIKES)
ENTITIES = f'<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><worksheet {MAIN}><sheetData/></worksheet>'
PREFIXED = f"<worksheet {MAIN} xmlns:x='x'><sheetData><row>{{}}</row></sheetData></worksheet>"
FAR = '<row r="1048576"><c r="A1048576"><v>1</v></c></row>'
MILLION = 1_000_000


PATHOLOGICAL = {
    "200 columns of 10,000 rows": (
        lambda: raw_workbook(worksheet("".join(f"<row>{'<c><v>1</v></c>' * 200}</row>" for _ in range(10_000)))),
        "2,000,000 cells, empty ones included; 300,000 is the most",
    ),
    "13 million empty cells": (
        lambda: raw_workbook(worksheet(f"{HEADER}{PIKES}<row>{'<c/>' * 13 * MILLION}</row>")),
        "13,000,004 cells, empty ones included; 300,000 is the most",
    ),
    "empty cells under another prefix": (
        lambda: raw_workbook(PREFIXED.format("<x:c/>" * MILLION)),
        "1,000,000 cells",
    ),
    "a million formats": (
        lambda: raw_workbook(SMALL, extra={"xl/styles.xml": styles('<xf numFmtId="0"/>' * MILLION)}),
        "1,000,000 cell formats; 65,536 is the most",
    ),
    "a million codes of formats": (
        lambda: raw_workbook(
            SMALL, extra={"xl/styles.xml": styles("", '<numFmt numFmtId="200" formatCode="0.0"/>' * MILLION)}
        ),
        "1,000,000 cell formats; 65,536 is the most",
    ),
    "three million shared texts": (
        lambda: raw_workbook(SMALL, extra={"xl/sharedStrings.xml": strings("<si><t/></si>" * 3 * MILLION)}),
        "3,000,000 different texts; 300,000 is the most",
    ),
    "eight million rows": (
        lambda: raw_workbook(worksheet(HEADER + PIKES + "<row/>" * 8 * MILLION)),
        "XML elements; 1,500,000 is the most",
    ),
    "eight million column widths": (
        lambda: raw_workbook(worksheet(HEADER + PIKES, before=f"<cols>{'<col/>' * 8 * MILLION}</cols>")),
        "XML elements; 1,500,000 is the most",
    ),
    "eight million elements within each other": (
        lambda: raw_workbook(worksheet("<a>" * 8 * MILLION)),
        "XML elements; 1,500,000 is the most",
    ),
    "101 worksheets": (
        lambda: raw_workbook(SMALL, names=tuple(f"S{i}" for i in range(101))),
        "101 worksheets; 100 is the most",
    ),
    "2,001 parts": (
        lambda: raw_workbook(SMALL, extra={f"xl/media/{i}.png": b"" for i in range(2001)}),
        "2,007 parts; 2,000 is the most",
    ),
    "a zip bomb": (lambda: raw_workbook(SMALL, extra={"xl/a.bin": b"\0" * 61 * 2**20}), "unpacks to more than 60 MB"),
    "a dimension that lies": (
        lambda: raw_workbook(worksheet(HEADER + PIKES + FAR, before='<dimension ref="A1:B2"/>')),
        "1,048,576 rows; 20,000 rows is the most",
    ),
    "a cell in the last column": (
        lambda: raw_workbook(worksheet(HEADER + PIKES + '<row><c r="XFD3"><v>1</v></c></row>')),
        "16,384 columns; 200 is the most",
    ),
    "one long text in every cell": (
        lambda: raw_workbook(
            worksheet(("<row>" + '<c t="s"><v>0</v></c>' * 150 + "</row>") * 10),
            extra={"xl/sharedStrings.xml": strings(f"<si><t>{'x' * 32_000}</t></si>")},
        ),
        "more than 10,000,000 characters",
    ),
    "a cell longer than any spreadsheet has": (
        lambda: raw_workbook(worksheet(f'{HEADER}<row><c t="str"><v>{"x" * 40_000}</v></c></row>')),
        "row 2 holds 40,000 characters; 32,767 is the most",
    ),
    "one giant field": (lambda: b"a,b\n" + b"x" * 4 * MILLION + b",1\n", "row 2 holds 4,000,000 characters"),
    "nested quotes": (lambda: b'a,b\n"' + b'""' * 2 * MILLION + b'",1\n', "row 2 holds 4,000,002 characters"),
    "one line of commas": (lambda: b"," * 5 * MILLION, "5,000,001 columns; 200 is the most"),
    "a text of empty cells": (lambda: b"a,b\n" + (b"," * 199 + b"\n") * 20_000, "4,000,002 cells"),
    "a text of empty lines": (lambda: b"a,b\n" + b"\n" * 5 * MILLION, "5,000,001 rows; 20,000 rows is the most"),
}  # fmt: skip


@pytest.fixture
def team() -> Studio:
    found = studio()
    with_data(found.project)
    return found


@pytest.mark.django_db
@pytest.mark.parametrize("what", PATHOLOGICAL)
def test_a_sheet_beyond_the_limits_is_refused_with_the_limit_and_what_it_has(designer: Client, what: str) -> None:
    make, words = PATHOLOGICAL[what]
    name = "a.xlsx" if (data := make()).startswith(b"PK") else "a.csv"
    answer = designer.post(IMPORT, {"file": SimpleUploadedFile(name, data)})
    assert answer.status_code == 422
    assert words in answer.content.decode()
    assert not SheetImport.objects.exists()


COUNTED = [name for name, (_, words) in PATHOLOGICAL.items() if re.search("cells|formats|texts|elements", words)]


@pytest.mark.parametrize("what", [name for name in COUNTED if not name.startswith("a text")])
def test_what_is_refused_for_its_size_is_hardly_parsed(what: str) -> None:
    work = Work()
    with pytest.raises(SheetError):
        xlsxfile.read(PATHOLOGICAL[what][0](), "", work)
    assert work.elements < 50
    assert work.bytes < 5_000


def test_cells_that_the_bytes_do_not_show_are_counted_while_they_are_read() -> None:
    hidden = PREFIXED.replace("xmlns:x", "xmlns:ü").format("<c/>" + "<ü:c/>" * 400_000)
    work = Work()
    with pytest.raises(SheetError, match="300,001 cells"):
        xlsxfile.read(raw_workbook(hidden), "", work)
    assert work.elements < limits.MOST_CELLS + 50


def test_what_stands_behind_the_cells_is_not_parsed() -> None:
    merged = "<mergeCells>" + '<mergeCell ref="A1:B2"/>' * MILLION + "</mergeCells>"
    work = Work()
    grid, _ = xlsxfile.read(raw_workbook(worksheet(HEADER + PIKES, after=merged)), "", work)
    assert grid.rows[1] == ["Pikes", 99.0]
    assert work.elements < 50


def test_a_part_is_parsed_in_one_call_for_long_tokens_are_read_anew_with_each_chunk(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls: list[int] = []
    real = safexml.guarded

    class Counted:
        def __init__(self) -> None:
            self.__dict__["parser"] = real()

        def __getattr__(self, name: str) -> Any:
            return getattr(self.parser, name)

        def __setattr__(self, name: str, value: Any) -> None:
            setattr(self.parser, name, value)

        def Parse(self, data: bytes, final: bool) -> int:
            calls.append(len(data))
            return self.parser.Parse(data, final)

    monkeypatch.setattr(safexml, "guarded", Counted)
    comment = f"<!--{'x' * MILLION}-->"
    work = Work()
    with zipfile.ZipFile(io.BytesIO(raw_workbook(worksheet(comment + HEADER + PIKES)))) as archive:
        xlsxfile.Book(archive, work).grid()
    assert len(calls) == 5, "relations, workbook, formats, texts and the worksheet"


@pytest.mark.django_db
def test_the_largest_sheet_that_is_accepted_goes_through_to_its_preview(designer: Client) -> None:
    row = '<row><c t="s"><v>0</v></c>' + "<c><v>1</v></c>" * 14 + "</row>"
    header = "<row>" + "".join(f'<c t="str"><v>N{i}</v></c>' for i in range(15)) + "</row>"
    data = raw_workbook(worksheet(header + row * 19_999))
    answer = designer.post(IMPORT, {"file": SimpleUploadedFile("a.xlsx", data)})
    assert answer.status_code == 302
    page = designer.get(answer["Location"]).content.decode()
    assert "19,999 rows" in page
    designer.post(answer["Location"], {"action": "columns", "column-0": "name", "column-1": "cost"})
    assert "shared" in designer.get(answer["Location"]).content.decode()


@pytest.mark.parametrize("packing", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_part_that_zipfile_would_unpack_without_bounds_is_refused_before_any_is_unpacked(
    packing: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = raw_workbook(SMALL, packing=packing)
    monkeypatch.setattr(zipfile.ZipFile, "open", lambda *given, **named: pytest.fail("a part was unpacked"))
    with pytest.raises(SheetError, match="packed in a way that spreadsheet programs do not use"):
        sheets.read(data)
    with pytest.raises(SheetError, match="packed in a way"):
        xlsxedit.changed(data, {"A": {(1, 1): 5.0}})


def test_workbooks_are_opened_in_one_place_which_looks_at_how_they_are_packed() -> None:
    root = Path(__file__).parents[2]
    found = [path for part in ("engine", "workers", "webapp", "deploy") for path in (root / part).rglob("*.py")]
    reading = {path.name for path in found if re.search(r"ZipFile\((?!\w+, \"w\")", path.read_text())}
    assert reading == {"xlsxparts.py", "downloads.py"}, "the second reads what the engine itself has packed"


# XML


@pytest.mark.parametrize(
    "data",
    [
        *(
            raw_workbook(SMALL, extra={name: ENTITIES})
            for name in (
                "_rels/.rels", "docProps/core.xml", "xl/drawings/drawing1.xml", "xl/drawings/vmlDrawing1.vml",
                "customXml/item1.xml", "customXml/item1.data", "xl/media/picture.png", "xl/styles.xml",
                "xl/sharedStrings.xml", "xl/workbook.xml", "xl/theme/theme1", "[Content_Types].xml", "XL/STYLES2.XML",
            )
        ),
        raw_workbook(ENTITIES, part="worksheets/sheet1.dat"),
        raw_workbook("\ufeff \n" + ENTITIES, part="worksheets/sheet1"),
        raw_workbook(ENTITIES.encode("utf-16"), part="worksheets/sheet1.dat"),
        raw_workbook(ENTITIES.encode("utf-16-be"), part="worksheets/sheet1.dat"),
        raw_workbook(SMALL, extra={"xl/a.txt": ENTITIES}, kinds={"styles": "a.txt"}),
        raw_workbook(SMALL, extra={"xl/a.txt": ENTITIES}, kinds={"sharedStrings": "a.txt"}),
        raw_workbook(SMALL, extra={"xl/a.xml": '<?xml version="1.0" encoding="iso-8859-1"?><a/>'}),
        raw_workbook(SMALL, extra={"xl/a.bin": f"<!--{'x' * 2**17}-->{ENTITIES}"}),
    ],
)  # fmt: skip
def test_entities_are_refused_in_every_part_whatever_it_is_called(data: bytes) -> None:
    with pytest.raises(SheetError, match="XML definitions that no spreadsheet writes"):
        sheets.read(data)
    with pytest.raises(SheetError, match="XML definitions that no spreadsheet writes"):
        xlsxedit.changed(data, {"A": {(1, 1): 5.0}})


def test_a_part_that_only_its_start_hides_is_refused_where_it_is_parsed() -> None:
    hidden = "x" + ENTITIES
    with pytest.raises(SheetError, match="cannot be read"):
        sheets.read(raw_workbook(hidden, part="worksheets/sheet1.dat"))


def test_the_guard_is_that_of_defusedxml() -> None:
    parser = safexml.guarded()
    with pytest.raises(DTDForbidden):
        parser.Parse(b"<!DOCTYPE x><x/>", True)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (raw_workbook(SMALL, kinds={"externalLink": "other.xml"}), "links to other files"),
        (raw_workbook(SMALL, extra={"XL/externallinks/a.xml": "<a/>"}), "links to other files"),
        (raw_workbook(SMALL, kinds={"vbaProject": "code.bin"}), "macros"),
        (raw_workbook(SMALL, extra={"XL/Workbook.xml": "<a/>"}), "cannot be read"),
        (
            raw_workbook(SMALL, part="worksheets/missing.xml", extra={"xl/worksheets/missing.xml": "no XML"}),
            "cannot be",
        ),
        (raw_workbook(worksheet('<row><c t="s"><v>7</v></c></row>')), "cannot be read"),
        (raw_workbook(worksheet('<row r="2"><c><v>1</v></c></row><row r="1"><c><v>1</v></c></row>')), "cannot be read"),
    ],
)
def test_a_dishonest_workbook_is_refused_with_a_sentence(data: bytes, words: str) -> None:
    with pytest.raises(SheetError, match=words):
        sheets.read(data)


def test_formats_tell_dates_and_per_cent_from_numbers() -> None:
    codes = (
        '<numFmt numFmtId="164" formatCode="0.0%"/><numFmt numFmtId="165" formatCode="yyyy\\-mm"/>'
        '<numFmt numFmtId="166" formatCode="[Red]0.0&quot; days&quot;"/>'
    )
    formats = "".join(f'<xf numFmtId="{number}"/>' for number in (0, 164, 165, 166, 9, 14))
    cells = "".join(f'<c s="{i}"><v>46027</v></c>' for i in (0, 1, 2, 3, 4, 5, 99))
    data = raw_workbook(worksheet(f"{HEADER}<row>{cells}</row>"), extra={"xl/styles.xml": styles(formats, codes)})
    sheet = sheets.read(data)
    assert sheet.percents == {(1, 1), (1, 4)}
    assert {place: problem.text for place, problem in sheet.problems.items()} == {
        (1, 2): "2026-01-05", (1, 5): "2026-01-05",
    }  # fmt: skip
    assert sheet.rows[1][3] == 46027.0


# Reading in a process of its own

LARGE = b"Name,Cost\n" + b"Pikes,99\n" * 19_000


@pytest.fixture
def nothing_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "_kept", OrderedDict())


@pytest.mark.usefixtures("nothing_kept")
@pytest.mark.parametrize("data", [LARGE, raw_workbook(worksheet(HEADER + PIKES * 3_000))])
def test_a_large_sheet_is_the_same_from_a_process_of_its_own_and_tells_how_far_it_is(data: bytes) -> None:
    under = Progress()
    assert reading.read(data, under=under) == sheets.read(data)
    assert under.process is not None
    assert under.process.returncode == 0
    assert under.share > 0
    assert reading.read(data) is reading.read(data)


@pytest.mark.usefixtures("nothing_kept")
def test_a_reading_that_is_stopped_says_so_and_leaves_no_process() -> None:
    under = Progress()
    under.stop()
    with pytest.raises(SheetError, match="stopped"):
        reading.read(LARGE, under=under)

    class Late(Progress):
        def __setattr__(self, name: str, value: Any) -> None:
            super().__setattr__(name, value)
            if name == "process" and value is not None:
                self.stop()

    late = Late()
    with pytest.raises(SheetError, match="stopped"):
        reading.read(LARGE, under=late)
    assert late.process is not None
    assert late.process.returncode == -signal.SIGKILL


@pytest.mark.usefixtures("nothing_kept")
def test_a_reading_that_a_busy_machine_does_not_finish_is_ended_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "LIMIT", 0)
    with pytest.raises(SheetError, match="did not read this sheet within 60 seconds"):
        reading.read(LARGE)


@pytest.mark.usefixtures("nothing_kept")
@pytest.mark.parametrize(
    ("ending", "words"),
    [
        ("while True: pass", "more than 5 seconds of processor time"),
        ("bytearray(2**31)", "needs more memory"),
        ("sys.exit(3)", "needs more memory"),
    ],
)
def test_the_kernel_ends_a_reader_that_takes_too_much(monkeypatch: pytest.MonkeyPatch, ending: str, words: str) -> None:
    script = (
        "import sys\nfrom webapp.games import reader\nreader.SECONDS = 1\n"
        f"def endless(*_):\n    {ending}\nreader.answer = endless\nreader.main()"
    )
    real = subprocess.Popen

    def endless(command: list[str], **how: Any) -> subprocess.Popen[bytes]:
        return real([command[0], "-c", script, command[-1]], **how)

    monkeypatch.setattr(reading.subprocess, "Popen", endless)
    with pytest.raises(SheetError, match=words):
        reading.read(LARGE)


@pytest.mark.usefixtures("nothing_kept")
def test_the_third_reading_at_once_waits_and_then_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "_slots", threading.BoundedSemaphore(1))
    monkeypatch.setattr(reading, "WAIT", 0)
    with reading._slots, pytest.raises(SheetError, match="Other people's sheets are being read"):
        reading.read(LARGE)
    assert reading.read(LARGE).columns == ["Name", "Cost"]


def test_the_reader_limits_its_own_processor_time_and_memory() -> None:
    script = (
        "import resource, sys; from webapp.games import reader; sys.argv = ['', '{}']; reader.main(); "
        "print(resource.getrlimit(resource.RLIMIT_CPU), resource.getrlimit(resource.RLIMIT_AS), file=sys.stderr); "
        "print('django' in sys.modules, 'openpyxl' in sys.modules, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", script], input=b"a,b\n1,2\n", capture_output=True, check=True)
    assert done.stderr.decode().split("\n")[:2] == [
        f"{(reader.SECONDS, reader.SECONDS + 1)} {(reader.MEMORY,) * 2}",
        "False False",
    ]


@pytest.mark.parametrize("view", [uploads.start, imports.sheet, views_of_versions.export])
def test_every_view_that_reads_a_sheet_may_take_as_long_as_the_reading(view: Any) -> None:
    assert view.may_take_seconds > 2 * (reading.WAIT + reading.LIMIT)


# The page


@pytest.mark.django_db
def test_the_pages_script_is_answered_in_json_and_nothing_is_kept_of_a_bad_sheet(designer: Client) -> None:
    by_script = {"accept": "application/json"}
    bad = designer.post(IMPORT, {"text": 'Name\tCost\n"Pikes\t95\n', "ticket": "t-1"}, headers=by_script)
    assert bad.status_code == 422
    assert "never closes" in bad.json()["errors"]["text"][0]
    assert not SheetImport.objects.exists()
    good = designer.post(IMPORT, {"text": "Name\tCost\nPikes\t95\n", "ticket": "t-2"}, headers=by_script)
    assert good.json() == {"next": f"{IMPORT}{SheetImport.objects.get().pk}/"}
    nothing = designer.post(IMPORT, headers=by_script)
    assert nothing.status_code == 422
    assert any(nothing.json()["errors"].values())


@pytest.mark.django_db
def test_an_import_is_cancelled_by_the_person_who_began_it_only(designer: Client, team: Studio) -> None:
    address = f"{IMPORT}progress/?ticket=t-9"
    assert designer.get(address).json() == {"share": 0}
    assert signed_in(team.owner).post(address).status_code == 200
    assert signed_in(team.producer).post(address).status_code == 403
    assert signed_in(studio("other").designer).post(address).status_code == 404
    fields = {"text": "Name\tCost\nPikes\t95\n", "ticket": "t-9"}
    assert designer.post(IMPORT, fields).status_code == 302, "a colleague's ticket of the same name is another"
    designer.post(address)
    stopped = designer.post(IMPORT, {**fields, "text": "Name\tCost\nPikes\t96\n"})
    assert stopped.status_code == 422
    assert "stopped" in stopped.content.decode()
    assert SheetImport.objects.count() == 1


def test_tickets_do_not_pile_up() -> None:
    for number in range(3 * reading._TICKETS):
        reading.progress(f"nobody {number}")
    assert len(reading._tickets) <= reading._TICKETS


# What follows the reading


def test_headings_are_not_compared_with_names_and_unknown_names_only_some(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[str] = []

    def close(word: str, known: Any, n: int) -> list[str]:
        compared.append(word)
        return []

    monkeypatch.setattr(importing, "get_close_matches", close)
    headings = sheets.read(b"Name,Cost\nPikes,99\n" + b"".join(b"Heading %d,\n" % i for i in range(5_000)))
    assert importing.read_values(headings, {0: "name", 1: "cost"}, SPEC).usable
    assert not compared
    unknown = sheets.read(b"Name,Cost\n" + b"".join(b"Nobody %d,7\n" % i for i in range(5_000)))
    assert importing.read_values(unknown, {0: "name", 1: "cost"}, SPEC).full
    assert len(compared) <= 60


def test_names_that_cannot_be_close_are_not_compared_in_full(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[str] = []
    real = columns.SequenceMatcher.ratio

    def counted(self: Any) -> float:
        compared.append(self.a)
        return real(self)

    monkeypatch.setattr(columns.SequenceMatcher, "ratio", counted)
    names = ",".join(f"{'hit points speed rally '[i % 5 :] * 8}{i}" for i in range(199))
    sheet = sheets.read(f"Hit pionts,{names}\n1{',1' * 199}\n".encode())
    assert columns.suggest(SPEC, sheet)[0] == "attribute:hit_points"
    assert len(set(compared)) == 1


def test_long_names_are_not_compared_in_full() -> None:
    sheet = sheets.read(b"Name,%s\nPikes,99\n" % (b"x" * 30_000))
    assert columns.suggest(SPEC, sheet) == {0: "name"}


@pytest.mark.django_db
def test_every_worksheet_is_opened_once_to_find_the_next(designer: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[int] = []
    real = xlsxfile.Book.__init__

    def counted(self: xlsxfile.Book, *args: Any) -> None:
        opened.append(1)
        real(self, *args)

    data = raw_workbook(SMALL, names=tuple(f"S{i}" for i in range(100)))
    answer = designer.post(IMPORT, {"file": SimpleUploadedFile("a.xlsx", data)})
    designer.post(answer["Location"], {"action": "columns", "column-0": "name", "column-1": "cost"})
    monkeypatch.setattr(xlsxfile.Book, "__init__", counted)
    saved = designer.post(answer["Location"], {"action": "save", "base": 1})
    assert saved["Location"] == f"{IMPORT}{SheetImport.objects.order_by('-pk')[0].pk}/"
    assert SheetImport.objects.order_by("-pk")[0].worksheet == "S1"
    assert len(opened) <= 2, "once for the first rows of all, once for the next one's columns"

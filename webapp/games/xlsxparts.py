"""The parts of an Excel workbook: looked over before any is parsed, and found by the workbook's own relations.

A workbook is a zip of XML written by strangers. Before it is read: its unpacked size is bounded, and parts are refused
whose packing zipfile does not unpack within bounds (zip bombs); a document type is refused in every part that looks
like XML, whatever its name (entity attacks), macros and links to other files are refused. Parts that the reader does
not need are never parsed beyond that.
"""

from __future__ import annotations

import io
import posixpath
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from xml.parsers import expat

from webapp.games.errors import SheetError
from webapp.games.limits import check_unpacked, check_worksheets
from webapp.games.safexml import HEAD, Walk, Work, check_head

UNREADABLE = (
    zipfile.BadZipFile, zlib.error, expat.ExpatError, LookupError, ValueError, TypeError, ArithmeticError, OSError,
    EOFError, RuntimeError, NotImplementedError,
)  # fmt: skip
"""What zipfile, the XML parser and the reader raise on damaged workbooks."""

_OLD = b"\xd0\xcf\x11\xe0"
_XML_ENDINGS = (".xml", ".rels", ".vml")
_XML_STARTS = (b"<", b"\x00<", b"\x00\x00\x00<")
_PACKING = frozenset((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))
"""Ways to pack a part that zipfile unpacks no further than asked; of the others it unpacks everything at once."""
_PACKED = "This workbook is packed in a way that spreadsheet programs do not use. Open it there and save it as .xlsx."
_MACROS = "This workbook holds macros. Save it as .xlsx, without macros."
_LINKS = "This workbook links to other files. In Excel: Data, Edit links, Break link; then save and import it again."


def looks_like(data: bytes) -> bool:
    """Whether the bytes are a zip, or the older binary format that ``opened`` explains."""
    return data.startswith((b"PK\x03\x04", b"PK\x05\x06", _OLD))


@contextmanager
def opened(data: bytes) -> Iterator[zipfile.ZipFile]:
    """The workbook's parts, looked over. Raises SheetError, also for damage that is found while it is open."""
    if data.startswith(_OLD):
        raise SheetError("This is an older or password-protected workbook. Save it as .xlsx without a password.")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            _check_parts(archive)
            yield archive
    except UNREADABLE as error:
        raise SheetError(
            "This workbook cannot be read. Open it in your spreadsheet, save it again as .xlsx and import that."
        ) from error


def unpacked(data: bytes) -> int:
    """How many bytes the workbook says that it unpacks to; no more than that are ever unpacked. 0 for damaged ones."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return sum(part.file_size for part in archive.infolist())
    except UNREADABLE:
        return 0


def _check_parts(archive: zipfile.ZipFile) -> None:
    parts = archive.infolist()
    if any(part.compress_type not in _PACKING for part in parts):
        raise SheetError(_PACKED)
    names = [part.filename for part in parts]
    check_unpacked(len(parts), sum(part.file_size for part in parts))
    if "[Content_Types].xml" not in names or "xl/workbook.xml" not in names:
        raise SheetError("This is not an Excel workbook. Save the sheet as .xlsx or as CSV.")
    folded = [name.lower() for name in names]
    if len(set(folded)) < len(folded):
        raise zipfile.BadZipFile("two parts have one name")  # programs differ in which of them they read
    if any(name.endswith("vbaproject.bin") or name.startswith("xl/macrosheets/") for name in folded):
        raise SheetError(_MACROS)
    if any(name.startswith("xl/externallinks/") for name in folded):
        raise SheetError(_LINKS)
    for part in parts:
        _check_part(archive, part)


def _check_part(archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> None:
    # zipfile stops at the size the directory states, so a lying size cannot unpack more than was counted.
    with archive.open(part) as file:
        head = file.read(HEAD)
    if not part.filename.lower().endswith(_XML_ENDINGS):
        start = head.removeprefix(b"\xef\xbb\xbf").removeprefix(b"\xff\xfe").removeprefix(b"\xfe\xff")
        if not start.lstrip(b" \t\r\n").startswith(_XML_STARTS):
            return
    check_head(head)


@dataclass(frozen=True)
class Outline:
    """Where the parts are that hold cells: visible worksheets by title, shared texts and formats ("": none)."""

    worksheets: dict[str, str]
    strings: str
    styles: str
    from_1904: bool


def outline(archive: zipfile.ZipFile, work: Work) -> Outline:
    """Read the workbook's table of contents. Raises SheetError, and ``UNREADABLE`` for damaged ones."""
    relations = _relations(archive, work)
    kinds = {kind for kind, _ in relations.values()}
    if kinds & {"vbaProject", "xlMacrosheet", "xlIntlMacrosheet"}:
        raise SheetError(_MACROS)
    if "externalLink" in kinds:
        raise SheetError(_LINKS)
    found: dict[str, str] = {}
    dates: list[bool] = []

    def start(name: str, attributes: dict[str, str]) -> None:
        if name == "workbookPr":
            dates.append(attributes.get("date1904") in ("1", "true"))
        elif name == "sheet" and attributes.get("state", "visible") == "visible":
            reference = next((v for k, v in attributes.items() if k.endswith("}id")), "")
            kind, target = relations.get(reference, ("", ""))
            if kind == "worksheet":
                found[attributes["name"]] = target
                check_worksheets(len(found))

    Walk(start, _nothing, frozenset(), work).run(archive.read("xl/workbook.xml"))
    if not found:
        raise SheetError("This workbook has no visible worksheet.")
    named = {kind: target for kind, target in relations.values()}
    return Outline(found, named.get("sharedStrings", ""), named.get("styles", ""), any(dates))


def _relations(archive: zipfile.ZipFile, work: Work) -> dict[str, tuple[str, str]]:
    """Kind and part by id; parts outside the workbook are left out."""
    found: dict[str, tuple[str, str]] = {}

    def start(name: str, attributes: dict[str, str]) -> None:
        if name == "Relationship":
            kind, target = attributes.get("Type", "").rpartition("/")[2], attributes.get("Target", "")
            if attributes.get("TargetMode") != "External":
                found[attributes["Id"]] = kind, posixpath.normpath(posixpath.join("/xl", target)).lstrip("/")

    Walk(start, _nothing, frozenset(), work).run(archive.read("xl/_rels/workbook.xml.rels"))
    return found


def _nothing(name: str, text: str) -> None:
    """The ends of these elements say nothing."""

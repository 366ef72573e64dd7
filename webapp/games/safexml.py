"""XML written by strangers: every part of a workbook that is parsed goes through defusedxml's parser, in one stream.

defusedxml refuses document types, entities and external references. Its parser builds no tree here: the handlers see
one element after another, and each is counted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from xml.parsers.expat import XMLParserType

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import DefusedXMLParser

from webapp.games.errors import SheetError
from webapp.games.limits import check_elements

Report = Callable[[int, int], None]
"""Told how much was read of how much."""

HEAD = 2**16
"""Bytes within which a part's first element begins."""
COUNTED = 4096
"""Elements between two looks at the limit, which cost more than the elements."""


def quiet(done: int, total: int) -> None:
    """The report that nobody reads."""


class Done(Exception):
    """A handler has seen all it needs."""


@dataclass
class Work:
    """What a reading has cost: elements visited and bytes parsed, of ``total`` bytes."""

    report: Report = quiet
    elements: int = 0
    bytes: int = 0
    total: int = 0

    def visited(self, at: int) -> None:
        """Called now and then while elements are counted, at byte ``at``. Raises SheetError at the limit."""
        check_elements(self.elements)
        self.report(self.bytes + at, self.total)


class _NoTree:
    """The target of a parser that builds nothing."""


def guarded() -> XMLParserType:
    """A parser that refuses what no spreadsheet writes: document types, entities, encodings other than UTF-8. Names
    come as ``namespace}name``."""
    parser: XMLParserType = DefusedXMLParser(target=_NoTree(), forbid_dtd=True).parser
    parser.DefaultHandlerExpand = None
    parser.ordered_attributes = False
    parser.XmlDeclHandler = _declared
    return parser


def refused() -> SheetError:
    """What is said of XML that is not opened."""
    return SheetError("This workbook holds XML definitions that no spreadsheet writes, so it is not opened.")


def _declared(version: str, encoding: str | None, standalone: int) -> None:
    if (encoding or "utf-8").lower() not in {"utf-8", "us-ascii"}:
        raise refused()


def feed(parser: XMLParserType, xml: bytes, work: Work, last: bytes = b"") -> None:
    """Parse ``xml`` until its end, or until ``Done`` at the end of the element called ``last``. Raises SheetError for
    XML that is refused, and for too many elements.

    It is one call, for expat reads an unfinished token anew with every chunk: hours for one comment of 60 MB.
    """
    if b"\x00" in xml[:4] or xml[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise refused()
    end = xml.rfind(last + b">") if last else -1
    seen = len(xml) if end < 0 else end
    check_elements(work.elements + xml.count(b"<", 0, seen) - xml.count(b"</", 0, seen))
    try:
        parser.Parse(xml, True)
    except Done:
        pass
    except DefusedXmlException as error:
        raise refused() from error
    work.bytes += len(xml)
    work.report(work.bytes, work.total)


@dataclass
class Walk:
    """Calls ``start(name, attributes)`` and ``end(name, text)`` for each element of a part, names without namespaces.
    ``texts``: the elements whose text is wanted; "" for the others."""

    start: Callable[[str, dict[str, str]], None]
    end: Callable[[str, str], None]
    texts: frozenset[str]
    work: Work
    _pieces: list[str] = field(default_factory=list)

    def run(self, xml: bytes, last: bytes = b"") -> None:
        """``last``: the element at whose end the handlers are done. Raises SheetError, expat.ExpatError."""
        parser = guarded()
        work, texts, pieces = self.work, self.texts, self._pieces
        start, end = self.start, self.end

        def opened(name: str, attributes: dict[str, str]) -> None:
            work.elements += 1
            if not work.elements % COUNTED:
                work.visited(parser.CurrentByteIndex)
            local = name[name.rfind("}") + 1 :]
            if local in texts:
                pieces.clear()
                parser.CharacterDataHandler = pieces.append
            start(local, attributes)

        def closed(name: str) -> None:
            local = name[name.rfind("}") + 1 :]
            if local in texts:
                parser.CharacterDataHandler = None
                end(local, "".join(pieces))
            else:
                end(local, "")

        parser.StartElementHandler, parser.EndElementHandler = opened, closed
        feed(parser, xml, work, last)


def check_head(head: bytes) -> None:
    """Look at the start of a part up to its first element: no document type can follow. Raises SheetError."""

    def root(*_: Any) -> None:
        raise Done

    if b"\x00" in head[:4] or head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise refused()
    parser = guarded()
    parser.StartElementHandler = root
    try:
        parser.Parse(head, len(head) < HEAD)
    except Done:
        return
    except DefusedXmlException as error:
        raise refused() from error
    raise refused()

"""Workbooks written part by part, as no spreadsheet would write them."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping

MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
HEADER = '<row><c t="inlineStr"><is><t>Name</t></is></c><c t="inlineStr"><is><t>Cost</t></is></c></row>'
PIKES = '<row><c t="inlineStr"><is><t>Pikes</t></is></c><c><v>99</v></c></row>'


def worksheet(rows: str, before: str = "", after: str = "") -> str:
    """A worksheet's part with these ``<row>`` elements."""
    return f"<worksheet {MAIN}>{before}<sheetData>{rows}</sheetData>{after}</worksheet>"


def styles(formats: str, codes: str = "") -> str:
    """A part of styles with these ``<xf>`` and ``<numFmt>`` elements."""
    return f"<styleSheet {MAIN}><numFmts>{codes}</numFmts><cellXfs>{formats}</cellXfs></styleSheet>"


def strings(*items: str) -> str:
    """A part of shared texts with these ``<si>`` elements."""
    return f"<sst {MAIN}>{''.join(items)}</sst>"


def raw_workbook(
    sheet: str | bytes,
    *,
    part: str = "worksheets/sheet1.xml",
    names: tuple[str, ...] = ("A",),
    extra: Mapping[str, str | bytes] | None = None,
    kinds: Mapping[str, str] | None = None,
    packing: int = zipfile.ZIP_DEFLATED,
) -> bytes:
    """A workbook whose worksheets ``names`` are all this part. ``extra``: further parts, or other contents of these;
    ``kinds``: further relations of the workbook, target by kind; ``packing``: the method of its parts in the zip."""
    relations = {"styles": "styles.xml", "sharedStrings": "sharedStrings.xml", **(kinds or {})}
    parts: dict[str, str | bytes] = {
        "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types"><Default Extension="xml" '
        'ContentType="application/xml"/></Types>',
        "xl/workbook.xml": f'<workbook {MAIN} xmlns:r="{_OFFICE}"><sheets>'
        + "".join(f'<sheet name="{name}" sheetId="{i + 1}" r:id="r0"/>' for i, name in enumerate(names))
        + "</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">'
        f'<Relationship Id="r0" Type="{_OFFICE}/worksheet" Target="{part}"/>'
        + "".join(
            f'<Relationship Id="k{i}" Type="{_OFFICE}/{kind}" Target="{target}"/>'
            for i, (kind, target) in enumerate(relations.items())
        )
        + "</Relationships>",
        "xl/styles.xml": styles('<xf numFmtId="0"/>'),
        "xl/sharedStrings.xml": strings("<si><t>shared</t></si>"),
        f"xl/{part}": sheet,
        **(extra or {}),
    }
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", packing) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return out.getvalue()

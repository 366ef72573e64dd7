"""A report as a PDF, where this machine can make one. WeasyPrint sets the page; it needs Pango, a system library.

WeasyPrint draws inline SVG by the rules that stand inside it, not by those of the page around it: so each drawing gets
its own, with the colours of the light theme in place of their names.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from ctypes import CDLL
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from django.conf import settings

from webapp.reports.onefile import for_paper, light

_COLOUR = re.compile(r"--([\w-]+): (#[0-9a-f]{6});")
_NAMED = re.compile(r"var\(--([\w-]+)\)")
_DRAWING = re.compile(r'(<svg class="(?:range-bar|tilt|vm|fam|logo|change-bars|change-axis)\b[^>]*>)')
_RULE = re.compile(r"^\.(?:range-bar|tilt|vm|fam|logo|change-bars|change-axis)[^{]*\{[^}]*\}", re.MULTILINE)

LIBRARIES = "libpango-1.0.so.0", "libpangoft2-1.0.so.0"


class NoPdf(Exception):
    """No PDF can be made here; the message says why and what to do."""


def to_pdf(content: Mapping[str, Any], content_hash: str) -> bytes:
    """The report on A4. Raises NoPdf."""
    if reason := obstacle():
        raise NoPdf(reason)
    from webapp.reports.typesetting import typeset

    return typeset(coloured(for_paper(content, content_hash)))


@cache
def obstacle() -> str:
    """Why no PDF can be made here, in a sentence; empty where one can. Every page of a report asks, so WeasyPrint is
    looked for and not imported: that takes the better part of a second of processor time."""
    if find_spec("weasyprint") is None:
        return "This site cannot make PDF files: WeasyPrint is not installed. The page and Excel have the same numbers."
    try:
        for library in LIBRARIES:
            CDLL(library)
    except OSError:
        return (
            "This site cannot make PDF files: Pango, a library of the system, is not installed (libpango-1.0-0 and "
            "libpangoft2-1.0-0 on Debian). The page and Excel have the same numbers."
        )
    return ""


def coloured(page: str) -> str:
    """The page with the rules of each drawing inside it."""
    return _DRAWING.sub(rf"\1<style>{_rules()}</style>", page)


@cache
def _rules() -> str:
    colours = dict(_COLOUR.findall(light()))
    sheet = "".join(Path(settings.BASE_DIR, "static", "css", f"{name}.css").read_text(encoding="utf-8")
                    for name in ("components", "change", "report"))  # fmt: skip
    rules = "\n".join(_RULE.findall(sheet))
    return _NAMED.sub(lambda name: colours.get(name[1], "none"), rules)

"""A report as one HTML page that is complete with scripts off and asks for nothing: drawings, styles and words inline.

It is what a link opens, what is taken away, and what the PDF is made of. A policy in its head forbids every request.
What a link opens and what is taken away say at the top how the report stands by now; the PDF is made once, when it is
published, and says how it was then.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from django.conf import settings
from django.template.loader import render_to_string

SHEETS = ("components", "change", "report", "report_file")
_DARK = re.compile(r'\[data-bs-theme="dark"\] \{(.*?)\n\}', re.DOTALL)


def one_file(content: Mapping[str, Any], content_hash: str, standing: str = "") -> str:
    """The page, light or dark as the reader's device has it. ``standing``: what became of the report since
    (``judging.standing``)."""
    return _page(content, content_hash, styles(), paper=False, standing=standing)


def for_paper(content: Mapping[str, Any], content_hash: str) -> str:
    """The same in light colours, with everything unfolded."""
    return _page(content, content_hash, light() + _own_sheets(), paper=True)


def _page(content: Mapping[str, Any], content_hash: str, sheets: str, *, paper: bool, standing: str = "") -> str:
    context = {
        "content": content, "content_hash": content_hash, "styles": sheets, "unfolded": paper, "standing": standing,
    }  # fmt: skip
    return render_to_string("reports/offline.html", context)


@cache
def styles() -> str:
    """Every rule of the page."""
    dark = _DARK.search(_text("tokens"))
    assert dark is not None
    return f"{light()}@media (prefers-color-scheme: dark) {{ :root {{{dark[1]}\n}} }}\n{_own_sheets()}"


@cache
def light() -> str:
    """The tokens without those of the dark theme."""
    return _DARK.sub("", _text("tokens"), count=1)


@cache
def _own_sheets() -> str:
    return "".join(_text(name) for name in SHEETS)


def _text(name: str) -> str:
    return Path(settings.BASE_DIR, "static", "css", f"{name}.css").read_text(encoding="utf-8")

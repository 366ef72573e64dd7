"""Setting a page as a PDF. Importing this needs WeasyPrint and Pango: ``webapp.reports.pdf`` looks for both first."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from django.conf import settings
from weasyprint import CSS, HTML
from weasyprint.text.fonts import FontConfiguration
from weasyprint.urls import URLFetcher, URLFetcherResponse

FONT = Path(settings.BASE_DIR, "static", "vendor", "inter", "InterVariable.woff2")


class OnlyTheFont(URLFetcher):
    """Nothing but the site's own font is read for a PDF: no address that somebody typed is asked for."""

    def fetch(self, url: str, headers: Any = None) -> URLFetcherResponse:
        """The font; raises ValueError for any other address."""
        if url != FONT.as_uri():
            raise ValueError("A report asks for nothing.")
        return URLFetcherResponse(url, FONT.read_bytes(), {"Content-Type": "font/woff2"})


@cache
def _faces() -> tuple[CSS, FontConfiguration]:
    """The font, unpacked once for all pages of a process: that takes longer than setting one."""
    fonts = FontConfiguration()
    rule = f'@font-face {{ font-family: "Inter"; src: url("{FONT.as_uri()}") }}'
    return CSS(string=rule, font_config=fonts, url_fetcher=OnlyTheFont()), fonts


def typeset(page: str) -> bytes:
    """A page of HTML as a PDF."""
    face, fonts = _faces()
    return bytes(HTML(string=page, url_fetcher=OnlyTheFont()).write_pdf(stylesheets=[face], font_config=fonts))

"""Parts of a page that people jump to: each has a name of its own, and headings skip no level."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest

TEMPLATES = Path(__file__).parents[1] / "templates"
PAGES = [path for path in sorted(TEMPLATES.rglob("*.html")) if path.name != "help.html"]
REGION = re.compile(r'role="region" aria-label="([^"]+)"')
SECTION = re.compile(r'<(?:section|nav|aside|fieldset)[^>]*aria-label="([^"]+)"')
HEADING = re.compile(r'<h[1-6] id="([^"]+)"[^>]*>(.*?)</h[1-6]>', re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(TEMPLATES)))
def test_a_table_has_not_the_name_of_the_section_around_it(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    labelled = set(re.findall(r'aria-labelledby="([^"]+)"', text))
    sections = {re.sub(r"<[^>]+>", "", name) for place, name in HEADING.findall(text) if place in labelled}
    assert not (sections | set(SECTION.findall(text))) & set(REGION.findall(text))


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(TEMPLATES)))
def test_the_first_heading_of_a_page_below_its_title_is_of_the_second_level(page: Path) -> None:
    """Parts of pages stand below a heading of the page; a page of its own begins at the second level."""
    text = page.read_text(encoding="utf-8")
    below = re.findall(r"<h([2-6])", text)
    if "{% extends" in text and below:
        assert below[0] == "2"
    assert all(int(b) - int(a) < 2 for a, b in pairwise(below))

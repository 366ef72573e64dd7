"""Help: pages link to sections that there are, and its contents name each of them."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
HELP = [ROOT / "templates" / "projects" / name for name in ("help.html", "help_agents.html", "help_agent_words.html")]
TEXT = "".join(path.read_text(encoding="utf-8") for path in HELP)
SECTIONS = re.findall(r'<h2 id="([a-z-]+)"', TEXT)
PLACES = [
    path for top, ending in (("templates", "html"), ("webapp", "py")) for path in (ROOT / top).rglob(f"*.{ending}")
]
LINK = re.compile(r'explained\.html" with part="([a-z-]+)"|help_section = "([a-z-]+)"|projects:help\' %}#([a-z-]+)')


def test_the_contents_of_help_are_its_sections() -> None:
    assert sorted(re.findall(r'<li><a href="#([a-z-]+)"', TEXT)) == sorted(SECTIONS)


def test_pages_link_to_sections_of_help_that_there_are() -> None:
    linked = {
        part for path in PLACES for found in LINK.findall(path.read_text(encoding="utf-8")) for part in found if part
    }
    assert {"agents", "styles", "style-map", "self-play", "hunts", "training"} <= linked
    assert linked <= set(SECTIONS)

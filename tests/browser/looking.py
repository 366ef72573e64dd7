"""What tests ask of a page as a person would see it."""

from __future__ import annotations

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page


def serious_violations(page: Page) -> list[str]:
    """What axe finds serious or critical on the page, one line each."""
    found = Axe().run(page).response["violations"]
    return [
        f"{violation['id']}: {[node['target'] for node in violation['nodes'][:3]]}"
        for violation in found
        if violation["impact"] in {"serious", "critical"}
    ]


def overflow(page: Page) -> int:
    """CSS pixels by which the page is wider than its window."""
    width: int = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    return width

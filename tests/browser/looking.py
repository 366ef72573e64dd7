"""What tests ask of a page as a person would see it."""

from __future__ import annotations

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

UNASKED = ("label-content-name-mismatch", "css-orientation-lock", "focus-order-semantics", "p-as-heading",
           "table-fake-caption", "td-has-header")  # fmt: skip
"""Rules that axe leaves out unless asked."""
EVERY_RULE = {"resultTypes": ["violations"], "rules": {rule: {"enabled": True} for rule in UNASKED}}
"""And not every element that passes is written down, which takes axe longer than all the rest."""


STILL = """() => document.getAnimations().every(
    (one) => one.playState !== "running" || !isFinite(one.effect.getComputedTiming().endTime),
)"""


DRAWN = "() => new Promise((then) => requestAnimationFrame(() => requestAnimationFrame(then)))"
"""A change of colours begins to be drawn with the next frame."""


def serious_violations(page: Page) -> list[str]:
    """What axe finds serious or critical on the page by all of its rules, the experimental ones too; one line each.
    Something that still fades in has less contrast than it ends with, so animations are waited for."""
    page.evaluate(DRAWN)
    page.wait_for_function(STILL)
    found = Axe().run(page, options=EVERY_RULE).response["violations"]
    return [
        f"{violation['id']}: {[node['target'] for node in violation['nodes'][:3]]}"
        for violation in found
        if violation["impact"] in {"serious", "critical"}
    ]


def overflow(page: Page) -> int:
    """CSS pixels by which the page is wider than its window."""
    width: int = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    return width

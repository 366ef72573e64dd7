"""What tests ask of a page as a person would see it."""

from __future__ import annotations

from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, ViewportSize, expect

AXE = Axe().axe_script
UNASKED = (
    "label-content-name-mismatch", "focus-order-semantics", "p-as-heading", "table-fake-caption", "td-has-header",
)  # fmt: skip
"""Rules that axe leaves out unless asked. The sixth of them, css-orientation-lock, reads every rule of every stylesheet
again with each page, longer than all other rules take; no stylesheet asks how a device is held (``test_static.py``)."""
EVERY_RULE = {
    "resultTypes": ["violations"], "preload": False, "rules": {rule: {"enabled": True} for rule in UNASKED},
}  # fmt: skip
"""And not every element that passes is written down."""


OF_COLOURS = {"resultTypes": ["violations"], "preload": False, "runOnly": ["color-contrast", "link-in-text-block"]}
"""The rules whose answer depends on the colours; no other one is asked again for the same page in other colours."""


STILL = """() => document.getAnimations().every(
    (one) => one.playState !== "running" || !isFinite(one.effect.getComputedTiming().endTime),
)"""


DRAWN = "() => new Promise((then) => requestAnimationFrame(() => requestAnimationFrame(then)))"
"""A change of colours begins to be drawn with the next frame."""


def serious_violations(page: Page, asked: dict[str, Any] = EVERY_RULE) -> list[str]:
    """What axe finds serious or critical on the page by all of its rules, the experimental ones too; one line each.
    Something that still fades in has less contrast than it ends with, so animations are waited for."""
    page.evaluate(DRAWN)
    page.wait_for_function(STILL)
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE)
    # What passes and what axe cannot tell stays there: to hand it over took as long as to find it.
    found = page.evaluate("async (asked) => (await axe.run(asked)).violations", asked)
    return [
        f"{violation['id']}: {[node['target'] for node in violation['nodes'][:3]]}"
        for violation in found
        if violation["impact"] in {"serious", "critical"}
    ]


CALLED = """() => {
  const at = document.activeElement;
  const name = at.getAttribute("aria-label") ?? at.labels?.[0]?.textContent ?? at.textContent;
  return name.trim().replace(/\\s+/g, " ");
}"""


def reach(page: Page, name: str, most: int = 200) -> None:
    """Press Tab until something has the focus whose name begins so."""
    for _ in range(most):
        page.keyboard.press("Tab")
        if str(page.evaluate(CALLED)).startswith(name):
            return
    raise AssertionError(f"Tab does not lead to “{name}”")


def overflow(page: Page) -> int:
    """CSS pixels by which the page is wider than its window."""
    width: int = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    return width


def complaints(page: Page, wide: ViewportSize, narrow: ViewportSize, *, every_look: bool = False) -> list[str]:
    """What axe finds on the page as it stands, and whether it is too wide: on a desktop in light colours and on a phone
    in dark ones. ``every_look``: also the other way round, by the rules that colours matter to."""
    found = [told for size, scheme in ((wide, "light"), (narrow, "dark")) for told in _complaints(page, size, scheme)]
    if every_look:
        for size, scheme in ((narrow, "light"), (wide, "dark")):
            found += _complaints(page, size, scheme, OF_COLOURS)
    return found


def _complaints(page: Page, size: ViewportSize, scheme: str, asked: dict[str, Any] = EVERY_RULE) -> list[str]:
    page.set_viewport_size(size)
    # Without motion: axe must not measure a colour half way between the themes.
    page.emulate_media(color_scheme="light" if scheme == "light" else "dark", reduced_motion="reduce")
    expect(page.locator("html")).to_have_attribute("data-bs-theme", scheme)
    look = f"{size['width']} px, {scheme}"
    found = [f"{look}: {violation}" for violation in serious_violations(page, asked)]
    return found + ([f"{look}: {wider} px too wide"] if (wider := overflow(page)) > 0 else [])

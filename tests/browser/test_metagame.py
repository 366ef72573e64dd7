"""A round robin in a real browser: read, opened and taken away by keyboard, and on a phone."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.browser.conftest import PHONE
from tests.browser.looking import overflow
from tests.factories import Studio, search_job
from tests.webapp.round_robins import NAMES, round_robin

Enter = Callable[..., Page]


def test_who_beats_whom_is_read_by_keyboard_and_on_a_phone(enter: Enter, team: Studio) -> None:
    job = round_robin(search_job(team.project, rows=40))
    page = enter(team.designer, f"/p/herobattle/jobs/{job.pk}/")
    expect(page.locator(".metagame-verdict")).not_to_be_empty()
    heat = page.get_by_role("region", name="Map of who beats whom")
    expect(heat.get_by_role("row")).to_have_count(len(NAMES) + 1)
    expect(heat.locator(".sure")).to_have_count(2 * len(NAMES))
    pairs = page.get_by_role("region", name="Pairs with their ranges")
    expect(pairs).to_be_hidden()
    page.locator("summary", has_text="The pairs with their ranges").focus()
    page.keyboard.press("Enter")
    expect(pairs.get_by_role("rowheader")).to_have_count(len(NAMES))
    page.set_viewport_size(PHONE)
    assert overflow(page) <= 0
    with page.expect_download() as taken:
        page.get_by_role("link", name="The pairs as CSV").focus()
        page.keyboard.press("Enter")
    assert taken.value.suggested_filename.endswith(".csv")

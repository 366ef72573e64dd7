"""The smallest change that works in a real browser: read, opened and saved by keyboard, on a phone too."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.browser.conftest import PHONE
from tests.browser.looking import overflow, serious_violations
from tests.factories import Studio, search_job
from tests.webapp.changes import search_for_changes

Enter = Callable[..., Page]


def test_a_change_is_read_and_saved_by_keyboard_and_fits_a_phone(enter: Enter, team: Studio) -> None:
    search_job(team.project)
    job = search_for_changes(team.project, team.designer)
    page = enter(team.designer, f"/p/herobattle/jobs/{job.pk}/")
    expect(page.locator(".patch-verdict")).to_contain_text("Warhorn costs 120 instead of 90")
    expect(page.locator(".plot .fair")).to_be_visible()
    assert not serious_violations(page)
    page.emulate_media(color_scheme="dark")
    assert not serious_violations(page)
    page.set_viewport_size(PHONE)
    assert overflow(page) == 0
    page.get_by_role("button", name="Save as a data version").first.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text("Saved as")).to_be_visible()
    version = team.project.versions.first()
    assert version is not None
    assert version.patch["warhorn.cost"] == 120.0

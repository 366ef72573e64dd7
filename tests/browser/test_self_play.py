"""The page of a population that trains against itself, as people see it."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.browser.conftest import PHONE
from tests.browser.looking import overflow, serious_violations
from tests.factories import Studio
from tests.webapp.test_self_play import played

Enter = Callable[..., Page]


def test_the_ladder_and_the_course_are_for_everybody_on_any_screen(enter: Enter, team: Studio) -> None:
    page = enter(team.designer, f"/p/herobattle/jobs/{played(team).pk}/")
    expect(page.get_by_role("heading", name="Who is strongest")).to_be_visible()
    expect(page.locator("#keep")).to_contain_text("Keep this agent")
    for summary in page.locator("#polled-job summary").all():
        summary.click()
    assert serious_violations(page) == []
    page.set_viewport_size(PHONE)
    assert overflow(page) <= 0

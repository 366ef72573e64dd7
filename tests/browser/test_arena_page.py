"""The page of a course, and the form that starts one, in a real browser."""

from __future__ import annotations

from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.conftest import DESKTOP, PHONE, let_in
from tests.browser.looking import complaints
from tests.contracts.asked_kind import form
from tests.contracts.asked_kind import page as address
from tests.factories import Studio
from tests.webapp.test_arena import held


def test_a_course_and_its_form_fit_a_desktop_and_a_phone(
    team: Studio, site: str, context: BrowserContext, page: Page
) -> None:
    let_in(context, site, team.designer)
    for where in (address(held(team)), form(team, "arena")):
        page.goto(where)
        assert not complaints(page, DESKTOP, PHONE), where
    expect(page.locator("input[name=plan]:checked")).to_have_value("ladder")
    expect(page.locator("#before")).to_contain_text("AI Arena would start")

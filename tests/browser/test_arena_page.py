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


def test_the_box_of_errors_keeps_its_distance(team: Studio, site: str, context: BrowserContext, page: Page) -> None:
    let_in(context, site, team.designer)
    for size in (DESKTOP, PHONE):
        page.set_viewport_size(size)
        page.goto(form(team, "arena"))
        page.locator("[name=plan][value=own]").check(force=True)
        page.get_by_role("button", name="Start the course").click()
        expect(page.locator("[data-form-problem]")).to_be_focused()  # once the page has loaded
        box, columns = page.locator("[data-form-problem]").bounding_box(), page.locator(".columns-side").bounding_box()
        assert box is not None
        assert columns is not None
        assert columns["y"] - box["y"] - box["height"] >= 16


def test_what_is_asked_for_before_the_start_ends_quietly_when_the_form_is_changed_and_sent(
    team: Studio, site: str, context: BrowserContext, page: Page
) -> None:
    let_in(context, site, team.designer)
    errors: list[str] = []
    page.on("console", lambda line: errors.append(line.text) if "htmx" in line.text else None)
    page.route("**/before/", lambda route: None)  # nobody answers
    with page.expect_request("**/before/"):
        page.goto(form(team, "arena"))
    page.locator("[name=plan][value=own]").check(force=True)
    page.get_by_role("button", name="Start the course").click()
    expect(page.locator("[data-form-problem]")).to_be_visible()
    assert errors == []

"""The form and the page of an agent with easier starts, in a real browser."""

from __future__ import annotations

from itertools import pairwise

from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.conftest import DESKTOP, PHONE, let_in
from tests.browser.looking import complaints
from tests.contracts.asked_kind import form
from tests.contracts.asked_kind import page as address
from tests.factories import Studio
from tests.webapp.test_starts import played


def test_the_keyboard_goes_to_the_first_wrong_cell_and_rows_fit_a_narrow_page(
    team: Studio, site: str, context: BrowserContext, page: Page
) -> None:
    let_in(context, site, team.designer)
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(form(team, "starts"))
    page.locator("input[name=ball_x_max2]").fill("0.1")
    page.locator("input[name=apart3]").fill("7")
    page.get_by_role("button", name="Start the").click()
    wrong = page.locator("input[name=ball_x_max2]")
    expect(wrong).to_be_focused()
    expect(wrong).to_have_accessible_description("Must be “Along, from” or more, or no episode can begin.")
    expect(page.locator("[aria-invalid=true]")).to_have_count(2)
    boxes = page.locator(".starts-table :is(.starts-name, td[data-games]):visible").evaluate_all(
        "(all) => all.map((one) => one.getBoundingClientRect()).map((b) => [b.left, b.right, b.top, b.bottom])"
    )
    assert len(boxes) == 5 * 6
    for (_, right, _, bottom), (left, _, top, _) in pairwise(boxes):
        assert left >= right or top >= bottom, "no box lies on another"
    table = page.locator(".starts-table")
    assert table.evaluate("(one) => one.parentElement.scrollWidth <= one.parentElement.clientWidth")
    assert not complaints(page, DESKTOP, PHONE)


def test_the_page_and_its_form_fit_and_starts_are_drawn_while_they_are_typed(
    team: Studio, site: str, context: BrowserContext, page: Page
) -> None:
    let_in(context, site, team.designer)
    page.goto(address(played(team)))
    fills = page.locator(".starts-bands path").evaluate_all("(all) => all.map((one) => getComputedStyle(one).fill)")
    assert len({*fills, "none"}) == 4, "each start has a colour of its own in what is practised"
    for where in (address(played(team)), form(team, "starts")):
        page.goto(where)
        assert not complaints(page, DESKTOP, PHONE), where
    first = page.locator("figure:visible [data-mark='1']")
    before = first.bounding_box()
    page.locator("input[name=ball_x_min1]").fill("0.1")
    after = first.bounding_box()
    assert before is not None
    assert after is not None
    assert after["width"] > 3 * before["width"], "the range has grown to the left"
    said = page.locator("figure:visible [data-not-drawn]")
    expect(said).to_be_hidden()
    unfit = "a box holds no number, or one that is too small or too large"
    for wrong, why in (("0.95", "a range ends before it begins"), ("-2", unfit), ("left", unfit)):
        page.locator("input[name=ball_x_min1]").fill(wrong)
        expect(first).to_be_hidden()
        expect(said).to_have_text(f"Very easy is not drawn: {why}.")
    page.locator("input[name=ball_x_min1]").fill("0,1")
    expect(first).to_be_visible()
    expect(said).to_be_hidden()
    for setting in ("ball_x_min", "ball_x_max", "ball_y_min", "ball_y_max", "apart"):
        page.locator(f"input[name={setting}2]").fill("")
    expect(page.locator("figure:visible [data-mark='2']")).to_be_hidden()
    page.locator("select[name=game]").select_option("platform")
    expect(page.locator("input[name=first1]")).to_be_visible()
    expect(page.locator("input[name=ball_x_min1]")).to_be_hidden()
    expect(page.locator("figure:visible")).to_have_count(1)

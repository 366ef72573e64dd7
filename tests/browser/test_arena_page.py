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
    details = page.locator("#before").get_by_text("AI Arena would start")
    expect(details).to_be_hidden()
    page.locator("#before summary").click()
    expect(details).to_be_visible()


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


def own_lessons(context: BrowserContext, site: str, team: Studio, page: Page) -> None:
    """Opens the form for lessons of one's own."""
    let_in(context, site, team.designer)
    page.goto(form(team, "arena"))
    page.locator("[name=plan][value=own]").check(force=True)


def test_lessons_are_added_copied_and_moved_by_the_keyboard_and_come_back_after_a_reload(
    team: Studio, site: str, context: BrowserContext, page: Page
) -> None:
    own_lessons(context, site, team, page)
    page.locator("[name=who1]").fill("main vs luck")
    expect(page.locator("#says-1")).to_contain_text("main vs luck")
    page.get_by_role("button", name="Add a lesson").press("Enter")
    expect(page.locator("summary:focus")).to_contain_text("Lesson 2")
    expect(page.locator(".htmx-added")).to_have_count(0)  # now it listens to what is typed
    page.keyboard.press("Tab")
    page.keyboard.type("Harder")
    expect(page.locator("#says-2")).to_contain_text("Lesson 2: Harder")
    page.get_by_role("button", name="Move lesson 2 up").press("Enter")
    expect(page.locator("#says-1")).to_contain_text("Lesson 1: Harder")
    expect(page.locator("[name=who2]")).to_have_value("main vs luck")
    expect(page.get_by_role("button", name="Move lesson 1 down")).to_be_focused()
    expect(page.locator("[name=who1]")).to_be_visible()  # what was unfolded stays so
    page.reload()
    expect(page.locator("[data-typed-note]")).to_be_visible()
    expect(page.locator("#says-1")).to_contain_text("Lesson 1: Harder")
    expect(page.locator("#says-2")).to_contain_text("main vs luck")
    page.get_by_role("button", name="Remove lesson 1").press("Enter")
    expect(page.locator("[data-lesson]")).to_have_count(1)
    expect(page.locator("[name=who1]")).to_have_value("main vs luck")
    assert not complaints(page, DESKTOP, PHONE)


def test_the_table_of_entities_writes_who_plays_whom(
    team: Studio, site: str, context: BrowserContext, page: Page
) -> None:
    own_lessons(context, site, team, page)
    expect(page.locator("[data-entity]")).to_have_count(0)
    page.locator("[name=game]").select_option("tanks-two-teams")
    expect(page.locator("[data-entity]")).to_have_count(10)
    page.locator("[name=name1]").fill("main")
    page.locator("[name=plays1]").select_option("learn:sac")
    page.locator("[name=name2]").fill("foe")
    page.locator("[name=plays2]").select_option("script:random")
    page.get_by_label("Who plays red 1 in match 1").select_option("main")
    page.get_by_label("Who plays blue 1 in match 1").focus()
    page.get_by_label("Who plays blue 1 in match 1").select_option("foe")
    expect(page.locator("[name=who1]")).to_have_value("main vs foe")
    expect(page.locator("[data-entity]")).to_have_count(20)
    expect(page.get_by_label("Who plays blue 1 in match 1")).to_be_focused()
    expect(page.locator("#says-1")).to_contain_text("main vs foe")
    page.get_by_label("Who plays blue 5 in match 1").select_option("main")
    page.get_by_label("Red is steered as one in match 1").check()
    expect(page.locator("[name=who1]")).to_have_value("[[[main, main, main, main, main], foe, foe, foe, foe, main]]")
    page.locator("[name=who1]").fill("foe against main")
    page.locator("[name=who1]").press("Tab")
    expect(page.get_by_label("Who plays blue 5 in match 1")).to_have_value("main")
    expect(page.get_by_label("Red is steered as one in match 1")).not_to_be_checked()
    assert not complaints(page, DESKTOP, PHONE)

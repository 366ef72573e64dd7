"""Reports in a real browser: made by keyboard, judged on a phone, read by a link without scripts."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import PHONE
from tests.browser.looking import overflow, serious_violations
from tests.factories import Studio, search_job
from tests.webapp.experiments import experiment
from tests.webapp.published import OVER, link_to, played_again, report
from webapp.reports.models import Report, Verdict
from webapp.studies.models import Job

Enter = Callable[..., Page]


@pytest.fixture
def search(team: Studio) -> Job:
    job = search_job(team.project, rows=200)
    experiment(job)
    played_again(job, list(range(12)), OVER)
    return job


def test_a_report_is_made_by_keyboard_and_shows_what_is_typed_while_it_is_typed(
    enter: Enter, team: Studio, search: Job
) -> None:
    page = enter(team.designer, f"/p/herobattle/jobs/{search.pk}/suspects/")
    page.get_by_role("link", name="Make a report").press("Enter")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Not fair yet.")
    page.get_by_label("For which release").focus()
    page.keyboard.type("spring release")
    page.keyboard.press("Tab")
    page.keyboard.type("The captain must wait.")
    written = page.locator("#report-written")
    expect(written).to_contain_text("The captain must wait.")
    expect(written).to_contain_text("Kept")
    page.reload()
    expect(page.get_by_label("In your own words")).to_have_value("The captain must wait.")
    page.get_by_role("button", name="Publish the report").press("Enter")
    expect(page.locator(".crumb")).to_have_text("Herobattle, spring release")
    assert Report.objects.get().created_by == team.designer
    assert not serious_violations(page)


def test_on_a_phone_the_verdict_comes_first_and_a_producer_decides_at_the_foot(
    enter: Enter, team: Studio, search: Job
) -> None:
    made = report(search, team.designer)
    page = enter(team.producer, "/")
    page.set_viewport_size(PHONE)
    page.goto("/")
    page.get_by_role("link", name="Not fair yet.").click()
    assert (
        page.get_by_role("heading", level=1).bounding_box()["y"] < page.locator("#report-suspects").bounding_box()["y"]
    )
    assert overflow(page) <= 0
    for top in (0, 10_000):
        page.mouse.wheel(0, top)
        expect(page.get_by_role("button", name="Accept")).to_be_in_viewport()
    page.locator("summary", has_text="Send back").click()
    page.get_by_label("What is missing, or must change").fill("The Duke is missing")
    page.get_by_role("button", name="Send it back").click()
    expect(page.locator("#judge-title")).to_have_text("Sent back")
    assert Verdict.objects.get().report == made
    assert not serious_violations(page)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_link_opens_the_report_without_scripts_on_a_phone(
    browser: Browser, site: str, team: Studio, search: Job, theme: str
) -> None:
    address = link_to(report(search, team.designer), team.designer)[1]
    context = browser.new_context(
        base_url=site, viewport=PHONE, java_script_enabled=False, color_scheme="light" if theme == "light" else "dark"
    )
    page = context.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(address)
    expect(page.get_by_role("heading", level=1)).to_contain_text("Not fair yet.")
    page.locator("summary", has_text="What was not tested").click()
    expect(page.get_by_text("What only three pieces or more do together")).to_be_visible()
    assert page.locator("main").bounding_box()["width"] <= PHONE["width"]
    assert [url for url in asked if not url.endswith(address)] == []
    context.close()

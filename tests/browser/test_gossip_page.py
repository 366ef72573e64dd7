"""The pages of agents that learn side by side, and of evolution and learning, in a real browser."""

from __future__ import annotations

import re

from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.conftest import DESKTOP, PHONE, let_in
from tests.browser.looking import complaints
from tests.contracts.asked_kind import form
from tests.contracts.asked_kind import page as address
from tests.engine.test_aesrl import study
from tests.factories import Studio
from tests.webapp.recorded import recorded
from tests.webapp.test_gossip import played
from webapp.studies.models import Job, Status

PICKED = re.compile(r"\blines-picked\b")


def test_the_pages_and_their_forms_fit_a_desktop_and_a_phone(
    team: Studio, site: str, context: BrowserContext, page: Page
) -> None:
    let_in(context, site, team.designer)
    together = recorded(team, study(method={"kind": "aes-rl", "least_lessons": 1}, chunk=10), "Together")
    pages = [*(address(played(team, staleness)) for staleness in (0, None)), address(together)]
    for where in (*pages, form(team, "aes-rl"), form(team, "gossip")):
        page.goto(where)
        assert not complaints(page, DESKTOP, PHONE), where
    expect(page.locator("input[name=topology]:checked")).to_have_value("ring")


def test_an_agent_s_line_is_picked_out_by_pointer_and_by_keyboard_and_a_pressed_name_keeps_it(
    team: Studio, site: str, context: BrowserContext, page: Page
) -> None:
    let_in(context, site, team.designer)
    page.goto(address(played(team)))
    chart = page.locator("[data-lines]").first
    names, picked = (
        chart.locator("button[data-line]"),
        chart.locator("svg.lines-chart g[data-line].lines-picked path.other"),
    )
    expect(picked).to_have_count(0)
    names.nth(1).hover()
    expect(picked).to_have_count(1)
    expect(names.nth(1)).to_have_class(PICKED)
    page.mouse.move(0, 0)
    expect(picked).to_have_count(0)
    names.nth(2).focus()
    expect(names.nth(2)).to_have_class(PICKED)
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    expect(names.nth(2)).to_have_attribute("aria-pressed", "true")
    expect(names.nth(2)).to_have_class(PICKED)
    chart.locator('g[data-line="Agent 1"] .lines-reach').dispatch_event("pointerover")
    expect(names.nth(0)).to_have_class(PICKED)
    expect(names.nth(2)).not_to_have_class(PICKED)
    names.nth(2).click()
    expect(picked).to_have_count(0)


def test_a_page_that_is_watched_to_the_end_offers_the_agent_and_no_longer_says_that_the_job_goes_on(
    team: Studio, site: str, context: BrowserContext, page: Page
) -> None:
    let_in(context, site, team.designer)
    job = played(team)
    left = job.artifacts
    Job.objects.filter(pk=job.pk).update(status=Status.RUNNING, finished_at=None, artifacts={})
    page.goto(address(job))
    goes_on, take = page.locator("[data-goes-on]"), page.locator("a[data-take]")
    expect(goes_on).to_be_visible()
    expect(take).to_be_hidden()
    Job.objects.filter(pk=job.pk).update(status=Status.FINISHED, finished_at=job.finished_at, artifacts=left)
    expect(take).to_be_visible(timeout=30_000)
    expect(goes_on).to_be_hidden()

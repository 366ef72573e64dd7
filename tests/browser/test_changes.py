"""Trying a change in a real browser: what was typed stays, on a phone too. ``test_loop.py`` tries one by keyboard."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.browser.conftest import PHONE
from tests.factories import Studio, search_job
from tests.webapp.experiments import DUKE, experiment
from tests.webapp.replays import shortlist

Enter = Callable[..., Page]


def test_numbers_that_were_typed_and_not_tried_stand_there_again_after_a_reload(enter: Enter, team: Studio) -> None:
    search = search_job(team.project)
    experiment(search)
    shortlist(search)
    for address in ("suspects", "change"):
        page = enter(team.designer, f"/p/herobattle/jobs/{search.pk}/{address}/?suspect={DUKE}")
        card = page.locator("#change-card")
        card.get_by_text("Change another number").click()
        card.get_by_label("Number", exact=True).select_option(index=1)
        card.get_by_role("button", name="Add", exact=True).click()
        boxes = card.get_by_label("New value")
        expect(boxes).to_have_count(2)
        boxes.nth(0).fill("333")
        boxes.nth(1).fill("1x")
        expect(page).to_have_url(re.compile("=333&.*=1x"))  # the browser hears of it from the page a moment later
        page.reload()
        expect(boxes).to_have_count(2)
        expect(boxes.nth(0)).to_have_value("333")
        expect(boxes.nth(1)).to_have_value("1x")
        expect(card.locator("legend").first).to_contain_text("Marrow Duke")


def test_on_a_phone_nothing_is_wider_than_the_window(enter: Enter, team: Studio) -> None:
    search = search_job(team.project)
    experiment(search)
    shortlist(search)
    page = enter(team.designer, "/")
    page.set_viewport_size(PHONE)
    page.goto(f"/p/herobattle/jobs/{search.pk}/change/?suspect={DUKE}")
    expect(page.get_by_role("heading", name="Try a change", exact=True)).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")

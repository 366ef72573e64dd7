"""The page of agents that learn side by side, in a real browser."""

from __future__ import annotations

from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.conftest import DESKTOP, PHONE, let_in
from tests.browser.looking import complaints
from tests.factories import Studio
from tests.webapp.test_gossip import form, played
from tests.webapp.test_gossip import page as address


def test_the_page_and_its_form_fit_a_desktop_and_a_phone(
    team: Studio, site: str, context: BrowserContext, page: Page
) -> None:
    let_in(context, site, team.designer)
    for where in (address(played(team)), address(played(team, staleness=None)), form(team)):
        page.goto(where)
        assert not complaints(page, DESKTOP, PHONE), where
    expect(page.get_by_label("Who takes over from whom")).to_have_value("ring")

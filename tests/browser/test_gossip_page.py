"""The pages of agents that learn side by side, and of evolution and learning, in a real browser."""

from __future__ import annotations

from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.conftest import DESKTOP, PHONE, let_in
from tests.browser.looking import complaints
from tests.contracts.asked_kind import form
from tests.contracts.asked_kind import page as address
from tests.engine.test_aesrl import study
from tests.factories import Studio
from tests.webapp.recorded import recorded
from tests.webapp.test_gossip import played


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

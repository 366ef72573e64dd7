"""Lineups that an agent plays, in a real browser: chosen on New job, and a search's lineups replayed under it."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.browser.conftest import PHONE
from tests.browser.looking import overflow, serious_violations
from tests.factories import Studio, search_job
from tests.webapp.agents import ada
from tests.webapp.replays import finished, shortlist
from webapp.studies.models import Job

Enter = Callable[..., Page]


def test_an_agent_is_chosen_on_new_job_and_a_search_s_lineups_are_replayed_under_it(enter: Enter, team: Studio) -> None:
    search = search_job(team.project)
    shortlist(search)
    ada(team.project)
    page = enter(team.designer, "/p/herobattle/jobs/new/")
    page.get_by_label("Who leads both sides").select_option("Ada")
    panel = page.locator(".before")
    expect(panel).to_contain_text("Both sides led by")
    expect(page.locator("#experiment-tick")).to_be_disabled()
    expect(page.locator("[data-experiment-text]")).to_contain_text("battles that the script fights")
    sample = Job.objects.filter(kind="sample").latest("pk")
    assert sample.config["game"]["commander"]["title"] == "Ada"

    page.goto(f"/p/herobattle/jobs/{search.pk}/")
    page.get_by_role("link", name="replay its lineups under an agent").click()
    expect(page.get_by_role("heading", name="Is it unfair under good play, too?")).to_be_visible()
    assert not serious_violations(page)
    page.get_by_role("button", name="Replay these under the agent").click()
    expect(page.get_by_role("heading", name="Under Ada: Which teams are unfair?")).to_be_visible()
    finished(Job.objects.get(kind="change"))
    expect(page.get_by_role("columnheader", name="Under Ada", exact=True)).to_be_visible()
    expect(page.locator("#trial .change-headline")).to_contain_text("Fresh battles under the script")
    assert not serious_violations(page)
    page.set_viewport_size(PHONE)
    assert overflow(page) <= 0
    verdict = page.locator(".change-verdict").first.bounding_box()
    assert verdict is not None
    assert verdict["width"] >= 200, "a sentence with a word on each line is no sentence"

"""Hunts for bugs in a real browser: asked for, then read at any width and in both themes."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.browser.conftest import PHONE
from tests.browser.looking import overflow, serious_violations
from tests.factories import Studio
from tests.webapp.hunted import hunted
from webapp.hunts import found
from webapp.studies.models import Job

Enter = Callable[..., Page]


def test_a_hunt_is_asked_for_and_its_bugs_are_read_at_any_width(enter: Enter, team: Studio) -> None:
    page = enter(team.designer, "/p/herobattle/jobs/new/hunt/")
    expect(page.get_by_role("heading", name="Where does the game break?", level=1)).to_be_visible()
    page.get_by_label("Decisions in all").fill("20000")
    page.get_by_label("Decisions in all").blur()
    expect(page.locator("#before")).to_contain_text("more than 20,000")
    page.get_by_label("Decisions in all").fill("100000")
    page.get_by_label("Decisions in all").blur()
    expect(page.get_by_text("100,000 decisions buy up to 2 rounds of 4 agents")).to_be_visible()
    page.get_by_label("Decisions in all").press("End")
    page.get_by_label("Decisions in all").press_sequentially("0")  # still in the field
    expect(page.get_by_text("1,000,000 decisions buy up to 3 rounds of 30 agents")).to_be_visible()
    for method in ("random", "evolution"):
        page.get_by_label("Method").select_option(method)  # the second before the first is answered
    expect(page.get_by_text("1,000,000 decisions buy up to 22 rounds of 30 agents")).to_be_visible()
    page.get_by_label("Method").select_option("wuji")
    page.get_by_label("Decisions in all").fill("100000")
    assert not serious_violations(page)
    page.get_by_role("button", name="Start the hunt").click()
    expect(page.get_by_text("0 of 100,000 decisions")).to_be_visible()
    assert Job.objects.get(kind="hunt").config["decisions"] == 100_000
    job = hunted(team)
    kept = found.of(job)
    assert kept is not None
    page.goto(f"/p/herobattle/jobs/{job.pk}/")
    expect(page.locator(".hunt-map .bug")).to_have_count(len(kept.bugs))
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert not serious_violations(page)
    page.set_viewport_size(PHONE)
    assert overflow(page) == 0
    expect(page.get_by_role("columnheader", name="Decisions to it")).to_be_hidden()
    number = page.locator(".hunt-bugs th[scope=row]").first.bounding_box()
    assert number is not None
    assert number["width"] < 60, "a number takes no more room than it needs"

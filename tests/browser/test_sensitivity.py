"""How hard did we look, in a real browser: asked for by keyboard, its cost said first, and read on a phone too."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.browser.conftest import PHONE
from tests.browser.looking import overflow, serious_violations
from tests.factories import Studio, search_job
from tests.webapp.experiments import NOTHING, experiment
from tests.webapp.sensitivities import over
from webapp.studies.models import Job

Enter = Callable[..., Page]
FOUND = {("piece", 3.0): 1, ("piece", 5.0): 18, ("piece", 8.0): 20, ("pair", 5.0): 9, ("pair", 8.0): 17}


def test_a_sensitivity_is_asked_for_from_suspects_and_read_at_any_width(enter: Enter, team: Studio) -> None:
    search = search_job(team.project)
    experiment(search, NOTHING)
    page = enter(team.designer, f"/p/herobattle/jobs/{search.pk}/suspects/")
    expect(page.get_by_text("Nothing found; sensitivity not measured.")).to_be_visible()
    page.get_by_role("link", name="Measure the sensitivity").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="How hard did we look?", level=1)).to_be_visible()
    page.wait_for_load_state()
    plantings = page.get_by_label("Plantings of each size")
    page.get_by_label("Pairs").check()
    plantings.fill("20")
    plantings.press("Enter")
    expect(page.get_by_text("120 plantings:").first).to_be_visible()
    expect(plantings).to_have_value("20")
    assert not serious_violations(page)
    page.get_by_label("It may take that long").check()
    page.get_by_role("button", name="Start the sensitivity").press("Enter")
    expect(page.get_by_text("0 plantings", exact=True)).to_be_visible()
    job = over(Job.objects.get(kind="sensitivity"), FOUND, beside=True)
    page.goto(page.url)
    expect(page.get_by_text("A piece 5 points too strong or too weak is found in 18 of 20 plantings")).to_be_visible()
    expect(page.locator(".plot .piece")).to_have_count(3)
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert not serious_violations(page)
    page.set_viewport_size(PHONE)
    assert overflow(page) == 0
    page.goto(page.url.replace(f"/jobs/{job.pk}/", f"/jobs/{search.pk}/suspects/"))
    expect(page.get_by_text("A piece 5 points too strong or too weak is found in 18 of 20 plantings")).to_be_visible()
    assert overflow(page) == 0
    expect(page.get_by_role("link", name="How it was measured")).to_have_attribute(
        "href", f"/p/herobattle/jobs/{job.pk}/"
    )

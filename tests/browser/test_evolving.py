"""Searching for training settings in a real browser: the form, and the live page of what the engine found."""

from __future__ import annotations

import re
import time
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import DESKTOP, PATIENCE_S
from tests.browser.looking import overflow, serious_violations
from tests.factories import Studio
from tests.webapp.evolutions import config, evolved
from webapp.lib.figures import percent
from webapp.studies.models import Job

Enter = Callable[..., Page]
NARROW = {"width": 390, "height": 800}


def well_made(page: Page) -> None:
    """Nothing serious for axe, and nothing wider than a wide window or a phone."""
    assert serious_violations(page) == []
    for size in (NARROW, DESKTOP):
        page.set_viewport_size(size)
        deadline = time.monotonic() + PATIENCE_S
        while overflow(page) and time.monotonic() < deadline:
            page.wait_for_timeout(50)  # charts follow the window a moment later
        assert overflow(page) == 0
        for tabs in page.locator(".segments").all():
            assert tabs.evaluate("(tabs) => tabs.scrollWidth - tabs.clientWidth") <= 1


def test_a_search_for_settings_is_composed_and_what_is_wrong_is_shown_where_it_is(enter: Enter, team: Studio) -> None:
    page = enter(team.designer, f"/p/{team.project.slug}/train/settings/")
    expect(page.locator("[data-note]")).to_contain_text("Training a few seconds")
    rate = page.get_by_role("textbox", name="Learning rate", exact=True).first
    expect(rate).to_have_value("0.0001 to 0.01")
    page.get_by_text("DQN", exact=True).click()
    expect(page.locator('input[value="cartpole-dqn"]')).to_be_checked()
    rate.fill("0.01 to 0.0001")
    expect(page.locator('[data-errors="learner.rate"]')).to_contain_text("from low to high")
    rate.fill("0.002")
    page.get_by_role("button", name="Start the search").click()
    expect(page.get_by_text("1 field needs a look")).to_be_visible()
    expect(page.locator('[data-errors="learner.rate"]')).to_contain_text("Nothing is left to search")
    expect(rate).to_have_value("0.002")
    page.locator("[data-method] > summary").click()
    page.locator('input[value="map-elites"]').check()
    expect(page.get_by_label("Told apart by")).to_be_visible()
    page.locator("[data-method] .fold > summary").click()
    expect(page.get_by_label("Cells in each direction")).to_be_visible()
    expect(page.get_by_label("When a player copies another")).to_be_hidden()
    page.get_by_role("button", name="Another goal").click()
    expect(page.get_by_label("Goal 3", exact=True)).to_be_focused()
    page.get_by_label("Goal 2", exact=True).select_option("length")
    page.get_by_label("Cells in each direction").fill("many")
    expect(page.locator('[data-errors="map-elites-bins"]')).to_contain_text("not a number")
    well_made(page)
    rate.fill("0.0001 to 0.01")
    page.get_by_label("Cells in each direction").fill("4")
    expect(page.locator("[data-kept]")).to_be_visible()
    expect(page.locator('[data-errors="map-elites-bins"]')).to_be_empty()
    page.goto(page.url)  # a reload would send the form again
    expect(page.get_by_label("Cells in each direction")).to_have_value("4")
    page.get_by_label("Goal 2", exact=True).select_option("")
    page.get_by_role("button", name="Start the search").click()
    expect(page.locator("[data-doing]")).to_contain_text("waits")
    job = Job.objects.get(kind="evolve")
    assert (job.config["algorithm"]["bins"], len(job.config["objectives"])) == (4, 1)


def the_map_is_told_as_it_is(page: Page) -> None:
    """Tile and note tell the same share, and the cells at the ends are told as open."""
    filled = re.search(r"(\d+) of (\d+) cells are filled", page.locator("[data-note]").inner_text())
    assert filled
    share = percent(int(filled[1]) / int(filled[2]))
    expect(page.locator("[data-own]")).to_have_text(share)
    expect(page.locator("[data-own-note]")).to_have_text("share of the map that is filled, on fresh episodes")
    expect(page.locator("[data-chart] .xtick text").filter(has_text="and more")).to_have_count(1)
    expect(page.locator("[data-chart] .xtick text").filter(has_text="up to")).to_have_count(1)


def the_tiles_tell_players_of_the_table(page: Page) -> None:
    """Each tile has the furthest player on fresh episodes, as its row of the table has it."""
    rows = [row.locator("td").all_inner_texts() for row in page.locator("[data-best-body] tr").all()]
    for goal in (0, 1):
        note = page.locator("[data-best-note]").nth(goal).inner_text()
        found = re.match(r"player (#\d+), on fresh episodes", note)
        assert found, note
        value = page.locator("[data-best-value]").nth(goal).inner_text()
        told = next(row[1 + goal] for row in rows if row[0] == found[1])
        assert told.split("\u00a0±")[0] == value


@pytest.mark.parametrize(
    ("kind", "second", "title", "own"),
    [
        ("pbt", "length", "Length of an episode", "Who copied whom"),
        # All who are hardly trained may lose as soon; which way they move meanwhile differs on every processor.
        ("map-elites", "moved", "Moved", "Map"),
    ],
)
def test_the_page_of_a_search_for_settings_shows_how_it_went(
    enter: Enter, team: Studio, kind: str, second: str, title: str, own: str
) -> None:
    goals = [{"measure": "return"}, {"measure": second, "direction": "min"}]
    job = evolved(team.project, config(kind, objectives=goals))
    page = enter(team.designer, f"/p/{team.project.slug}/jobs/{job.pk}/")
    expect(page.locator("[data-round]")).to_have_text("Round 3 of 3")
    expect(page.locator("[data-best-value]").first).to_contain_text(re.compile(r"\d"))
    expect(page.locator("[data-chart] .scatterlayer .trace").first).to_be_attached()
    expect(page.locator("[data-body] tr")).to_have_count(3)
    expect(page.locator("[data-chart] .annotation")).to_have_text([re.compile("Return"), re.compile(title)])
    rounds = page.locator("[data-chart] .xtick text").all_text_contents()
    assert rounds == ["1", "2", "3"]
    expect(page.locator("[data-best-name]")).to_have_text([re.compile("Highest return"), re.compile("Lowest")])
    expect(page.locator("[data-best-body] tr").first).to_be_visible()
    the_tiles_tell_players_of_the_table(page)
    page.get_by_role("button", name="Edge", exact=True).click()
    expect(page.locator("[data-head]")).to_contain_text(title)
    expect(page.locator("[data-legend]")).to_contain_text("On fresh episodes")
    assert page.locator("[data-body] tr").count() >= 1
    page.get_by_role("button", name="Settings", exact=True).click()
    expect(page.locator("[data-head]")).to_contain_text("Weight of the entropy")
    expect(page.locator("[data-chart] .xtick tspan", has_text="Learning rate")).to_be_attached()
    expect(page.locator("[data-body] tr")).to_have_count(12)
    page.locator("summary", has_text="The same as a table").click()
    well_made(page)
    page.get_by_role("button", name=own).click()
    expect(page.locator("[data-head]")).to_contain_text("Player")
    well_made(page)
    if kind == "map-elites":
        the_map_is_told_as_it_is(page)
    with page.expect_download() as taken:
        page.get_by_role("link", name="Download the best player").click()
    assert taken.value.suggested_filename == f"policy-{job.pk}.zip"
    page.get_by_role("button", name="Run again with changes").click()
    expect(page.get_by_role("textbox", name="Learning rate", exact=True).first).to_have_value("0.0001 to 0.1")

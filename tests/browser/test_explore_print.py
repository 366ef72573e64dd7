"""The explorer on paper: charts as wide as the sheet, the first rows of the table, and nothing to press."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, ViewportSize, expect

from tests.browser.conftest import DESKTOP
from tests.browser.looking import overflow
from tests.factories import search_job, studio

PAPERS: list[ViewportSize] = [
    {"width": 794, "height": 1123},
    {"width": 1123, "height": 794},
    {"width": 1400, "height": 990},
]
ROWS = 50


@pytest.fixture
def printed(enter: Callable[..., Page], site: str) -> Page:
    """The explorer of a search, as print shows it."""
    team = studio()
    job = search_job(team.project, rows=3000)
    page = enter(team.designer, f"/p/herobattle/jobs/{job.pk}/explore/")
    page.locator("html[data-explorer=painted]").wait_for(state="attached")
    page.emulate_media(media="print")
    return page


def test_a_sheet_of_any_width_has_the_charts_and_the_first_rows(printed: Page) -> None:
    rows = printed.locator(".lineups tbody tr[id]")
    for paper in PAPERS:
        printed.set_viewport_size(paper)
        expect(rows).to_have_count(ROWS)
        expect(printed.locator("[data-rows]")).to_contain_text(f"Lineups 1 to {ROWS} of ")
        for gone in ("[data-filters]", ".explore-bar", "[data-open-filters]", ".take-away", ".bar"):
            expect(printed.locator(gone).first).to_be_hidden()
        card, chart = (
            printed.locator(part).evaluate("part => part.getBoundingClientRect().width")
            for part in ("[data-chart-card]", "[data-pairs]")
        )
        assert card > 0.9 * paper["width"]
        assert 0.7 * card < chart < card
        assert overflow(printed) == 0


def test_the_screen_is_as_it_was_when_the_print_is_over(printed: Page) -> None:
    expect(printed.locator(".lineups tbody tr[id]")).to_have_count(ROWS)
    printed.emulate_media(media="screen")
    expect(printed.locator(".lineups tbody tr[id]")).not_to_have_count(ROWS)
    printed.set_viewport_size(DESKTOP)
    expect(printed.locator("[data-filters]")).to_be_visible()
    large = printed.locator("[data-pairs]").bounding_box()
    charts = printed.locator("[data-charts]").bounding_box()
    assert large is not None
    assert charts is not None
    assert abs(charts["width"] - 16 - large["width"]) < 1

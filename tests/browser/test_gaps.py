"""Paragraphs, legends and tables of a card stand apart, and rows in line, on screens of any width."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, ViewportSize, expect

from tests.browser.conftest import DESKTOP, PHONE
from tests.factories import Studio, game_version, search_job
from tests.webapp.test_compare import another

Enter = Callable[..., Page]
GAPS = """body => Array.from(body.children).slice(1).map((each, i) =>
  each.getBoundingClientRect().top - body.children[i].getBoundingClientRect().bottom)"""


@pytest.mark.parametrize("size", [DESKTOP, PHONE])
def test_what_stands_in_the_cards_of_home_and_compare_does_not_touch(
    enter: Enter, team: Studio, size: ViewportSize
) -> None:
    first = search_job(team.project)
    second = another(first)
    page = enter(team.designer, "/")
    page.set_viewport_size(size)
    compare = f"/p/{team.project.slug}/jobs/compare/?job={first.pk}&job={second.pk}"
    for path, card in (("/", "#last-front .card-body"), (compare, "[aria-labelledby=results-title] .card-body")):
        page.goto(path)
        gaps = page.locator(card).evaluate(GAPS)
        assert len(gaps) >= 3
        assert min(gaps) >= 4, (path, gaps)


@pytest.mark.parametrize("size", [DESKTOP, PHONE])
def test_what_is_played_at_the_end_is_a_list_whose_names_and_numbers_stand_in_line(
    enter: Enter, team: Studio, size: ViewportSize
) -> None:
    page = enter(team.designer, "/")
    page.set_viewport_size(size)
    game_version(team.project)
    page.goto(f"/p/{team.project.slug}/jobs/new/")
    rows = page.locator("[data-rows] .pairs-group .pairs > div")
    expect(rows.first).to_contain_text("The edge again")
    for name, side in (("dt", "left"), ("dd", "right")):
        words = f"""rows => rows.map(row => {{ const range = document.createRange();
            range.selectNodeContents(row.querySelector("{name}")); return range.getBoundingClientRect().{side}; }})"""
        ends = rows.evaluate_all(words)
        assert len(ends) >= 2
        assert max(ends) - min(ends) < 2, (name, ends)

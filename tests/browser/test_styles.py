"""Breeding styles of play in a real browser: the form with its preview, and the live page of what was bred."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

from engine.config import parse
from engine.config.styles import StylesConfig
from tests.browser.test_evolving import well_made
from tests.factories import Studio
from tests.webapp.bred import SHORT, bred, config, sampled
from webapp.studies.models import Job
from webapp.training.models import TrainDraft

Enter = Callable[..., Page]


def test_a_style_is_composed_and_its_value_on_sample_episodes_follows_what_is_typed(enter: Enter, team: Studio) -> None:
    sampled(team.project)
    TrainDraft.objects.create(project=team.project, user=team.designer, page="style",
                              form={"game": "pong", "game.settings": SHORT})  # fmt: skip
    page = enter(team.designer, f"/p/{team.project.slug}/styles/")
    expect(page.locator('[data-picture="style"]')).to_contain_text("Follows the ball")
    expect(page.get_by_text("This game does not tell when a player attacks first.")).to_be_visible()
    said = page.locator("[data-balance]")
    expect(said).to_contain_text("drawn to one of two ends, busy or calm")
    before = said.inner_text()
    page.locator("#id_matters").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("End")
    expect(said).not_to_have_text(before)
    page.locator("summary", has_text="As numbers").click()
    expect(page.locator("[data-weights]")).to_contain_text("−0.1 to 0.1")
    well_made(page)
    page.get_by_role("button", name="Write formulas of your own, beginning with these").click()
    style = page.get_by_role("textbox", name="Style", exact=True)
    expect(style).to_have_value("2 * moved - 1")
    expect(page.get_by_label("How much the style matters")).to_have_value("-0.1 to 0.1")
    expect(page.get_by_label("Told apart by")).to_have_value("moved")
    expect(page.locator("[data-weights]")).to_contain_text("−0.1 to 0.1")
    page.locator("#id_matters").focus()
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_label("How much the style matters")).to_have_value("")
    style.fill("3")
    expect(page.locator('[data-errors="style"]')).to_contain_text("it names no signal")
    style.fill("stayed +")
    expect(page.locator('[data-errors="style"] p')).to_have_count(1)
    page.get_by_role("group", name="Names that formulas of a decision may use").get_by_role(
        "button", name="hit", exact=True
    ).click()
    expect(style).to_have_value("stayed + hit")
    expect(style).to_be_focused()
    expect(page.locator('[data-errors="style"]')).to_be_empty()
    expect(page.locator('[data-picture="style"]')).to_contain_text(re.compile(r"Random: [\d.]+ to [\d.]+ an episode"))
    well_made(page)
    page.get_by_label("How much the style matters").fill("0.5 to 0.1")
    expect(page.locator('[data-errors="w2"]')).to_contain_text("from low to high")
    page.get_by_role("button", name="Breed the agents").click()
    expect(page.get_by_text("1 field needs a look")).to_be_visible()
    expect(style).to_have_value("stayed + hit")
    page.get_by_label("How much the style matters").fill("0.1 to 0.5")
    page.locator("summary", has_text="More: how many agents").click()
    page.get_by_label("Agents", exact=True).fill("4")
    page.get_by_role("button", name="Breed the agents").click()
    expect(page.locator(".job-now")).to_contain_text("0 of 8 rounds complete")
    job = Job.objects.get(kind="style")
    assert job.config["task"]["style"]["w2"] == [0.1, 0.5]
    assert [goal["measure"] for goal in job.config["objectives"]] == ["busy", "calm"]


def test_another_game_begins_with_the_settings_tuned_for_it(enter: Enter, team: Studio) -> None:
    page = enter(team.designer, f"/p/{team.project.slug}/styles/")
    page.locator("details[data-more] summary").first.click()
    expect(page.locator('[name="preset"]:checked')).to_have_value("ppo-usual")
    page.locator('[name="game"][value="pong"]').check()
    expect(page.locator('[name="preset"]:checked')).to_have_value("pong-ppo")


def test_the_page_of_a_search_for_styles_shows_what_it_proves(enter: Enter, team: Studio) -> None:
    job = bred(team.project)
    page = enter(team.designer, f"/p/{team.project.slug}/jobs/{job.pk}/")
    expect(page.get_by_role("heading", name="Are these really different styles?")).to_be_visible()
    expect(page.get_by_role("button", name="Run the control")).to_be_visible()
    page.locator("summary", has_text="The same as a table").first.click()
    well_made(page)
    bred(team.project, parse(StylesConfig, {**job.config, "selection": False}), parent=job, title="Control: it")
    page.reload()
    expect(page.get_by_role("columnheader", name="Control")).to_be_visible()
    well_made(page)


def test_a_short_table_is_read_whole_and_a_long_one_has_a_shade_where_it_goes_on(enter: Enter, team: Studio) -> None:
    job = bred(team.project, config(algorithm={"kind": "nsga2", "population": 6}))
    page = enter(team.designer, f"/p/{team.project.slug}/jobs/{job.pk}/")
    page.set_viewport_size({"width": 1400, "height": 900})
    page.locator(".style-pair summary", has_text="The same as a table").click()
    table = page.get_by_role("region", name="Those that stayed")
    expect(table.locator("tbody tr")).to_have_count(6)
    assert table.evaluate("box => box.scrollHeight <= box.clientHeight")
    table.locator("tbody").evaluate("body => body.append(...[...body.rows].map((row) => row.cloneNode(true)))")
    assert table.evaluate("box => box.scrollHeight > box.clientHeight")
    backgrounds = table.evaluate("box => getComputedStyle(box).backgroundImage")
    assert backgrounds.count("to top") == 2, "a shade at the lower end, and its cover"
    apart = page.get_by_role("region", name="Spread and skill").locator("td.number", has_text="apart")
    assert apart.evaluate("cell => getComputedStyle(cell).whiteSpace") == "nowrap"

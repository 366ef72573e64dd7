"""The New job page under a designer's hands: the line of each question, and whose it is."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from tests.browser.looking import serious_violations
from tests.factories import Studio, game_version, studio
from tests.webapp.test_jobs_new import finished_sample
from webapp.balance import lines
from webapp.studies import journal
from webapp.studies.journal import Entry
from webapp.studies.models import Job

Enter = Callable[..., Page]
PROPOSED, TYPED, KEPT = "Proposed from random lineups.", "Typed by you.", "Kept by the project for this question."


@pytest.fixture
def team(site: str) -> Studio:
    made = studio()
    game_version(made.project)
    return made


def played(page: Page) -> None:
    """Play the random lineups that the page waits for: from 0 to 100."""
    expect(page.locator("[data-chart-words]")).to_contain_text("Random lineups of your game are played next")
    sample = Job.objects.filter(kind="sample", artifacts={}).latest("pk")
    finished_sample(sample, lambda name: np.linspace(0.0, 100.0 if name == "left" else 4.0, 200))
    journal.append(sample, {}, [Entry("finished", {"artifacts": {}})])
    expect(page.locator("[data-line-from]")).to_be_visible()


def ask(page: Page, question: str) -> None:
    page.locator(f"[name=question][value={question}]").check()


def test_who_comes_back_to_a_question_finds_the_line_there_and_whose_it_is(enter: Enter, team: Studio) -> None:
    lines.keep(team.project, team.designer, "first", "seat", 33.0)
    page = enter(team.designer, "/p/herobattle/jobs/new/")
    line, origin = page.locator("#id_line"), page.locator("[data-line-from]")
    played(page)
    expect(origin).to_have_text(PROPOSED)
    proposed = line.input_value()
    ask(page, "useless")
    played(page)
    expect(origin).to_have_text(PROPOSED)
    line.fill("12,5")
    expect(origin).to_have_text(TYPED)
    ask(page, "unfair")
    expect(line).to_have_value(proposed)
    expect(origin).to_have_text(PROPOSED)
    ask(page, "first")
    expect(line).to_have_value("33")
    expect(origin).to_have_text(KEPT)
    ask(page, "useless")
    expect(line).to_have_value("12,5")
    expect(origin).to_have_text(TYPED)
    expect(page.locator("[data-at-least]")).to_have_text("is at most")
    page.wait_for_timeout(1500)
    expect(line).to_have_value("12,5")
    page.reload()
    expect(line).to_have_value("12,5")
    expect(origin).to_have_text(TYPED)
    ask(page, "unfair")
    expect(line).to_have_value(proposed)
    page.wait_for_timeout(1000)  # until what changed is asked for
    expect(page.locator(".before.unsettled")).to_have_count(0)
    assert serious_violations(page) == []


def test_the_line_of_the_newest_search_is_shown_and_another_is_proposed_on_request(enter: Enter, team: Studio) -> None:
    page = enter(team.designer, "/p/herobattle/jobs/new/")
    line, origin = page.locator("#id_line"), page.locator("[data-line-from]")
    played(page)
    proposed = line.input_value()
    line.fill("2.3")
    page.get_by_role("button", name="Start the search").click()
    expect(page).to_have_url(re.compile(r"/jobs/\d+/$"))
    page.goto("/p/herobattle/jobs/new/")
    expect(line).to_have_value("2.3")
    expect(origin).to_have_text(re.compile(r"From job \d+, the newest search of this question\."))
    page.get_by_role("button", name="Propose anew from random lineups").click()
    expect(line).to_have_value(proposed)
    expect(origin).to_have_text(PROPOSED)
    expect(page.get_by_role("button", name="Propose anew from random lineups")).to_be_hidden()


def test_a_line_of_one_measure_is_not_taken_for_another(enter: Enter, team: Studio) -> None:
    page = enter(team.designer, "/p/herobattle/jobs/new/")
    line, origin = page.locator("#id_line"), page.locator("[data-line-from]")
    played(page)
    line.fill("2.5")
    page.locator("#id_measure").select_option("gap")
    expect(line).to_have_value("")
    expect(origin).to_be_hidden()
    page.get_by_role("button", name="Take").click()
    expect(line).not_to_have_value("")
    expect(origin).to_have_text(PROPOSED)
    page.locator("#id_measure").select_option("advantage")
    expect(line).to_have_value("2.5")
    expect(origin).to_have_text(TYPED)


def test_what_was_told_of_the_line_before_goes_when_no_number_is_typed(enter: Enter, team: Studio) -> None:
    page = enter(team.designer, "/p/herobattle/jobs/new/")
    line, told = page.locator("#id_line"), page.locator("[data-line-from], [data-advice], [data-sample-text]")
    played(page)
    proposed = line.input_value()
    expect(page.locator("[data-advice]")).to_be_visible()
    line.fill("abc")
    expect(page.locator('[data-errors="line"]')).to_contain_text("abc")
    for i in range(3):
        expect(told.nth(i)).to_be_hidden()
    line.fill(proposed)
    expect(page.locator("[data-advice]")).to_be_visible()


def test_no_bar_stands_behind_the_words_of_the_line(enter: Enter, team: Studio) -> None:
    page = enter(team.designer, "/p/herobattle/jobs/new/")
    played(page)
    for question in ("unfair", "useless"):
        ask(page, question)
        if question == "useless":
            played(page)
        expect(page.locator("[data-chart] .bars .point").first).to_be_attached()
        page.wait_for_timeout(500)
        words = [note.bounding_box() for note in page.locator("[data-chart] .annotation-text").all()]
        bars = [bar.bounding_box() for bar in page.locator("[data-chart] .bars .point").all()]
        lowest = max(note["y"] + note["height"] for note in words if note)
        assert lowest <= min(bar["y"] for bar in bars if bar) + 1


def test_a_line_that_is_the_most_a_lineup_may_have_is_told_so(enter: Enter, team: Studio) -> None:
    page = enter(team.designer, "/p/herobattle/jobs/new/")
    played(page)
    ask(page, "useless")
    played(page)
    expect(page.locator("[data-over]")).to_have_text("useless")
    expect(page.locator("[data-chart] .annotation-text").first).to_contain_text("are under it")
    expect(page.locator("[data-chart]")).to_have_attribute(
        "aria-label", "Histogram of 200 random lineups by strength left. 10 of 200 are under the line."
    )
    assert "over it" not in page.locator("main").inner_text()


def test_what_a_search_takes_is_marked_as_being_worked_out_the_moment_another_is_chosen(
    enter: Enter, team: Studio
) -> None:
    page = enter(team.designer, "/")
    page.route("**/jobs/new/preview/", lambda route: (page.wait_for_timeout(800), route.continue_()))
    page.goto("/p/herobattle/jobs/new/")
    before = page.locator("[data-start]").bounding_box()
    expect(page.locator("[data-rows]")).to_contain_text("20,000")
    assert page.locator("[data-start]").bounding_box() == before, "whoever aims at Start does not miss it"
    page.locator('[name="effort"][value="quick"]').check()
    expect(page.locator("[data-time]")).to_have_text("Working it out…")
    expect(page.locator("[data-rows] dd").first).not_to_be_visible()
    expect(page.locator("[data-rows]")).to_contain_text("6,000")
    expect(page.locator("[data-time]")).not_to_have_text("Working it out…")
    page.locator('[name="effort"][value="deep"]').check()
    expect(page.locator("[data-time]")).to_have_text("Working it out…")
    page.locator("[data-start]").click()  # takes what is chosen, whatever the page knows of it yet
    page.wait_for_url(re.compile(r"/jobs/\d+/$"))
    assert Job.objects.get(kind="search").asked["typed"]["effort"] == "deep"

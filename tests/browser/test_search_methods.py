"""Choosing how a search looks, comparing searches, and how one went, in a real browser."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import PHONE
from tests.browser.looking import overflow, serious_violations
from tests.factories import Studio, archive, bundle, game_version, search_job
from tests.webapp.rounds import grid_artifact, play, played
from tests.webapp.test_compare import alone, another
from tests.webapp.test_jobs_new import finished_sample
from webapp.lib.storage import store
from webapp.studies import journal
from webapp.studies.journal import Entry
from webapp.studies.models import Job

Enter = Callable[..., Page]


@pytest.fixture
def new_job(enter: Enter, team: Studio) -> Page:
    game_version(team.project)
    page = enter(team.designer, f"/p/{team.project.slug}/jobs/new/")
    expect(page.locator("[data-chart-words]")).to_contain_text("Random lineups of your game are played next")
    sample = Job.objects.get(kind="sample")
    finished_sample(sample, lambda name: np.linspace(0.5, 2.1, 200))
    journal.append(sample, {}, [Entry("finished", {"artifacts": {}})])
    expect(page.locator("[data-time]")).to_contain_text("about")
    return page


def test_another_method_is_chosen_and_started(new_job: Page) -> None:
    page = new_job
    expect(page.locator("[data-method-now]")).to_have_text("NSGA-II, the usual way")
    page.get_by_role("heading", name="How should it look?").click()
    expect(page.get_by_text("How lineups are told by numbers")).to_be_hidden()
    page.get_by_role("radio", name="CMA-ES").check()
    expect(page.locator("[data-method-now]")).to_have_text("CMA-ES")
    expect(page.get_by_text("How lineups are told by numbers")).to_be_visible()
    page.get_by_label("This method looks for one best lineup").select_option("Strength gap")
    expect(page.locator("[data-rows]")).to_contain_text("CMA-ES, Strength gap alone")
    expect(page.get_by_label("A lineup is over the line when its")).to_have_text("Strength gap")
    page.get_by_text("Settings, luck, and when it ends").click()
    expect(page.get_by_label("First step size")).to_be_visible()
    expect(page.get_by_label("Chance that two lineups are combined")).to_be_hidden()
    page.get_by_label("First step size").fill("0,5")
    page.get_by_label("Minutes, at most").fill("3")
    expect(page.locator("[data-rows]")).to_contain_text("after 3 min, not reproducible")
    page.reload()
    expect(page.get_by_label("First step size")).to_have_value("0,5")
    expect(page.get_by_label("This method looks for one best lineup")).to_have_value("gap")
    page.get_by_role("button", name="Start the search").click()
    expect(page.locator("[data-chip]")).to_be_visible()
    config = Job.objects.get(kind="search").config
    assert (config["algorithm"]["kind"], config["algorithm"]["sigma"]) == ("cmaes", 0.5)
    assert [o["name"] for o in config["objectives"]["objectives"]] == ["gap"]
    assert config["stop"] == [{"kind": "minutes", "most": 3.0}]


def test_what_is_wrong_with_a_method_is_shown_at_its_field(new_job: Page) -> None:
    page = new_job
    page.get_by_role("heading", name="How should it look?").click()
    page.get_by_text("Settings, luck, and when it ends").click()
    page.get_by_label("Racing", exact=True).select_option("By halves, with no stated error")
    page.locator("#id_steady").check()
    wrong = page.locator('[data-errors="noise-racing"]')
    expect(wrong).to_contain_text("Racing needs rounds")
    page.get_by_role("button", name="Start the search").click()
    page.wait_for_load_state()
    expect(wrong).to_be_visible()
    expect(page.locator("#id_steady")).to_be_checked()
    assert not Job.objects.filter(kind="search").exists()


def test_the_menu_of_methods_fits_a_phone_and_reads_aloud(new_job: Page) -> None:
    page = new_job
    page.get_by_role("heading", name="How should it look?").click()
    page.get_by_role("radio", name="MAP-Elites").check()
    page.get_by_text("Settings, luck, and when it ends").click()
    expect(page.locator(".before.unsettled")).to_have_count(0)  # else Start changes while it is looked at
    assert serious_violations(page) == []
    page.set_viewport_size(PHONE)
    assert overflow(page) <= 0


def two(team: Studio) -> tuple[Job, Job]:
    job = search_job(team.project)
    other = {"front": store().put(bundle(archive(200, 2)))}
    return job, another(job, "algorithm", {"kind": "random", "population": 200}, artifacts=other)


def test_ticked_searches_are_compared_in_one_picture(enter: Enter, team: Studio) -> None:
    first, second = two(team)
    page = enter(team.producer, f"/p/{team.project.slug}/jobs/")
    page.emulate_media(reduced_motion="reduce")  # colours change at once
    page.get_by_label(f"job {first.pk}", exact=False).check()
    page.get_by_label(f"job {second.pk}", exact=False).check()
    page.evaluate("htmx.trigger('#jobs-list', 'jobs-changed')")
    page.wait_for_load_state("networkidle")
    page.get_by_role("button", name="Compare the 2 ticked").click()
    expect(page.locator("[data-edges] .scatterlayer .trace")).to_have_count(4)
    expect(page.locator("[data-volume] .main-svg").first).to_be_visible()
    expect(page.get_by_role("row", name="Method Random search NSGA-II")).to_be_visible()
    page.get_by_text("The edges as a table").click()
    expect(page.locator("[data-edges-body] tr").first).to_contain_text("×")
    assert f"job={first.pk}" in page.url
    assert serious_violations(page) == []
    page.evaluate("window.equipoiseTheme.choose('dark')")
    assert serious_violations(page) == []
    page.set_viewport_size(PHONE)
    page.wait_for_function("() => document.documentElement.scrollWidth <= document.documentElement.clientWidth")


def test_searches_that_cannot_be_compared_are_told_so(enter: Enter, team: Studio) -> None:
    first, _ = two(team)
    other = another(first, "objectives.objectives.0.formula", "mean(cost)", title="Another question")
    page = enter(team.designer, f"/p/{team.project.slug}/jobs/{first.pk}/")
    page.get_by_role("link", name="compare with other searches").click()
    page.get_by_text("1 search that cannot be measured like").click()
    expect(page.get_by_text("it pushes other objectives")).to_be_visible()
    page.get_by_role("link", name="compare this one instead").click()
    expect(page.get_by_text("“Another question” is ticked.")).to_be_visible()
    page.goto(f"/p/{team.project.slug}/jobs/compare/?job={first.pk}&job={other.pk}")
    expect(page.get_by_text("These cannot be measured alike.")).to_be_visible()
    expect(page.get_by_text("it pushes other objectives").first).to_be_visible()


def test_searches_with_one_goal_are_ticked_and_compared_by_their_best(enter: Enter, team: Studio) -> None:
    job = search_job(team.project, title="All three")
    asked = [job.config["objectives"]["objectives"][1]]
    first, second = (
        another(job, "objectives.objectives", asked, artifacts=alone(mean, fresh), title=title)
        for title, mean, fresh in (("Far", 40.0, 38.0), ("Near", 30.0, 20.0))
    )
    page = enter(team.producer, f"/p/{team.project.slug}/jobs/")
    page.get_by_label(f"job {first.pk}", exact=False).check()
    expect(page.get_by_label(f"job {job.pk}", exact=False)).to_be_disabled()
    expect(page.get_by_text("ask something else than the ticked one")).to_be_visible()
    page.get_by_label(f"job {second.pk}", exact=False).check()
    page.get_by_role("button", name="Compare the 2 ticked").click()
    expect(page.get_by_text(f"Search {first.pk} did best and is clearly better than {second.pk}.")).to_be_visible()
    expect(page.locator("[data-volume] .main-svg").first).to_be_visible()
    assert serious_violations(page) == []
    page.set_viewport_size(PHONE)
    page.wait_for_function("() => document.documentElement.scrollWidth <= document.documentElement.clientWidth")


def test_how_a_search_went_is_told_in_charts_and_tables(enter: Enter, team: Studio) -> None:
    job = played(team.project, 6, title="A map")
    Job.objects.filter(pk=job.pk).update(config={**job.config, "algorithm": {"kind": "map-elites", "population": 200}})
    body = job.events.get(tick=6).body
    job.events.filter(tick=6).update(body={**body, "artifacts": {**body["artifacts"], "grid": grid_artifact()}})
    page = enter(team.designer, f"/p/{team.project.slug}/jobs/{job.pk}/")
    card = page.locator("[data-course]")
    card.scroll_into_view_if_needed()
    expect(card.locator("[data-course-chart] .scatterlayer .trace").first).to_be_attached()
    card.get_by_text("The same as a table").click()
    expect(card.locator("[data-course-body] tr")).to_have_count(6)
    card.get_by_role("button", name="Map").click()
    expect(card.locator("[data-course-chart] .heatmaplayer image")).to_be_attached()
    expect(card.locator("[data-course-note]")).to_contain_text("12 of 16 cells are filled; those at the ends also hold")
    expect(card.locator("[data-course-body] tr").first).to_contain_text("up to 10 pts")
    expect(card.locator("[data-course-body] tr").last).to_contain_text("25 % and more")
    expect(card.locator("[data-course-chart] .xaxislayer-above")).to_contain_text("30 pts and more")
    expect(card.locator("[data-course-body] tr")).to_have_count(12)
    card.get_by_role("button", name="Pieces").click()
    expect(card.locator("[data-course-legend] .with-mark")).to_have_count(8)
    play(job, 7)
    expect(card.locator("[data-course-body] tr")).to_have_count(7)
    assert serious_violations(page) == []
    page.set_viewport_size(PHONE)
    page.wait_for_function("() => document.documentElement.scrollWidth <= document.documentElement.clientWidth")

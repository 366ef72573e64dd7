"""The live page of a job and the New job page, in a real browser."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from engine.lineups.schema import OTHER_GAME
from tests.browser.conftest import DESKTOP, PATIENCE_S, PHONE, let_in
from tests.browser.looking import complaints
from tests.factories import Studio, archive, bundle, game_version, search_job
from tests.webapp.rounds import play, played
from tests.webapp.test_jobs_new import finished_sample
from webapp.balance.models import Draft
from webapp.lib.storage import store
from webapp.studies import actions, journal, pending
from webapp.studies.journal import Entry
from webapp.studies.models import Job, Status
from workers.relay import for_people

Enter = Callable[..., Page]


def path(job: Job) -> str:
    return f"/p/{job.project.slug}/jobs/{job.pk}/"


def expect_round(page: Page, tick: int) -> None:
    expect(page.locator("[data-round]")).to_have_text(f"Round {tick} of 100")


LEAVE_AT_ONCE = """() => {
  document.querySelector("[data-start]").click();
  setTimeout(() => location.assign("/help/"), 0);
}"""
"""Press Start and go elsewhere before the site has answered."""


def expect_jobs(kind: str, count: int, page: Page) -> None:
    """As many jobs of a kind, soon."""
    for _ in range(int(10 * PATIENCE_S)):
        if Job.objects.filter(kind=kind).count() == count:
            return
        page.wait_for_timeout(100)
    pytest.fail(f"There are {Job.objects.filter(kind=kind).count()} jobs of kind {kind}, not {count}.")


def marks(page: Page) -> int:
    """Points that the chart shows."""
    return page.locator("[data-front-chart] .scatterlayer .points path").count()


def test_the_page_follows_the_job(enter: Enter, team: Studio) -> None:
    job = played(team.project, 12)
    page = enter(team.designer, path(job))
    expect_round(page, 12)
    expect(page.locator("[data-chip]")).to_contain_text("Running")
    expect(page.locator("[data-battles]")).to_have_text("1,200")
    expect(page.locator("[data-left]")).to_contain_text("left (")
    expect(page.get_by_role("progressbar")).to_have_attribute("aria-valuenow", "12")
    expect(page.locator("[data-worst]")).to_contain_text("2.2×")
    expect(page.locator("[data-history]")).to_contain_text("First lineup over the line and strong, in round 3.")
    expect(page.locator("[data-front-chart] .scatterlayer .trace").first).to_be_attached()
    assert marks(page) > 10
    for tick in range(13, 31):
        play(job, tick)
    expect_round(page, 30)
    expect(page.locator("[data-history]")).to_contain_text("Round 30: place kept.")
    journal.append(
        job, {}, [Entry("incident", {"what": "lost-worker", "message": "A worker stopped. No result changed."})]
    )
    expect(page.locator("[data-incidents]")).to_have_text("1 incident, no result changed")
    page.reload()
    expect_round(page, 30)
    expect(page.locator("[data-incidents]")).to_have_text("1 incident, no result changed")


def test_warnings_stand_above_what_a_running_job_has_found_as_soon_as_they_come(enter: Enter, team: Studio) -> None:
    job = played(team.project, 12)
    page = enter(team.designer, path(job))
    expect_round(page, 12)
    expect(page.locator("[data-front-chart] .scatterlayer .trace").first).to_be_attached()
    warned, found = page.locator("[data-warned]"), page.locator("#found-title")
    expect(warned).to_be_hidden()
    found.evaluate("title => scrollBy(0, title.getBoundingClientRect().top - 20)")
    before = found.evaluate("title => title.getBoundingClientRect().top")
    lost = Entry("incident", {"what": "lost-worker", "message": "A worker stopped."})
    journal.append(job, {}, [Entry("incident", {"what": "short-trainings", "message": "They are short."})])
    journal.append(job, {}, [lost, lost, journal.note("It plays on two workers.")])
    for said in ("They are short.", "A worker stopped. This happened 2 times, last at", "It plays on two workers."):
        expect(warned).to_contain_text(said)
    assert warned.locator("p").count() == 3
    assert abs(found.evaluate("title => title.getBoundingClientRect().top") - before) < 2, "nothing jumps"
    assert warned.bounding_box()["y"] < page.locator(".figures").bounding_box()["y"]  # type: ignore[index]
    journal.append(job, {}, [Entry("finished", {})], status=Status.FINISHED)
    expect(warned).not_to_contain_text("A worker stopped.")
    expect(warned).to_contain_text("They are short.")


def test_the_main_button_of_a_search_that_ended_opens_its_explorer(enter: Enter, team: Studio) -> None:
    job = search_job(team.project)
    page = enter(team.designer, path(job))
    page.get_by_role("link", name="Explore what was found").click()
    page.locator("html[data-explorer=painted]").wait_for(state="attached")
    assert page.url.split("#")[0].endswith(f"{path(job)}explore/")


def test_the_sample_of_what_was_played_reaches_over_the_line_and_is_named(
    enter: Enter, page: Page, team: Studio
) -> None:
    """All of it, although the site gives no answer to a part of it at first."""
    page.route(re.compile(r"/around/\?tick=5$"), lambda route: route.abort(), times=1)
    enter(team.designer, path(played(team.project, 12)))
    expect(page.locator("[data-legend]")).to_contain_text("Some of the lineups played")
    sampled = np.concatenate([archive(30, seed=tick)["objective"][:, 0] for tick in (1, 2, 5, 10)])
    drawn: list[float] = []
    for _ in range(int(10 * PATIENCE_S)):
        drawn = page.evaluate("document.querySelector('[data-front-chart]').data?.[0].y ?? []")
        if len(drawn) == len(sampled):
            break
        page.wait_for_timeout(100)
    assert sorted(drawn) == pytest.approx(sorted(sampled), rel=1e-5)
    assert max(drawn) > 2.0


def test_an_axis_that_is_not_strength_leaves_no_room_for_the_median_team(enter: Enter, team: Studio) -> None:
    job = played(team.project, 3)
    columns = archive(30)
    columns["objective"][:, 1] += 1400.0
    for objective in job.config["objectives"]["objectives"]:
        objective["strength"] = False
    edge = store().put(bundle(columns))
    job.artifacts, job.status = {"front": edge, "fresh": edge}, Status.FINISHED
    job.save()
    job.events.filter(kind="progressed").delete()
    page = enter(team.designer, path(job))
    expect(page.locator("[data-front-chart] .xtitle")).to_be_attached()
    low, _ = page.evaluate("document.querySelector('[data-front-chart]').layout.xaxis.range")
    assert low > 1300


def test_progress_counts_the_battles_that_play_the_edge_again(enter: Enter, team: Studio) -> None:
    job = played(team.project, 4)
    now = {"evaluations": 120, "battles": 3_000, "cached": 0, "seconds": 20.0, "planned": 4_000}
    assert journal.append(job, {}, [Entry("logged", {"message": "The edge is played again.", "counters": now})],
                          counters=now)  # fmt: skip
    page = enter(team.designer, path(job))
    expect(page.get_by_role("progressbar")).to_have_attribute("aria-valuetext", "75\u00a0% of 4,000 battles")
    expect(page.locator("[data-battles]")).to_have_text("3,000")
    expect(page.locator("[data-doing]")).to_have_text("playing the edge again on fresh battles")
    page.goto(page.url.split("/p/")[0])
    expect(page.get_by_text("75\u00a0%").first).to_be_visible()


def test_an_edge_of_one_lineup_is_told_as_a_mark_and_not_as_a_line(enter: Enter, team: Studio) -> None:
    job = played(team.project, 3)
    columns = archive(30)
    columns["objective"][4] = [3.9, 60.0, 90.0]
    job.artifacts, job.status = (
        {"front": store().put(bundle(columns)), "fresh": store().put(bundle(columns))},
        "finished",
    )
    job.save()
    page = enter(team.designer, path(job))
    note = page.locator("[data-found-note]")
    expect(note).to_contain_text("No other re-tested lineup is ahead of the large mark on either axis.")
    expect(note).to_contain_text(
        "on the edge because of a measure that is not drawn, or only by the search’s own battles."
    )
    assert "Each line" not in note.inner_text()


def test_beside_the_edge_on_fresh_battles_are_only_lineups_that_were_played_again(enter: Enter, team: Studio) -> None:
    job = played(team.project, 12)
    page = enter(team.designer, path(job))
    note = page.locator("[data-found-note]")
    expect(note).to_contain_text("Each line is the edge after its round.")
    edge = store().put(bundle(archive(30)))
    job.artifacts, job.status = {"front": edge, "fresh": edge}, Status.FINISHED
    job.save()
    page.reload()
    expect(note).to_contain_text("The thick one is measured on fresh battles.")


def test_a_line_on_fresh_battles_alone_is_told_without_earlier_rounds(enter: Enter, team: Studio) -> None:
    edge = store().put(bundle(archive(30)))
    note = enter(team.designer, path(search_job(team.project, artifacts={"front": edge, "fresh": edge}))).locator(
        "[data-found-note]"
    )
    expect(note).to_contain_text("The line is the edge, measured on fresh battles.")


def test_a_job_whose_numbers_are_all_drawn_speaks_of_none_that_is_not(enter: Enter, team: Studio) -> None:
    job = played(team.project, 3)
    columns = archive(30)
    columns |= {name: columns[name][:, [0, 2]] for name in ("objective", "error")}
    columns["objective"][4] = [3.9, 90.0]
    del job.config["objectives"]["objectives"][1]
    edge = store().put(bundle(columns))
    job.artifacts, job.status = {"front": edge, "fresh": edge}, "finished"
    job.save()
    job.events.filter(kind="progressed").delete()
    note = enter(team.designer, path(job)).locator("[data-found-note]")
    expect(note).to_contain_text("Small coloured marks are on the edge only by the search’s own battles.")
    assert "not drawn" not in note.inner_text()


def test_the_furthest_of_each_round_is_not_marked_nor_called_as_what_fresh_battles_found(
    enter: Enter, team: Studio
) -> None:
    job = played(team.project, 12)
    page = enter(team.designer, path(job))
    chart = page.locator("[data-rounds-chart]")
    expect(chart.locator(".ytitle")).to_be_attached()
    expect(page.locator("[data-worst-name]")).to_have_text("Most unfair found")
    expect(page.locator("[data-rounds-title]")).to_have_text("Most unfair found, by round")
    tip = page.evaluate("document.querySelector('[data-rounds-chart]').data[1].marker.symbol")
    assert tip == "circle", "a red diamond is a verdict"
    title = chart.locator(".ytitle").bounding_box()
    ticks = [tick.bounding_box() for tick in chart.locator(".ytick text").all()]
    assert title is not None
    assert ticks
    for tick in ticks:
        assert tick is not None
        assert title["x"] + title["width"] <= tick["x"] + 1, "the axis is titled over its numbers"


def test_a_round_that_takes_long_moves_the_page_too(enter: Enter, team: Studio) -> None:
    job = played(team.project, 12)
    page = enter(team.designer, path(job))
    expect_round(page, 12)
    lines = page.locator("[data-history] li").count()
    population = job.config["algorithm"]["population"]
    counters = {"evaluations": 12 * population + population // 2, "battles": 1250, "seconds": 25.0}
    journal.append(job, {}, [Entry("logged", {"message": "", "counters": counters}, 12)], counters=counters)
    half = f"searching, {population // 2:,} of {population:,} lineups of round 13 played"
    expect(page.locator("[data-doing]")).to_have_text(half)
    expect(page.locator("[data-battles]")).to_have_text("1,200")  # whole rounds: who resumes plays the part again
    expect(page.locator(".job .beam .filled")).to_have_attribute("width", "12.50%")
    assert page.locator("[data-history] li").count() == lines
    page.reload()
    expect(page.locator("[data-doing]")).to_have_text(half)
    assert page.locator("[data-history] li").count() == lines


def test_a_search_that_is_paused_within_a_round_counts_what_was_played_of_it_as_once_it_is_stopped(
    enter: Enter, team: Studio
) -> None:
    job = played(team.project, 12)
    page = enter(team.designer, path(job))
    expect(page.locator("[data-battles]")).to_have_text("1,200")
    counters = {"evaluations": 390, "battles": 1250, "cached": 125, "seconds": 25.0}
    entry = Entry("paused", {"artifacts": {}, "counters": counters}, 12)
    assert journal.append(job, {}, [entry], counters=counters, status=Status.PAUSED)

    def counted() -> None:
        expect(page.locator("[data-battles]")).to_have_text("1,250")
        expect(page.locator("[data-cached]")).to_contain_text("10\u00a0% reused")

    expect(page.locator("[data-chip]")).to_contain_text("Paused")
    counted()
    page.reload()
    counted()
    actions.stop(job)
    expect(page.locator("[data-chip]")).to_contain_text("Stopped")
    counted()


def test_a_job_whose_game_has_changed_leads_to_the_new_data(enter: Enter, team: Studio) -> None:
    job = played(team.project, 0)
    page = enter(team.designer, path(job))
    link = page.get_by_role("link", name="See what changed in the game")
    expect(link).to_be_hidden()
    message = for_people(f"game.spec: {OTHER_GAME}")
    journal.append(job, {}, [Entry("failed", {"message": message})], status=Status.FAILED, message=message)
    expect(link).to_be_visible()
    link.click()
    expect(page.get_by_role("button", name="Ask the simulator again")).to_be_visible()


def test_two_browsers_see_the_same_and_one_that_was_offline_catches_up(
    browser: Browser, context: BrowserContext, page: Page, site: str, team: Studio
) -> None:
    job = played(team.project, 5)
    let_in(context, site, team.designer)
    page.goto(path(job))
    other_context = browser.new_context(base_url=site, viewport=PHONE)
    let_in(other_context, site, team.producer)
    other = other_context.new_page()
    other.goto(path(job))
    for each in (page, other):
        expect_round(each, 5)
    other_context.set_offline(True)
    for tick in range(6, 21):
        play(job, tick)
    expect_round(page, 20)
    expect(other.locator("[data-offline]")).to_be_visible()
    other_context.set_offline(False)
    expect_round(other, 20)
    expect(other.locator("[data-offline]")).to_be_hidden()
    assert (
        page.locator("[data-history] li .grow").all_inner_texts()
        == other.locator("[data-history] li .grow").all_inner_texts()
    )
    other_context.close()


def test_pause_resume_and_stop_without_leaving_the_page(enter: Enter, team: Studio) -> None:
    job = played(team.project, 8, status=Status.QUEUED)
    page = enter(team.designer, path(job))
    page.get_by_role("button", name="Pause").click()
    expect(page.locator("[data-chip]")).to_contain_text("Paused")
    page.get_by_role("button", name="Resume").click()
    expect(page.locator("[data-chip]")).to_contain_text("Waiting")
    Job.objects.filter(pk=job.pk).update(status=Status.RUNNING)
    actions.pause(job)
    expect(page.get_by_role("button", name="Go on after all")).to_be_visible()
    page.get_by_role("button", name="Stop and keep results").click()
    expect(page.locator("[data-doing]")).to_contain_text("stopping")
    expect(page.locator("[data-chip]")).to_contain_text("Stopping")
    expect(page.locator("[data-commanded]")).to_contain_text("This job is stopping.")
    assert Job.objects.get(pk=job.pk).command == "stop"
    journal.append(job, {}, [Entry("stopped", {"reason": "Stopped."}, 8)], status=Status.STOPPED, command="")
    expect(page.get_by_role("button", name="Run again with changes")).to_be_visible()
    expect(page.get_by_role("link", name="Explore what was found")).to_be_visible()


def test_the_chart_takes_the_colours_of_the_theme(enter: Enter, team: Studio) -> None:
    page = enter(team.designer, path(played(team.project, 6)))
    title = page.locator("[data-front-chart] .ytitle")
    expect(title).to_be_attached()
    light = title.evaluate("e => getComputedStyle(e).fill")
    page.evaluate("window.equipoiseTheme.choose('dark')")
    page.wait_for_function(
        "before => getComputedStyle(document.querySelector('[data-front-chart] .ytitle')).fill !== before", arg=light
    )
    assert title.evaluate("e => getComputedStyle(e).fill") == "rgb(231, 238, 240)"


def test_the_table_says_what_the_chart_shows(enter: Enter, team: Studio) -> None:
    page = enter(team.designer, path(played(team.project, 6)))
    page.get_by_text("The edge as a table").click()
    rows = page.locator("[data-table-body] tr")
    expect(rows.first).to_be_visible()
    assert all(
        re.fullmatch(r"[\d.]+×", text) for text in page.locator("[data-table-body] td:first-child").all_inner_texts()
    )


def test_a_job_without_rounds_says_so(enter: Enter, team: Studio) -> None:
    page = enter(team.designer, path(played(team.project, 0, status=Status.WAITING, message="Waits for a free place.")))
    expect(page.locator("[data-front-empty]")).to_contain_text("The first round is not complete yet")
    expect(page.locator("[data-message]")).to_have_text("Waits for a free place.")


@pytest.fixture
def composing(team: Studio) -> Studio:
    game_version(team.project)
    return team


def test_a_job_is_composed_and_nothing_typed_is_lost(enter: Enter, composing: Studio) -> None:
    team = composing
    page = enter(team.designer, f"/p/{team.project.slug}/jobs/new/")
    expect(page.locator("[data-chart-words]")).to_contain_text("Random lineups of your game are played next")
    finished_sample(Job.objects.get(kind="sample"), lambda name: np.linspace(0.5, 2.1, 200))
    journal.append(Job.objects.get(kind="sample"), {}, [Entry("finished", {"artifacts": {}})])
    expect(page.locator("[data-sample-text]")).to_contain_text("We played 200 random valid lineups")
    expect(page.locator("[data-chart] .bars .point").first).to_be_attached()
    expect(page.locator("[data-advice] b")).to_have_text("This line is sensible.")
    expect(page.locator("[data-time]")).to_contain_text("about")
    page.get_by_label("is at least").fill("1,2")
    expect(page.locator("[data-advice] b")).to_have_text("This line marks too many lineups.")
    expect(page.locator("[data-kept]")).to_be_visible()
    page.reload()
    expect(page.get_by_label("is at least")).to_have_value("1,2")
    page.locator("[data-better]").click()
    expect(page.locator("[data-advice] b")).to_have_text("This line is sensible.")
    page.get_by_text("Quick look").click()
    page.get_by_role("button", name="Start the search").click()
    expect(page.get_by_role("heading", name="Which teams are unfair?")).to_be_visible()
    job = Job.objects.get(kind="search")
    assert page.url.endswith(path(job))
    assert job.config["ticks"] == 30
    assert abs(job.config["objectives"]["objectives"][0]["threshold"] - 2.02) < 0.011
    assert not Draft.objects.exists()


def test_another_question_brings_its_own_measure_and_line(enter: Enter, composing: Studio) -> None:
    team = composing
    page = enter(team.designer, f"/p/{team.project.slug}/jobs/new/")
    expect(page.locator("#id_measure option")).to_have_count(3)
    page.get_by_text("Does going first decide?").click()
    expect(page.locator("#id_measure")).to_have_value("seat")
    expect(page.get_by_label("is at least")).to_have_value("")  # proposed once the random lineups are played
    expect(page.locator("[data-counts]")).to_have_text("What counts as decided?")
    page.get_by_text("Your own question").click()
    expect(page.get_by_label("Objectives", exact=True)).to_be_visible()


def test_a_search_that_waits_for_its_line_is_a_job_at_once_whatever_the_browser_does_next(
    enter: Enter, composing: Studio
) -> None:
    team = composing
    page = enter(team.designer, f"/p/{team.project.slug}/jobs/new/")
    page.get_by_text("Does going first decide?").click()
    expect(page.locator("#id_measure")).to_have_value("seat")
    page.get_by_role("button", name="Start the search").click()
    expect(page.get_by_role("heading", name="Does going first decide?")).to_be_visible()
    expect(page.get_by_text("The line is proposed once the random lineups are played.").first).to_be_visible()
    page.goto("about:blank")  # the browser is gone
    sample = Job.objects.filter(kind="sample").latest("pk")
    finished_sample(sample, lambda name: np.linspace(0, 1, 200))
    pending.settle_all()
    found = Job.objects.get(kind="search")
    assert found.status == Status.QUEUED
    assert found.config["objectives"]["objectives"][0]["threshold"] is not None


def test_leaving_the_page_in_the_moment_of_start_loses_nothing(enter: Enter, composing: Studio) -> None:
    team = composing
    page = enter(team.designer, f"/p/{team.project.slug}/jobs/new/")
    expect(page.locator("#id_measure option")).to_have_count(3)
    with page.expect_request(lambda sent: sent.method == "POST" and sent.url.endswith("/jobs/new/")):
        page.evaluate(LEAVE_AT_ONCE)
    page.wait_for_url("**/help/")
    expect_jobs("search", 1, page)


def test_start_pressed_twice_is_one_job(enter: Enter, composing: Studio) -> None:
    team = composing
    page = enter(team.designer, f"/p/{team.project.slug}/jobs/new/")
    expect(page.locator("#id_measure option")).to_have_count(3)
    page.get_by_role("button", name="Start the search").dblclick()
    expect(page.get_by_role("heading", name="Which teams are unfair?")).to_be_visible()
    assert Job.objects.filter(kind="search").count() == 1


def test_a_mistake_is_shown_at_its_field(enter: Enter, composing: Studio) -> None:
    team = composing
    page = enter(team.designer, f"/p/{team.project.slug}/jobs/new/")
    expect(page.locator("#id_measure option")).to_have_count(3)
    page.get_by_label("is at least").fill("two")
    expect(page.locator('[data-errors="line"]')).to_contain_text("not a number")
    page.get_by_role("button", name="Start the search").click()
    expect(page.locator("[data-form-problem]")).to_be_visible()
    expect(page.get_by_label("is at least")).to_have_value("two")
    expect(page.locator('[data-errors="line"]')).to_contain_text("not a number")


@pytest.mark.parametrize("which", ["job", "new", "jobs"])
def test_the_pages_are_accessible_and_fit_on_a_desktop_and_a_phone_in_light_and_dark(
    enter: Enter, composing: Studio, which: str
) -> None:
    team = composing
    team.project.versions.all().delete()
    job = played(team.project, 15)
    paths = {"job": path(job), "new": f"/p/{team.project.slug}/jobs/new/", "jobs": f"/p/{team.project.slug}/jobs/"}
    page = enter(team.designer, paths[which])
    ready = {"job": "[data-front-chart] .ytitle", "new": "#id_measure option", "jobs": "#jobs-list"}[which]
    expect(page.locator(ready).first).to_be_attached()
    page.wait_for_timeout(300)
    assert complaints(page, DESKTOP, PHONE, every_look=True) == []

"""Training an agent in a real browser: the form, a real short training, and the live page."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.browser.conftest import DESKTOP, PHONE, let_in
from tests.browser.looking import overflow, serious_violations
from tests.factories import Studio
from tests.webapp.trainings import learn, trained, two_sided
from webapp.studies import actions, journal, pending
from webapp.studies.journal import Entry
from webapp.studies.models import Job, Status
from webapp.training.models import TrainDraft
from workers import runner

Enter = Callable[..., Page]


def path(job: Job) -> str:
    return f"/p/{job.project.slug}/jobs/{job.pk}/"


def expect_round(page: Page, tick: int) -> None:
    expect(page.locator("[data-round]")).to_have_text(f"Round {tick} of 40")


def test_an_agent_is_trained_from_the_form_to_the_download(
    enter: Enter, team: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "SAMPLE_TIME", 0.5)
    page = enter(team.designer, f"/p/{team.project.slug}/train/")
    expect(page.locator("[data-note]")).to_contain_text("Training a few seconds")
    runner.run(Job.objects.get(kind="sample").pk)
    expect(page.locator("[data-note]")).to_contain_text("decisions a second on one processor")
    expect(page.locator("[data-time]")).to_contain_text(re.compile(r"\d"))
    expect(page.get_by_text("decisions reach the learner one update old")).to_be_visible()
    page.get_by_label("Decisions to learn from").fill("3000")
    expect(page.locator("[data-kept]")).to_be_visible()
    page.reload()
    expect(page.get_by_label("Decisions to learn from")).to_have_value("3000")
    page.get_by_role("button", name="Start the training").click()
    expect(page.locator("[data-doing]")).to_contain_text("waits")
    job = Job.objects.get(kind="train")
    assert page.url.endswith(path(job))
    assert not TrainDraft.objects.exists()
    Job.objects.filter(pk=job.pk).update(config={**job.config, "pool": {"kind": "local"}}, status=Status.QUEUED)
    runner.run(job.pk)
    expect(page.locator("[data-chip]")).to_contain_text("Finished")
    expect(page.locator("[data-examined-name]")).to_have_text("Final evaluation")
    expect(page.locator("[data-examined]")).to_contain_text(" to ")
    expect(page.locator("[data-age]")).to_have_text("1")
    expect(page.locator("[data-age-note]")).to_have_text("update behind, as samplers wait for each")
    expect(page.locator("[data-curve] .errorbars .errorbar").first).to_be_attached()
    with page.expect_download() as taken:
        page.get_by_role("link", name="The agent as ONNX").click()
    assert taken.value.suggested_filename == f"policy-{job.pk}.onnx"
    page.get_by_role("button", name="Run again with changes").click()
    expect(page.get_by_label("Decisions to learn from")).to_have_value("3000")


def test_the_form_shows_what_fits_and_what_is_wrong_where_it_is(enter: Enter, team: Studio) -> None:
    page = enter(team.designer, f"/p/{team.project.slug}/train/")
    expect(page.locator('input[value="ppo"]')).to_be_checked()
    page.get_by_text("Platform", exact=True).click()
    expect(page.locator('input[value="mpdqn"]')).to_be_checked()
    page.get_by_text("CartPole", exact=True).click()
    page.get_by_text("DQN", exact=True).click()
    expect(page.locator('input[value="cartpole-dqn"]')).to_be_checked()
    page.get_by_text("Pendulum", exact=True).click()
    expect(page.locator('input[value="dqn"]')).to_have_count(0)
    expect(page.locator('input[value="ppo"]')).to_be_checked()
    expect(page.locator('[data-errors="algorithm"]')).to_be_empty()
    page.get_by_text("other methods cannot learn this game").click()
    expect(page.get_by_text("this game is steered with numbers").first).to_be_visible()
    expect(page.locator('input[value="pendulum-ppo"]')).to_be_checked()
    page.get_by_text("Details for specialists").click()
    rate = page.get_by_label("Learning rate", exact=True)
    expect(rate).to_have_attribute("placeholder", "0.001")
    rate.fill("9")
    expect(page.locator('[data-errors="learner.rate"]')).to_contain_text("more than 0, at most 1")
    page.get_by_text("Published for Pendulum", exact=True).click()
    expect(page.get_by_label("Batch", exact=True)).to_have_attribute("placeholder", "8192")
    expect(rate).to_have_value("9")
    page.get_by_role("button", name="Start the training").click()
    expect(page.get_by_text("1 field needs a look")).to_be_visible()
    expect(rate).to_have_value("9")
    expect(page.locator('[data-errors="learner.rate"]')).to_contain_text("more than 0, at most 1")
    assert serious_violations(page) == []
    for size in (DESKTOP, PHONE):
        page.set_viewport_size(size)
        field, told = rate.bounding_box(), page.locator('[data-errors="learner.rate"]').bounding_box()
        assert field is not None
        assert told is not None
        assert abs(told["x"] - field["x"]) < 2
        assert 0 <= told["y"] - field["y"] - field["height"] < 8
    assert overflow(page) == 0
    assert not Job.objects.filter(kind="train").exists()


def test_a_game_that_must_be_tried_first_is_a_job_that_waits_and_goes_on_once_it_worked(
    enter: Enter, team: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "SAMPLE_TIME", 0.5)
    page = enter(team.designer, f"/p/{team.project.slug}/train/")
    page.get_by_text("Another Gymnasium game", exact=True).click()
    page.get_by_label("Its name in Gymnasium").fill("Acrobot-v1")
    page.get_by_role("button", name="Start the training").click()
    expect(page.get_by_text("Whether this game works here is being tried.").first).to_be_visible()
    trial = Job.objects.filter(kind="sample", config__game__name="gym:Acrobot-v1").get()
    page.goto("about:blank")  # nothing depends on the browser
    runner.run(trial.pk)
    pending.settle_all()
    job = Job.objects.get(kind="train")
    assert (job.status, job.config["game"]["name"]) == (Status.QUEUED, "gym:Acrobot-v1")


def test_a_button_keeps_the_focus_while_what_can_be_chosen_is_drawn_anew(enter: Enter, team: Studio) -> None:
    page = enter(team.designer, f"/p/{team.project.slug}/train/")
    page.locator("[data-part=details] > *").first.evaluate("part => part.dataset.before = ''")
    start = page.get_by_role("button", name="Start the training")
    start.focus()
    choice = page.get_by_text("Another Gymnasium game", exact=True)
    choice.evaluate("text => text.closest('label').control.click()")  # moves no focus
    expect(page.locator("[data-before]")).to_have_count(0)
    expect(start).to_be_focused()


def test_the_page_follows_a_training_in_two_browsers_one_of_them_offline_for_a_while(
    browser: Browser, context: BrowserContext, page: Page, site: str, team: Studio
) -> None:
    job = trained(team.project, 6, rewards=("score", "hit"))
    let_in(context, site, team.designer)
    page.goto(path(job))
    other_context = browser.new_context(base_url=site, viewport=PHONE, color_scheme="dark")
    let_in(other_context, site, team.producer)
    other = other_context.new_page()
    other.goto(path(job))
    for each in (page, other):
        expect_round(each, 6)
    expect(page.locator("[data-steps]")).to_have_text("15,000")
    expect(page.locator("[data-left]")).to_contain_text("left (")
    other_context.set_offline(True)
    for tick in range(7, 21):
        learn(job, tick, rewards=("score", "hit"))
    expect_round(page, 20)
    expect(other.locator("[data-offline]")).to_be_visible()
    other_context.set_offline(False)
    expect_round(other, 20)
    for each in (page, other):
        expect(each.locator("[data-curve] .errorbars .errorbar")).to_have_count(4)
        expect(each.locator("[data-examined]")).to_have_text("202200 to 204")
        each.locator("summary", has_text="The curve as a table").click()
        expect(each.locator("[data-table-body] tr")).to_have_count(20)
        assert serious_violations(each) == []
    assert overflow(other) == 0
    first = "[data-table-body] tr >> nth=0"
    assert page.locator(first).all_inner_texts() == other.locator(first).all_inner_texts()
    page.get_by_role("button", name="hit").click()
    expect(page.locator("[data-curve] .ytitle")).to_contain_text("Return, hit")
    assert other.get_by_role("button", name="Pause").count() == 0  # a producer only reads
    other_context.close()


def test_a_training_of_more_moves_than_were_asked_for_says_why(enter: Enter, team: Studio) -> None:
    job = trained(team.project, 6)
    Job.objects.filter(pk=job.pk).update(config={**job.config, "steps": 14_000})
    page = enter(team.designer, path(job))
    expect(page.locator("[data-steps]")).to_have_text("15,000")
    expect(page.locator("[data-of]")).to_have_text("of 14,000: the last batch is learned from as a whole")


def test_after_a_pause_the_curve_goes_on_as_one(enter: Enter, team: Studio) -> None:
    job = trained(team.project, 1)
    page = enter(team.designer, path(job))
    expect(page.locator("[data-left]")).to_have_text("Too early to say when it ends")
    for tick in range(2, 11):
        learn(job, tick)
    expect(page.locator("[data-left]")).to_contain_text("left (")
    page.get_by_role("button", name="Pause").click()
    expect(page.locator("[data-doing]")).to_contain_text("pausing")
    journal.append(job, {}, [Entry("paused", {"artifacts": {}}, 10)], status=Status.PAUSED, command="")
    page.get_by_role("button", name="Resume").click()
    expect(page.locator("[data-chip]")).to_contain_text("Waiting")
    Job.objects.filter(pk=job.pk).update(status=Status.RUNNING)
    journal.append(job, {}, [Entry("started", {"workers": 2, "ticks": 40, "resumed": True}, 10)])
    for tick in range(11, 16):
        learn(job, tick)
    expect_round(page, 15)
    expect(page.locator("[data-curve] .errorbars .errorbar")).to_have_count(3)
    expect(page.locator("[data-history]")).to_contain_text("Went on from round 10 on 2 workers.")
    page.get_by_text("Details for specialists").click()
    expect(page.locator("[data-latest]")).to_contain_text("Entropy")
    expect(page.locator("[data-metric-chart] .scatterlayer .trace").first).to_be_attached()
    actions.stop(Job.objects.get(pk=job.pk))
    expect(page.locator("[data-doing]")).to_contain_text("stopping")


def test_where_both_sides_learn_a_switch_says_whose_numbers_are_shown(enter: Enter, team: Studio) -> None:
    job = two_sided(team.project)
    page = enter(team.designer, path(job))
    figure = page.locator("[data-examined]")
    expect(figure).to_contain_text("102")
    expect(page.locator("[data-examined-note]")).to_contain_text("left:")
    page.get_by_role("group", name="Which agent").get_by_role("button", name="right").click()
    expect(figure).to_contain_text("204")
    expect(page.locator("[data-return-note]")).to_contain_text("right:")
    expect(page.locator("[data-take-onnx]")).to_have_attribute("href", re.compile(r"\?of=right$"))

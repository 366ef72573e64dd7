"""Pages of jobs that ask for themselves anew while the job runs, in a real browser."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from django.urls import reverse
from playwright.sync_api import Browser, Page, expect

from engine.arrays import pack
from tests.browser.conftest import PHONE, let_in
from tests.browser.looking import overflow, serious_violations
from tests.factories import Studio, game_version, signed_in
from tests.webapp.hunted import hunted
from tests.webapp.styles_bred import bred
from tests.webapp.test_self_play import played
from webapp.lib.storage import store
from webapp.studies import journal
from webapp.studies.journal import Entry
from webapp.studies.models import Job, Status

Enter = Callable[..., Page]
PIECES = 40


@pytest.fixture
def experiment(team: Studio) -> Job:
    """An experiment under way that has a table; its pieces are worth less than fair or more, some without a sign."""
    game_version(team.project)
    signed_in(team.designer).post(reverse("studies:ask", args=[team.project.slug, "worth"]), {"battles": "2000"})
    worth = np.linspace(-0.06, 0.05, PIECES)
    arrays = {
        "piece": np.array([[i, -1] for i in range(PIECES)], np.int32),
        "least": np.ones(PIECES, np.int32),
        "worth": worth,
        "low": worth - 0.02,
        "high": worth + 0.02,
        "verdict": np.array([4, *[2] * (PIECES - 1)], np.uint8),
        "battles": np.full(PIECES, 900),
    }
    pieces = [{"id": f"p{i}", "name": f"Piece {i}", "category": "equipment", "cost": 100.0} for i in range(PIECES)]
    table = store().put(pack({"pieces": pieces, "matters": 0.03, "game": "A game", "proved": True}, arrays))
    job = Job.objects.get(kind="worth")
    Job.objects.filter(pk=job.pk).update(status=Status.RUNNING, artifacts={"table": table}, counters={"battles": 900})
    return Job.objects.get(pk=job.pk)


def address(job: Job) -> str:
    return reverse("studies:job", args=[job.project.slug, job.pk])


def test_buttons_follow_the_job_and_what_was_opened_stays_open(enter: Enter, team: Studio, experiment: Job) -> None:
    page = enter(team.designer, address(experiment))
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    page.get_by_text("The other 15, nearer to even").click()
    expect(page.get_by_role("row", name="Piece 20 ")).to_be_visible()
    Job.objects.filter(pk=experiment.pk).update(counters={"battles": 1234})
    expect(page.get_by_text("1,234 battles")).to_be_visible()
    expect(page.get_by_role("row", name="Piece 20 ")).to_be_visible()
    Job.objects.filter(pk=experiment.pk).update(status=Status.FINISHED)
    expect(page.get_by_role("button", name="Pause")).to_be_hidden()
    expect(page.get_by_role("button", name="Stop and keep results")).to_be_hidden()
    assert serious_violations(page) == []


@pytest.mark.parametrize("kind", ["hunt", "self-play", "style"])
def test_a_job_that_is_asked_to_stop_says_so_at_once_and_until_it_has_stopped(
    enter: Enter, team: Studio, kind: str
) -> None:
    job = {"hunt": hunted, "self-play": played, "style": lambda team: bred(team.project, 2)}[kind](team)
    Job.objects.filter(pk=job.pk).update(status=Status.RUNNING, finished_at=None)
    page = enter(team.designer, address(job))
    sign, chip = page.locator("[data-commanded]"), page.locator(".job-now .chip")
    expect(sign).to_be_empty()
    page.get_by_role("button", name="Stop and keep results").click()
    said = "This job is stopping. What it has found so far is kept."
    expect(sign).to_have_text(said)
    expect(sign).to_have_attribute("role", "status")
    expect(chip).to_have_text("Stopping")
    expect(page.get_by_role("button", name="Stopping")).to_be_disabled()
    for name in ("Stop and keep results", "Pause"):
        expect(page.get_by_role("button", name=name)).to_be_hidden()
    assert serious_violations(page) == []
    assert overflow(page) == 0
    Job.objects.filter(pk=job.pk).update(status=Status.STOPPED, command="")
    expect(chip).to_have_text("Stopped")
    expect(sign).to_be_empty()
    expect(page.get_by_role("button", name="Stopping")).to_be_hidden()


def test_the_sign_that_a_job_is_stopping_stands_before_the_site_has_answered(
    enter: Enter, team: Studio, experiment: Job
) -> None:
    page = enter(team.designer, address(experiment))
    form = page.locator("form[data-asks='stop']")
    form.evaluate("form => form.dispatchEvent(new SubmitEvent('submit'))")
    expect(page.locator("[data-commanded]")).to_contain_text("This job is stopping.")
    expect(page.get_by_role("button", name="Stopping")).to_be_disabled()
    assert Job.objects.get(pk=experiment.pk).command == ""


def test_a_phone_shows_worth_and_verdict_of_a_piece_and_minus_signs_are_minus_signs(
    browser: Browser, site: str, team: Studio, experiment: Job
) -> None:
    context = browser.new_context(base_url=site, viewport=PHONE)
    let_in(context, site, team.producer)
    page = context.new_page()
    page.goto(address(experiment))
    row = page.get_by_role("row", name="Piece 0")
    for text in ("equipment, 100", "−6.0", "−8.0 to −4.0", "Too weak for its price"):
        cell = row.get_by_text(text).first
        expect(cell).to_be_visible()
        box = cell.bounding_box()
        assert box is not None, text
        assert box["x"] + box["width"] <= PHONE["width"], text
    assert overflow(page) == 0
    context.close()


def test_numbers_below_each_other_stand_at_the_right_in_figures_of_one_width(
    enter: Enter, team: Studio, experiment: Job
) -> None:
    page = enter(team.designer, reverse("studies:job", args=[team.project.slug, experiment.pk]))
    styles = page.locator(".table th.number, .table td.number").evaluate_all(
        "(all) => all.map((one) => [getComputedStyle(one).textAlign, getComputedStyle(one).fontVariantNumeric])"
    )
    assert {align for align, _ in styles} == {"end"}
    assert {figures for _, figures in styles} >= {"tabular-nums"}


@pytest.mark.parametrize("kind", ["hunt", "style"])
def test_a_warning_that_comes_while_somebody_reads_further_down_does_not_move_what_is_read(
    enter: Enter, team: Studio, kind: str
) -> None:
    job = {"hunt": hunted, "style": lambda team: bred(team.project, 2)}[kind](team)
    Job.objects.filter(pk=job.pk).update(status=Status.RUNNING, finished_at=None)
    page = enter(team.designer, address(job))
    page.set_viewport_size({"width": 1000, "height": 400})
    warned, read = page.locator("[data-warned]"), page.locator("#bugs-title, #evidence-title")
    expect(warned).to_be_hidden()
    read.evaluate("title => scrollBy(0, title.getBoundingClientRect().top - 20)")
    before = read.evaluate("title => title.getBoundingClientRect().top")
    journal.append(job, {}, [Entry("incident", {"what": "short-trainings", "message": "Nobody saw an episode end."})])
    expect(warned).to_contain_text("Nobody saw an episode end.")
    assert abs(read.evaluate("title => title.getBoundingClientRect().top") - before) < 2

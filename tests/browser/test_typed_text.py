"""What a person types is there again after a reload and is sent by Ctrl + Enter, and the keyboard stays where the work
goes on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from tests.factories import Studio, search_job
from tests.webapp.experiments import DUKE, experiment
from tests.webapp.published import OVER, played_again, report
from tests.webapp.replays import shortlist
from tests.workers.site import until
from webapp.reports.models import Report, ReportDraft, Verdict
from webapp.studies.models import Job
from webapp.suspects.models import Decision

Enter = Callable[..., Page]
KEPT = "Object.keys(localStorage).filter((key) => key.startsWith('equipoise-text:'))"
FOCUSED = "document.activeElement.id || document.activeElement.tagName"


@pytest.fixture
def search(team: Studio) -> Job:
    job = search_job(team.project, rows=200)
    experiment(job)
    played_again(job, list(range(12)), OVER)
    return job


def kept(page: Page, field: str, text: str, fold: str = "") -> None:
    """Type, go elsewhere and come back: it is there still."""
    here = page.url

    def opened() -> None:
        if fold:
            page.locator("summary", has_text=fold).click()

    opened()
    page.get_by_label(field).fill(text)
    page.goto("/help/")
    page.goto(here)
    page.reload()
    opened()
    expect(page.get_by_label(field)).to_have_value(text)


def sent(page: Page, field: str) -> None:
    """Send it by Ctrl + Enter: nothing of it is kept."""
    with page.expect_navigation():
        page.get_by_label(field).press("Control+Enter")
    page.wait_for_load_state()
    assert page.evaluate(KEPT) == []


def test_words_about_a_suspect_outlive_a_reload_and_go_by_ctrl_enter(enter: Enter, team: Studio, search: Job) -> None:
    page = enter(team.designer, f"/p/herobattle/jobs/{search.pk}/suspects/?suspect={DUKE}")
    kept(page, "What you would like to know", "Is he the tank?", "Ask")
    assert len(page.evaluate(KEPT)) == 1
    page.locator("summary", has_text="Ask").click()
    kept(page, "Why it is meant to be so", "The theme of spring", "Intended")
    with page.expect_navigation():
        page.get_by_label("Why it is meant to be so").press("Control+Enter")
    expect(page.locator("#decided")).to_contain_text("Intended: “The theme of spring”")
    expect(page.locator("#decided")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Take it back")).to_be_focused()
    page.goto(f"/p/herobattle/jobs/{search.pk}/suspects/?suspect={DUKE}")
    assert [key.rpartition(" ")[2] for key in page.evaluate(KEPT)] == ["ask:reason"], "only what was sent is gone"
    assert Decision.objects.count() == 1


def test_words_about_a_report_outlive_a_reload_and_go_by_ctrl_enter(enter: Enter, team: Studio, search: Job) -> None:
    page = enter(team.designer, f"/p/herobattle/jobs/{search.pk}/report/")
    page.get_by_label("For which release").fill("spring")
    page.get_by_label("In your own words").fill("The captain must wait.")
    page.reload()  # sooner than the site keeps a draft
    expect(page.get_by_label("In your own words")).to_have_value("The captain must wait.")
    sent(page, "In your own words")
    made = Report.objects.get()
    assert made.content["words"] == "The captain must wait."
    kept(page, "Your comment", "Which captain?")
    sent(page, "Your comment")
    expect(page.locator("#comments li:last-child")).to_be_focused()
    assert made.comments.get().text == "Which captain?"


def test_words_that_the_site_got_after_it_had_written_the_page_anew_are_there_again(
    enter: Enter, team: Studio, search: Job
) -> None:
    page = enter(team.designer, f"/p/herobattle/jobs/{search.pk}/report/")
    held: list[Route] = []

    def written_before_the_words_arrive(route: Route) -> None:
        answer = route.fetch()
        held[0].fulfill(response=held[0].fetch())
        page.wait_for_timeout(300)  # in which the page that is left is told that they have arrived
        route.fulfill(response=answer)

    page.route("**/report/preview/", lambda route: held.append(route))  # what leaving sends comes later still
    words = page.get_by_label("In your own words")
    words.fill("The captain must wait.")
    until_held(page, held)
    page.route("**/report/", written_before_the_words_arrive)
    page.reload()
    expect(words).to_have_value("The captain must wait.")


def until_held(page: Page, held: list[Any]) -> None:
    while not held:
        page.wait_for_timeout(20)


def test_words_that_were_given_up_on_the_site_do_not_come_back(enter: Enter, team: Studio, search: Job) -> None:
    here = f"/p/herobattle/jobs/{search.pk}/report/"
    page = enter(team.designer, here)
    words = page.get_by_label("In your own words")
    words.fill("The captain must wait.")
    page.goto("/help/")  # sooner than the site keeps a draft
    until(lambda: ReportDraft.objects.filter(typed__words="The captain must wait.").exists(), "the draft is kept")
    page.goto(here)
    expect(words).to_have_value("The captain must wait.")
    with page.expect_navigation():
        page.get_by_role("button", name="Begin anew").click()
    page.goto(here)
    expect(words).to_have_value("")


def test_words_that_were_deleted_again_sooner_than_the_site_keeps_that_stay_deleted(
    enter: Enter, team: Studio, search: Job
) -> None:
    page = enter(team.designer, f"/p/herobattle/jobs/{search.pk}/report/")
    words = page.get_by_label("In your own words")
    with page.expect_response("**/report/preview/"):
        words.fill("The captain must wait.")
    expect(page.locator("#report-written")).to_contain_text("Kept")
    words.fill("")
    page.reload()
    expect(words).to_have_value("")


def test_words_of_a_report_are_sent_by_leaving_where_the_browser_keeps_nothing(
    enter: Enter, team: Studio, search: Job
) -> None:
    page = enter(team.designer)
    page.add_init_script("Storage.prototype.setItem = () => { throw new Error('no room'); }")
    page.goto(f"/p/herobattle/jobs/{search.pk}/report/")
    page.get_by_label("In your own words").fill("The captain must wait.")
    page.goto("/help/")  # sooner than the site keeps a draft
    until(lambda: ReportDraft.objects.filter(typed__words="The captain must wait.").exists(), "the draft is kept")
    page.goto(f"/p/herobattle/jobs/{search.pk}/report/")
    page.get_by_label("For which release").fill("spring")
    with page.expect_navigation():
        page.get_by_role("button", name="Publish the report").click()
    page.wait_for_load_state()
    assert Report.objects.get().release == "spring"
    page.goto("/help/")
    assert not ReportDraft.objects.exists(), "whoever leaves by publishing leaves no draft"


def test_what_a_producer_sends_back_and_whom_an_owner_invites_are_kept(enter: Enter, team: Studio, search: Job) -> None:
    made = report(search, team.designer)
    page = enter(team.producer, made.get_absolute_url())
    kept(page, "What is missing, or must change", "The Duke is missing", "Send back")
    sent(page, "What is missing, or must change")
    assert Verdict.objects.get().reason == "The Duke is missing"
    expect(page.locator("#judge-title")).to_be_focused()
    page = enter(team.owner, "/p/herobattle/members/")
    assert page.evaluate(KEPT) == []
    kept(page, "User name or email", "nobody@example.org")
    page.get_by_label("User name or email").press("Control+Enter")
    expect(page.locator("[data-form-problem]")).to_be_focused()
    expect(page.get_by_label("User name or email")).to_have_value("nobody@example.org")
    assert len(page.evaluate(KEPT)) == 1, "it was refused: it is not sent"


def test_the_keyboard_stays_where_the_work_goes_on(enter: Enter, team: Studio, search: Job) -> None:
    shortlist(search)
    page = enter(team.designer, f"/p/herobattle/jobs/{search.pk}/suspects/")
    page.locator(".suspects a", has_text="Marrow Duke").first.press("Enter")
    expect(page.get_by_role("heading", name="Marrow Duke is too good.")).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # to the change
    for _ in range(3):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.type") == "range":
            break
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "Marrow Duke: cost"
    attempt = page.locator("#change-card").get_by_role("button", name="Try it on")
    attempt.press("Enter")
    expect(page.locator("#change-card .field-error")).to_be_focused()
    page.get_by_label("New value").fill("390")
    attempt.press("Enter")
    expect(page.locator("#trial-head")).to_be_focused()
    page.wait_for_timeout(1500)  # it asks for itself anew each second
    assert page.evaluate(FOCUSED) == "trial-head"
    page.get_by_role("button", name="Fix").press("Enter")
    expect(page.locator("#decided")).to_be_focused()
    page.get_by_role("button", name="Take it back").press("Enter")
    expect(page.locator("#decided")).to_be_focused()


def test_words_that_were_deleted_again_while_they_were_on_their_way_stay_deleted(
    enter: Enter, team: Studio, search: Job
) -> None:
    page = enter(team.designer, f"/p/herobattle/jobs/{search.pk}/report/")
    arrived: list[int] = []
    page.route("**/report/preview/", lambda route: arrived.append(route.fetch().status), times=1)  # never answered
    words = page.get_by_label("In your own words")
    with page.expect_request("**/report/preview/"):
        words.fill("The captain must wait.")
    until_held(page, arrived)
    words.fill("")
    page.reload()
    expect(words).to_have_value("")

"""One event stream a browser: however many tabs are open, all of them know, and nothing is missed."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, Request, expect

from tests.browser.conftest import let_in
from tests.factories import Studio
from webapp.studies import journal
from webapp.studies.journal import Entry
from webapp.studies.models import Job, Status

Enter = Callable[..., Page]


@pytest.fixture
def job(team: Studio) -> Job:
    return Job.objects.create(
        project=team.project, kind="search", title="Which teams are unfair?", config={}, config_hash="",
        status=Status.RUNNING, tick=10, ticks=100, created_by=team.designer,
    )  # fmt: skip


def advance(job: Job, tick: int) -> None:
    """What the relay does when a round is complete."""
    assert journal.append(job, {}, [Entry("progressed", {"metrics": {}}, tick)], tick=tick)


def expect_tick(page: Page, tick: int) -> None:
    progress = page.get_by_role("progressbar", name="Which teams are unfair?")
    expect(progress).to_have_attribute("aria-valuenow", str(tick))


def streams(context: BrowserContext) -> list[Request]:
    """Fills with every event stream that the browser opens from now on."""
    opened: list[Request] = []
    context.on("request", lambda request: opened.append(request) if request.resource_type == "eventsource" else None)
    return opened


def test_two_tabs_share_a_stream_and_the_second_takes_over(
    context: BrowserContext, site: str, team: Studio, job: Job
) -> None:
    opened = streams(context)
    let_in(context, site, team.designer)
    first, second = context.new_page(), context.new_page()
    first.goto("/")
    expect_tick(first, 10)
    second.goto("/")
    expect_tick(second, 10)
    for tick in (30, 50):
        advance(job, tick)
        expect_tick(first, tick)
        expect_tick(second, tick)
    assert len(opened) == 1
    first.close()
    advance(job, 70)
    expect_tick(second, 70)
    assert len(opened) == 2


def test_a_tab_that_was_offline_misses_nothing(enter: Enter, context: BrowserContext, team: Studio, job: Job) -> None:
    page = enter(team.designer)
    expect_tick(page, 10)
    context.set_offline(True)
    advance(job, 40)
    page.wait_for_timeout(1000)
    expect_tick(page, 10)
    context.set_offline(False)
    expect_tick(page, 40)


def test_where_streams_do_not_get_through_the_page_asks(
    context: BrowserContext, page: Page, site: str, team: Studio, job: Job
) -> None:
    def no_streams(route: object) -> None:
        route.abort() if route.request.resource_type == "eventsource" else route.continue_()  # type: ignore[attr-defined]

    context.route("**/events/**", no_streams)
    let_in(context, site, team.designer)
    page.goto("/")
    expect_tick(page, 10)
    advance(job, 80)
    progress = page.get_by_role("progressbar", name="Which teams are unfair?")
    expect(progress).to_have_attribute("aria-valuenow", "80")

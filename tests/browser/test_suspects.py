"""Suspects in a real browser: the way there from signing in, and a battle by keyboard (the rest: ``test_loop.py``)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect
from pytest_django.fixtures import Settings

from tests.browser.conftest import PHONE
from tests.factories import Studio, search_job
from tests.webapp.experiments import DUKE, experiment, removal
from webapp.studies.demo import make_demo

Enter = Callable[..., Page]
CLICKS = """addEventListener("click", (event) => {
  if (event.isTrusted) localStorage.setItem("clicks", 1 + Number(localStorage.clicks ?? 0));
}, true)"""


def test_from_signing_in_to_a_confirmed_suspect_of_the_demo_are_two_clicks_and_no_typing(
    page: Page, site: str, tmp_path: Path, settings: Settings
) -> None:
    settings.DEMO_PASSWORDS, settings.VAR = True, tmp_path
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.PBKDF2PasswordHasher"]  # the site's, not the tests' own
    made = make_demo()
    experiment(search_job(made.project))
    page.add_init_script(CLICKS)
    page.goto("/sign-in/")
    page.get_by_role("button", name="Designer").click()
    page.get_by_role("link", name="See the suspects").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Four suspects")
    expect(page.get_by_role("heading", name="are too good together.")).to_be_visible()
    expect(page.locator(".suspect-chip")).to_contain_text("Confirmed")
    assert int(page.evaluate("localStorage.clicks")) <= 5


def test_on_a_phone_the_verdict_comes_first_and_the_decision_stays_in_reach(enter: Enter, team: Studio) -> None:
    job = search_job(team.project)
    experiment(job)
    page = enter(team.designer, "/")
    page.set_viewport_size(PHONE)
    page.goto(f"/p/herobattle/jobs/{job.pk}/suspects/")
    verdict, others = page.locator("#suspect-title"), page.locator("#list-title")
    assert verdict.bounding_box()["y"] < others.bounding_box()["y"]
    for top in (0, 10_000):
        page.mouse.wheel(0, top)
        expect(page.get_by_role("button", name="Fix")).to_be_in_viewport()
    page.locator("summary", has_text="Intended").click()
    expect(page.get_by_label("Why it is meant to be so")).to_be_in_viewport()
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def test_the_tests_of_a_suspect_are_read_and_its_battle_is_watched_by_keyboard(enter: Enter, team: Studio) -> None:
    job = search_job(team.project)
    experiment(job)
    removal(job)
    page = enter(team.producer, f"/p/herobattle/jobs/{job.pk}/suspects/")
    expect(page.locator("#suspect-tests")).to_contain_text("Warhorn → Drum of Haste")
    expect(page.locator("#suspect-tests")).to_contain_text("14 of 16 confirmed")
    page.emulate_media(reduced_motion="reduce")
    page.goto(f"/p/herobattle/jobs/{job.pk}/suspects/?suspect={DUKE}")
    page.get_by_role("button", name="Watch it").press("Enter")
    play, moment = page.get_by_role("button", name="Play"), page.get_by_label("Moment of the battle")
    expect(play).to_be_focused()
    expect(page.locator("[data-battle-now]")).to_have_text("It begins.")
    moment.press("ArrowRight")
    expect(page.locator("[data-battle-now]")).to_have_text("Left wins")
    expect(page.get_by_role("button", name="Play again")).to_be_visible()
    moment.press("Home")
    page.get_by_role("button", name="Play").press("Enter")
    expect(page.get_by_role("button", name="Play again")).to_be_visible()
    page.set_viewport_size(PHONE)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]

"""Gates in a real browser: the verdict comes first, and everything fits and reads at any width."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import PHONE
from tests.browser.looking import overflow, serious_violations
from tests.factories import Studio, game_version
from tests.webapp.test_api_jobs import Script
from tests.webapp.test_gates import GATES, over
from webapp.studies.models import Job

Enter = Callable[..., Page]


@pytest.fixture
def gate(team: Studio) -> Job:
    """A gate that is over, started by a script."""
    game_version(team.project)
    number = Script(team).post(GATES, {"set": {"name": "Build 7"}, "data": {"warhorn.cost": 120}})["job"]
    return over(Job.objects.get(pk=number))


def test_the_verdict_comes_first_and_all_of_it_fits_at_any_width(enter: Enter, team: Studio, gate: Job) -> None:
    page = enter(team.producer, f"/p/herobattle/jobs/{gate.pk}/")
    expect(page.get_by_role("heading", level=2).first).to_contain_text("Over the line: 1 of 2 earlier exploits")
    for size in (None, PHONE):
        if size:
            page.set_viewport_size(size)
        assert overflow(page) == 0
        assert serious_violations(page) == []
    page.get_by_role("link", name="All gates").first.click()
    expect(page.get_by_role("link", name="Build 7")).to_be_visible()
    assert overflow(page) == 0
    assert serious_violations(page) == []


def test_an_engineer_sends_the_numbers_of_a_build_from_the_page(enter: Enter, team: Studio, gate: Job) -> None:
    page = enter(team.engineer, "/p/herobattle/jobs/new/gate/")
    name, numbers = page.get_by_role("textbox", name="Build"), page.get_by_label("Numbers of the build")
    numbers.set_input_files({"name": "bad.csv", "mimeType": "text/csv", "buffer": b"path,value\nwarhorn.cots,1\n"})
    name.fill("Build 9")
    page.keyboard.press("Enter")
    expect(page.get_by_text("B2:")).to_be_visible()
    expect(name).to_have_value("Build 9")
    assert serious_violations(page) == []
    page.reload()
    numbers.set_input_files({"name": "build.csv", "mimeType": "text/csv", "buffer": b"path,value\nwarhorn.cost,90\n"})
    name.fill("Build 9")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Build 9")
    expect(page.get_by_text("with 1 changed number").first).to_be_visible()


def test_a_designer_starts_a_gate_by_keyboard_and_may_paste_the_step_into_a_build(
    enter: Enter, team: Studio, gate: Job
) -> None:
    page = enter(team.designer, "/p/herobattle/gates/")
    page.get_by_role("link", name="New gate").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_label("A step for a build server")).to_contain_text("/api/v1/projects/herobattle")
    assert overflow(page) == 0
    assert serious_violations(page) == []
    page.get_by_role("textbox", name="Build").fill("Build 8")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Build 8")

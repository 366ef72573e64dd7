"""The whole loop by keyboard alone: what is unfair is searched, explained, changed, saved, and looked at again.

Searches and replays are played by the engine, as a worker plays them. The experiment's table is made up: it would take
as long as all the rest, and ``tests/engine/test_worth.py`` plays some.
"""

from __future__ import annotations

from collections.abc import Callable

from django.utils import timezone
from playwright.sync_api import Page, expect

from tests.browser.looking import reach
from tests.engine.planted_games import Overpowered
from tests.factories import Studio, data_of
from tests.webapp.experiments import table
from webapp.studies.models import Job, Status
from webapp.suspects.models import Decision
from webapp.worth.parts import TOO_GOOD, TOO_WEAK
from workers import runner

Enter = Callable[..., Page]
FOUND = [(("charm-1",), 1, 0.3, 0.25, 0.35, TOO_GOOD, 900), (("hero-3",), 1, -0.06, -0.08, -0.04, TOO_WEAK, 800)]
SMALL = {"Lineups in a round": "12", "Rounds": "2", "Replicates": "4", "Fresh replicates at the end": "8",
         "Battles to measure the pieces by": "2000"}  # fmt: skip


def played(job: Job) -> None:
    """The job, as a worker plays it, without Ray."""
    Job.objects.filter(pk=job.pk).update(config={**job.config, "pool": {"kind": "local"}}, status=Status.QUEUED)
    runner.run(job.pk)
    job.refresh_from_db()
    assert job.status == Status.FINISHED, job.message


def measured(experiment: Job) -> None:
    """The experiment, over: one charm is too good, and a hero too weak."""
    over = {"status": Status.FINISHED, "tick": 40, "counters": {"battles": 1_984}, "finished_at": timezone.now(),
            "message": "", "metrics": {"looked_at": 85.0}, "summary": {"told": 2},
            "artifacts": {"table": table(FOUND, spec=Overpowered.spec)}}  # fmt: skip
    Job.objects.filter(pk=experiment.pk).update(**over)


def test_the_whole_loop_goes_by_keyboard(enter: Enter, team: Studio) -> None:
    data_of(team.project, "python:tests.engine.planted_games:Overpowered", Overpowered.spec)
    page = enter(team.designer, "/p/herobattle/jobs/")
    _searched(page)
    _explained(page)
    _changed(page)
    _compared(page)
    assert {each.created_by for each in Decision.objects.all()} == {team.designer}


def _follow(page: Page, name: str) -> None:
    """Tab to a link or a button, and press Enter."""
    reach(page, name)
    page.keyboard.press("Enter")


def _searched(page: Page) -> None:
    """From New job to a search that is over, and its experiment too."""
    _follow(page, "New job")
    expect(page.get_by_role("heading", level=1)).to_have_text("New job")
    reach(page, "is at least")
    page.keyboard.type("1.5")
    _follow(page, "Details for specialists")
    for name, value in SMALL.items():
        reach(page, name)
        page.keyboard.type(value)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Which teams are unfair?")
    search = Job.objects.get(kind="search")
    played(search)
    measured(search.companions.get())
    expect(page.locator("[data-chip]")).to_contain_text("Finished")


def _explained(page: Page) -> None:
    """The suspects of that search; one of them is meant to be so."""
    _follow(page, "its suspects")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Two suspects")
    _follow(page, "Hero 3")
    expect(page.get_by_role("heading", name="Hero 3 is too weak.")).to_be_visible()
    for _ in range(2):  # decided, taken back, and decided again
        _follow(page, "Intended")
        page.keyboard.press("Tab")
        page.keyboard.type("He is for beginners")
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        expect(page.locator(".decision")).to_contain_text("Intended: “He is for beginners”")
        if Decision.objects.count() == 1:
            _follow(page, "Take it back")
            expect(page.locator(".decision")).to_contain_text("Your decision")


def _changed(page: Page) -> None:
    """The other one is weakened: the change is tried on lineups that hold it, and saved."""
    _follow(page, "Charm 1")
    expect(page.get_by_role("heading", name="Charm 1 is too good.")).to_be_visible()
    _follow(page, "Try a change of it")
    card = page.locator("#change-card")
    _follow(page, "Change another number")
    reach(page, "Number")
    page.keyboard.type("Power")
    _follow(page, "Add")
    box = card.get_by_label("New value").last
    expect(box).to_have_value("32")
    expect(box).to_be_focused()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("ArrowLeft")
    moved = float(box.input_value())
    assert moved < 32, "the slider moves the number"
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowDown")
    assert float(box.input_value()) < moved
    _follow(page, "Charm 1: power: more")
    assert float(box.input_value()) == moved
    for _ in range(2):
        page.keyboard.press("Shift+Tab")
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("2")
    page.keyboard.press("Enter")
    expect(card.locator("#trial")).to_contain_text("Waiting")
    trial = Job.objects.get(kind="change")
    assert trial.config["change"] == {"charm-1.power": 2.0}
    played(trial)
    expect(card.locator("#trial")).to_contain_text("With Charm 1’s power at 2")
    _follow(page, "Save as a new data version")
    expect(page.get_by_text("Saved as version 15.")).to_be_visible()


def _compared(page: Page) -> None:
    """What the new data does to the old suspects."""
    played(Job.objects.get(kind="change", game_version__number=15))
    _follow(page, "Jobs")
    expect(page.get_by_role("heading", level=1)).to_have_text("Jobs")
    _follow(page, "Compare searches")
    worked = page.get_by_role("region", name="Did it work?")
    expect(worked).to_contain_text("under the line on this data")
    expect(worked).to_contain_text("Charm 1: ")

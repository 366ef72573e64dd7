"""What people and scripts are told while the disk is full."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser
from django.contrib.sessions.models import Session as SessionRow
from django.db import OperationalError
from django.db.models import QuerySet
from django.test import Client, RequestFactory
from django.urls import reverse
from pytest_django.fixtures import Settings

from engine.errors import DiskFull
from tests.factories import PASSWORD, Studio, search_job, signed_in, studio
from webapp.api import tokens
from webapp.lib import disk
from webapp.lib.sessions import SessionStore
from webapp.studies.models import Job

pytestmark = pytest.mark.django_db


@pytest.fixture
def team(settings: Settings) -> Studio:
    made = studio()
    search_job(made.project, rows=50)
    settings.DISK_RESERVE = 2**60
    return made


@pytest.fixture
def browser(team: Studio) -> Client:
    return signed_in(team.designer)


@pytest.mark.parametrize("name", ["projects:home", "projects:help"])
def test_every_page_says_what_to_free_and_where(browser: Client, settings: Settings, name: str) -> None:
    page = browser.get(reverse(name)).content.decode()
    assert "The disk is full. Jobs are paused; free " in page
    assert f" MB in {settings.VAR} and they go on by themselves." in page or "MB in /tmp and" in page


def test_strangers_are_told_without_the_folder(team: Studio, settings: Settings) -> None:
    page = Client().get("/sign-in/").content.decode()
    assert "<b>The disk is full.</b> Jobs are paused until there is room again." in page
    assert str(settings.VAR) not in page
    health = Client().get("/health/")
    assert health.status_code == 503
    assert health.json()["parts"]["disk"].startswith("full. Jobs are paused.")
    assert str(settings.VAR) not in health.content.decode()


def test_below_the_second_mark_jobs_run_on_but_none_starts(team: Studio, settings: Settings) -> None:
    settings.DISK_RESERVE = min(disk.shutil.disk_usage(each).free for each in settings.WATCHED_FOLDERS) * 9 // 10
    found = disk.shortage()
    assert found is not None
    assert not disk.full()
    assert found.sentences.startswith("The disk is nearly full. New jobs do not start; free ")


def test_nothing_new_is_taken(team: Studio, browser: Client) -> None:
    slug = team.project.slug
    job = Job.objects.get()
    start = browser.post(
        reverse("studies:new", args=[slug]), {"question": "unfair"}, headers={"Accept": "application/json"}
    )
    assert (start.status_code, "then try again" in start.json()["error"]) == (503, True)
    sheet = browser.post(reverse("games:import", args=[slug]), {"text": "Name,Cost\nFrost Duke,12\n"})
    assert sheet.status_code == 422
    assert "MB in" in sheet.content.decode()
    address = reverse("studies:explore-shortlist", args=[slug, job.pk])
    assert browser.post(address, {"action": "add", "lineup": 12, "reason": "Odd"}).status_code == 200
    again = browser.post(
        reverse("studies:explore-recheck", args=[slug, job.pk]), headers={"Accept": "application/json"}
    )
    assert (again.status_code, "The disk is full." in again.json()["error"]) == (503, True)
    assert Job.objects.count() == 1


@pytest.mark.parametrize(
    "error", [OSError(28, "No space left on device"), OperationalError("database or disk is full"), DiskFull("full")]
)
def test_what_cannot_be_written_is_told_and_not_a_crash(team: Studio, error: Exception) -> None:
    request = RequestFactory().post("/p/herobattle/")
    request.user = AnonymousUser()
    answer = disk.FullDisk(lambda request: None).process_exception(request, error)  # type: ignore[arg-type,return-value]
    assert answer is not None
    assert answer.status_code == 503
    assert "the disk of this site is full" in answer.content.decode()  # type: ignore[attr-defined]


def test_other_errors_stay_what_they_are() -> None:
    request = RequestFactory().get("/")
    handled = disk.FullDisk(lambda request: None).process_exception(request, OperationalError("locked"))  # type: ignore[arg-type,return-value]
    assert handled is None


def test_a_session_that_cannot_be_kept_leaves_the_page_readable(team: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    session = SessionStore()
    session["project"] = "herobattle"
    session.create()
    monkeypatch.setattr("django.contrib.sessions.models.Session.save", _no_room)
    session.save()
    with pytest.raises(OperationalError):
        session.save(must_create=True)


@pytest.mark.parametrize(("status", "told"), [("running", True), ("queued", True), ("finished", False)])
def test_scripts_that_watch_a_job_are_told_what_pages_say(team: Studio, status: str, told: bool) -> None:
    job = Job.objects.get()
    Job.objects.update(status=status)
    headers = {"Authorization": f"Bearer {tokens.make(team.designer, 'a build', None, 30)[1]}"}
    one = Client().get(f"/api/v1/projects/{team.project.slug}/jobs/{job.pk}", headers=headers).json()
    (listed,) = Client().get(f"/api/v1/projects/{team.project.slug}/jobs", headers=headers).json()["jobs"]
    first, second = (re.sub(r"\d+", "…", each["message"]) for each in (one, listed))  # others use the disk meanwhile
    assert first == second
    assert one["message"].startswith("The disk is full. Jobs are paused; free ") == told


def test_scripts_read_on_while_the_use_of_their_token_cannot_be_noted(
    team: Studio, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = tokens.make(team.designer, "a build", None, 30)[1]
    monkeypatch.setattr(QuerySet, "update", _no_room)
    for address in ("/api/v1/projects", f"/api/v1/projects/{team.project.slug}/jobs"):
        answer = Client().get(address, headers={"Authorization": f"Bearer {text}"})
        assert answer.status_code == 200, answer.content
    settings.DISK_RESERVE = 0
    with pytest.raises(OperationalError):  # another cause is no reason to forget who was here
        Client().get("/api/v1/projects", headers={"Authorization": f"Bearer {text}"})


def _no_room(self: object, **options: object) -> None:
    raise OperationalError("database or disk is full")


def test_a_project_is_not_made_while_the_disk_is_full(team: Studio, browser: Client) -> None:
    answer = browser.post("/projects/new/", {"name": "Arena"})
    assert (answer.status_code, "then try again" in answer.content.decode()) == (503, True)


def test_a_sign_in_that_cannot_be_kept_is_told_and_not_lost_on_the_next_page(
    team: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first write of its session still finds room, and the one that says who is signed in does not."""
    real, writes = SessionRow.save, list[object]()

    def late(self: SessionRow, *given: object, **options: Any) -> None:
        writes.append(self)
        _no_room(self) if len(writes) > 1 else real(self, *given, **options)

    monkeypatch.setattr(SessionRow, "save", late)
    answer = Client().post("/sign-in/", {"username": team.designer.username, "password": PASSWORD})
    assert answer.status_code == 503
    assert "the disk of this site is full" in answer.content.decode()


def test_an_empty_form_of_an_import_is_no_crash_while_the_disk_is_full(team: Studio, browser: Client) -> None:
    assert browser.post(reverse("games:import", args=[team.project.slug])).status_code == 422

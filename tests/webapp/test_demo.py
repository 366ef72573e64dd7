"""``manage.py demo``: what a new installation starts with, and what later starts leave alone."""

from __future__ import annotations

import socket
import stat
from io import StringIO
from pathlib import Path
from threading import Timer

import numpy as np
import pytest
from django.conf import LazySettings
from django.core.management import call_command
from django.utils import timezone

from deploy.up.layout import Layout
from deploy.up.options import read_options
from deploy.up.parts import parts
from tests.webapp.test_jobs_new import finished_sample
from webapp.accounts import rights
from webapp.accounts.demo import DEMO_NAMES, DEMO_PASSWORD
from webapp.accounts.models import User
from webapp.api import tokens
from webapp.games import handshake
from webapp.games.models import Simulator
from webapp.projects.models import Membership, Project, Role
from webapp.studies import demo
from webapp.studies.management.commands import demo as command
from webapp.studies.models import Job, Status

pytestmark = pytest.mark.django_db


@pytest.fixture
def people(settings: LazySettings, tmp_path: Path) -> LazySettings:
    """Settings with a folder of their own, so that drawn passwords of another test are not found."""
    settings.VAR = tmp_path
    settings.DEMO_PASSWORDS = True
    return settings


def sign_ins() -> dict[str, str | None]:
    return {person.username: demo.make_person(person)[1].password for person in demo.DEMO_PEOPLE}


def test_a_new_installation_has_people_a_game_and_a_search(people: LazySettings, redis_server: str) -> None:
    for _ in range(2):
        made = demo.make_demo()
        demo.first_job(made.project, made.designer)
    project = Project.objects.get()
    assert {m.user.username: m.role for m in Membership.objects.select_related("user")} == {
        "owner": Role.OWNER, "designer": Role.DESIGNER, "engineer": Role.ENGINEER, "producer": Role.PRODUCER,
    }  # fmt: skip
    assert User.objects.get(is_staff=True).username == "operator"
    version = project.versions.get()
    assert str(version) == "Spring data, version 1"
    assert version.simulator.reference.startswith("builtin:herobattle-planted:")
    assert list(version.simulator.projects.all()) == [project]
    job = Job.objects.get(kind="search")
    assert (job.kind, job.template, job.status) == ("search", "unfair", Status.QUEUED)
    assert job.config["game"]["simulator"] == version.simulator.reference
    assert job.game_version == version
    Job.objects.update(status=Status.FINISHED)
    printed = StringIO()
    call_command("demo", stdout=printed)
    assert all(f"{name} " in printed.getvalue() for name in DEMO_NAMES)
    assert DEMO_PASSWORD in printed.getvalue()


def test_a_start_that_was_killed_in_the_middle_of_the_game_s_test_is_made_good_by_the_next(
    people: LazySettings, redis_server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(simulator: int) -> bool:
        Simulator.objects.filter(pk=simulator).update(test=Simulator.Test.RUNNING, test_at=timezone.now())
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(handshake, "run", killed)
        with pytest.raises(KeyboardInterrupt):
            demo.make_demo()
    demo.make_demo()
    assert Project.objects.get().versions.get().simulator.status == Simulator.Status.READY


@pytest.mark.parametrize("plays", [True, False])
def test_the_first_search_has_a_line(people: LazySettings, redis_server: str, plays: bool) -> None:
    def play(number: int) -> None:
        finished_sample(Job.objects.get(pk=number), lambda name: np.linspace(1.0, 3.0, 200))

    made = demo.make_demo()
    first = demo.first_job(made.project, made.designer, play if plays else None)
    threshold = first.config["objectives"]["objectives"][0]["threshold"]
    assert threshold == (2.9 if plays else 2.0), "5 % of the random lineups are over it; else the question's usual line"


def test_a_search_that_a_worker_of_the_site_has_taken_is_waited_for(
    people: LazySettings, redis_server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def taken(number: int) -> None:
        """As when a worker claimed it: nothing is done here, and it ends a moment later."""
        asked.append(number)
        Timer(0.3, lambda: Job.objects.filter(pk=number).update(status=Status.FINISHED)).run()

    monkeypatch.setattr(command.runner, "run", taken)
    call_command("demo", "--without-search", stdout=StringIO())
    assert not Job.objects.exists()
    printed = StringIO()
    call_command("demo", stdout=printed)
    played, waits = Job.objects.exclude(kind="worth"), Job.objects.get(kind="worth")
    assert asked == [job.pk for job in played.order_by("pk")]
    assert [job.kind for job in played.order_by("pk")] == ["sample", "search"]
    assert (waits.accompanies.kind, waits.status) == ("search", Status.WAITING)
    assert DEMO_PASSWORD in printed.getvalue()


def test_the_site_serves_while_the_demo_s_first_search_is_played(tmp_path: Path) -> None:
    with socket.socket() as listener:
        options = read_options({"PORT": "8000", "VAR": str(tmp_path)})
        found = {part.name: part for part in parts(Layout(tmp_path), options, listener)}
    assert found["demo"].once
    assert found["demo"].aside
    assert found["demo"].needs == ("redis", "prepare")
    assert all("demo" not in part.needs for part in found.values())


def test_passwords_are_drawn_when_other_machines_may_reach_the_site(people: LazySettings, tmp_path: Path) -> None:
    people.DEMO_PASSWORDS = False
    drawn = sign_ins()
    assert len(set(drawn.values())) == len(DEMO_NAMES)
    assert not any(user.check_password(DEMO_PASSWORD) for user in User.objects.all())
    assert all(User.objects.get(username=name).check_password(str(password)) for name, password in drawn.items())
    assert sign_ins() == drawn
    assert stat.S_IMODE((tmp_path / "demo-passwords.json").stat().st_mode) == 0o600


def test_the_passwords_follow_how_the_site_listens(people: LazySettings) -> None:
    assert set(sign_ins().values()) == {DEMO_PASSWORD}
    people.DEMO_PASSWORDS = False
    assert DEMO_PASSWORD not in sign_ins().values()
    people.DEMO_PASSWORDS = True
    assert set(sign_ins().values()) == {DEMO_PASSWORD}


@pytest.mark.parametrize("known", [True, False])
def test_a_password_that_somebody_chose_is_left_alone(people: LazySettings, known: bool) -> None:
    sign_ins()
    designer = User.objects.get(username="designer")
    designer.set_password("lantern-thief-22")
    designer.save()
    people.DEMO_PASSWORDS = known
    assert sign_ins()["designer"] is None
    designer.refresh_from_db()
    assert designer.check_password("lantern-thief-22")


def test_the_known_password_is_taken_from_demo_accounts_also_where_no_demo_is_wanted(people: LazySettings) -> None:
    sign_ins()
    text = tokens.make(User.objects.get(username="designer"), "a build", None, 30)[0]
    people.DEMO_PASSWORDS = False
    call_command("demo", "--close")
    assert not any(user.check_password(DEMO_PASSWORD) for user in User.objects.all())
    text.refresh_from_db()
    assert not text.works
    assert not Project.objects.exists()


def test_the_demo_engineer_may_register_simulators_until_an_operator_withdraws_it(people: LazySettings) -> None:
    sign_ins()
    may = {name for name in DEMO_NAMES if rights.may_run_code(User.objects.get(username=name))}
    assert may == {"engineer", "operator"}
    rights.withdraw(User.objects.get(username="engineer"), User.objects.get(username="operator"))
    sign_ins()
    assert not rights.may_run_code(User.objects.get(username="engineer"))

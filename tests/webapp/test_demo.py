"""``manage.py demo``: what a new installation starts with, and what later starts leave alone."""

from __future__ import annotations

import stat
from io import StringIO
from pathlib import Path

import pytest
from django.conf import LazySettings
from django.core.management import call_command

from webapp.accounts.demo import DEMO_NAMES, DEMO_PASSWORD
from webapp.accounts.models import User
from webapp.projects import demo
from webapp.projects.models import Membership, Project, Role
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
    demo.make_demo()
    demo.make_demo()
    project = Project.objects.get()
    assert {m.user.username: m.role for m in Membership.objects.select_related("user")} == {
        "owner": Role.OWNER, "designer": Role.DESIGNER, "engineer": Role.ENGINEER, "producer": Role.PRODUCER,
    }  # fmt: skip
    assert User.objects.get(is_staff=True).username == "operator"
    version = project.versions.get()
    assert str(version) == "Spring data, version 1"
    assert version.simulator.reference.startswith("builtin:herobattle-planted:")
    assert list(version.simulator.projects.all()) == [project]
    job = Job.objects.get()
    assert (job.kind, job.template, job.status) == (Job.Kind.SEARCH, "unfair", Status.QUEUED)
    assert job.config["game"]["simulator"] == version.simulator.reference
    assert job.game_version == version
    Job.objects.update(status=Status.FINISHED)
    printed = StringIO()
    call_command("demo", stdout=printed)
    assert all(f"{name} " in printed.getvalue() for name in DEMO_NAMES)
    assert DEMO_PASSWORD in printed.getvalue()


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

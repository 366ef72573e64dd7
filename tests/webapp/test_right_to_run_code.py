"""Running code on the site is a right that a site operator gives a person: what people try who have it not, what those
who have it can do with it, and what stays when it is withdrawn."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.http import HttpResponseBase
from django.test import Client

from tests.factories import PASSWORD, Studio, game_version, maker, person, signed_in, studio
from webapp.accounts import rights
from webapp.accounts.models import CodeRight, PersonAudit, User
from webapp.games import handshake
from webapp.games.models import Simulator, SimulatorAudit
from webapp.games.simulators import granted, obstacle
from webapp.projects.members import invite, open_invitations
from webapp.projects.models import Membership, Project, Role
from workers.handshake import run_handshake

pytestmark = pytest.mark.django_db
LIST = "/admin-tools/simulators/"
EVIL = {"name": "Calculator", "kind": "command", "target": "sh -c 'id > /tmp/owned'"}


@pytest.fixture
def operator() -> User:
    return person("operator", is_staff=True)


def register(client: Client, **more: object) -> HttpResponseBase:
    return client.post(f"{LIST}new/", {**EVIL, **more})


def through_the_door(name: str) -> Client:
    """A browser in which this person signed in as everybody does."""
    client = Client()
    assert client.post("/sign-in/", {"username": name, "password": PASSWORD}).status_code == 302
    return client


def test_no_detour_over_a_project_of_one_s_own_lets_anybody_register_a_command(team: Studio) -> None:
    friend = person("friend")
    mine, theirs = through_the_door("herobattle-producer"), through_the_door("friend")
    mine.post("/projects/new/", {"name": "Lair"})
    lair = Project.objects.get(slug="lair")
    mine.post("/p/lair/members/", {"person": "friend", "role": "owner"})
    theirs.post(f"/invitations/{lair.invitations.get().pk}/", {"answer": "accept"})
    me = lair.memberships.get(user=team.producer)
    mine.post(f"/p/lair/members/{me.pk}/", {"role": "engineer"})
    assert set(lair.memberships.values_list("user", "role")) == {
        (friend.pk, Role.OWNER), (team.producer.pk, Role.ENGINEER)
    }  # fmt: skip
    for client in (mine, theirs):
        assert client.get(LIST).status_code == 403
        assert register(client, projects=str(lair.pk)).status_code == 403
    assert not Simulator.objects.filter(name=EVIL["name"]).exists()


@pytest.mark.parametrize("role", Role.values)
def test_no_role_in_a_project_brings_the_right(team: Studio, role: str) -> None:
    client = signed_in(getattr(team, role))
    assert register(client).status_code == 403
    assert "Simulators</a>" not in client.get("/").content.decode()


def test_nobody_can_make_another_person_act_for_them(team: Studio, operator: User) -> None:
    """A stranger invites somebody who has the right: before that person says yes, neither has anything of the other."""
    rights.grant(team.engineer, operator)
    stranger = signed_in(maker())
    stranger.post("/p/maker-own/members/", {"person": "herobattle-engineer", "role": "owner"})
    assert not Membership.objects.filter(project__slug="maker-own", user=team.engineer).exists()
    form = signed_in(team.engineer).get(f"{LIST}new/").content.decode()
    assert "maker-own" not in form
    assert signed_in(team.engineer).get("/p/maker-own/").status_code == 404


def test_an_operator_gives_and_withdraws_the_right_and_both_are_written_down(team: Studio, operator: User) -> None:
    client, page = signed_in(operator), f"/admin-tools/people/{team.engineer.pk}/"
    assert "Let herobattle-engineer register simulators" in client.get(page).content.decode()
    client.post(f"{page}simulators/", {"right": "grant"})
    right = CodeRight.objects.get(person=team.engineer)
    assert right.granted_by == operator
    assert "Given by operator" in client.get(page).content.decode()
    assert "May register simulators" in client.get("/admin-tools/people/").content.decode()
    assert signed_in(team.engineer).get(LIST).status_code == 200
    client.post(f"{page}simulators/", {"right": "withdraw"})
    assert signed_in(team.engineer).get(LIST).status_code == 403
    lines = PersonAudit.objects.order_by("pk").values_list("name", "action", "user__username")
    assert list(lines) == [
        ("herobattle-engineer", "may register simulators", "operator"),
        ("herobattle-engineer", "may not register simulators any more", "operator"),
    ]
    assert "may not register simulators any more" in client.get("/admin-tools/people/").content.decode()


def test_who_has_the_right_cannot_pass_it_on(team: Studio, operator: User) -> None:
    rights.grant(team.engineer, operator)
    client = signed_in(team.engineer)
    for who in (team.designer, team.engineer):
        assert client.post(f"/admin-tools/people/{who.pk}/simulators/", {"right": "grant"}).status_code == 403
    assert CodeRight.objects.count() == 1


def test_rights_that_an_operator_gives_with_the_account_are_written_down_too(team: Studio, operator: User) -> None:
    fields = {"first_name": "", "last_name": "", "username": "herobattle-designer", "email": team.designer.email}
    address = f"/admin-tools/people/{team.designer.pk}/"
    signed_in(operator).post(address, {**fields, "is_active": "on", "is_staff": "on", "password": "lantern-thief-22"})
    signed_in(operator).post(address, fields)
    assert set(PersonAudit.objects.values_list("action", flat=True)) == {
        "is a site operator", "has a new password", "is no site operator any more", "may not sign in any more"
    }  # fmt: skip


def test_who_has_the_right_and_makes_a_project_uses_their_simulators_in_it(
    team: Studio, operator: User, redis_server: str
) -> None:
    rights.grant(team.engineer, operator)
    client = signed_in(team.engineer)
    client.post("/projects/new/", {"name": "Side project"})
    project = Project.objects.get(slug="side-project")
    assert "Side project" in client.get(f"{LIST}new/").content.decode()
    register(client, target="my-game --serve", projects=[str(project.pk), str(team.project.pk)])
    simulator = Simulator.objects.get(name=EVIL["name"])
    assert simulator in granted(project)
    assert simulator in granted(team.project)
    client.post(f"{LIST}{simulator.pk}/change/", {
        "name": simulator.name, "kind": "command", "target": "my-game --serve", "projects": [str(project.pk)],
    })  # fmt: skip
    assert simulator in granted(project)
    assert simulator not in granted(team.project)


def test_where_they_are_designer_or_stranger_they_bring_nothing(team: Studio, operator: User) -> None:
    rights.grant(team.designer, operator)
    other = studio("other")
    for project in (team.project, other.project):
        assert register(signed_in(team.designer), projects=str(project.pk)).status_code == 422
    assert not Simulator.objects.filter(name=EVIL["name"]).exists()


def of_the_engineer(team: Studio) -> Simulator:
    row = Simulator.objects.create(
        name="Own", kind="command", reference="command:own --key=4711", created_by=team.engineer, status="ready"
    )
    row.projects.add(team.project)
    return row


def test_without_the_right_their_simulators_go_on_but_are_no_longer_theirs_to_change_or_test(
    team: Studio, operator: User
) -> None:
    row = of_the_engineer(team)
    rights.grant(team.engineer, operator)
    signed_in(operator).post(f"/admin-tools/people/{team.engineer.pk}/simulators/", {"right": "withdraw"})
    client = signed_in(team.engineer)
    for address, method in (("", "get"), ("change/", "get"), ("change/", "post"), ("test/", "post")):
        assert getattr(client, method)(f"{LIST}{row.pk}/{address}").status_code == 403
    row.refresh_from_db()
    assert (row.status, obstacle(row), row.test) == ("ready", "", "")
    assert row in granted(team.project)


def test_an_operator_can_switch_their_simulators_off_with_the_right(
    team: Studio, operator: User, redis_server: str
) -> None:
    row, address = of_the_engineer(team), f"/admin-tools/people/{team.engineer.pk}/"
    rights.grant(team.engineer, operator)
    assert "Switch these off as well" in signed_in(operator).get(address).content.decode()
    signed_in(operator).post(f"{address}simulators/", {"right": "withdraw", "switch_off": "on"})
    row.refresh_from_db()
    assert "switched it off" in obstacle(row)
    rights.grant(team.designer, operator)
    Membership.objects.filter(user=team.designer).update(role=Role.ENGINEER)
    signed_in(team.designer).post(f"{LIST}{row.pk}/test/")
    assert not handshake.ask(row)
    assert signed_in(team.designer).post(f"{LIST}{row.pk}/switch/", {"switch": "on"}).status_code == 403
    row.refresh_from_db()
    assert row.status == Simulator.Status.OFF
    signed_in(operator).post(f"{LIST}{row.pk}/switch/", {"switch": "on"})
    row.refresh_from_db()
    assert (row.status, row.test) == ("untested", "asked")
    assert list(SimulatorAudit.objects.order_by("pk").values_list("action", flat=True)) == [
        "switched off", "switched on", "asked for a test"
    ]  # fmt: skip


def test_a_test_that_is_under_way_does_not_switch_a_simulator_on_again(
    team: Studio, operator: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = of_the_engineer(team)
    assert handshake.ask(row)

    def meanwhile(reference: str, deadline: float) -> Iterator[dict[str, str]]:
        signed_in(operator).post(f"{LIST}{row.pk}/switch/", {"switch": "off"})
        yield {"level": "ok", "check": "description", "message": "a game"}

    monkeypatch.setattr(handshake, "_lines", meanwhile)
    run_handshake(row.pk)
    row.refresh_from_db()
    assert row.status == Simulator.Status.OFF


def test_a_changed_program_of_a_simulator_that_is_switched_off_stays_off(team: Studio, operator: User) -> None:
    row = of_the_engineer(team)
    rights.grant(team.engineer, operator)
    signed_in(operator).post(f"{LIST}{row.pk}/switch/", {"switch": "off"})
    signed_in(team.engineer).post(f"{LIST}{row.pk}/change/", {"name": "Own", "kind": "command", "target": "other"})
    row.refresh_from_db()
    assert (row.reference, row.status) == ("command:other", "off")


def test_what_is_neither_of_two_answers_is_refused_and_taken_for_neither(team: Studio, operator: User) -> None:
    row, asked = of_the_engineer(team), invite(team.project, team.stranger, Role.PRODUCER, team.owner, "rian")
    rights.grant(team.engineer, operator)
    version = game_version(team.project)
    for who, address, name in (
        (operator, f"/admin-tools/people/{team.engineer.pk}/simulators/", "right"),
        (operator, f"{LIST}{row.pk}/switch/", "switch"),
        (team.stranger, f"/invitations/{asked.pk}/", "answer"),
        (team.designer, f"/p/{team.project.slug}/data/adopt/", "action"),
    ):
        for said in ({}, {name: "give"}, {name: "Withdraw"}):
            answer = signed_in(who).post(address, {**said, "base": str(version.number)})
            assert answer.status_code == 400, (address, said)
    assert rights.may_run_code(User.objects.get(pk=team.engineer.pk))
    assert list(open_invitations().filter(person=team.stranger)) == [asked]
    assert team.project.versions.count() == 1
    row.refresh_from_db()
    assert row.status != Simulator.Status.OFF


def test_two_operators_who_switch_a_simulator_off_do_not_switch_it_on_again(team: Studio, operator: User) -> None:
    row = of_the_engineer(team)
    for _ in range(2):
        signed_in(operator).post(f"{LIST}{row.pk}/switch/", {"switch": "off"})
    row.refresh_from_db()
    assert row.status == Simulator.Status.OFF

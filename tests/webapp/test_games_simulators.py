"""Registering simulators, who may see and change them, and the handshake test against real programs."""

from __future__ import annotations

import re
import sys
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import timedelta

import psutil
import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone

from engine.simulators.contract import content_hash
from tests.engine.sample_simulators import SPEC
from tests.factories import Studio, maker, person, signed_in, studio
from tests.webapp.games_data import simulator
from webapp.accounts import rights
from webapp.games import handshake
from webapp.games.called import called
from webapp.games.forms import SimulatorForm
from webapp.games.models import Simulator, SimulatorAudit
from webapp.games.simulators import by_moves, ensure_builtin_simulators, registration, switch_off, with_data
from webapp.games.specs import spec_of
from webapp.games.views import simulators as views
from webapp.lib.taken import checked_again
from webapp.studies.models import Job
from webapp.studies.playable import obstacle
from webapp.training.games import title_of
from workers.handshake import ask_for_built_in_games, run_handshake
from workers.reconcile import reconcile

pytestmark = pytest.mark.django_db
LIST = "/admin-tools/simulators/"
TUG = "python:tests.engine.sample_simulators:TugOfWar"
LAKE = f"command:{sys.executable} -m tests.engine.frozen_lake"


def bad(name: str) -> str:
    return f"command:{sys.executable} -m tests.engine.bad_simulators {name}"


@pytest.fixture
def engineer(team: Studio) -> Client:
    rights.grant(team.engineer, None)
    return signed_in(team.engineer)


def after_a_test(reference: str, deadline: float = handshake.DEADLINE) -> Simulator:
    """The simulator after a handshake test."""
    row = Simulator.objects.create(name="Tug", kind=re.split(r"[+:]", reference)[0], reference=reference)
    assert handshake.ask(row)
    assert handshake.run(row.pk, deadline)
    row.refresh_from_db()
    return row


def levels(row: Simulator) -> set[str]:
    return {finding["level"] for finding in row.findings}


# The handshake


def test_an_honest_simulator_is_ready_and_its_description_is_kept() -> None:
    row = after_a_test(TUG)
    assert row.status == Simulator.Status.READY, row.findings
    assert (row.version, row.spec_hash, row.test) == (SPEC.version, content_hash(SPEC), "")
    kept = spec_of(row)
    assert kept is not None
    assert content_hash(kept) == content_hash(SPEC)
    assert {"check": "wins", "level": "ok"}.items() <= row.findings[3].items()


def test_a_game_that_is_played_move_by_move_is_ready_for_agents_and_not_for_lineups() -> None:
    row = after_a_test(LAKE)
    assert (row.status, row.by_moves, row.version, row.spec) == (Simulator.Status.READY, True, "1", {}), row.findings
    assert row.message.startswith("It asks for every decision, so agents can be trained in it. frozen-lake 1: one")
    tug = Simulator.objects.create(name="Tug of war", kind="python", reference=TUG)
    assert handshake.ask(tug)
    assert handshake.run(tug.pk)
    new = Simulator.objects.create(name="New", kind="command", reference="command:nobody-knows")
    project = studio().project
    project.simulators.set([row, tug, new])
    assert set(with_data(project)) == {tug, new}
    assert set(by_moves(project)) == {row, new}


def test_settings_by_which_a_program_s_episodes_begin_are_kept_and_told() -> None:
    starts = [
        {"name": "x", "low": 0.0, "high": 9.0, "usual": 1.0, "title": "Along", "whole": False},
        {"name": "floor", "low": 1.0, "high": 3.0, "usual": 1.0, "title": "", "whole": True},
    ]
    found = handshake._verdict([], {"version": "2", "starts": starts})
    assert found["starts"] == starts
    assert found["message"].endswith(" Settings say where its episodes begin: Along, floor.")
    assert handshake._verdict([], {"version": "2"})["starts"] == []


def test_a_game_that_is_played_move_by_move_and_lies_is_broken() -> None:
    row = after_a_test(f"{LAKE} nan")
    assert row.status == Simulator.Status.BROKEN
    assert "rewards is nan" in row.message


def test_a_simulator_that_lies_is_broken_and_the_line_says_how() -> None:
    row = after_a_test(bad("nan"))
    assert row.status == Simulator.Status.BROKEN
    assert "error" in levels(row)
    assert "nan" in row.message.lower()


def test_a_program_that_is_not_installed_says_so() -> None:
    row = after_a_test("command:no-such-program --fast")
    assert row.status == Simulator.Status.MISSING
    assert "no-such-program" in row.message


def test_a_simulator_that_hangs_is_stopped_and_nothing_is_left_running() -> None:
    row = after_a_test(bad("hang"), deadline=4)
    assert row.status == Simulator.Status.BROKEN
    assert row.test == ""
    left = [p for p in psutil.process_iter(["cmdline"]) if "tests.engine.bad_simulators" in (p.info["cmdline"] or [])]
    psutil.wait_procs(left, timeout=20)
    assert not [p for p in left if p.is_running()]


def under_test(name: str) -> tuple[Simulator, threading.Thread]:
    """A simulator whose test runs in a thread, as a worker runs it."""
    row = simulator(reference=bad(name), kind="command")
    assert handshake.ask(row)

    def run() -> None:
        handshake.run(row.pk)
        connection.close()

    thread = threading.Thread(target=run)
    thread.start()
    return row, thread


def until(row: Simulator, reached: Callable[[Simulator], bool]) -> None:
    end = time.monotonic() + 60
    while not reached(row) and time.monotonic() < end:
        time.sleep(0.05)
        row.refresh_from_db()
    assert reached(row)


@pytest.mark.django_db(transaction=True)
def test_a_long_wait_is_told_with_the_seconds_left_and_can_be_stopped() -> None:
    row, thread = under_test("hang")
    try:
        until(row, lambda row: "BATTLES" in row.awaited)
        client = signed_in(person("operator", is_staff=True))
        page = client.get(f"{LIST}{row.pk}/", headers={"HX-Request": "true"}).content.decode()
        assert re.search(r"Waiting for the answer to BATTLES of 8 battles. The program has <b>\d+\W+s</b> left", page)
        assert "Stop the test" in page
        page = client.post(f"{LIST}{row.pk}/stop/", headers={"HX-Request": "true"}).content.decode()
        assert "operator stopped the test before its end." in page
        assert "Test handshake" in page
    finally:
        Simulator.objects.update(test=Simulator.Test.NONE)
        thread.join(60)
    assert not thread.is_alive()
    row.refresh_from_db()
    assert (row.status, row.awaited, row.checked_at) == (Simulator.Status.UNTESTED, "", None)
    assert SimulatorAudit.objects.filter(action="stopped a test").count() == 1
    left = [p for p in psutil.process_iter(["cmdline"]) if "tests.engine.bad_simulators" in (p.info["cmdline"] or [])]
    assert not psutil.wait_procs(left, timeout=20)[1]


def test_a_test_that_waits_for_a_worker_can_be_stopped_and_asked_for_again(engineer: Client, team: Studio) -> None:
    row = simulator(created_by=team.engineer)
    assert handshake.ask(row)
    engineer.post(f"{LIST}{row.pk}/stop/")
    assert not run_handshake(row.pk)
    assert handshake.ask(row)
    assert signed_in(team.stranger).post(f"{LIST}{row.pk}/stop/").status_code == 403
    row.refresh_from_db()
    assert row.test == Simulator.Test.ASKED


def test_a_program_that_dials_tcp_is_tested_over_tcp() -> None:
    row = after_a_test(TUG.replace("python:", "python+tcp:"))
    assert (row.transport, row.status) == ("tcp", Simulator.Status.READY), row.findings


def test_every_fault_of_a_description_is_told_at_once() -> None:
    row = after_a_test(bad("half_a_spec"))
    assert [f["message"] for f in row.findings if f["level"] == "error"] == [
        'spec.pieces[1].cost is "11"; it has to be a number',
        "piece 'hero-0' is described 2 times; each needs a name of its own",
        "spec.strength is said to be side metric 'might', which is not described",
    ]
    first = 'Its description of the game is wrong: spec.pieces[1].cost is "11"; it has to be a number.'
    assert row.message == f"{first} 2 more faults beside this one."


def test_findings_call_a_program_by_the_name_that_it_is_registered_under() -> None:
    """The engine knows only its file, which is python for every program in Python."""
    row = after_a_test(bad("leave"))
    said = " ".join([row.full_message, *(f["message"] for f in row.full_findings)])
    assert f"The simulator “{row.name}”" in said
    assert "“python" not in said


def test_the_page_is_loaded_again_when_the_test_it_watches_has_ended(engineer: Client, team: Studio) -> None:
    row = simulator(created_by=team.engineer)
    assert handshake.ask(row)
    watched = {"HX-Request": "true"}
    assert "HX-Refresh" not in engineer.get(f"{LIST}{row.pk}/", headers=watched).headers
    handshake.stop(row, team.engineer)
    assert engineer.get(f"{LIST}{row.pk}/", headers=watched).headers["HX-Refresh"] == "true"


def test_a_broken_simulator_keeps_its_last_good_description() -> None:
    row = after_a_test(TUG)
    Simulator.objects.filter(pk=row.pk).update(reference="python:no_such_package:make")
    assert handshake.ask(row)
    assert handshake.run(row.pk)
    row.refresh_from_db()
    assert row.status == Simulator.Status.BROKEN
    assert row.spec_hash == content_hash(SPEC)


def test_built_in_games_are_tested_when_a_worker_starts(redis_server: str) -> None:
    ensure_builtin_simulators()
    simulator()
    Simulator.objects.filter(reference="builtin:herobattle").update(checked_at=timezone.now(), status="ready")
    ask_for_built_in_games()
    asked = Simulator.objects.filter(test=Simulator.Test.ASKED)
    assert [row.reference for row in asked] == ["builtin:wesnoth"]


def test_a_test_that_is_delivered_twice_runs_once() -> None:
    row = simulator(reference="command:no-such-program")
    assert handshake.ask(row)
    assert not handshake.ask(row)
    assert run_handshake(row.pk)
    assert not run_handshake(row.pk)


# The pages


def register(client: Client, **changes: str) -> Simulator | None:
    fields = {"name": "Tug", "kind": "python", "target": TUG.removeprefix("python:"), **changes}
    client.post(f"{LIST}new/", fields)
    return Simulator.objects.filter(name=fields["name"]).first()


def test_registering_grants_writes_the_audit_and_asks_for_a_test(
    engineer: Client, team: Studio, redis_server: str
) -> None:
    row = register(engineer, projects=str(team.project.pk))
    assert row is not None
    assert (row.reference, row.kind, row.created_by, row.everybody) == (TUG, "python", team.engineer, False)
    assert list(row.projects.all()) == [team.project]
    assert row.test == Simulator.Test.ASKED
    assert list(SimulatorAudit.objects.order_by("pk").values_list("action", "user__username")) == [
        ("registered", team.engineer.username), ("asked for a test", team.engineer.username),
    ]  # fmt: skip
    page = engineer.get(f"{LIST}{row.pk}/", headers={"HX-Request": "true"}).content.decode()
    assert "waits for a free worker" in page
    assert 'hx-trigger="every 1s"' in page


def test_two_people_register_one_program_and_neither_learns_of_the_other(
    team: Studio, engineer: Client, redis_server: str
) -> None:
    program = {"kind": "command", "target": "play --key=secret"}
    first = register(engineer, **program, projects=str(team.project.pk))
    stranger = maker()
    rights.grant(stranger, None)
    own = stranger.memberships.get(role="owner").project
    second = register(signed_in(stranger), **program, name="Mine", projects=str(own.pk))
    assert first is not None
    assert second is not None
    again = signed_in(stranger).post(f"{LIST}new/", {**program, "name": "Mine too"}).content.decode()
    assert "This program is registered already, as “Mine”." in again
    assert first.name not in again
    operator = signed_in(person("operator", is_staff=True))
    told = operator.post(f"{LIST}new/", {**program, "name": "Ours"}).content.decode()
    assert f"This program is registered already, as “Mine”, “{first.name}”." in told
    for project, row in ((team.project, first), (own, second)):
        assert registration(row.reference, project) == row
        assert called(row.reference, project) == f"simulator:{row.pk}"
        assert title_of(row.reference, project) == row.name
    switch_off(first, team.owner)
    config = {"kind": "train", "game": {"name": second.reference}}
    told = [obstacle(Job(project=project, kind="train", config=config)) for project in (team.project, own)]
    assert "switched it off" in told[0]
    assert told[1] == ""


def test_a_project_with_two_registrations_of_one_program_plays_the_one_that_can_be_played(team: Studio) -> None:
    first, second = (Simulator.objects.create(name=n, kind="command", reference="command:play") for n in ("A", "B"))
    for row in (first, second):
        row.projects.add(team.project)
    switch_off(first, team.owner)
    assert registration("command:play", team.project) == second


def test_a_registration_says_what_its_program_dials(engineer: Client, redis_server: str) -> None:
    row = register(engineer, kind="command", target="java -jar game.jar", transport="tcp")
    assert row is not None
    assert (row.reference, row.kind, row.transport) == ("command+tcp:java -jar game.jar", "command", "tcp")
    page = engineer.get(f"{LIST}{row.pk}/").content.decode()
    assert "a tcp:// address of this machine, with a key" in page
    form = engineer.get(f"{LIST}{row.pk}/change/").content.decode()
    assert re.search(r'name="transport" value="tcp"[^>]*checked', form)
    assert 'value="java -jar game.jar"' in form
    again = engineer.post(f"{LIST}new/", {"name": "B", "kind": "command", "target": "java -jar game.jar"})
    assert "registered already" in again.content.decode()
    engineer.post(f"{LIST}{row.pk}/change/", {
        "name": "Tug", "kind": "command", "target": "java -jar game.jar", "transport": "ipc",
    })  # fmt: skip
    row.refresh_from_db()
    assert (row.reference, row.status) == ("command:java -jar game.jar", Simulator.Status.UNTESTED)


def test_a_reference_may_be_typed_as_on_the_command_line(engineer: Client, redis_server: str) -> None:
    row = register(engineer, kind="command", target="command+tcp: game --fast")
    assert row is not None
    assert row.reference == "command+tcp:game --fast"


def test_a_test_that_the_queue_did_not_take_waits_and_is_sent_by_the_reconciler(
    engineer: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[int] = []
    monkeypatch.setattr(handshake, "enqueue", lambda task, pk: False)
    row = register(engineer)
    assert row is not None
    assert (row.test, row.sent_at, row.message) == (Simulator.Test.ASKED, None, "")
    long_ago = timezone.now() - timedelta(seconds=2 * handshake.DEADLINE)
    Simulator.objects.update(test_at=long_ago)
    assert "The test waits for a free worker; it has waited" in engineer.get(f"{LIST}{row.pk}/").content.decode()
    reconcile()
    row.refresh_from_db()
    assert row.sent_at is None
    monkeypatch.setattr(handshake, "enqueue", lambda task, pk: not sent.append(pk))
    reconcile()
    reconcile()
    assert sent == [row.pk]
    Simulator.objects.update(sent_at=long_ago)  # Redis lost everything
    reconcile()
    assert sent == [row.pk, row.pk]
    assert run_handshake(row.pk)
    assert not run_handshake(row.pk)
    reconcile()
    assert len(sent) == 2


def test_a_test_whose_worker_died_can_be_asked_for_again(engineer: Client, team: Studio) -> None:
    row = simulator(created_by=team.engineer)
    assert handshake.ask(row)
    long_ago = timezone.now() - timedelta(seconds=2 * handshake.DEADLINE)
    Simulator.objects.update(test=Simulator.Test.RUNNING, test_at=long_ago)
    assert "its worker stopped" in engineer.get(f"{LIST}{row.pk}/").content.decode()
    assert handshake.ask(row)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"kind": "python", "target": "os.system('x')"}, "package.module:factory"),
        ({"kind": "command", "target": "'open"}, "never closes"),
        ({"kind": "command", "target": "a\nb"}, "one line"),
        ({"name": "Skirmish"}, "Another simulator has this name"),
        ({"kind": "other"}, "valid choice"),
        ({"target": ""}, "required"),
    ],
)
def test_a_bad_registration_is_an_error_at_its_field(engineer: Client, changes: dict[str, str], words: str) -> None:
    simulator()
    fields = {"name": "Tug", "kind": "python", "target": "a.b:c", **changes}
    answer = engineer.post(f"{LIST}new/", fields)
    assert answer.status_code == 422
    assert words in answer.content.decode()
    assert Simulator.objects.count() == 1


def test_an_engineer_sees_own_and_granted_simulators_only(engineer: Client, team: Studio) -> None:
    own = simulator(name="Own", reference="python:own:x", everybody=False, created_by=team.engineer)
    granted = simulator(name="Granted", reference="python:granted:x", everybody=False)
    granted.projects.add(team.project)
    secret = simulator(name="Secret", reference="command:secret", everybody=False)
    page = engineer.get(LIST).content.decode()
    assert "Own" in page
    assert "Granted" in page
    assert "Secret" not in page
    assert engineer.get(f"{LIST}{secret.pk}/").status_code == 404
    assert engineer.get(f"{LIST}{own.pk}/change/").status_code == 200
    assert engineer.get(f"{LIST}{granted.pk}/change/").status_code == 403
    assert signed_in(team.designer).get(LIST).status_code == 403
    assert signed_in(team.stranger).get(f"{LIST}{own.pk}/").status_code == 403


def test_an_engineer_cannot_grant_to_everybody_or_to_other_projects(engineer: Client, team: Studio) -> None:
    other = studio("other")
    assert register(engineer, projects=str(other.project.pk)) is None
    row = register(engineer, everybody="on")
    assert row is not None
    assert not row.everybody


def test_a_changed_program_is_written_down_and_has_to_be_tested_again(team: Studio) -> None:
    other = studio("other")
    row = simulator(everybody=False)
    row.projects.add(other.project)
    client = signed_in(person("operator", is_staff=True))
    client.post(f"{LIST}{row.pk}/change/", {
        "name": "Skirmish 2", "kind": "command", "target": "command:skirmish --fast",
        "projects": [team.project.pk, other.project.pk],
    })  # fmt: skip
    row.refresh_from_db()
    assert (row.name, row.reference, row.status) == ("Skirmish 2", "command:skirmish --fast", "untested")
    assert set(row.projects.all()) == {team.project, other.project}
    assert set(SimulatorAudit.objects.values_list("action", flat=True)) == {"changed program", "renamed", "granted"}


def test_built_in_games_are_made_once_and_keep_their_program() -> None:
    ensure_builtin_simulators()
    ensure_builtin_simulators()
    assert Simulator.objects.filter(kind=Simulator.Kind.BUILTIN).count() == 2
    row = Simulator.objects.get(reference="builtin:wesnoth")
    client = signed_in(person("operator", is_staff=True))
    page = client.get(f"{LIST}{row.pk}/change/").content.decode()
    assert 'name="target"' not in page


def test_a_name_that_somebody_takes_while_a_registration_is_saved_is_an_error_at_its_field(
    engineer: Client, team: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = simulator(created_by=team.engineer)

    def late(form: SimulatorForm) -> AbstractContextManager[None]:
        Simulator.objects.create(name="Tug", kind="python", reference="python:x.y:z")
        return checked_again(form)

    monkeypatch.setattr(views, "checked_again", late)
    for place in (f"{LIST}new/", f"{LIST}{row.pk}/change/"):
        Simulator.objects.filter(name="Tug").delete()
        answer = engineer.post(place, {"name": "Tug", "kind": "python", "target": "a.b:c"})
        assert answer.status_code == 422, place
        assert "Another simulator has this name" in answer.content.decode()
    row.refresh_from_db()
    assert row.name == "Skirmish"

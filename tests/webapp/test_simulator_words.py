"""What the pages of a simulator say of it: its audit, its name in the sentences of a test, and how the test stands."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from importlib import import_module

import pytest
from django.apps import apps
from django.test import Client

from tests.factories import Studio, person, signed_in, studio
from tests.webapp.games_data import simulator
from webapp.accounts import rights
from webapp.accounts.models import User
from webapp.games import handshake
from webapp.games.models import Simulator, SimulatorAudit
from webapp.games.simulators import record, switch_off
from webapp.games.views import simulators as pages

pytestmark = pytest.mark.django_db
LIST = "/admin-tools/simulators/"


@pytest.fixture
def people(redis_server: str) -> tuple[Studio, Client, Client]:
    """A project, and browsers of two people who may register programs; the first is its engineer."""
    team, other = studio(), person("other-engineer")
    for user in (team.engineer, other):
        rights.grant(user, None)
    return team, signed_in(team.engineer), signed_in(other)


def registered(client: Client, name: str, target: str = "own:game") -> Simulator:
    client.post(f"{LIST}new/", {"name": name, "kind": "python", "target": target})
    return Simulator.objects.get(name=name)


def renamed(client: Client, row: Simulator, name: str) -> None:
    fields = {"name": name, "kind": "python", "target": row.reference.partition(":")[2]}
    assert client.post(f"{LIST}{row.pk}/change/", fields).status_code == 302


# The audit


def test_who_takes_a_name_that_was_given_up_does_not_read_the_audit_of_who_had_it(
    people: tuple[Studio, Client, Client],
) -> None:
    team, first, second = people
    row = registered(first, "audit1")
    first.post(f"{LIST}{row.pk}/stop/")
    renamed(first, row, "audit2")
    taken = registered(second, "audit1")
    for address in (LIST, f"{LIST}{taken.pk}/"):
        assert "stopped a test" not in second.get(address).content.decode(), address
    own = first.get(f"{LIST}{row.pk}/").content.decode()
    assert "audit1: registered" in own
    assert "audit2: granted" in own
    operator = signed_in(person("operator", is_staff=True)).get(LIST).content.decode()
    assert operator.count("audit1: registered") == 2
    assert str(team.engineer) in operator


def test_lines_of_the_audit_stay_with_their_registration_when_it_is_deleted() -> None:
    row = simulator()
    record(row, "registered", None)
    number = row.pk
    row.delete()
    assert SimulatorAudit.objects.get().registration == number
    assert "Skirmish: registered" in signed_in(person("op", is_staff=True)).get(LIST).content.decode()


def test_old_lines_of_the_audit_are_given_to_the_registrations_that_had_the_name_then() -> None:
    one, two = simulator(name="b", reference="python:one:x"), simulator(name="a", reference="python:two:x")
    lines = [("a", "registered", ""), ("a", "granted", ""), ("gone", "granted", ""), ("a", "renamed", "a → b"),
             ("b", "granted", ""), ("a", "registered", ""), ("a", "granted", "")]  # fmt: skip
    for name, action, detail in lines:
        SimulatorAudit.objects.create(simulator_name=name, action=action, detail=detail)
    import_module("webapp.games.migrations.0007_audit_of_registrations").assign(apps, None)
    found = list(SimulatorAudit.objects.order_by("pk").values_list("registration", flat=True))
    assert found == [one.pk, one.pk, None, one.pk, one.pk, two.pk, two.pk]


# Names and sentences


def shown_to_a_stranger(row: Simulator) -> str:
    user = User.objects.filter(username="stranger").first() or person("stranger")
    rights.grant(user, None)
    return signed_in(user).get(f"{LIST}{row.pk}/").content.decode()


def test_words_of_a_public_name_are_not_hidden_where_the_command_has_them_too() -> None:
    command = f"command:{sys.executable} -m tests.engine.bad_simulators leave"
    row = simulator(name="s-leave", kind="command", reference=command)
    assert handshake.ask(row)
    assert handshake.run(row.pk)
    page = shown_to_a_stranger(row)
    assert "The simulator “s-leave”" in page
    assert "s-[hidden]" not in page
    row.refresh_from_db()
    assert "“s-leave”" in row.full_message
    assert "bad_simulators" not in row.public_message


def test_a_test_of_an_earlier_version_that_was_kept_with_the_registered_name_keeps_all_of_it() -> None:
    said = "The simulator “s-leave” ended by itself, and so did leave."
    row = simulator(name="s-leave", kind="command", reference="command:/opt/game leave", status="broken", message=said)
    assert row.public_message == "The simulator “s-leave” ended by itself, and so did [hidden]."


def test_a_renamed_simulator_has_its_new_name_in_what_its_last_test_said() -> None:
    said = "The simulator “game” ended by itself."
    row = simulator(kind="command", reference="command:/opt/game --leave", status="broken", message=said)
    row.name = "leave"
    assert row.full_message == row.public_message == "The simulator “leave” ended by itself."


def test_the_site_s_own_sentences_lose_no_word_that_the_command_has_too() -> None:
    row = simulator(kind="command", reference="command:sh operator stopped")
    user = person("stopped")
    assert handshake.ask(row)
    handshake.stop(row, user)
    assert "[hidden]" not in shown_to_a_stranger(row)
    switch_off(row, user)
    page = shown_to_a_stranger(row)
    assert "A site operator switched it off." in page
    assert "[hidden]" not in page


def after_a_test(program: str) -> Simulator:
    row = simulator(kind="command", reference=f"command:{sys.executable} -m tests.engine.bad_simulators {program}")
    assert handshake.ask(row)
    assert handshake.run(row.pk)
    row.refresh_from_db()
    assert row.status == Simulator.Status.BROKEN
    return row


def test_a_program_that_describes_too_much_is_told_how_much_and_what_the_most_is() -> None:
    said = after_a_test("long_spec").message
    assert re.search(
        r"description of the game is wrong: it has 10,\d\d\d,\d\d\d bytes, and the most is 4,194,304", said
    )


def test_of_many_faults_a_person_is_told_the_first_fifty_and_how_many_more_there_are() -> None:
    row = after_a_test("many_faults")
    assert row.message.startswith("Its description of the game is wrong: spec.pieces[0].cost: piece")
    assert row.message.endswith("At least 50 more faults beside this one.")
    assert (len(row.findings), row.findings[-1]["message"]) == (51, "and 953 more")


@pytest.mark.parametrize(
    ("program", "words"),
    [
        ("long_error", r"cannot begin: no dice no dice .* no …"),
        (
            "rude_beginning",
            r"cannot begin: no\ufffddice\ufffd \ufffd31m\. It printed last: no\ufffddice\ufffd\n",
        ),
        ("rude_end", r"gave up: \(a word of 5,000,000 characters\)\. It printed last: \(a word of 4,09\d characters\)"),
    ],
)
def test_what_a_program_says_reaches_the_page_in_short_and_without_what_a_terminal_obeys(
    program: str, words: str
) -> None:
    row = after_a_test(program)
    said = [row.message, *(found["message"] for found in row.findings)]
    assert any(re.search(words, each) for each in said), said
    assert not any(re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u202e]", each) or len(each) > 1010 for each in said)


# How a test stands


def test_a_test_that_ends_while_its_page_is_made_is_not_called_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    row = simulator()
    assert handshake.ask(row)
    visible = pages.simulators.visible

    def read_before_the_end(user: User) -> Iterator[Simulator]:
        read = visible(user)
        list(read)
        Simulator.objects.filter(pk=row.pk).update(test="", status="ready", message="All is well.")
        return read

    monkeypatch.setattr(pages.simulators, "visible", read_before_the_end)
    monkeypatch.setattr(pages, "get_object_or_404", lambda rows, pk: next(each for each in rows if each.pk == pk))
    page = signed_in(person("operator", is_staff=True)).get(f"{LIST}{row.pk}/").content.decode()
    assert "its worker stopped" not in page

"""Characters that PostgreSQL refuses to keep or Excel to open: what people and programs send brings none into a row,
and no export has any, whatever is stored."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from importlib import import_module

import msgspec
import pytest
from django import forms
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from openpyxl import load_workbook

from engine.lineups.schema import spec_to_json
from tests.factories import Studio, person, search_job, signed_in, studio
from tests.webapp.games_data import SPEC, simulator, with_data
from webapp.api import tokens
from webapp.balance.models import Draft
from webapp.games import handshake
from webapp.games.models import GameVersion, SheetImport, Simulator
from webapp.games.specs import keep
from webapp.lib.storage import store
from webapp.lib.text import is_one_line, is_plain, writable
from webapp.studies import journal
from webapp.studies.journal import Entry
from webapp.studies.models import Job, ShortlistEntry

pytestmark = pytest.mark.django_db
NUL = "\0"


@pytest.fixture
def team() -> Studio:
    made = studio()
    search_job(made.project, rows=40)
    return made


def test_a_form_a_query_and_a_file_name_with_it_are_refused_in_a_sentence(designer: Client, team: Studio) -> None:
    slug = team.project.slug
    preview = reverse("studies:preview", args=[slug])
    answers = [
        designer.post(preview, {"question": f"un{NUL}fair", "keep": "1"}),
        designer.post(preview, {f"line{NUL}": "1", "keep": "1"}),
        designer.get(reverse("games:data", args=[slug]), {"table": NUL}),
        Client().post(reverse("accounts:sign-in"), {"username": NUL, "password": "x"}),
    ]
    assert [answer.status_code for answer in answers] == [400] * 4
    assert "a character that no text may have (NUL)" in answers[0].content.decode()
    by_script = designer.post(preview, {"question": NUL}, headers={"Accept": "application/json"})
    assert "Take it out" in by_script.json()["error"]
    assert not Draft.objects.exists()


def test_a_file_name_with_it_is_refused_too(designer: Client, team: Studio) -> None:
    file = SimpleUploadedFile("sheet.csv", b"Id,Cost\nwarhorn,91\n")
    file._name = f"she{NUL}et.csv"
    answer = designer.post(reverse("games:import", args=[team.project.slug]), {"file": file})
    assert answer.status_code in (302, 400)
    assert not any(NUL in row.name for row in SheetImport.objects.all())


def test_what_a_program_says_is_kept_without_it(team: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    row = simulator(name="Own", reference="command:own", kind="command")

    def says(reference: str, deadline: float) -> Iterator[dict[str, object]]:
        yield {"waiting": f"HEL{NUL}LO", "seconds": 3.0}
        yield {"level": "ok", "check": "description", "message": f"one s{NUL}eat"}
        yield {"game": {"name": "lake", "version": f"1{NUL}"}}

    monkeypatch.setattr(handshake, "_lines", says)
    assert handshake.ask(row)
    assert handshake.run(row.pk)
    row.refresh_from_db()
    assert (row.status, row.version, row.findings[0]["message"]) == (Simulator.Status.READY, "1", "one seat")
    job = Job.objects.get()
    body = {"message": f"The simulator printed {NUL}", "artifacts": {}, "summary": {f"a{NUL}": [NUL, 1.5]}}
    assert journal.append(job, {}, [Entry("failed", body)], message=f"It printed {NUL}", summary=body["summary"])
    job.refresh_from_db()
    kept = job.events.get()
    assert kept.body == {"message": "The simulator printed ", "artifacts": {}, "summary": {"a": ["", 1.5]}}
    assert (job.message, job.summary) == ("It printed ", {"a": ["", 1.5]})


def test_what_is_pasted_into_a_field_is_kept_without_control_characters(designer: Client, team: Studio) -> None:
    address = reverse("studies:explore-shortlist", args=[team.project.slug, Job.objects.get().pk])
    for reason in ("from Word\x0bpasted", "\x01 and\ta tab", "\ufffe\x9b[31m"):
        sent = {"action": "add", "lineup": 12, "reason": reason}
        assert designer.post(address, sent).status_code == 200
    kept = list(ShortlistEntry.objects.order_by("pk").values_list("reason", flat=True))
    assert kept == ["from Word\npasted", "and\ta tab", "[31m"]


def test_a_pasted_table_keeps_its_rows_and_a_password_what_was_typed(designer: Client, team: Studio) -> None:
    with_data(team.project)
    table = "Name,Cost\r\nFrost\x0bDuke,12\r\n"
    assert designer.post(reverse("games:import", args=[team.project.slug]), {"text": table}).status_code == 302
    assert store().get(SheetImport.objects.get().digest).decode() == table
    team.owner.set_password("a long\x01 password")
    team.owner.save()
    sent = {"username": team.owner.username, "password": "a long\x01 password"}
    assert Client().post(reverse("accounts:sign-in"), sent).status_code == 302


@pytest.mark.parametrize("kind", ["csv", "xlsx", "html"])
def test_files_of_lineups_open_whatever_is_stored(designer: Client, team: Studio, kind: str) -> None:
    job = Job.objects.get()
    Job.objects.update(title="bad\x0bname \ufffe")
    add = {"action": "add", "lineup": 12, "reason": "Odd"}
    assert designer.post(reverse("studies:explore-shortlist", args=[team.project.slug, job.pk]), add).status_code == 200
    ShortlistEntry.objects.update(reason="\x01=1+1\x1b")
    answer = designer.get(reverse(f"studies:export-{kind}", args=[team.project.slug, job.pk]))
    assert answer.status_code == 200
    if kind == "csv":
        assert is_plain(answer.content.decode("utf-8-sig"))
        assert "'=1+1" in answer.content.decode()
    if kind == "xlsx":
        cells = [c for sheet in load_workbook(io.BytesIO(answer.content)) for row in sheet.values for c in row]
        assert "'=1+1" in cells
        assert any(str(cell).endswith("bad\nname ") for cell in cells)


@pytest.mark.parametrize("query", ["format=xlsx", "table=soldier"])
def test_files_of_game_data_open_whatever_is_stored(designer: Client, team: Studio, query: str) -> None:
    version = with_data(team.project)
    version.project.name = "Hero\x0bbattle"
    version.project.save()
    spec = msgspec.structs.replace(SPEC, pieces=tuple(
        msgspec.structs.replace(piece, name=f"\x01={piece.name}\uffff") for piece in SPEC.pieces
    ), categories=tuple(
        msgspec.structs.replace(category, plural=f"{category.plural}\x02") for category in SPEC.categories
    ))  # fmt: skip
    GameVersion.objects.update(spec_hash=keep(spec))
    answer = designer.get(f"/p/{team.project.slug}/data/export/?{query}")
    assert answer.status_code == 200
    if query == "format=xlsx":
        cells = [c for sheet in load_workbook(io.BytesIO(answer.content)) for row in sheet.values for c in row]
        assert {f"'={piece.name}" for piece in SPEC.pieces} <= set(cells)
    else:
        assert is_plain(answer.content.decode("utf-8-sig"))


@pytest.mark.parametrize(
    ("body", "place"),
    [
        ({"title": "bad\x0bname"}, "title"),
        ({"kind": "search", "settings": {"algorithm": [1, "\x01"]}}, "settings.algorithm.1"),
        ({"settings": {"a\x02b": 1}}, "settings.ab"),
        ({"title": "\ud800"}, "title"),
        ({"question": "\0"}, "question"),
        ({"set": {"\ud800": 1}}, "set"),
    ],
)
def test_the_api_says_where_a_text_holds_what_no_text_may(team: Studio, body: dict[str, object], place: str) -> None:
    token = tokens.make(team.owner, "a build", None, 30)[1]
    answer = Client().post(
        f"/api/v1/projects/{team.project.slug}/jobs", json.dumps(body), content_type="application/json",
        headers={"Authorization": f"Bearer {token}"},
    )  # fmt: skip
    assert answer.status_code == 400
    assert [problem["place"] for problem in answer.json()["problems"]] == [place]
    assert Job.objects.count() == 1


def test_a_description_with_a_control_character_is_refused_in_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    row = simulator(name="Own", reference="command:own", kind="command")
    pieces = tuple(msgspec.structs.replace(piece, name=f"{piece.name}\x0b") for piece in SPEC.pieces)
    said = spec_to_json(msgspec.structs.replace(SPEC, pieces=pieces))
    monkeypatch.setattr(handshake, "_lines", lambda reference, deadline: _says({"spec": said}))
    assert handshake.ask(row)
    assert handshake.run(row.pk)
    row.refresh_from_db()
    assert row.status == Simulator.Status.BROKEN
    assert "holds a control character" in row.message


def _says(*lines: dict[str, object]) -> Iterator[dict[str, object]]:
    yield from lines


def test_other_values_stay_as_they_are() -> None:
    plain = {"a": [1, 2.5, None, True, {"b": "c"}], "d": ()}
    assert json.dumps(writable(plain)) == json.dumps(plain)


# Characters that nobody sees


@pytest.mark.parametrize("unseen", ["\u200b", "\u202e"])
def test_a_form_with_a_character_that_nobody_sees_is_refused_and_says_which(
    designer: Client, team: Studio, unseen: str
) -> None:
    address = reverse("studies:explore-shortlist", args=[team.project.slug, Job.objects.get().pk])
    sent = {"action": "add", "lineup": 12, "reason": f"Odd{unseen}"}
    answer = designer.post(address, sent, headers={"Accept": "application/json"})
    assert answer.status_code == 400
    assert f"U+{ord(unseen):04X}" in answer.json()["error"]
    assert not ShortlistEntry.objects.exists()


def test_a_password_and_a_pasted_table_may_hold_what_nobody_sees(designer: Client, team: Studio) -> None:
    with_data(team.project)
    table = "\ufeffName,Cost\r\nFrost\u200bDuke,12\r\n"
    assert designer.post(reverse("games:import", args=[team.project.slug]), {"text": table}).status_code == 302
    team.owner.set_password("a long\u200b password")
    team.owner.save()
    sent = {"username": team.owner.username, "password": "a long\u200b password"}
    assert Client().post(reverse("accounts:sign-in"), sent).status_code == 302


@pytest.mark.parametrize("reason", ["\u200d", "\u3164", "\u2800 \u2800"])
def test_a_remark_has_something_that_one_can_see(designer: Client, team: Studio, reason: str) -> None:
    address = reverse("studies:explore-shortlist", args=[team.project.slug, Job.objects.get().pk])
    answer = designer.post(address, {"action": "add", "lineup": 12, "reason": reason})
    assert answer.status_code == 400
    assert "that one can see" in answer.json()["error"]


@pytest.mark.parametrize(
    ("taken", "name"), [("Bar", "ＢＡＲ"), ("Ärger", "äRGER"), ("Foo", "Foo\u200d"), ("Foo", "\u3164")]
)
def test_a_simulator_gets_no_name_that_looks_like_another_one(team: Studio, taken: str, name: str) -> None:
    simulator(name=taken)
    client = signed_in(person("operator", is_staff=True))
    answer = client.post("/admin-tools/simulators/new/", {"name": name, "kind": "python", "target": "a.b:c"})
    assert answer.status_code == 422
    words = answer.content.decode()
    assert "Another simulator has this name" in words or "that one can see" in words


def test_a_project_has_a_name_that_one_can_see(designer: Client) -> None:
    answer = designer.post("/projects/new/", {"name": "\u3164"})
    assert "that one can see" in answer.content.decode()


def test_the_api_refuses_a_title_that_nobody_sees_at_its_place(team: Studio) -> None:
    token = tokens.make(team.owner, "a build", None, 30)[1]
    for name, status in (("a\u202eb", 400), ("   ", 422)):
        answer = Client().post(
            f"/api/v1/projects/{team.project.slug}/jobs", {"kind": "train", "config": {"name": name}},
            content_type="application/json", headers={"Authorization": f"Bearer {token}"},
        )  # fmt: skip
        assert answer.status_code == status, answer.content
        assert "config.name" in [each["place"] for each in answer.json()["problems"]]


def test_a_name_stands_on_one_line_whoever_sends_it(designer: Client, team: Studio) -> None:
    designer.post("/projects/new/", {"name": "red\r\nSet-Cookie: x=1\u2028y"})
    assert team.designer.memberships.latest("pk").project.name == "red Set-Cookie: x=1 y"
    text = tokens.make(team.designer, "ci", None, 30)[1]
    answer = Client(headers={"Authorization": f"Bearer {text}"}).post(
        f"/api/v1/projects/{team.project.slug}/jobs",
        {"kind": "search", "config": {"name": "Two\nlines"}}, content_type="application/json",
    )  # fmt: skip
    assert {"place": "config.name", "message": "Must be one line; take the line break out."} in answer.json()[
        "problems"
    ]


def test_an_error_of_the_api_repeats_nothing_that_turns_text_or_that_a_terminal_obeys(team: Studio) -> None:
    client = Client(headers={"Authorization": f"Bearer {tokens.make(team.designer, 'ci', None, 30)[1]}"})
    twice = '{"\u202egnp.exe\\u001b[31m": 1, "\u202egnp.exe\\u001b[31m": 2}'
    hidden = '{"\u202egnp.exe": "\\u0007"}'
    for body in (twice, hidden):
        answer = client.post(f"/api/v1/projects/{team.project.slug}/jobs", body, content_type="application/json")
        assert answer.status_code == 400
        said = json.dumps(answer.json(), ensure_ascii=False)
        assert "�gnp.exe" in said
        assert "\u202e" not in said


PARSED = re.compile(
    r"target|gymnasium|atari|preset|aim|measure|line_from|sizes|map-elites-quality|goal-\d+"
    r"|winning|style|behaviour|environment"
)
"""Fields of one line whose text is looked up, read as numbers or refused, and never kept as it came."""


def test_every_field_of_one_line_whose_text_is_kept_is_known_as_one() -> None:
    import_module("webapp.urls")
    found, waiting = set(), [forms.BaseForm]
    while waiting:
        each = waiting.pop()
        waiting += each.__subclasses__()
        fields = getattr(each, "base_fields", {}) if each.__module__.startswith("webapp.") else {}
        found |= {name for name, field in fields.items() if type(field.widget) is forms.TextInput and
                  type(field) is forms.CharField}  # fmt: skip
    assert [name for name in found if not is_one_line(name) and not PARSED.fullmatch(name)] == []
    assert {"name", "title", "release", "person"} <= found
    assert is_one_line("o0-title")
    assert not is_one_line("o0-formula")

"""A command line is told to site operators, and to who typed it; everybody else knows the program by its number. And
whether its game can be played is said by one rule, on the pages and by the API."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.http import HttpResponseBase
from django.test import Client
from django.urls import reverse

from engine import events
from engine.errors import SimulatorError
from engine.simulators import loaders
from engine.simulators.game_loaders import load_game
from tests.factories import Studio, person, search_job, signed_in, studio
from tests.webapp import trainings
from webapp.accounts import rights
from webapp.accounts.models import User
from webapp.api import tokens
from webapp.games import handshake
from webapp.games.commands import without_command
from webapp.games.models import Simulator
from webapp.games.simulators import record
from webapp.projects.models import Membership, Role
from webapp.studies.form_values import first_values
from webapp.studies.models import Job
from workers import claims
from workers.relay import Relay

pytestmark = pytest.mark.django_db
SECRET = "hunter2-4711"
COMMAND = f"command:/opt/games/skirmish --fast --key={SECRET}"
EVERYBODY = ("owner", "designer", "engineer", "producer")
API = "/api/v1/projects/herobattle"


@pytest.fixture
def team(redis_server: str) -> Studio:
    """A project with a finished search and a training in the game that the program of ``author`` plays."""
    made = studio()
    job = search_job(made.project, rows=40)
    row = Simulator.objects.get()
    row.reference, row.kind, row.everybody, row.created_by = COMMAND, "command", False, person("author")
    row.save()
    row.projects.add(made.project)
    record(row, "registered", row.created_by, COMMAND)
    job.config["game"] = {**job.config["game"], "simulator": COMMAND, "spec": row.spec_hash}
    job.save()
    trainings.training(made.project, config=trainings.config(game={"name": COMMAND}))
    return made


def script(user: User) -> Client:
    return Client(headers={"Authorization": f"Bearer {tokens.make(user, 'a build', None, 30)[1]}"})


def text_of(answer: HttpResponseBase) -> str:
    assert answer.status_code == 200, answer
    return answer.getvalue().decode(errors="replace")


def pages(team: Studio) -> list[str]:
    search, training = (team.project.jobs.get(kind=kind).pk for kind in ("search", "train"))
    of_project = [reverse(f"{name}", args=["herobattle"]) for name in (
        "projects:detail", "games:data", "studies:jobs", "studies:new", "training:new",
    )]  # fmt: skip
    of_search = [reverse(f"studies:{name}", args=["herobattle", search]) for name in (
        "job", "explore", "explore-state", "export-csv", "export-html",
    )]  # fmt: skip
    return [
        "/",
        *of_project,
        *of_search,
        reverse("games:version", args=["herobattle", 14]),
        reverse("studies:job", args=["herobattle", training]),
        f"{reverse('studies:compare', args=['herobattle'])}?job={search}&job={training}",
    ]


@pytest.mark.parametrize("role", EVERYBODY)
def test_no_page_of_a_project_tells_a_command_line(team: Studio, role: str) -> None:
    client = signed_in(getattr(team, role))
    shown = {page: client.get(page) for page in pages(team)}
    told = [page for page, answer in shown.items() if answer.status_code == 200 and SECRET in text_of(answer)]
    assert not told
    assert sum(answer.status_code == 200 for answer in shown.values()) >= len(shown) - 2 * (role == "producer")


@pytest.mark.parametrize("role", EVERYBODY)
def test_the_api_calls_a_program_by_its_number_and_takes_that_for_it(team: Studio, role: str) -> None:
    client, number = script(getattr(team, role)), Simulator.objects.get().pk
    project = client.get(API).json()
    assert project["game_versions"][0]["simulator"] == f"simulator:{number}"
    for job in Job.objects.all():
        told = text_of(client.get(f"{API}/jobs/{job.pk}"))
        assert SECRET not in told
        assert f'"simulator:{number}"' in told
    assert SECRET not in text_of(client.get(f"{API}/jobs"))


def test_what_the_api_tells_of_a_search_can_be_posted_again(team: Studio) -> None:
    client = script(team.designer)
    earlier = team.project.jobs.get(kind="search")
    told = client.get(f"{API}/jobs/{earlier.pk}").json()["config"]
    made = client.post(f"{API}/jobs", {"config": told}, content_type="application/json")
    assert made.status_code == 201, made.content
    assert SECRET not in made.content.decode()
    assert Job.objects.get(pk=made.json()["job"]).config["game"]["simulator"] == COMMAND


@pytest.mark.parametrize("status", list(Simulator.Status))
def test_the_api_lists_a_game_of_the_project_exactly_where_a_training_of_it_starts(team: Studio, status: str) -> None:
    Simulator.objects.update(by_moves=True, spec={}, status=status, message="Why.")
    row, client = Simulator.objects.get(), script(team.designer)
    listed = row.called in client.get(API).json()["games"]
    body = {"kind": "train", "config": {"game": row.called, "learner": {"preset": "cartpole-ppo"}}}
    made = client.post(f"{API}/jobs", body, content_type="application/json")
    assert (made.status_code == 201) is listed, made.content
    usable = status in (Simulator.Status.READY, Simulator.Status.UNTESTED)
    assert listed is usable
    page = signed_in(team.designer).get("/p/herobattle/train/").content.decode()
    assert (f">{row.name}, cannot be played now<" in page) is not usable


def test_a_training_is_started_by_the_number_of_a_simulator_of_the_project_only(team: Studio) -> None:
    Simulator.objects.update(by_moves=True, spec={})
    row, other = Simulator.objects.get(), Simulator.objects.create(name="Other", kind="command", reference="command:x")
    client = script(team.designer)
    assert client.get(API).json()["games"][-1] == row.called
    body = {"kind": "train", "config": {"game": row.called, "learner": {"preset": "cartpole-ppo"}}}
    made = client.post(f"{API}/jobs", body, content_type="application/json")
    assert made.status_code == 201, made.content
    assert Job.objects.get(pk=made.json()["job"]).config["game"]["name"] == COMMAND
    body["config"]["game"] = other.called  # type: ignore[index]
    refused = client.post(f"{API}/jobs", body, content_type="application/json")
    assert refused.status_code == 422
    assert "no such game" in refused.content.decode()


TWO = {name: {"kind": "scripted", "player": "random"} for name in ("a", "b")}
EVOLVED = {"game": COMMAND, "learner": {"preset": "cartpole-ppo", "rate": [0.001, 0.01]}}
NAMING = {
    "a training": ("", {"kind": "train", "config": {"game": COMMAND, "learner": "cartpole-ppo"}}),
    "a training, set": ("", {"kind": "train", "config": {"learner": "cartpole-ppo"}, "set": {"game.name": COMMAND}}),
    "settings": ("", {"kind": "evolve", "config": {"task": EVOLVED}}),
    "an evaluation": ("", {"kind": "evaluate", "config": {"game": {"name": COMMAND}, "policies": TWO}}),
    "a search": ("", {"kind": "search", "config": {"game": {"simulator": COMMAND}}}),
    "a search, set": ("", {"kind": "search", "set": {"game.simulator": COMMAND}}),
    "who beats whom": ("", {"kind": "metagame", "config": {"game": {"simulator": COMMAND}}}),
    "who beats whom, set": ("", {"kind": "metagame", "set": {"game.simulator": COMMAND}}),
    "a sensitivity": ("", {"kind": "sensitivity", "config": {"game": {"simulator": COMMAND}}}),
    "what pieces are worth, set": ("", {"kind": "worth", "set": {"game.simulator": COMMAND}}),
    "one like another": ("train", {"set": {"game.name": COMMAND}}),
    "a search like another": ("search", {"set": {"game.simulator": COMMAND}}),
}


def asked(client: Client, team: Studio, like: str, body: dict[str, Any]) -> tuple[int, Any]:
    """What a script is told that starts a job by ``body``, or one like the project's job of a kind."""
    address = f"{API}/jobs/{team.project.jobs.filter(kind=like).earliest('pk').pk}/clone" if like else f"{API}/jobs"
    answer = client.post(address, json.dumps(body), content_type="application/json")
    return answer.status_code, answer.json()


@pytest.mark.parametrize("naming", NAMING)
def test_a_command_line_that_somebody_guessed_gets_the_answer_of_one_that_nobody_registered(
    team: Studio, naming: str
) -> None:
    Simulator.objects.update(by_moves=True, spec={})
    like, body = NAMING[naming]
    wrong = json.loads(json.dumps(body).replace(SECRET, "hunter3-4712"))
    (status, told), other = (asked(script(team.designer), team, like, each) for each in (body, wrong))
    assert (status, told) == other
    assert status == 422
    assert told["problems"]


@pytest.mark.parametrize("naming", ["a training", "settings", "one like another"])
def test_who_knows_a_program_may_write_its_command_line(team: Studio, naming: str) -> None:
    Simulator.objects.update(by_moves=True, spec={})
    operator = person("op", is_staff=True)
    Membership.objects.create(project=team.project, user=operator, role=Role.DESIGNER)
    assert asked(script(operator), team, *NAMING[naming])[0] == 201


@pytest.mark.parametrize("kind", ["train", "search"])
def test_a_job_of_a_program_is_started_again_by_those_who_do_not_know_it(team: Studio, kind: str) -> None:
    if kind == "train":
        Simulator.objects.update(by_moves=True, spec={})
    status, told = asked(script(team.designer), team, kind, {"set": {"seed": 7}})
    assert status == 201, told
    assert COMMAND in json.dumps(Job.objects.get(pk=told["job"]).config)
    assert SECRET not in json.dumps(told)


def test_operators_and_who_typed_it_see_the_command_line_and_others_with_the_right_do_not(team: Studio) -> None:
    author, operator, row = User.objects.get(username="author"), person("op", is_staff=True), Simulator.objects.get()
    rights.grant(author, operator)
    rights.grant(team.engineer, operator)
    listing, page = "/admin-tools/simulators/", f"/admin-tools/simulators/{row.pk}/"
    for user, knows in ((operator, True), (author, True), (team.engineer, False)):
        for address in (listing, page):
            assert (SECRET in text_of(signed_in(user).get(address))) == knows, (user, address)
    assert row.called in text_of(signed_in(team.engineer).get(page))
    Membership.objects.create(project=team.project, user=operator, role=Role.PRODUCER)
    assert SECRET in text_of(signed_in(operator).get("/p/herobattle/data/"))


@pytest.mark.parametrize("command", [COMMAND, COMMAND.replace("command:", "command+tcp:")])
@pytest.mark.parametrize(
    "text",
    [
        COMMAND,
        f"{COMMAND}: not installed",
        "/opt/games/skirmish ended with exit status 3",
        f"ran “/opt/games/skirmish --fast --key={SECRET}”",
    ],
)
def test_a_message_about_a_program_is_told_without_its_command_line(text: str, command: str) -> None:
    told = without_command(text.replace(COMMAND, command), command)
    assert SECRET not in told
    assert "/opt/games" not in told
    assert "the simulator’s program" in told


def _commands(folder: Path) -> list[str]:
    crash = "import sys; print('called as', sys.argv[1:], sys.argv[1][6:]); print(__file__); raise SystemExit(3)"
    (folder / "crash.py").write_text(crash)
    python, program = sys.executable, folder / "crash.py"
    return [
        f"command:{python} {program} --key={SECRET}",
        f"command+tcp:{python} {program} --key={SECRET}",
        f"command:{json.dumps([python, str(program), f'--key={SECRET}'])}",
        f"command:{folder}/no-such-program --key={SECRET}",
    ]


def _play(load: Callable[[str], Any], command: str) -> None:
    program = load(command)
    program.start()


@pytest.mark.parametrize("load", [loaders.load, lambda reference: load_game(reference, 1)])
@pytest.mark.parametrize("which", range(4))
def test_a_program_that_prints_its_arguments_and_ends_is_told_without_them(
    tmp_path: Path, which: int, load: Callable[[str], Any]
) -> None:
    command = _commands(tmp_path)[which]
    with pytest.raises(SimulatorError) as raised:
        _play(load, command)
    said = str(raised.value)
    told = without_command(said, command)
    assert SECRET not in told
    assert str(tmp_path) not in told
    assert "the simulator’s program" in told.casefold()
    if which < 3:
        assert "ended by itself with exit code 3" in told
        assert SECRET not in said.partition("It printed last")[0]


def test_a_finding_of_the_handshake_is_told_without_the_words_of_the_command(tmp_path: Path, team: Studio) -> None:
    row = Simulator.objects.get()
    row.reference, row.test = _commands(tmp_path)[0], "asked"
    row.save()
    handshake.run(row.pk)
    row.refresh_from_db()
    author, operator = User.objects.get(username="author"), person("op", is_staff=True)
    rights.grant(author, operator)
    rights.grant(team.engineer, operator)
    page = f"/admin-tools/simulators/{row.pk}/"
    told, known = (text_of(signed_in(user).get(page)) for user in (team.engineer, author))
    assert "ended by itself with exit code 3" in told
    assert SECRET not in told
    assert str(tmp_path) not in told
    assert SECRET in known
    assert SECRET not in row.public_message


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("user anna, password hunter2 refused", "user [hidden], password [hidden] refused"),
        ("no answer from db.example.org/game", "no answer from [hidden]"),
        ("hunter2000 points in round 12", "hunter2000 points in round 12"),
        ("in /srv/lib/play/core.py, line 12", "in core.py, line 12"),
        ("wins/losses 3/4", "wins/losses 3/4"),
    ],
)
def test_parts_of_an_argument_are_hidden_wherever_a_program_prints_them(said: str, told: str) -> None:
    assert without_command(said, "command:play --db=sql://anna:hunter2@db.example.org/game -n 12") == told


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("skirmish: bad option", "the simulator’s program: bad option"),
        ("usage: skirmish [-h]", "usage: the simulator’s program [-h]"),
        ('File "/srv/other/rules.lua", line 3', 'File "[hidden]", line 3'),
        ("rules.lua:12: nil", "[hidden]:12: nil"),
        ("a skirmishes-2 round in skirmish-mode", "a skirmishes-2 round in skirmish-mode"),
    ],
)
def test_the_names_of_its_files_are_hidden_where_a_program_prints_them_without_folders(said: str, told: str) -> None:
    assert without_command(said, "command:/opt/games/skirmish --play=lib/rules.lua") == told


def test_words_that_only_look_like_a_program_stay() -> None:
    assert without_command("play ended", "command:play") == "the simulator’s program ended"
    assert without_command("play ended", "builtin:herobattle") == "play ended"
    assert without_command("the player won", "command:python -m game") == "the player won"


def test_what_a_study_says_of_its_program_reaches_the_job_without_the_command_line(
    team: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = team.project.jobs.get(kind="search")
    Job.objects.filter(pk=job.pk).update(status="queued")
    monkeypatch.setattr(claims, "pool_obstacle", lambda job: "")
    claimed = claims.take(job.pk, "a worker")
    assert claimed is not None
    said = f"{COMMAND}: it is not installed"
    failed = events.Failed(job=job.pk, attempt=1, sequence=1, error="SimulatorError", message=said, permanent=True)
    Relay(claimed).take([events.encode(failed)])
    job.refresh_from_db()
    assert "it is not installed" in job.message
    assert SECRET not in job.message + json.dumps(list(job.events.values_list("body", flat=True)))


@pytest.mark.parametrize("kind", ["search", "train"])
def test_messages_that_an_earlier_version_wrote_down_lose_their_command_lines(team: Studio, kind: str) -> None:
    job, said = team.project.jobs.get(kind=kind), f"{COMMAND}: it stopped. It printed last: no key {SECRET}"
    Job.objects.filter(pk=job.pk).update(message=said, status="failed")
    for number, (event, key) in enumerate((("incident", "message"), ("failed", "message"), ("stopped", "reason")), 90):
        job.events.create(sequence=number, kind=event, at=job.created_at, body={key: said, "tick": 3})
    builtin = {"game": {"simulator": "builtin:herobattle"}}
    unlike = team.project.jobs.create(kind="search", title="Other", config=builtin, message=f"{SECRET} ended")
    migration = import_module("webapp.studies.migrations.0006_messages_without_commands")
    migration.hide_commands(apps, None)
    address, client = reverse("studies:job", args=["herobattle", job.pk]), signed_in(team.designer)
    told = text_of(client.get(address)) + text_of(script(team.designer).get(f"{API}/jobs/{job.pk}"))
    assert "it stopped" in told
    assert SECRET not in told
    job.refresh_from_db()
    assert SECRET not in job.message + json.dumps(list(job.events.values_list("body", flat=True)))
    assert job.events.filter(body__tick=3).count() == 3
    unlike.refresh_from_db()
    assert unlike.message == f"{SECRET} ended"


def test_why_a_game_cannot_be_chosen_is_told_without_the_command_line(team: Studio) -> None:
    Simulator.objects.update(status="missing", spec={}, message=f"{COMMAND}: not on this machine")
    other = studio("other")
    Simulator.objects.get().projects.add(other.project)
    page = text_of(signed_in(other.designer).get("/p/other/data/"))
    assert "not on this machine" in page
    assert SECRET not in page


def _moved_on(team: Studio) -> None:
    Simulator.objects.update(spec_hash="0" * 64)


def _broken(team: Studio) -> None:
    Simulator.objects.update(status=Simulator.Status.BROKEN, message="It lies.")


def _off(team: Studio) -> None:
    Simulator.objects.update(status=Simulator.Status.OFF, message="A site operator switched it off.")


def _taken(team: Studio) -> None:
    Simulator.objects.get().projects.clear()


def _by_moves(team: Studio) -> None:
    Simulator.objects.update(by_moves=True)


@pytest.mark.parametrize("change", [None, _moved_on, _broken, _off, _taken, _by_moves])
def test_the_api_calls_data_playable_exactly_where_the_page_starts_a_job_on_it(team: Studio, change: Any) -> None:
    if change is not None:
        change(team)
    says = script(team.designer).get(API).json()["game_versions"][0]["playable"]
    by_api = script(team.designer).post(f"{API}/jobs", {"kind": "search"}, content_type="application/json")
    form = {**first_values(team.project), "population": "50", "rounds": "20", "replicates": "4", "fresh": "16"}
    by_page = signed_in(team.designer).post("/p/herobattle/jobs/new/", form)
    search = team.project.jobs.filter(kind="search").earliest("pk")
    again = script(team.designer).post(
        f"{API}/jobs/{search.pk}/recheck", {"lineups": [0]}, content_type="application/json"
    )
    assert says is (change is None)
    assert (by_api.status_code == 201) is says, by_api.content
    assert (by_page.status_code == 302) is says, by_page.content.decode()[:3000]
    assert (again.status_code == 201) is says, again.content

"""Gates on the site: a build's numbers come with the request, the verdict goes back to it, and who sees it."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest
import yaml
from defusedxml import ElementTree
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from engine.arrays import pack, unpack
from engine.config.lineups import TeamRow
from engine.gate.report import HEADS, Gate, GateFinding, encoded, judged
from engine.lineups.schema import team_name, team_row
from engine.studies import load
from tests.factories import Studio, game_version, search_job, signed_in, studio
from tests.webapp.games_data import workbook
from tests.webapp.test_api_jobs import Script
from webapp.api import tokens
from webapp.games import exports
from webapp.games.models import GameVersion
from webapp.games.specs import patched_spec
from webapp.gates import archive
from webapp.gates.snippets import yaml_of
from webapp.lib.storage import store
from webapp.studies import explore_source as source
from webapp.studies.models import Job, ShortlistEntry, Status

GATES = "/api/v1/projects/herobattle/gates"
JOBS = "/api/v1/projects/herobattle/jobs"
HORN = "warhorn.cost"
ROWS = (
    GateFinding(
        "replay", "Marrow Duke <i>", "over", "confirmed: 2.9 of 2", 2.9, 2.5, 3.3, 2.0, "×", 1500, 0, ("marrow-duke",)
    ),
    GateFinding("replay", "=Frost Captain", "under", "under the line", 1.2, 1.0, 1.4, 2.0, "×", 1500),
    GateFinding("screen", "All pieces", "under", "nothing stands out", 1.1, -4.0, 4.0, 8.0, "points", 9000),
    GateFinding("search", "Gale Lancer", "open", "needs about 800 more battles", 2.0, 1.8, 2.3, 2.0, "×", 700, 800),
)


@pytest.fixture
def team(redis_server: str, db: None) -> Studio:
    made = studio()
    game_version(made.project)
    return made


@pytest.fixture
def script(team: Studio) -> Script:
    return Script(team)


def over(job: Job, rows: tuple[GateFinding, ...] = ROWS, status: str = Status.FINISHED) -> Job:
    """The gate has ended with these findings."""
    found = judged(rows, Gate(job.title, "Herobattle", 12_000, {"replay": 2, "screen": 140, "search": 90}, ()))
    Job.objects.filter(pk=job.pk).update(
        status=status, finished_at=timezone.now(), tick=63, counters={"battles": 12_000, "seconds": 9.5},
        artifacts={"table": store().put(pack(encoded(found), {}))},
        summary={"verdict": found.verdict, "sentence": found.sentence},
    )  # fmt: skip
    return Job.objects.get(pk=job.pk)


@pytest.fixture
def gate(team: Studio, script: Script) -> Job:
    return over(Job.objects.get(pk=script.post(GATES, {"set": {"name": "Build 7"}, "data": {HORN: 120}})["job"]))


def send(script: Script, name: str, content: bytes, study: Any = None, code: int = 201, key: str = "") -> Any:
    """A form as curl sends it."""
    form = {"data": SimpleUploadedFile(name, content)} | ({"study": json.dumps(study)} if study is not None else {})
    answer = script.client.post(GATES, form, headers={"Idempotency-Key": key} if key else {})
    assert answer.status_code == code, answer.getvalue()
    return answer.json()


def places(answer: Any) -> dict[str, str]:
    return {problem["place"]: problem["message"] for problem in answer["problems"]}


def test_a_build_s_numbers_are_played_and_the_project_s_data_stay_as_they_were(team: Studio, script: Script) -> None:
    before = GameVersion.objects.count()
    found = script.post(GATES, {"set": {"name": "Build 7", "search.ticks": 3}, "data": {HORN: 120}})
    job = Job.objects.get(pk=found["job"])
    assert (job.kind, job.title, job.status, found["exit_code"]) == ("gate", "Build 7", Status.QUEUED, None)
    assert job.config["game"]["patch"] == {HORN: 120.0}
    assert job.game_version == team.project.versions.get()
    assert job.config["search"]["ticks"] == 3
    assert job.config == load(job.config).model_dump(mode="json")
    assert GameVersion.objects.count() == before


def test_data_become_a_version_where_that_is_asked_for(team: Studio, script: Script) -> None:
    found = script.post(GATES, {"data": {HORN: 120}, "save": True, "note": "Nightly"})
    job = Job.objects.get(pk=found["job"])
    version = team.project.versions.first()
    assert version is not None
    assert (version.number, version.patch, version.note) == (15, {HORN: 120.0}, "Nightly")
    assert job.game_version == version
    assert found["game_version"] == 15


def test_a_table_of_paths_a_sheet_of_the_site_a_workbook_and_json_say_the_same(team: Studio, script: Script) -> None:
    version = team.project.versions.get()
    export = exports.as_csv(version, "hero").data.decode("utf-8-sig")
    duke = next(line for line in export.splitlines() if line.startswith("marrow-duke,"))
    cost = duke.split(",")[2]
    cheaper = export.replace(duke, duke.replace(f",{cost},", ",611,", 1))
    sheets = {
        "paths.csv": b"path,value\nmarrow-duke.cost,611\n",
        "site.csv": cheaper.encode(),
        "own.csv": b"Held;Preis\nMarrow Duke;611\n",
        "own.json": b'{"marrow-duke": {"cost": 611}}',
        "own.xlsx": workbook([["Name", "Cost"], ["Marrow Duke", 611]]),
    }
    for name, content in sheets.items():
        job = Job.objects.get(pk=send(script, name, content)["job"])
        assert job.config["game"]["patch"] == {"marrow-duke.cost": 611.0}, name


def test_a_bad_sheet_is_refused_with_every_cell_that_is_wrong(team: Studio, script: Script) -> None:
    before = Job.objects.count()
    sheet = "Name,Cost,Speed\nMarrow Duke,x,1.5\nNobody,5,\nFrost Captain,99999,\n"
    found = places(send(script, "bad.csv", sheet.encode(), code=422))
    assert "is not a number" in found["data.B2"]
    assert "is not a piece" in found["data.A3"]
    assert "outside" in found["data.B4"]
    found = places(send(script, "bad.csv", b"path,value\nwarhorn.cots,1\nwarhorn.cost,x\n", code=422))
    assert set(found) == {"data.B2", "data.B3"}
    assert places(send(script, "bad.json", b'{"warhorn.cost": true}', code=422)).keys() == {"data.warhorn.cost"}
    assert "data" in places(send(script, "bad.csv", b"\x00\x01\x02\xff", code=422))
    assert Job.objects.count() == before


@pytest.mark.parametrize(
    "content", [b"", b" \n\r\n\t", b"{}", b"path,value\nwarhorn.cost,\n", b"Name,Cost\nWarhorn,\n"]
)
def test_a_file_that_holds_nothing_is_no_gate_of_the_unchanged_numbers(
    team: Studio, script: Script, content: bytes
) -> None:
    assert "there is nothing in it" in places(send(script, "empty", content, code=422))["data"].lower()
    assert not Job.objects.exists()


def test_what_is_too_large_or_no_form_of_ours_is_refused(team: Studio, script: Script) -> None:
    send(script, "large.csv", b"path,value\n" + b" " * (5 * 2**20 + 1), code=413)
    answer = script.client.post(GATES, {"other": SimpleUploadedFile("a.csv", b"x")})
    assert answer.status_code == 400
    assert send(script, "a.csv", b"path,value\nwarhorn.cost,120\n", study=[1], code=400)["message"]


def test_the_same_request_with_the_same_key_starts_one_gate(team: Studio, script: Script) -> None:
    sheet = b"path,value\nwarhorn.cost,120\n"
    first = send(script, "a.csv", sheet, {"set": {"seed": 3}}, key="build-7")
    assert send(script, "b.csv", sheet, {"set": {"seed": 3}}, code=200, key="build-7")["job"] == first["job"]
    send(script, "a.csv", b"path,value\nwarhorn.cost,121\n", {"set": {"seed": 3}}, code=422, key="build-7")
    assert Job.objects.filter(kind="gate").count() == 1


@pytest.mark.parametrize(
    ("body", "place"),
    [
        ({"config": {"game": {"patch": {HORN: 5}}}}, "config.game.patch"),
        ({"config": {"game": {"simulator": "command:sh -c reboot"}}}, "config.game.simulator"),
        ({"set": {"screen.battles": 5}}, "set.screen.battles"),
        ({"config": {"exploits": [{"teams": [{"slots": {}}]}]}}, "config.exploits.0.teams"),
        ({"save": 1}, "save"),
        ({"data": {HORN: "x"}}, "data.warhorn.cost"),
    ],
)
def test_what_cannot_be_used_is_told_at_its_place(script: Script, body: dict[str, Any], place: str) -> None:
    found = places(script.post(GATES, body, code=422))
    assert any(each.startswith(place) for each in found), found


def test_the_ordinary_address_starts_a_gate_too_and_again(team: Studio, script: Script) -> None:
    number = script.post(GATES, {"data": {HORN: 120}})["job"]
    again = script.post(f"{JOBS}/{number}/clone", {"set": {"seed": 2}})
    assert Job.objects.get(pk=again["job"]).config["game"]["patch"] == {HORN: 120.0}
    assert script.post(JOBS, {"kind": "gate"})["kind"] == "gate"


@pytest.mark.parametrize(
    ("kept", "status", "code"),
    [(ROWS, Status.FINISHED, 3), (ROWS[1:], Status.FINISHED, 4), (ROWS[1:3], Status.FINISHED, 0),
     (ROWS[:1], Status.STOPPED, 3)],
)  # fmt: skip
def test_the_exit_code_is_that_of_the_command_line(
    script: Script, gate: Job, kept: tuple[GateFinding, ...], status: str, code: int
) -> None:
    over(gate, kept, status)
    assert script.get(f"{JOBS}/{gate.pk}")["exit_code"] == code


def test_a_gate_that_was_stopped_before_it_knew_anything_cannot_tell_and_one_that_failed_says_so(
    script: Script, gate: Job
) -> None:
    Job.objects.filter(pk=gate.pk).update(status=Status.STOPPED, summary={}, artifacts={})
    assert script.get(f"{JOBS}/{gate.pk}")["exit_code"] == 4
    Job.objects.filter(pk=gate.pk).update(status=Status.FAILED, message="The game broke.")
    assert script.get(f"{JOBS}/{gate.pk}")["exit_code"] == 1
    suite = ElementTree.fromstring(script.get(f"{JOBS}/{gate.pk}/results?as=junit").getvalue()).find("testsuite")
    assert suite.get("errors") == "1"
    assert suite.find("testcase/error").get("message") == "The game broke."


def test_what_it_found_is_taken_away_as_rows_csv_and_junit_xml(script: Script, gate: Job) -> None:
    where = f"{JOBS}/{gate.pk}/results"
    rows = script.get(where)["rows"]
    assert [row["verdict"] for row in rows] == ["over", "over", "under", "under", "open"]
    assert rows[1]["pieces"] == "marrow-duke"
    lines = list(csv.reader(io.StringIO(script.get(f"{where}?as=csv").getvalue().decode())))
    assert tuple(lines[0]) == HEADS
    assert lines[3][1] == "'=Frost Captain"
    suite = ElementTree.fromstring(script.get(f"{where}?as=junit").getvalue(), forbid_dtd=True).find("testsuite")
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("4", "1", "1")
    assert suite.get("time") == "9.500"
    assert suite.find("testcase").get("name") == "Marrow Duke <i>"
    search = script.post(JOBS, {"kind": "search"})["job"]
    assert "no JUnit" in script.get(f"{JOBS}/{search}/results?as=junit", 404)["message"]


def test_only_its_team_sees_a_gate_only_writers_start_one_and_a_revoked_token_neither(
    team: Studio, script: Script, gate: Job
) -> None:
    page, junit = (reverse(name, args=["herobattle", gate.pk]) for name in ("studies:job", "gates:junit"))
    history, form = reverse("gates:history", args=["herobattle"]), reverse("studies:ask", args=["herobattle", "gate"])
    for user, sees, starts in ((team.owner, 200, 201), (team.producer, 200, 403), (team.stranger, 404, 404)):
        assert [signed_in(user).get(each).status_code for each in (page, junit, history)] == [sees] * 3
        Script(team, user).post(GATES, {}, code=starts)
        assert signed_in(user).post(form, {"screen": "x"}).status_code == {201: 422}.get(starts, starts)
    token, text = tokens.make(team.designer, "ci", None, 30)
    client = Client(headers={"Authorization": f"Bearer {text}"})
    tokens.revoke(token, team.designer)
    assert client.post(GATES, {}, content_type="application/json").status_code == 401


def test_its_page_says_the_verdict_first_and_escapes_what_people_named(team: Studio, gate: Job) -> None:
    content = signed_in(team.producer).get(reverse("studies:job", args=["herobattle", gate.pk])).content.decode()
    assert content.index("Over the line: 1 of 2 earlier exploits is still over the line") < content.index("<table")
    assert "Marrow Duke &lt;i&gt;" in content
    assert "with 1 changed number" in content
    assert "text-nowrap" not in content.partition('class="table gate-rows')[2].partition("</table>")[0], "on a phone"
    assert "python -m engine gate gate.yaml --data balance.csv" in content
    jobs = signed_in(team.producer).get(reverse("studies:jobs", args=["herobattle"])).content.decode()
    assert "Over the line" in jobs


def test_its_form_says_how_long_one_takes_without_a_job_that_no_list_may_show(team: Studio, gate: Job) -> None:
    """The last to end may have come with a search."""
    said = signed_in(team.designer).get(reverse("studies:ask", args=[team.project.slug, "gate"])).content.decode()
    assert "or more, by what was played here." in said


def test_builds_are_listed_with_their_verdicts_the_newest_first(team: Studio, script: Script, gate: Job) -> None:
    later = over(Job.objects.get(pk=script.post(GATES, {"set": {"name": "Build 8"}})["job"]), ROWS[1:3])
    content = signed_in(team.designer).get(reverse("gates:history", args=["herobattle"])).content.decode()
    assert content.index("Build 8") < content.index("Build 7")
    assert "Under the line" in content
    assert reverse("studies:job", args=["herobattle", later.pk]) in content
    empty = studio("empty")
    assert "No build has come" in signed_in(empty.owner).get(reverse("gates:history", args=["empty"])).content.decode()


def test_the_form_starts_a_gate_and_what_is_wrong_stands_at_its_field(team: Studio) -> None:
    address, client = reverse("studies:ask", args=["herobattle", "gate"]), signed_in(team.designer)
    page = client.get(address).content.decode()
    assert "#!/bin/sh -e" in page
    assert "kind: gate" in page
    client.post(address, {"title": "Build 9", "screen": "0", "search": "5", "exploits": "on", "seed": "4"})
    job = Job.objects.get(kind="gate")
    assert (job.title, job.config["screen"], job.config["search"]["ticks"], job.config["seed"]) == (
        "Build 9",
        None,
        5,
        4,
    )
    answer = client.post(address, {"screen": "5", "exploits": "on"})
    assert answer.status_code == 422
    assert "2,000" in answer.content.decode()
    assert client.post(address, {"screen": "0", "search": "0"}).status_code == 422


@pytest.mark.parametrize("name", ["paths.csv", "own.json", "own.xlsx"])
def test_an_engineer_sends_a_build_s_numbers_from_the_page(team: Studio, name: str) -> None:
    address, client = reverse("studies:ask", args=["herobattle", "gate"]), signed_in(team.engineer)
    assert 'enctype="multipart/form-data"' in client.get(address).content.decode()
    content = {
        "paths.csv": b"path,value\nwarhorn.cost,120\n",
        "own.json": b'{"warhorn": {"cost": 120}}',
        "own.xlsx": workbook([["Name", "Cost"], ["Warhorn", 120]]),
    }[name]
    answer = client.post(address, {"title": "Build 9", "search": "5", "numbers": SimpleUploadedFile(name, content)})
    assert answer.status_code == 302, answer.content.decode()
    job = Job.objects.get(kind="gate")
    assert job.config["game"]["patch"] == {HORN: 120.0}
    assert team.project.versions.count() == 1


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"Name,Cost\nMarrow Duke,x\nNobody,5\n", ["B2: ", "is not a number", "A3: ", "is not a piece"]),
        (b"path,value\nwarhorn.cost,99999\n", ["B2: ", "outside"]),
        (b'{"warhorn.cost": 99999}', ["warhorn.cost: "]),
        (b"\x00\x01\x02\xff", ["field-invalid"]),
        (b"", ["This file is empty"]),
        (b"path,value\n" + b" " * (5 * 2**20 + 1), ["The file is larger than 5 MB"]),
    ],
)
def test_a_bad_file_of_the_page_is_refused_at_its_field(team: Studio, content: bytes, said: list[str]) -> None:
    address, client = reverse("studies:ask", args=["herobattle", "gate"]), signed_in(team.engineer)
    answer = client.post(address, {"title": "Kept", "numbers": SimpleUploadedFile("build.csv", content)})
    page = answer.content.decode()
    assert answer.status_code == 422
    field = page[page.index('name="numbers"') :][:3_000]
    assert [each for each in said if each not in (page if each == "field-invalid" else field)] == []
    assert 'value="Kept"' in page
    assert not Job.objects.filter(kind="gate").exists()


def test_a_good_file_is_asked_for_again_where_something_else_is_wrong(team: Studio) -> None:
    address, client = reverse("studies:ask", args=["herobattle", "gate"]), signed_in(team.engineer)
    file = SimpleUploadedFile("build.csv", b"path,value\nwarhorn.cost,120\n")
    page = client.post(address, {"screen": "5", "numbers": file}).content.decode()
    assert "Choose build.csv again" in page
    assert client.get(address, {"numbers": "x"}).status_code == 200


def test_shortlisted_lineups_are_played_again_the_strongest_team_first(team: Studio) -> None:
    team.project.versions.all().delete()  # the search brings its own
    search = search_job(team.project, rows=20)
    columns = unpack(store().get(search.artifacts["archive"])).arrays
    for i in (3, 5):
        ShortlistEntry.objects.create(
            job=search, individual=i, reason="strong", genome=columns["genome"][i].tolist(),
            anchors=columns["anchor"][i].tolist(),
        )  # fmt: skip
    ShortlistEntry.objects.create(job=search, individual=5, action="withdraw", genome=columns["genome"][5].tolist())
    found, met = archive.exploits(team.project, _spec(team), 3)
    assert [each["name"].rpartition(" (")[2] for each in found] == [f"job {search.pk})"]
    strongest, weakest = columns["anchor"][3].tolist()
    heroes = [_spec(team).pieces[columns["genome"][3][t][0]].id for t in (strongest, weakest)]
    teams = found[0]["teams"]
    assert [teams[0]["slots"]["hero"], teams[-1]["slots"]["hero"]] == heroes
    as_stored = [team_name(_spec(team), row) for row in columns["genome"][3]]
    assert found[0]["name"] == f"{' · '.join(as_stored)} (job {search.pk})", "named as on all other pages"
    assert archive.exploits(team.project, _spec(team), 2).exploits == []
    config = Job.objects.get(pk=Script(team).post(GATES, {})["job"]).config
    assert len(config["exploits"]) == 1
    theirs = [row for _, row in source.baselines(search)]
    assert theirs, "the search says which baseline teams its lineups met"
    assert [each["name"] for each in met] == [found[0]["met"]] == [f"job {search.pk}"]
    assert [team_row(_spec(team), TeamRow(**each)).tolist() for each in met[0]["teams"]] == theirs
    assert (config["met"], config["exploits"][0]["met"]) == (met, f"job {search.pk}")


def test_the_page_says_which_baseline_teams_tell_what_is_strong_and_which_part_is_under_way(
    team: Studio, gate: Job
) -> None:
    weak = GateFinding("replay", "Tallow", "weak", "over the line but weak: 2.9", 2.9, 2.5, 3.3, 2.0, "×", 1500)
    told = "Earlier exploits meet the baseline teams that job 2 met"
    found = judged((weak,), Gate("Build 7", "Herobattle", 6_144, {"replay": 1}, ("screen",), (told,)))
    Job.objects.filter(pk=gate.pk).update(
        status=Status.RUNNING, counters={"battles": 18_656, "seconds": 60.0}, metrics={"part": 2.0, "parts": 3.0},
        artifacts={"table": store().put(pack(encoded(found), {}))},
    )  # fmt: skip
    content = signed_in(team.owner).get(reverse("studies:job", args=["herobattle", gate.pk])).content.decode()
    assert told in content
    assert "Too weak to count" in content
    assert "18,656 battles" in content
    assert "6,144 battles" not in content, "one count of battles, that of now"
    assert "part 2 of" in content
    assert "left</span>" not in content, "the pace of one part does not tell that of the next"


def _spec(team: Studio) -> Any:
    return patched_spec(team.project.versions.get(number=14))


def test_the_yaml_on_the_page_is_the_gate_that_was_played(gate: Job) -> None:
    again = load({**yaml.safe_load(yaml_of(gate.config)), "pool": gate.config["pool"]}, new=True)
    assert again.model_dump(mode="json") == gate.config

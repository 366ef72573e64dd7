"""A kind of study that is registered in a test only works wherever studies are read, run, listed and shown."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from engine import cli
from engine.arrays import pack
from engine.catalog import STUDIES
from engine.config import ObjectiveConfig, ObjectiveSetConfig
from engine.config.patterns import Intended, Pattern
from engine.errors import ConfigError
from engine.studies import load
from tests.engine.counting import KIND, CountConfig
from tests.factories import Studio, game_version, signed_in, studio
from webapp.accounts.models import User
from webapp.api import tokens
from webapp.lib.storage import store
from webapp.studies import actions, asking, kinds, overview, patterns, progress
from webapp.studies.asking import SettingsForm
from webapp.studies.comparing import Comparing
from webapp.studies.journal import Entry, append
from webapp.studies.models import UNKNOWN, Job, Status
from webapp.studies.study_form import StudyForm
from webapp.studies.table_rows import TableRows


class Counts(Comparing):
    """How two counts are compared."""

    searched = "numbers"
    all_aims, other_game, other_aims = "all sizes", "it counts something else", "it counts otherwise"
    words = {"many": "Numbers", "one": "number", "played": "numbers", "objectives": "sizes"}
    work = (("Counted", "steps"),)

    def game(self, job: Job) -> tuple[Any, ...]:
        return ()

    def cautions(self, jobs: Sequence[Job], better: str) -> list[str]:
        return [f"One of them counted further: {better}."]


class Counted(kinds.Parts):
    """What the site has of a count that brings parts of its own."""

    without_data = "count to three"
    results = ("squares",)
    files = {"policy.onnx": "onnx"}
    comparing = Counts()

    def table(self, job: Job, of: str, user: User) -> TableRows:
        squares = [{"number": each, "square": each**2} for each in range(1, job.tick + 1)]
        return TableRows(("number", "square"), squares)

    def objectives(self, job: Job) -> ObjectiveSetConfig:
        size = ObjectiveConfig.model_construct(
            name="size", title="Size", formula="", direction="max", toward="larger", threshold=None
        )
        return ObjectiveSetConfig.model_construct(objectives=(size,))

    def found(self, job: Job) -> kinds.Found:
        return kinds.Found(f"Counted to {job.tick}")

    def steady(self, job: Job) -> bool:
        return False


def edge(best: float) -> bytes:
    """The last front of a count: one number, of this size."""
    columns = {
        "id": np.array([1]), "objective": np.array([[best]]), "covariance": np.array([[[0.01]]]),
        "status": np.zeros(1, np.uint8), "violation": np.zeros(1), "samples": np.array([4]),
    }  # fmt: skip
    return pack({"objectives": ["size"]}, columns)


@pytest.fixture
def with_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kind brings parts of its own, too."""
    monkeypatch.setitem(kinds.PARTS, "count", Counted())


@pytest.fixture(autouse=True)
def counting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(STUDIES, "count", KIND)


@pytest.fixture
def team(db: None) -> Studio:
    return studio()


@pytest.fixture
def script(team: Studio) -> Callable[..., Any]:
    """A program with a token of the designer's."""
    client = Client(headers={"Authorization": f"Bearer {tokens.make(team.designer, 'ci', None, 30)[1]}"})

    def ask(method: str, address: str, body: Any = None, status: int = 200) -> Any:
        sent = {} if body is None else {"data": json.dumps(body), "content_type": "application/json"}
        answer = getattr(client, method)(address, **sent)
        assert answer.status_code == status, answer.content
        return answer.json() if answer.headers["Content-Type"].startswith("application/json") else answer

    return ask


@pytest.fixture
def job(team: Studio) -> Job:
    """One that has counted to two."""
    made = actions.submit(team.project, team.designer, CountConfig(), title="One, two")
    for tick in (1, 2):
        body = {"counters": {"steps": tick, "seconds": 1.0 * tick}, "metrics": {"square": 1.0 * tick**2}}
        append(made, {}, [Entry("progressed", body, tick)], tick=tick, counters=body["counters"])
    append(made, {}, [Entry("finished", {"artifacts": {}}, 2)], status=Status.FINISHED, finished_at=timezone.now())
    return Job.objects.get(pk=made.pk)


def test_it_is_read_with_all_that_is_wrong_at_its_place() -> None:
    assert load({"kind": "count", "ticks": 5}) == CountConfig(ticks=5)
    with pytest.raises(ConfigError) as wrong:
        load({"kind": "count", "ticks": 0, "pace": 2})
    assert {problem.place for problem in wrong.value.problems} == {"ticks", "pace"}


def test_the_command_line_runs_it_and_says_its_own_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    study = tmp_path / "study.yaml"
    study.write_text("kind: count\nticks: 2\n")
    assert cli.main(["run", str(study), "--job-dir", str(tmp_path / "job")]) == 0
    said = capsys.readouterr().out
    assert "Started on 1 worker, 2 numbers planned" in said
    assert "round 2: counted 2, square 4" in said
    assert "Finished after 2.0 s and 2 decisions" in said
    assert "numbers" in (tmp_path / "job" / "results.json").read_text()


def test_it_has_a_page_for_its_team_and_for_nobody_else(team: Studio, job: Job) -> None:
    address = reverse("studies:job", args=[team.project.slug, job.pk])
    for user, status in ((team.owner, 200), (team.producer, 200), (team.stranger, 404)):
        client = Client()
        client.force_login(user)
        answer = client.get(address)
        assert answer.status_code == status
        if status == 200:
            page = answer.content.decode()
            assert "Counting" in page
            assert "Number 2 of 3" in page
            assert "Finished after 2 numbers." in page
            assert "Run again with changes" not in page, "it has no form"


def test_it_is_started_from_a_form_of_its_settings(team: Studio, client: Client) -> None:
    client.force_login(team.designer)
    game_version(team.project)
    address = reverse("studies:ask", args=[team.project.slug, "count"])
    assert f'href="{address}"' in client.get(reverse("studies:new", args=[team.project.slug])).content.decode()
    assert 'placeholder="3"' in client.get(address).content.decode()
    wrong = client.post(address, {"ticks": "200"})
    assert wrong.status_code == 422
    assert "1 field" in wrong.content.decode()
    assert client.post(address, {"ticks": "5"}).status_code == 302
    assert Job.objects.get(kind="count").config == CountConfig(ticks=5).model_dump(mode="json")


@pytest.mark.parametrize(("who", "status"), [("producer", 403), ("stranger", 404), ("designer", 200)])
def test_only_those_who_may_start_jobs_have_its_form(team: Studio, client: Client, who: str, status: int) -> None:
    client.force_login(getattr(team, who))
    assert client.get(reverse("studies:ask", args=[team.project.slug, "count"])).status_code == status


def test_what_has_a_page_of_its_own_has_no_other_form(team: Studio, client: Client) -> None:
    client.force_login(team.designer)
    for kind in ("search", "train", "recheck", "sample", "nothing"):
        assert client.get(reverse("studies:ask", args=[team.project.slug, kind])).status_code == 404


def test_it_says_how_far_it_is_and_about_how_long_it_still_takes(job: Job) -> None:
    Job.objects.filter(pk=job.pk).update(status=Status.RUNNING)
    job.refresh_from_db()
    how = overview.pace(job)
    assert (how.share, how.seconds_left) == (pytest.approx(2 / 3), pytest.approx(1.0))


def before(team: Studio, **typed: str) -> str:
    """What the page of its form says before the start."""
    client = Client()
    client.force_login(team.designer)
    address = reverse("studies:before", args=[team.project.slug, "count"])
    return client.post(address, typed).content.decode().replace("\u202f", " ").replace("\xa0", " ")


def test_its_form_says_how_long_it_takes_by_an_earlier_one_that_counted_as_far(team: Studio, job: Job) -> None:
    assert "a second" not in before(team, ticks="5")
    Job.objects.filter(pk=job.pk).update(title="Another name")
    said = before(team, ticks="3")
    assert "As fast as one earlier job like this one." in said
    assert "About 10 s" in said


class Tried(Counted):
    """Parts of a count that is tried for its form."""

    def first_rounds(self, study: Any) -> CountConfig:
        return CountConfig(ticks=100)

    def refuted(self, study: CountConfig, played: Job) -> list[tuple[str, str]]:
        return [("ticks", "nobody counts that far")] if study.ticks > 50 else []


def test_where_its_first_rounds_are_played_they_tell_how_long_it_takes_and_what_is_wrong(
    team: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(kinds.PARTS, "count", Tried())
    assert "to see how fast this goes" in before(team, ticks="20")
    trial = Job.objects.for_forms().get()
    assert trial.config == CountConfig(ticks=100).model_dump(mode="json")
    for tick in (1, 2, 3):
        body = {"counters": {"steps": tick, "seconds": 3.0 * tick}, "metrics": {}}
        append(trial, {}, [Entry("progressed", body, tick)], tick=tick, counters=body["counters"])
    Job.objects.filter(pk=trial.pk).update(status=Status.STOPPED)
    said = before(team, ticks="20")
    assert "Measured just now: 0.3 numbers a second on one processor." in said
    assert "1 min to 1 min 40 s" in said
    assert "Nobody counts that far" in before(team, ticks="60")
    assert Job.objects.for_forms().count() == 1


class FairCount(CountConfig):
    """A count that asks what is meant to be so."""

    asks_what_is_meant = True
    intended: Intended = ()


def test_where_it_asks_for_that_it_has_what_people_mean_to_be_so(team: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    seven = Pattern(pieces=("seven",))
    monkeypatch.setattr(patterns, "SOURCES", [SimpleNamespace(intended=lambda *_: (seven,))])
    version = game_version(team.project)
    assert patterns.pinned(FairCount(), team.project, version).intended == (seven,)
    assert patterns.pinned(CountConfig(), team.project, version) == CountConfig()


def test_pages_that_train_agents_offer_it_where_it_says_what_it_trains(
    team: Studio, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.force_login(team.designer)
    monkeypatch.setattr(Counted, "trains", "teach an agent to count", raising=False)
    monkeypatch.setitem(kinds.PARTS, "count", Counted())
    link = f'<a href="{reverse("studies:ask", args=[team.project.slug, "count"])}">teach an agent to count</a>'
    for page in ("training:new", "agents:list"):
        assert link in client.get(reverse(page, args=[team.project.slug])).content.decode(), page


def test_it_is_in_the_list_of_jobs_and_among_those_that_ended(team: Studio, job: Job) -> None:
    client = Client()
    client.force_login(team.designer)
    assert "One, two" in client.get(reverse("studies:jobs", args=[team.project.slug])).content.decode()
    home = client.get(reverse("projects:home")).content.decode()
    assert f'href="{reverse("studies:job", args=[team.project.slug, job.pk])}"' in home, "nothing of it is explored"


def test_its_rounds_are_columns_of_all_that_they_told(job: Job) -> None:
    assert progress.rounds(job) == {"tick": [1, 2], "seconds": [1.0, 2.0], "steps": [1, 2], "square": [1.0, 4.0]}


def test_it_stops_in_its_own_words(job: Job) -> None:
    assert job.stopped_words(2) == "Stopped. What was counted stays."
    assert job.stopped_words(0) == "Stopped before the first number was complete."


def test_a_script_starts_it_lists_it_and_starts_it_again(team: Studio, script: Callable[..., Any]) -> None:
    jobs = f"/api/v1/projects/{team.project.slug}/jobs"
    first = script("post", jobs, {"kind": "count", "config": {"ticks": 5}}, 201)
    assert (first["kind"], first["ticks"], first["status"]) == ("count", 5, "queued")
    again = script("post", f"{jobs}/{first['job']}/clone", {"set": {"ticks": 7}}, 201)
    assert again["config"] == {**first["config"], "ticks": 7}
    assert {each["job"] for each in script("get", f"{jobs}?kind=count")["jobs"]} == {first["job"], again["job"]}
    wrong = script("post", jobs, {"kind": "count", "set": {"ticks": 0}, "config": {"pace": 1}}, 422)["problems"]
    assert {problem["place"] for problem in wrong} == {"set.ticks", "config.pace"}
    assert "count" in script("post", jobs, {"kind": "recheck"}, 422)["problems"][0]["message"]
    assert script("post", jobs, {"kind": "count", "question": "price"}, 422)["problems"][0]["place"] == "question"


def test_no_kind_that_names_a_game_is_started_where_nobody_looks_at_it(
    team: Studio, script: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A game may be a program of anybody's."""
    jobs = f"/api/v1/projects/{team.project.slug}/jobs"
    config = {"task": {"game": "command:anything", "style": {"style": "moved", "w2": 1}}}
    script("post", jobs, {"kind": "style", "config": config}, 422)
    for kind, place in (("style", "task"), ("episodes", "game")):
        monkeypatch.setitem(kinds.PARTS, kind, kinds.Parts())
        told = script("post", jobs, {"kind": kind, "config": {place: config["task"]}}, 422)["problems"]
        assert [(problem["place"], problem["message"][:17]) for problem in told] == [
            (f"config.{place}", "Nobody here looks")
        ]
    assert not Job.objects.exists()


def test_a_program_reads_how_it_is_set(script: Callable[..., Any]) -> None:
    found = script("get", "/api/v1/schema/count")
    assert found["properties"]["ticks"]["maximum"] == 100
    assert "a counting" in found["$comment"]


def test_it_is_said_that_its_jobs_are_not_compared(team: Studio, job: Job) -> None:
    client = Client()
    client.force_login(team.designer)
    page = client.get(reverse("studies:compare", args=[team.project.slug]), {"job": [job.pk]}).content.decode()
    assert f"job {job.pk}</a> (counting). Only searches are compared here" in page
    assert "compare-data" not in page
    listed = client.get(reverse("studies:jobs", args=[team.project.slug])).content.decode()
    assert f"compare-{job.pk}" not in listed, "it cannot be ticked to be compared"


def test_its_rounds_are_taken_away_as_csv_and_what_it_has_not_is_said(job: Job, script: Callable[..., Any]) -> None:
    where = f"/api/v1/projects/{job.project.slug}/jobs/{job.pk}"
    assert script("get", where)["results"] == ["rounds"]
    content = script("get", f"{where}/rounds?as=csv").getvalue().decode()
    assert content.splitlines() == ["round,seconds,steps,square", "1,1.0,1,1.0", "2,2.0,2,4.0"]
    assert script("get", f"{where}/results", status=404)["message"].startswith(
        "Counting: this kind of job has no results"
    )
    script("get", f"{where}/policy.zip", status=404)


@pytest.mark.usefixtures("with_parts")
def test_with_parts_its_table_is_taken_away_as_json_and_csv(job: Job, script: Callable[..., Any]) -> None:
    where = f"/api/v1/projects/{job.project.slug}/jobs/{job.pk}"
    assert script("get", where)["results"] == ["results", "rounds"]
    Job.objects.filter(pk=job.pk).update(artifacts={"onnx": store().put(b"a graph")})
    assert script("get", where)["results"] == ["results", "rounds", "policy.onnx"]
    told = script("get", f"{where}/results?limit=1")
    assert (told["of"], told["count"], told["rows"]) == ("squares", 2, [{"number": 1, "square": 1}])
    content = script("get", f"{where}/results?as=csv").getvalue().decode()
    assert content.splitlines() == ["number,square", "1,1", "2,4"]
    missing = script("get", f"{where}/results?as=junit", status=404)["message"]
    assert missing.startswith("Counting: this kind of job has no JUnit XML")


@pytest.mark.usefixtures("with_parts")
def test_with_parts_two_of_its_jobs_are_compared_by_what_they_say_of_themselves(team: Studio, job: Job) -> None:
    other = actions.submit(team.project, team.designer, CountConfig(ticks=5), title="One to five")
    edges = [store().put(edge(best)) for best in (4.0, 9.0)]
    for each, found in zip((job, other), edges, strict=True):
        Job.objects.filter(pk=each.pk).update(status=Status.FINISHED, tick=2, artifacts={"front": found})
    client = Client()
    client.force_login(team.producer)
    page = client.get(reverse("studies:compare", args=[team.project.slug]), {"job": [job.pk, other.pk]})
    text = page.content.decode()
    assert len(page.context["found"].sides) == 2
    assert "One of them counted further: better value." in text
    assert ">Counted</th>" in text, "the work that its row says"
    assert "The best number of each search in size after each round." in text
    listed = client.get(reverse("studies:jobs", args=[team.project.slug])).content.decode()
    assert f"compare-{job.pk}" in listed, "it can be ticked to be compared"
    training = client.get(reverse("studies:compare", args=[team.project.slug]), {"job": [job.pk]}).content.decode()
    assert "Only searches are compared here" not in training


@pytest.mark.parametrize("status", [Status.QUEUED, Status.PAUSED, Status.FINISHED])
def test_a_job_of_a_kind_that_this_version_does_not_know_is_shown_and_ended_as_such(
    team: Studio, job: Job, script: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, status: str
) -> None:
    Job.objects.filter(pk=job.pk).update(status=status)
    monkeypatch.delitem(STUDIES, "count")
    client, whose = signed_in(team.designer), (team.project.slug, job.pk)
    page = client.get(reverse("studies:job", args=whose))
    assert page.status_code == 200
    assert UNKNOWN.label in page.content.decode()
    for name in ("results", "book", "rounds", "again", "clone"):
        assert client.get(reverse(f"studies:{name}", args=whose)).status_code in {200, 302, 404, 405}, name
    address = f"/api/v1/projects/{team.project.slug}/jobs/{job.pk}"
    assert script("get", address)["kind"] == "count"
    script("get", f"{address}/results", status=404)
    ended = script("post", f"{address}/stop", {}, status=200 if status != Status.FINISHED else 409)
    assert ended
    assert client.post(reverse("studies:resume", args=whose)).status_code == 302


@pytest.mark.usefixtures("with_parts")
def test_where_it_needs_no_game_data_it_is_offered_before_there_is_any(team: Studio, client: Client) -> None:
    client.force_login(team.designer)
    text = client.get(reverse("studies:new", args=[team.project.slug])).content.decode()
    assert f'or to <a href="{reverse("studies:ask", args=[team.project.slug, "count"])}">count to three</a>.' in text
    others = ["arena", "starts", "gossip", "hunt", "self-play", "aes-rl", "evaluate"]
    assert sorted(kind for kind, _ in kinds.without_data()) == sorted([*others, "count"])


@pytest.mark.usefixtures("with_parts")
def test_with_parts_it_says_what_it_found_and_whether_its_pace_tells_its_end(team: Studio, job: Job) -> None:
    client = Client()
    client.force_login(team.designer)
    assert "Counted to 2" in client.get(reverse("studies:jobs", args=[team.project.slug])).content.decode()
    Job.objects.filter(pk=job.pk).update(status=Status.RUNNING)
    job.refresh_from_db()
    assert overview.pace(job).why == "too early to say when it ends"


def test_what_is_compared_is_said_of_all_kinds_that_can_be(
    team: Studio, job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = Client()
    client.force_login(team.designer)
    where = reverse("studies:compare", args=[team.project.slug])
    said = "those of lineups and those of training settings{};"
    assert said.format("") in client.get(where, {"job": [job.pk]}).content.decode()
    monkeypatch.setitem(kinds.PARTS, "worth", Counted())
    assert said.format(" and those of numbers") in client.get(where, {"job": [job.pk]}).content.decode()


def test_every_kind_of_study_that_the_site_starts_has_pages_of_its_own() -> None:
    assert set(STUDIES) - {"count"} == set(kinds.PARTS)


@pytest.mark.parametrize("kind", kinds.asked())
def test_every_form_of_the_shared_page_is_a_study_form(kind: str) -> None:
    """The page asks nothing of a form that ``StudyForm`` does not have."""
    assert issubclass(kinds.parts_of(kind).form or SettingsForm, StudyForm)
    asked = ast.walk(ast.parse(Path(asking.__file__).read_text(encoding="utf-8")))
    guessed = [
        ast.unparse(node) for node in asked if isinstance(node, ast.Call) and ast.unparse(node.func) == "hasattr"
    ]
    assert not [call for call in guessed if call.startswith("hasattr(form,")]

"""The page of a training, what is taken away from it, and how lists speak of it."""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from engine.store import StoreError
from tests.factories import Studio, signed_in
from tests.webapp.trainings import EACH, finished, learn, of_a_team, trained, training, two_sided
from webapp.lib.storage import store
from webapp.studies import actions, overview, wire
from webapp.studies.models import Job, Status
from webapp.training import curve

pytestmark = pytest.mark.django_db


@pytest.fixture
def client(team: Studio) -> Client:
    return signed_in(team.designer)


def address(name: str, job: Job) -> str:
    return reverse(name, args=[job.project.slug, job.pk])


@pytest.mark.parametrize("status", Status.values)
def test_the_page_of_a_training_opens_in_every_state(client: Client, team: Studio, status: str) -> None:
    job = trained(team.project, 3, status=status, message="A sentence why.")
    page = client.get(address("studies:job", job))
    assert page.status_code == 200
    assert f'data-status="{status}"' in page.content.decode()


def test_members_of_a_team_are_taken_home_one_by_one(client: Client, team: Studio) -> None:
    job = finished(team.project)
    assert "data-take-members" not in client.get(address("studies:job", job)).content.decode()
    assert client.get(address("training:members", job)).status_code == 404
    job = of_a_team(team.project)
    assert address("training:members", job) in client.get(address("studies:job", job)).content.decode()
    taken = client.get(address("training:members", job))
    assert taken.content == b"each by itself"
    assert taken["Content-Disposition"] == f'attachment; filename="members-{job.pk}.zip"'


def test_a_training_that_has_not_begun_opens(client: Client, team: Studio) -> None:
    job = training(team.project, status=Status.QUEUED, ticks=0, started_at=None)
    assert client.get(address("studies:job", job)).status_code == 200


def test_its_pages_speak_of_moves_and_never_of_lineups_or_battles(client: Client, team: Studio) -> None:
    job = finished(team.project)
    home = client.get("/").content.decode()
    assert f'id="job-{job.pk}" href="/p/herobattle/jobs/{job.pk}/"' in home
    page = client.get(address("studies:job", job)).content.decode()
    body = page[page.index('<div class="body">') :]
    assert "Decisions learned from" in body
    told = re.sub(r"<[^>]*>", "", body[: body.index("<template")])
    assert "battle" not in told.replace("2 × 4 battles", "").lower()  # how samplers play, behind Details
    assert "lineup" not in told.lower()
    listed = client.get(reverse("studies:jobs", args=["herobattle"])).content.decode()
    assert "100,000 decisions" in listed
    assert "evaluation 402" in listed
    assert "Explore</a>" not in listed


def test_the_explorer_and_a_search_s_clone_know_no_training(client: Client, team: Studio) -> None:
    job = finished(team.project)
    assert client.get(address("studies:explore", job)).status_code == 404
    assert client.get(address("studies:front", job)).status_code == 404
    assert client.post(address("studies:clone", job)).status_code == 404


def test_progress_is_told_by_moves_or_by_the_clock(team: Studio) -> None:
    job = trained(team.project, 10)
    assert overview.pace(job).share == pytest.approx(0.25)
    job.config["minutes"] = 0.5
    assert overview.pace(job).share == pytest.approx(20 / 30)
    assert overview.pace(finished(team.project)).share == 1.0


def test_home_tells_of_an_ended_training_for_two_days(team: Studio) -> None:
    job = finished(team.project)
    assert overview.jobs_at_hand(team.designer).waiting == [job]
    Job.objects.update(finished_at=timezone.now() - timedelta(days=3))
    assert overview.jobs_at_hand(team.designer).waiting == []


def test_the_curve_has_a_column_for_every_number(client: Client, team: Studio) -> None:
    job = trained(team.project, 6, rewards=("score", "hit"))
    found = client.get(address("studies:rounds", job)).json()
    assert found["tick"] == [1, 2, 3, 4, 5, 6]
    assert found["steps"] == [EACH * tick for tick in range(1, 7)]
    assert found["evaluation_return"] == [None, None, None, None, 52.0, None]
    assert found["return_hit"][1] == pytest.approx(20 / 3)


def test_a_long_curve_is_thinned_and_keeps_its_evaluations(team: Studio) -> None:
    job = trained(team.project, 25)
    found = curve.columns(job, most=5)
    assert len(found["tick"]) < 12
    assert {5, 10, 15, 20, 25} <= set(found["tick"])


def test_a_round_that_is_played_again_is_one_point(team: Studio) -> None:
    job = trained(team.project, 3)
    with pytest.raises(Exception, match=r"(?i)unique"):
        learn(job, 3)


def test_the_policy_comes_with_its_description(client: Client, team: Studio) -> None:
    job = finished(team.project)
    answer = client.get(address("training:policy", job))
    with zipfile.ZipFile(io.BytesIO(answer.content)) as packed:
        assert packed.read("policy.safetensors") == b"policy 40"
        assert json.loads(packed.read("policy.json")) == {"format": 1}
    assert f"policy-{job.pk}.zip" in answer["Content-Disposition"]
    assert client.get(address("training:onnx", job)).content == b"a graph"


def test_where_both_sides_learn_each_agent_can_be_taken_away(client: Client, team: Studio) -> None:
    job = two_sided(team.project)
    with zipfile.ZipFile(io.BytesIO(client.get(address("training:policy", job)).content)) as packed:
        assert {name: packed.read(name) for name in packed.namelist()} == {
            "left/policy.safetensors": b"policy left 10",
            "left/policy.json": b"policy_description left 10",
            "right/policy.safetensors": b"policy right 10",
            "right/policy.json": b"policy_description right 10",
        }
    graph = address("training:onnx", job)
    assert client.get(graph).content == b"onnx left 10"
    right = client.get(graph, {"of": "right"})
    assert (right.content, right["Content-Disposition"]) == (
        b"onnx right 10", f'attachment; filename="policy-{job.pk}-right.onnx"',
    )  # fmt: skip
    assert client.get(graph, {"of": "../left"}).status_code == 404
    page = client.get(reverse("studies:job", args=[job.project.slug, job.pk])).content.decode()
    assert '"policies": ["left", "right"]' in page


def test_the_csv_tells_every_round(client: Client, team: Studio) -> None:
    job = finished(team.project)
    rows = list(csv.DictReader(io.StringIO(client.get(address("training:curve", job)).content.decode())))
    assert len(rows) == 40
    assert (rows[4]["round"], rows[4]["steps"], rows[4]["evaluation_return_low"]) == ("5", "12500", "50.0")
    assert rows[3]["evaluation_return"] == ""


def test_a_signal_s_name_cannot_be_a_formula(client: Client, team: Studio) -> None:
    job = trained(team.project, 1, rewards=("x",))
    event = job.events.get()
    event.body["metrics"]["=cmd"] = 1.0
    event.save()
    assert "'=cmd" in client.get(address("training:curve", job)).content.decode()


def test_what_is_not_there_yet_is_not_found(client: Client, team: Studio) -> None:
    job = training(team.project)
    for name in ("policy", "onnx"):
        assert client.get(address(f"training:{name}", job)).status_code == 404
    lost = finished(team.project)
    store().discard([lost.artifacts["onnx"]])
    with pytest.raises(StoreError):
        store().get(lost.artifacts["onnx"])
    assert client.get(address("training:onnx", lost)).status_code == 404


def test_stopping_keeps_what_was_learned(team: Studio) -> None:
    job = trained(team.project, 3, status=Status.PAUSED)
    actions.stop(job)
    row = Job.objects.get()
    assert (row.status, row.message) == (Status.STOPPED, "Stopped. What was learned stays.")
    assert wire.message(row.events.last())["words"] == "Stopped after round 3. What was found stays."  # type: ignore[arg-type]

"""Contract of "Run again with changes", of the kinds that rest on a project's game data: the form shows all that made a
job, and sent as it is starts the same again."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils.html import escape

from tests.factories import Studio, game_version, signed_in, studio
from webapp.gates.asking import GateForm
from webapp.studies.models import Job
from webapp.studies.study_form import LEFT_OUT

TYPED: dict[str, dict[str, Any]] = {
    "worth": {"title": "Alone", "battles": "50000", "matters": "2.5", "singles": "on", "seed": "7"},
    "gate": {"title": "Build 9", "screen": "4000", "matters": "2", "leaves_open": "7", "search": "0", "seed": "4"},
    "sensitivity": {
        "title": "How hard?", "battles": "20000", "matters": "2", "sizes": "5; 8.5", "planted": ["piece", "pair"],
        "side": "weak", "through": "outcomes", "plantings": "20", "seed": "3", "agreed": "on",
    },
    "patch": {
        "title": "Small", "suspects": "Warhorn\nFrost Captain + Warhorn", "may": "cost", "fixed": "Gale Lancer",
        "most": "4", "largest": "40", "matters": "2", "battles": "90000", "seed": "5",
    },
}  # fmt: skip


@pytest.fixture
def team(redis_server: str, db: None) -> Studio:
    made = studio()
    game_version(made.project)
    return made


def asked(team: Studio, kind: str) -> str:
    return reverse("studies:ask", args=[team.project.slug, kind])


def again(job: Job) -> str:
    return reverse("studies:again", args=[job.project.slug, job.pk])


def started(client: Client, team: Studio, kind: str, typed: dict[str, Any]) -> Job:
    answer = client.post(asked(team, kind), typed)
    assert answer.status_code == 302, answer.content.decode()
    return Job.objects.filter(kind=kind).latest("pk")


@pytest.mark.parametrize("kind", TYPED)
def test_a_job_runs_again_from_all_that_was_typed_for_it(team: Studio, kind: str) -> None:
    client = signed_in(team.designer)
    first = started(client, team, kind, TYPED[kind])
    page = client.get(reverse("studies:job", args=[team.project.slug, first.pk])).content.decode()
    assert f'action="{again(first)}"' in page
    answer = client.post(again(first), follow=True)
    content = answer.content.decode()
    assert escape(LEFT_OUT) not in content
    assert escape(GateForm.leaves_out) not in content
    filled = {name: value for name, value in answer.context["form"].initial.items() if value not in ("", False)}
    agreed = {"agreed": "on"} if kind == "sensitivity" else {}
    second = started(client, team, kind, filled | agreed)
    assert second.pk != first.pk
    assert (second.title, second.config) == (first.title, first.config)


@pytest.mark.parametrize("kind", TYPED)
def test_who_may_only_read_cannot_run_a_job_again_and_a_stranger_sees_none(team: Studio, kind: str) -> None:
    first = started(signed_in(team.designer), team, kind, TYPED[kind])
    assert signed_in(team.producer).post(again(first)).status_code == 403
    assert signed_in(team.stranger).post(again(first)).status_code == 404


def test_a_gate_of_a_build_with_numbers_asks_for_its_file_again(team: Studio) -> None:
    client, sheet = signed_in(team.designer), SimpleUploadedFile("own.csv", b"path,value\nwarhorn.cost,120\n")
    first = started(client, team, "gate", {**TYPED["gate"], "numbers": sheet})
    assert escape(GateForm.leaves_out) in client.post(again(first), follow=True).content.decode()


def test_a_sensitivity_runs_again_with_the_experiment_that_it_planted_in(team: Studio) -> None:
    client = signed_in(team.designer)
    experiment = started(client, team, "worth", {"battles": "30000"})
    first = started(client, team, "sensitivity", {"experiment": str(experiment.pk), "plantings": "10", "agreed": "on"})
    assert client.post(again(first), follow=True).context["form"].initial["experiment"] == str(experiment.pk)


def test_a_search_for_changes_that_names_an_amount_says_that_the_form_leaves_it_out(team: Studio) -> None:
    client = signed_in(team.designer)
    first = started(client, team, "patch", TYPED["patch"])
    first.config["suspects"] = [{"pieces": ["warhorn"], "least": 2}]
    first.save()
    assert escape(LEFT_OUT) in client.post(again(first), follow=True).content.decode()

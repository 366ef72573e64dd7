"""An address that is asked for one of several things gives that one, or says what there is."""

from __future__ import annotations

import io
import zipfile

import pytest
from django.test import Client
from django.urls import reverse

from tests.factories import Studio, search_job, studio
from tests.webapp import trainings
from webapp.studies.models import Job

pytestmark = pytest.mark.django_db


@pytest.fixture
def team() -> Studio:
    made = studio()
    search_job(made.project, rows=40)
    return made


def test_a_table_of_results_that_is_not_there_is_refused_in_a_sentence(designer: Client, team: Studio) -> None:
    address = reverse("studies:results", args=[team.project.slug, Job.objects.get().pk])
    answer = designer.get(f"{address}?of=zzz")
    assert answer.status_code == 404
    assert "There is no of=zzz here. There is of=front, of=archive or of=shortlist." in answer.content.decode()
    usual, every = designer.get(address), designer.get(f"{address}?of=archive")
    assert (usual.status_code, every.status_code) == (200, 200)
    assert "archive.csv" in every["Content-Disposition"]
    assert len(every.content) > len(usual.content)


def test_an_agent_that_is_not_there_is_refused_and_one_that_is_comes_alone(designer: Client, team: Studio) -> None:
    job = trainings.two_sided(team.project)
    address = reverse("training:policy", args=[team.project.slug, job.pk])
    for name in ("policy", "onnx"):
        refused = designer.get(f"{reverse(f'training:{name}', args=[team.project.slug, job.pk])}?of=zzz")
        assert refused.status_code == 404, name
        assert "of=left or of=right" in refused.content.decode()
    packed = zipfile.ZipFile(io.BytesIO(designer.get(f"{address}?of=right").getvalue()))
    assert packed.namelist() == ["right/policy.safetensors", "right/policy.json"]
    assert len(zipfile.ZipFile(io.BytesIO(designer.get(address).getvalue())).namelist()) == 4


def test_the_only_agent_has_no_name_to_ask_for(designer: Client, team: Studio) -> None:
    job = trainings.finished(team.project)
    for name in ("policy", "onnx"):
        address = reverse(f"training:{name}", args=[team.project.slug, job.pk])
        refused = designer.get(f"{address}?of=zzz")
        assert refused.status_code == 404, name
        assert "There is no of=zzz here. Leave of out." in refused.content.decode()
        assert designer.get(address).status_code == 200


@pytest.mark.parametrize("page", ["front", "grid"])
def test_a_picture_that_is_not_there_is_not_another_one(designer: Client, team: Studio, page: str) -> None:
    address = reverse(f"studies:{page}", args=[team.project.slug, Job.objects.get().pk])
    answer = designer.get(f"{address}?of=zzz", headers={"Accept": "application/json"})
    assert answer.status_code == 404
    assert "of=fresh" in answer.json()["error"]


def test_a_comparison_that_is_not_there_is_refused_in_a_sentence(designer: Client, team: Studio) -> None:
    address = reverse("studies:compare-csv", args=[team.project.slug])
    answer = designer.get(f"{address}?of=zzz")
    assert answer.status_code == 404
    assert "There is of=rounds." in answer.content.decode()

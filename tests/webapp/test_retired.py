"""A search that raced by chances, as an earlier version stored it: its pages open, a copy begins with racing off and
says why, and nothing goes on that would have to be another search."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.http import HttpResponseBase
from django.test import Client
from django.urls import reverse

from tests.factories import Studio, search_job
from tests.webapp.evolutions import evolution
from webapp.api import tokens
from webapp.balance.models import Draft
from webapp.studies import actions, pending
from webapp.studies.compare.differences import differences, settings_shown
from webapp.studies.form_values import first_values
from webapp.studies.models import Job, Status
from webapp.training.models import TrainDraft
from workers import claims

pytestmark = pytest.mark.django_db
GONE, OFF = "Racing by chances is gone", "racing is off here"


def stored(team: Studio, **row: Any) -> Job:
    job = search_job(team.project, rows=40, **row)
    job.config["noise"] = {**job.config["noise"], "racing": "chance", "most": 16}
    job.save()
    return job


def client_of(team: Studio) -> Client:
    token = tokens.make(team.designer, "a build", None, 30)[1]
    client = Client(headers={"Authorization": f"Bearer {token}"})
    client.force_login(team.designer)
    return client


def text_of(answer: HttpResponseBase) -> str:
    assert answer.status_code == 200, answer
    return answer.getvalue().decode()


def test_a_copy_opens_with_racing_off_and_a_sentence_why(team: Studio) -> None:
    job, client = stored(team), client_of(team)
    page = text_of(client.post(reverse("studies:clone", args=["herobattle", job.pk]), follow=True))
    assert GONE in page
    assert OFF in page
    assert Draft.objects.get().form["noise-racing"] == "off"
    assert Draft.objects.get().form["noise-most"] == "16"
    typed = {**first_values(team.project), **Draft.objects.get().form}
    started = client.post(reverse("studies:new", args=["herobattle"]), typed)
    assert started.status_code == 302, started.content.decode()
    assert Job.objects.latest("pk").config["noise"]["racing"] == "off"


def test_a_draft_that_an_earlier_version_kept_opens_so_too(team: Studio) -> None:
    search_job(team.project, rows=40)
    typed = {**first_values(team.project), "noise-racing": "chance"}
    Draft.objects.create(project=team.project, user=team.designer, form=typed)
    page = text_of(client_of(team).get(reverse("studies:new", args=["herobattle"])))
    assert OFF in page
    assert "not one of the available choices" not in page


def test_a_search_for_training_settings_is_copied_so_too(team: Studio) -> None:
    job = evolution(team.project, status=Status.FINISHED)
    job.config["noise"]["racing"] = "chance"
    job.save()
    client = client_of(team)
    page = text_of(client.post(reverse("training:clone", args=["herobattle", job.pk]), follow=True))
    assert OFF in page
    assert TrainDraft.objects.get().form["noise-racing"] == "off"
    assert text_of(client.get(reverse("studies:job", args=["herobattle", job.pk])))


@pytest.mark.parametrize("status", [Status.PAUSED, Status.FAILED])
def test_it_cannot_go_on_and_says_why_and_what_to_do(team: Studio, status: str) -> None:
    job, client = stored(team, status=status), client_of(team)
    page = text_of(client.post(reverse("studies:resume", args=["herobattle", job.pk]), follow=True))
    by_api = client.post(f"/api/v1/projects/herobattle/jobs/{job.pk}/resume")
    assert by_api.status_code == 409
    for told in (page, by_api.json()["message"]):
        assert GONE in told
        assert "cannot go on" in told
        assert "“Run again with changes” opens a new one" in told
    job.refresh_from_db()
    assert (job.status, job.events.count()) == (status, 0)


def test_one_that_waited_for_a_worker_ends_with_that_sentence(
    team: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    monkeypatch.setattr(claims, "pool_obstacle", lambda job: "")
    job = stored(team, status=Status.QUEUED)
    assert claims.take(job.pk, "a worker") is None
    job.refresh_from_db()
    assert job.status == Status.FAILED
    assert GONE in job.message


def test_one_that_waited_for_its_random_lineups_ends_with_that_sentence(team: Studio) -> None:
    job = stored(team, status=Status.WAITING)
    job.asked = {"typed": {**first_values(team.project), "noise-racing": "chance"}, "why": "Random lineups play."}
    job.save()
    pending.settle(job)
    job.refresh_from_db()
    assert job.status == Status.FAILED
    assert GONE in job.message
    page = text_of(client_of(team).post(reverse("studies:clone", args=["herobattle", job.pk]), follow=True))
    assert OFF in page


def test_a_copy_by_a_script_has_racing_off_and_its_answer_and_history_say_why(team: Studio) -> None:
    job, client = stored(team), client_of(team)
    address = f"/api/v1/projects/herobattle/jobs/{job.pk}/clone"
    answer = client.post(address, "{}", content_type="application/json")
    assert answer.status_code == 201, answer.content
    made = answer.json()
    assert made["config"]["noise"]["racing"] == "off"
    assert OFF in made["notes"][0]
    assert OFF in text_of(client.get(reverse("studies:job", args=["herobattle", made["job"]])))
    chosen = {"set": {"noise.racing": "halving"}}
    other = client.post(address, json.dumps(chosen), content_type="application/json").json()
    assert (other["config"]["noise"]["racing"], other["notes"]) == ("halving", [])


def test_its_own_lineups_can_still_be_played_again(team: Studio) -> None:
    job = stored(team)
    assert actions.recheck(job, team.designer, [[[0] * 8] * 3], [[0, 1]], [32]).kind == "recheck"


def test_its_settings_are_told_as_they_were(team: Studio) -> None:
    job = stored(team)
    text_of(client_of(team).get(reverse("studies:job", args=["herobattle", job.pk])))
    assert ("Racing", "By chances, which is not offered any more") in settings_shown(job.config, "noise")
    other = Job.objects.get(pk=job.pk)
    other.pk, other.config["noise"]["racing"] = None, "off"
    other.save()
    told = {row.title: row.values for row in differences([job, other])}
    assert told["Luck: Racing"] == ("By chances, which is not offered any more", "No racing")
    assert "Seed" not in told

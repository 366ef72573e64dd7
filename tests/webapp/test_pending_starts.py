"""A job exists from the moment somebody presses Start, also where something is still being found out: nothing depends
on the browser after that."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse

from tests.factories import Studio, ready_studio, signed_in
from tests.webapp.test_jobs_new import finished_sample
from webapp.balance.models import Draft
from webapp.games.models import Simulator
from webapp.studies import actions, journal, pending
from webapp.studies.form_values import first_values
from webapp.studies.journal import Entry
from webapp.studies.models import Job, Status
from webapp.training import trials
from webapp.training.evolving import START
from workers import claims

pytestmark = pytest.mark.django_db

GYMNASIUM = {"game": "gymnasium", "gymnasium": "LunarLander-v3"}
MEASURED = {"sampling_seconds": 0.5, "learning_seconds": 0.3, "steps_per_second": 12_500.0, "score": 1.0}


@pytest.fixture
def team() -> Studio:
    return ready_studio()


@pytest.fixture
def client(team: Studio) -> Client:
    return signed_in(team.designer)


def unlined(team: Studio, **typed: str) -> dict[str, Any]:
    """A question that has no line before its random lineups are played."""
    return {**first_values(team.project), "question": "price", "measure": "", "line": "", **typed}


def start(client: Client, team: Studio, typed: dict[str, Any], page: str = "studies:new") -> Job:
    answer = client.post(reverse(page, args=[team.project.slug]), typed)
    assert answer.status_code == 302, answer.content.decode()
    job = Job.objects.exclude(kind="sample").filter(accompanies=None).latest("pk")
    assert answer["Location"] == reverse("studies:job", args=[team.project.slug, job.pk])
    return job


def sample() -> Job:
    return Job.objects.filter(kind="sample").latest("pk")


def rows(count: int) -> Any:
    return lambda name: np.linspace(10, 30, count)


def test_a_search_without_a_line_is_a_job_at_once_and_gets_its_line_when_the_sample_ends(
    client: Client, team: Studio
) -> None:
    client.post(reverse("studies:preview", args=[team.project.slug]), {**unlined(team), "keep": "1"})
    job = start(client, team, unlined(team, seed="7"))
    assert (job.status, job.awaits) == (Status.WAITING, sample())
    assert job.message == "The line is proposed once the random lineups are played."
    assert not Draft.objects.exists()
    pending.settle_all()
    assert Job.objects.get(pk=job.pk).status == Status.WAITING
    finished_sample(sample(), rows(200))
    pending.settle_all()
    job.refresh_from_db()
    assert (job.status, job.message, job.asked, job.awaits) == (Status.QUEUED, "", {}, None)
    waited = job.config
    again = start(client, team, unlined(team, seed="7"))
    assert (again.status, again.config) == (Status.QUEUED, waited)
    assert waited["objectives"]["objectives"][0]["threshold"] is not None


def test_the_sample_is_played_although_no_browser_ever_asked_for_it(client: Client, team: Studio) -> None:
    job = start(client, team, unlined(team))
    assert job.awaits is not None
    assert job.awaits.active
    shown = client.get(reverse("studies:job", args=[team.project.slug, job.pk])).content.decode()
    assert "The line is proposed once the random lineups are played." in shown
    assert "0 lineups" not in shown
    assert "no line was set" not in shown


def test_no_worker_runs_a_job_whose_settings_are_not_complete(client: Client, team: Studio) -> None:
    job = start(client, team, unlined(team))
    assert claims.take(job.pk, "somebody") is None
    job.refresh_from_db()
    assert (job.status, job.attempt) == (Status.WAITING, 0)


def test_a_sample_that_a_started_job_waits_for_is_not_put_aside_for_the_next_form(client: Client, team: Studio) -> None:
    job = start(client, team, unlined(team))
    preview = reverse("studies:preview", args=[team.project.slug])
    client.post(preview, {**first_values(team.project), "question": "first", "seed": "3"})
    assert job.awaits is not None
    job.awaits.refresh_from_db()
    assert job.awaits.active
    assert Job.objects.filter(kind="sample").count() == 2


def test_a_sample_that_was_put_aside_goes_on_for_the_job_that_waits_for_it(client: Client, team: Studio) -> None:
    job = start(client, team, unlined(team))
    actions.pause(sample())
    assert sample().status == Status.PAUSED
    pending.settle_all()
    assert sample().active
    finished_sample(sample(), rows(200))
    pending.settle_all()
    assert Job.objects.get(pk=job.pk).status == Status.QUEUED


def test_where_no_line_can_be_proposed_the_job_says_so_and_the_form_comes_back_as_it_was(
    client: Client, team: Studio
) -> None:
    typed = unlined(team, seed="41", effort="deep")
    job = start(client, team, typed)
    finished_sample(sample(), rows(6))
    pending.settle_all()
    job.refresh_from_db()
    assert job.status == Status.FAILED
    assert job.message.startswith("Too few random lineups could be played to propose a line. Type one.")
    client.post(reverse("studies:clone", args=[team.project.slug, job.pk]))
    kept = Draft.objects.get().form
    assert {name: kept[name] for name in ("question", "line", "seed", "effort")} == {
        "question": "price", "line": "", "seed": "41", "effort": "deep",
    }  # fmt: skip


def test_a_job_that_is_tried_again_has_its_failed_sample_played_anew(client: Client, team: Studio) -> None:
    job = start(client, team, unlined(team))
    first = sample()
    Job.objects.filter(pk=first.pk).update(status=Status.FAILED, message="The simulator died.")
    pending.settle_all()
    job.refresh_from_db()
    assert job.status == Status.FAILED
    actions.resume(job)
    pending.settle_all()
    assert Job.objects.get(pk=job.pk).awaits == sample() != first
    finished_sample(sample(), rows(200))
    pending.settle_all()
    assert Job.objects.get(pk=job.pk).status == Status.QUEUED


def test_a_waiting_job_can_be_paused_resumed_and_stopped(client: Client, team: Studio) -> None:
    job = start(client, team, unlined(team))
    actions.pause(job)
    finished_sample(sample(), rows(200))
    pending.settle_all()
    job.refresh_from_db()
    assert (job.status, bool(job.asked)) == (Status.PAUSED, True)
    actions.resume(job)
    pending.settle_all()
    assert Job.objects.get(pk=job.pk).status == Status.QUEUED
    other = start(client, team, {**unlined(team), "question": "first"})
    actions.stop(other)
    finished_sample(sample(), rows(200))
    pending.settle_all()
    assert Job.objects.get(pk=other.pk).status == Status.STOPPED


def test_a_game_beside_the_engine_gets_its_size_once_its_speed_is_known(client: Client, team: Studio) -> None:
    Simulator.objects.update(reference="builtin:wesnoth")
    job = start(client, team, first_values(team.project))
    assert "How fast this game plays is being measured" in job.message
    as_if_fast = job.config["algorithm"]["population"] * job.config["ticks"]
    finished_sample(sample(), rows(200))
    events = sample().events.filter(kind="progressed")
    for event, (battles, seconds) in zip(events.order_by("tick"), [(96, 4.0), (960, 40.0)], strict=True):
        event.body = {"counters": {"battles": battles, "seconds": seconds}}
        event.save()
    pending.settle_all()
    job.refresh_from_db()
    assert job.status == Status.QUEUED
    assert job.config["algorithm"]["population"] * job.config["ticks"] < as_if_fast
    assert job.ticks == job.config["ticks"]


def test_a_training_for_some_minutes_gets_its_moves_when_the_trial_has_ended(client: Client, team: Studio) -> None:
    job = start(client, team, {"minutes": "10"}, "training:new")
    assert job.message == "How many decisions fit into its minutes is being measured."
    assert job.config["steps"] == trials.UNSETTLED
    shown = client.get(reverse("studies:job", args=[team.project.slug, job.pk])).content.decode()
    assert "1,000,000,000" not in shown
    Job.objects.filter(pk=sample().pk).update(status=Status.FINISHED, summary=MEASURED, counters={"steps": 10_000})
    pending.settle_all()
    job.refresh_from_db()
    assert job.status == Status.QUEUED
    assert 60 * 10 / 0.00008 < job.config["steps"] < trials.UNSETTLED, "more than fit at the pace of the trial"
    assert job.ticks > 0


@pytest.mark.parametrize("page", ["training:new", "training:evolve"])
def test_a_game_nobody_knows_is_tried_while_its_job_waits(client: Client, team: Studio, page: str) -> None:
    typed = {**(START if page == "training:evolve" else {}), **GYMNASIUM}
    job = start(client, team, typed, page)
    assert "Whether this game works here is being tried." in job.message
    trial = sample()
    Job.objects.filter(pk=trial.pk).update(status=Status.FAILED, message="No such game.")
    journal.append(trial, {}, [Entry("failed", {"message": "-", "places": "game.name: Gymnasium has no such game"})])
    pending.settle_all()
    job.refresh_from_db()
    assert job.status == Status.FAILED
    assert job.message.startswith("Gymnasium has no such game")
    answer = client.post(reverse("training:clone", args=[team.project.slug, job.pk]), follow=True)
    assert "LunarLander-v3" in answer.content.decode()
    worked = start(client, team, {**typed, "gymnasium": "Acrobot-v1"}, page)
    Job.objects.filter(pk=sample().pk).update(status=Status.FINISHED, summary=MEASURED, counters={"steps": 10_000})
    pending.settle_all()
    assert Job.objects.get(pk=worked.pk).status == Status.QUEUED


@pytest.mark.parametrize("page", ["studies:new", "training:new", "training:evolve"])
def test_a_script_that_starts_is_told_where_the_job_is_and_that_something_is_wrong(
    client: Client, team: Studio, page: str
) -> None:
    address = reverse(page, args=[team.project.slug])
    typed = {"studies:new": first_values(team.project), "training:new": {"game": "cartpole"}, "training:evolve": START}[
        page
    ]
    wrong = client.post(address, {**typed, "seed": "one"}, headers={"Accept": "application/json"})
    assert (wrong.status_code, wrong.json()) == (422, {"job": None})
    answer = client.post(address, typed, headers={"Accept": "application/json"})
    job = Job.objects.exclude(kind="sample").get()
    assert answer.json() == {"job": reverse("studies:job", args=[team.project.slug, job.pk])}


def test_a_stranger_starts_nothing_and_a_producer_only_looks(team: Studio) -> None:
    for user, status in ((team.stranger, 404), (team.producer, 403)):
        client = Client()
        client.force_login(user)
        answer = client.post(reverse("studies:new", args=[team.project.slug]), unlined(team))
        assert answer.status_code == status
    assert not Job.objects.exists()

"""Members of a self-play's ladder, watched before anybody keeps them."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from engine.rl.policy import Policy
from engine.study.evolve import apart
from tests.contracts.asked_kind import page
from tests.factories import Studio, signed_in
from tests.webapp.test_self_play import played
from webapp.agents.models import Agent
from webapp.lib.storage import store
from webapp.self_play.reading import SelfPlayResult
from webapp.studies.models import Job, Status

pytestmark = pytest.mark.django_db


def watch(job: Job, version: int) -> str:
    return reverse("self-play:watch", args=[job.project.slug, job.pk, version])


def test_everybody_on_the_ladder_who_learned_is_watched_before_anybody_keeps_them(
    team: Studio, designer: Client
) -> None:
    job = played(team)
    reading = SelfPlayResult.of(job)
    assert reading is not None
    shown = designer.get(page(job)).content.decode()
    learned = [player for player in reading.players if player.round]
    assert len(learned) == 9
    for player in learned:
        assert f'action="{watch(job, player.version)}"' in shown
        assert f'Watch<span class="visually-hidden"> {player.full}</span>' in shown
    earlier = reading.pool[-1]
    answer = designer.post(watch(job, earlier.version))
    recording = Job.objects.for_forms().get()
    battles = reverse("agents:battles", args=[team.project.slug, recording.pk])
    assert (answer["Location"], recording.parent, Agent.objects.count()) == (battles, job, 0)
    [agent] = recording.config["agents"]
    policies = dict(apart(store().get(job.artifacts["pool"])))
    assert agent["title"] == earlier.full
    assert Policy.stored(store(), agent["policy"]).weights.tolist() == policies[earlier.version].weights.tolist()
    assert f'<a href="{page(job)}#ladder-title">Choose others</a>' in designer.get(battles).content.decode()
    assert designer.post(watch(job, 999)).status_code == 404


def test_only_those_who_may_write_have_members_of_the_ladder_recorded(team: Studio) -> None:
    job = played(team)
    for user, status in ((team.owner, 302), (team.producer, 403), (team.stranger, 404)):
        assert signed_in(user).post(watch(job, 0)).status_code == status
    assert f'action="{watch(job, 0)}"' in signed_in(team.owner).get(page(job)).content.decode()
    assert f'action="{watch(job, 0)}"' not in signed_in(team.producer).get(page(job)).content.decode()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"artifacts": {}}, "This job has left no networks, so no member can be watched."),
        ({"artifacts": {}, "status": Status.RUNNING}, "Members can be watched once the job has ended."),
        ({"artifacts": {"pool": "a" * 64}}, "The networks of the members are not in the store any more, so"),
    ],
)
def test_a_member_whose_network_is_not_there_is_not_watched_and_the_page_says_why(
    team: Studio, designer: Client, change: dict[str, Any], said: str
) -> None:
    job = played(team)
    Job.objects.filter(pk=job.pk).update(**change)
    shown = designer.get(page(job)).content.decode()
    assert said in shown
    assert watch(job, 0) not in shown
    assert said in designer.post(watch(job, 0), follow=True).content.decode()
    assert not Job.objects.for_forms().exists()

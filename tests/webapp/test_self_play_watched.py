"""Members of a self-play's ladder: watched before anybody keeps them, and kept."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils.text import slugify

from engine.rl.policy import Policy
from engine.study.evolve import apart
from tests.contracts.asked_kind import page
from tests.factories import Studio, signed_in
from tests.webapp.agents import recorded as recorded_battles
from tests.webapp.test_self_play import played
from webapp.agents.models import Agent
from webapp.lib.storage import store
from webapp.self_play.reading import SelfPlayResult
from webapp.studies.models import Job, Status
from webapp.training.learned import leader, learned_step_by_step

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


def keep(job: Job, version: int) -> str:
    return reverse("self-play:keep", args=[job.project.slug, job.pk, version])


def test_an_earlier_self_that_was_watched_is_kept_as_an_agent_that_says_who_it_was(
    team: Studio, designer: Client
) -> None:
    job = played(team)
    reading = SelfPlayResult.of(job)
    assert reading is not None
    earlier = reading.pool[0]
    shown = designer.get(page(job)).content.decode()
    assert f'formaction="{keep(job, earlier.version)}"' in shown
    designer.post(watch(job, earlier.version))
    recording = recorded_battles(Job.objects.for_forms().get())
    battles = reverse("agents:battles", args=[team.project.slug, recording.pk])
    row = slugify(earlier.full)
    assert f'id="{row}"' in shown
    assert f'<a class="btn btn-sm" href="{page(job)}#{row}">' in designer.get(battles).content.decode()
    answer = designer.post(keep(job, earlier.version))
    agent = Agent.objects.get()
    own = reverse("agents:agent", args=[team.project.slug, agent.pk])
    policies = dict(apart(store().get(job.artifacts["pool"])))
    assert answer["Location"] == own
    assert (agent.name, agent.job, agent.sampled) == (f"Three of them: {earlier.full.lower()}", job, False)
    assert Policy.stored(store(), agent.policy).weights.tolist() == policies[earlier.version].weights.tolist()
    steps = learned_step_by_step(job.config["task"], reading.whole, earlier.version)
    assert (agent.origin["member"], agent.origin["steps"]) == (earlier.full, steps)
    assert agent.measurements.get().job.config["origin"] == agent.origin, "its model card says it, too"
    said = designer.get(own).content.decode()
    assert f"{earlier.full}: strength {earlier.strength}" in said
    assert f'href="{page(job)}#ladder-title"' in said
    shown = designer.get(page(job)).content.decode()
    assert f'kept as <a href="{own}">{agent.name}</a>' in shown
    assert f'"{keep(job, earlier.version)}"' not in shown
    assert f'<a href="{own}">' in designer.get(battles).content.decode()


def test_a_member_is_kept_once_under_a_name_of_its_own_and_put_back_where_it_was_deleted(
    team: Studio, designer: Client
) -> None:
    job = played(team)
    designer.post(keep(job, 0), {"name": "Ada"})
    taken = designer.post(keep(job, 1), {"name": "Ada"})
    assert (taken.status_code, Agent.objects.count()) == (422, 1)
    assert f'action="{keep(job, 1)}"' in taken.content.decode()
    assert "Another agent of this project is called “Ada”." in taken.content.decode()
    agent = Agent.objects.get()
    designer.post(reverse("agents:delete", args=[team.project.slug, agent.pk]), {"choice": "delete"})
    assert f'formaction="{keep(job, 0)}"' in designer.get(page(job)).content.decode()
    designer.post(keep(job, 0))
    assert [(each.name, each.deleted_at) for each in Agent.objects.all()] == [("Ada", None)]
    assert "It was kept before, as “Ada”." in designer.post(keep(job, 0), {"name": "Bea"}, follow=True).content.decode()


def test_the_member_that_a_self_play_has_left_is_one_agent_whether_kept_from_the_job_or_from_the_ladder(
    team: Studio, designer: Client
) -> None:
    job = played(team)
    number = leader(job)
    assert number is not None
    designer.post(reverse("agents:keep", args=[team.project.slug, job.pk]), {"of": "", "name": "Ada"})
    shown = designer.get(page(job)).content.decode()
    ada = reverse("agents:agent", args=[team.project.slug, Agent.objects.get().pk])
    assert f'kept as <a href="{ada}">Ada</a>' in shown
    assert f'"{keep(job, number)}"' not in shown
    designer.post(keep(job, number))
    assert [agent.name for agent in Agent.objects.all()] == ["Ada"]


def test_only_those_who_may_write_keep_members_of_the_ladder(team: Studio) -> None:
    job = played(team)
    for user, status in ((team.stranger, 404), (team.producer, 403), (team.engineer, 302), (team.owner, 302)):
        assert signed_in(user).post(keep(job, 0)).status_code == status
        assert Agent.objects.count() == (status == 302)
    assert signed_in(team.owner).post(keep(job, 999)).status_code == 404
    assert f'"{keep(job, 1)}"' in signed_in(team.owner).get(page(job)).content.decode()
    assert f'"{keep(job, 1)}"' not in signed_in(team.producer).get(page(job)).content.decode()


def test_only_those_who_may_write_have_members_of_the_ladder_recorded(team: Studio) -> None:
    job = played(team)
    for user, status in ((team.owner, 302), (team.producer, 403), (team.stranger, 404)):
        assert signed_in(user).post(watch(job, 0)).status_code == status
    assert f'action="{watch(job, 0)}"' in signed_in(team.owner).get(page(job)).content.decode()
    assert f'action="{watch(job, 0)}"' not in signed_in(team.producer).get(page(job)).content.decode()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"artifacts": {}}, "This job has left no networks, so no member can be watched or kept."),
        ({"artifacts": {}, "status": Status.RUNNING}, "Members can be watched and kept once the job has ended."),
        ({"artifacts": {"pool": "a" * 64}}, "The networks of the members are not in the store any more, so"),
    ],
)
def test_a_member_whose_network_is_not_there_is_neither_watched_nor_kept_and_the_page_says_why(
    team: Studio, designer: Client, change: dict[str, Any], said: str
) -> None:
    job = played(team)
    Job.objects.filter(pk=job.pk).update(**change)
    shown = designer.get(page(job)).content.decode()
    assert said in shown
    for way in (watch(job, 0), keep(job, 0)):
        assert way not in shown
        assert said in designer.post(way, follow=True).content.decode()
    assert not Agent.objects.exists()
    assert not Job.objects.for_forms().exists()

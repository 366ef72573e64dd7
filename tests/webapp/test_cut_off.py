"""Agents of the round that a pause or a stop cuts off, in searches for settings and in self-play: watched and kept."""

from __future__ import annotations

import tempfile
from functools import cache

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from engine.config import Study, TaskConfig, parse
from engine.config.whole_updates import learned
from engine.events import AnyEvent, Paused, Progressed, Stopped
from engine.rl.policy import Policy
from engine.store import FolderStore
from engine.study.evolve import apart
from tests.engine import test_self_play
from tests.engine.cutting import cut_off
from tests.factories import Studio, signed_in
from tests.webapp import evolutions
from tests.webapp.agents import recorded as recorded_battles
from tests.webapp.evolutions import evolved
from webapp.agents import left
from webapp.agents.models import Agent
from webapp.lib.storage import store
from webapp.studies import actions
from webapp.studies.journal import Entry, append
from webapp.studies.models import Job, Status
from webapp.training.cut_off import NETWORKS
from webapp.training.evolved import players
from workers.relay import UNDER_WAY

pytestmark = pytest.mark.django_db

STUDIES: dict[str, Study] = {
    "pbt": evolutions.config(),
    "nsga2": evolutions.config("nsga2"),
    "self-play": test_self_play.study(),
}
AFTER = {"pbt": 6, "nsga2": 6, "self-play": 5}
"""So many have come back when the command comes: two of the second round."""
NAMES = {
    "pbt": ["player #4", "player #5"],
    "nsga2": ["player #4", "player #5"],
    "self-play": ["member 1 after round 2", "member 2 after round 2"],
}
ROUNDS = {"pbt": 2, "nsga2": 1, "self-play": 2}
"""In so many rounds the network of one of these two has learned."""
EACH = pytest.mark.parametrize("which", STUDIES)


@cache
def _ran(which: str, command: str) -> tuple[tuple[AnyEvent, ...], dict[str, bytes]]:
    """The events of one of these studies, run once for all tests, and what it put into its store."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        own = FolderStore(folder)
        events = tuple(cut_off(STUDIES[which], own, command, AFTER[which], patch))
        return events, {digest: own.get(digest) for digest in own}


def cut(team: Studio, which: str, command: str = "stop") -> Job:
    """A job that got this command within its second round, as the relay records it."""
    job = actions.submit(team.project, team.designer, STUDIES[which], title="Short")
    events, artifacts = _ran(which, command)
    for data in artifacts.values():
        store().put(data)
    for event in events:
        if isinstance(event, Progressed):
            body = {"artifacts": event.artifacts, "metrics": event.metrics}
            append(job, {}, [Entry("progressed", body, event.tick)], tick=event.tick, metrics=event.metrics)
    last = events[-1]
    assert isinstance(last, Paused | Stopped)
    status = Status.PAUSED if command == "pause" else Status.STOPPED
    kept = {role: digest for role, digest in last.artifacts.items() if role != "checkpoint"}
    append(job, {}, [Entry(status, {}, last.tick)], status=status, artifacts=kept, finished_at=timezone.now())
    return Job.objects.get(pk=job.pk)


def at(name: str, job: Job) -> str:
    return reverse(f"agents:{name}", args=[job.project.slug, job.pk])


def text(client: Client, address: str) -> str:
    answer = client.get(address)
    assert answer.status_code == 200
    return " ".join(answer.content.decode().split())


def page(job: Job) -> str:
    return reverse("studies:job", args=[job.project.slug, job.pk])


def networks(job: Job) -> list[Policy]:
    return [policy for _, policy in apart(store().get(job.artifacts[NETWORKS]))]


@EACH
@pytest.mark.parametrize("command", ["pause", "stop"])
def test_who_was_trained_in_the_round_that_was_cut_off_is_listed_to_be_kept_and_watched(
    team: Studio, designer: Client, which: str, command: str
) -> None:
    job = cut(team, which, command)
    assert designer.get(page(job)).status_code == 200
    card = text(designer, at("keep", job))
    assert "Round 2 was cut off before it was complete. 2 agents of it had been trained by then." in card
    assert ("They are offered here until the job goes on." in card) == (command == "pause")
    for name in NAMES[which]:
        assert f'<th scope="row">{name.capitalize()}</th>' in card
        assert f'Keep<span class="visually-hidden"> {name}</span>' in card
        assert f'Watch<span class="visually-hidden"> {name}</span>' in card


@EACH
@pytest.mark.parametrize("command", ["pause", "stop"])
def test_one_of_them_is_kept_with_its_network_its_seat_and_the_decisions_it_learned_from(
    team: Studio, designer: Client, which: str, command: str
) -> None:
    job, name = cut(team, which, command), NAMES[which][1]
    designer.post(at("keep", job), {"of": name, "chooses": "best"})
    agent = Agent.objects.get()
    assert Policy.stored(store(), agent.policy).pack() == networks(job)[1].pack()
    assert (agent.name, agent.seat, agent.sampled, agent.job) == (f"Short: {name}", 0, False, job)
    once = learned(parse(TaskConfig, job.config["task"]))
    assert agent.origin["steps"] == ROUNDS[which] * once > 0
    assert agent.measuring is not None
    card = text(designer, at("keep", job))
    own = reverse("agents:agent", args=[job.project.slug, agent.pk])
    assert f'kept as <a href="{own}">{agent.name}</a>, which takes the likeliest' in card
    assert f"<dt>Decisions learned from</dt><dd>{once * ROUNDS[which]}</dd>" in text(designer, own)
    designer.post(at("keep", job), {"of": name, "chooses": "chance"})
    assert Agent.objects.get(sampled=True).policy == agent.policy


@EACH
def test_one_of_them_is_watched_before_anybody_keeps_it_and_is_kept_from_there(
    team: Studio, designer: Client, which: str
) -> None:
    job = cut(team, which)
    designer.post(at("watch-left", job), {"of": NAMES[which][0]})
    recording = recorded_battles(Job.objects.for_forms().get())
    [player] = recording.config["agents"]
    assert Policy.stored(store(), player["policy"]).pack() == networks(job)[0].pack()
    assert player["title"] == f"Short: {NAMES[which][0]}"
    battles = text(designer, at("battles", recording))
    assert f'<a class="btn btn-sm" href="{page(job)}#keep">' in battles
    assert Agent.objects.count() == 0


def test_only_members_see_them_and_only_those_who_may_write_keep_or_watch_them(team: Studio) -> None:
    job = cut(team, "pbt")
    stranger, producer = signed_in(team.stranger), signed_in(team.producer)
    card = text(producer, at("keep", job))
    assert "Player #4" in card
    assert "Designers, engineers and owners can keep them." in card
    assert "<button" not in card
    assert stranger.get(at("keep", job)).status_code == 404
    for name in ("keep", "watch-left"):
        assert producer.post(at(name, job), {"of": "player #4"}).status_code == 403
        assert stranger.post(at(name, job), {"of": "player #4"}).status_code == 404
    assert not Agent.objects.exists()


@EACH
@pytest.mark.parametrize("lost", [b"", b"no longer what it was"])
def test_a_page_whose_networks_are_lost_or_damaged_says_so_and_offers_nobody_of_that_round(
    team: Studio, designer: Client, which: str, lost: bytes
) -> None:
    job = cut(team, which)
    digest = store().put(lost) if lost else "f" * 64
    Job.objects.filter(pk=job.pk).update(artifacts={**job.artifacts, NETWORKS: digest})
    assert designer.get(page(job)).status_code == 200
    card = text(designer, at("keep", job))
    assert "Round 2 was cut off" in card
    assert "The agents that had been trained by then are not in the store any more." in card
    assert "<button" not in card.partition('id="cut-off-title"')[2]
    refused = designer.post(at("keep", job), {"of": NAMES[which][0]}, follow=True)
    assert left.NO_POLICY in refused.content.decode()


def test_members_whose_lineage_is_lost_are_called_by_their_numbers_and_nobody_knows_what_they_learned_from(
    team: Studio, designer: Client
) -> None:
    job = cut(team, "self-play")
    Job.objects.filter(pk=job.pk).update(artifacts={**job.artifacts, "lineage": store().put(b"damaged")})
    assert "Member #3" in text(designer, at("keep", job))
    designer.post(at("keep", job), {"of": "member #3"})
    assert Agent.objects.get().origin["steps"] == 0


def test_of_networks_that_were_handed_on_nobody_says_from_how_many_decisions_they_learned(
    team: Studio, designer: Client
) -> None:
    job = cut(team, "nsga2")
    Job.objects.filter(pk=job.pk).update(config={**job.config, "networks": "best"})
    designer.post(at("keep", job), {"of": "player #4"})
    assert Agent.objects.get().origin["steps"] == 0


@pytest.mark.parametrize("status", [Status.QUEUED, Status.RUNNING])
def test_a_job_that_goes_on_offers_nobody_of_the_round_that_it_begins_again(
    team: Studio, designer: Client, status: Status
) -> None:
    job = cut(team, "pbt", "pause")
    Job.objects.filter(pk=job.pk).update(status=status)
    assert "cut off" not in text(designer, at("keep", job))
    assert left.NO_POLICY in designer.post(at("keep", job), {"of": "player #4"}, follow=True).content.decode()


def test_a_job_that_ended_after_a_complete_round_offers_what_it_left_and_nobody_else(
    team: Studio, designer: Client
) -> None:
    job = evolved(team.project)
    assert set(UNDER_WAY).isdisjoint(job.artifacts)
    card = text(designer, at("keep", job))
    assert "Keep this agent" in card
    assert "cut off" not in card


@pytest.mark.parametrize("command", ["pause", "stop"])
def test_players_of_the_round_that_was_cut_off_count_among_all_that_were_measured(team: Studio, command: str) -> None:
    job = cut(team, "nsga2", command)
    assert players(job, job.tick)["count"] == 6
    assert {one["id"] for one in players(job, job.tick)["players"]} == set(range(6))


def test_one_that_was_kept_of_a_paused_job_and_deleted_is_put_back(team: Studio, designer: Client) -> None:
    job = cut(team, "pbt", "pause")
    designer.post(at("keep", job), {"of": "player #4", "name": "Ada"})
    agent = Agent.objects.get()
    designer.post(reverse("agents:delete", args=[job.project.slug, agent.pk]), {"choice": "delete"})
    assert "kept as" not in text(designer, at("keep", job))
    designer.post(at("keep", job), {"of": "player #4"})
    assert [(each.name, each.deleted_at) for each in Agent.objects.all()] == [("Ada", None)]

"""Whether pages of styles say rightly what has decided who stays: the episodes, chance, or nothing yet."""

from __future__ import annotations

import html

import pytest
from django.test import Client
from django.urls import reverse

from tests.factories import Studio
from tests.webapp.styles_bred import bred
from webapp.agents.models import Agent
from webapp.studies.models import Job, Status
from webapp.styles import control
from webapp.training.models import TrainDraft

pytestmark = pytest.mark.django_db
BY_EPISODES = ("which also chose who stays", "that chose who stays", "flatter the search")


def text(client: Client, address: str) -> str:
    answer = client.get(address)
    assert answer.status_code == 200, answer.status_code
    return html.unescape(" ".join(answer.content.decode().split()))


def pages(client: Client, job: Job) -> tuple[str, str]:
    """Of a job, and of its first agent."""
    slug = job.project.slug
    address = reverse("studies:job", args=[slug, job.pk])
    return text(client, address), text(client, reverse("styles:map-agent", args=[slug, job.pk, 0]))


def test_a_search_says_that_its_episodes_chose_who_stays(team: Studio, designer: Client) -> None:
    job = bred(team.project, 2)
    assert control.chosen_by(job) == "episodes"
    shown, card = pages(designer, job)
    assert "which also chose who stays: so the best look a little better than they are" in shown
    assert "which also chose who stays, so they flatter the search" in shown
    assert "By the 6 episodes that chose who stays. Keep it to have it measured on fresh ones." in card


def test_a_control_says_that_chance_chose_who_stays_and_not_its_episodes(team: Studio, designer: Client) -> None:
    under_way, ended = bred(team.project, 2, selection=False), bred(team.project, selection=False)
    for job in (under_way, ended):
        assert control.chosen_by(job) == "chance"
        shown, card = pages(designer, job)
        assert not any(wrong in page for wrong in BY_EPISODES for page in (shown, card))
        assert "Chance chose who stays, not these episodes. Still, the best of many were lucky, too" in shown
        assert "By 6 episodes. Chance chose who stays, not these." in card
        assert "by a control:" not in shown, "it is one"
        assert "both beside a search that does choose who stays" in shown
        assert "and a control in which chance chooses" not in shown
    assert "which had no part in choosing who stays: chance chose." in pages(designer, under_way)[0]


@pytest.mark.parametrize("selection", [True, False])
def test_after_a_first_round_pages_say_that_nobody_has_had_to_leave(
    team: Studio, designer: Client, selection: bool
) -> None:
    job = bred(team.project, 1, selection=selection)
    assert control.chosen_by(job) == ""
    shown, card = pages(designer, job)
    assert not any(wrong in page for wrong in BY_EPISODES for page in (shown, card))
    assert "Nobody has had to leave yet. Still, the best of many were lucky" in shown
    assert "of each agent. Nobody has had to leave yet: everybody stays after a first round." in shown
    assert "Nobody has had to leave yet." in card
    Job.objects.filter(pk=job.pk).update(status=Status.STOPPED)
    shown, card = pages(designer, job)
    assert "Nobody has had to leave. Still," in shown
    assert "Nobody has had to leave. Still," in card


def test_breeding_on_from_an_agent_of_a_control_is_a_search_that_chooses_who_stays(
    team: Studio, designer: Client
) -> None:
    job = bred(team.project, selection=False)
    designer.post(reverse("styles:map-keep", args=["herobattle", job.pk, 0]), {"then": "breed"})
    typed = TrainDraft.objects.get().form
    assert typed["start"] == str(Agent.objects.get().pk)
    assert "control" not in typed
    TrainDraft.objects.all().delete()
    designer.post(reverse("styles:breed", args=["herobattle", Agent.objects.get().pk]))
    assert TrainDraft.objects.get().form == typed

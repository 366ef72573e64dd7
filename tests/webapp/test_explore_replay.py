"""Re-check plays what the sentences of the shortlist say is needed, as far as one can wait for it, and the page says
how much that is before the click."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from tests.factories import Studio, archive, search_job
from tests.webapp.test_explore_shortlist import finished_recheck, shortlist
from webapp.studies.explore_replay import FIRST, LONGEST_S, MOST, START_S, replay
from webapp.studies.models import Job, ShortlistEntry

pytestmark = pytest.mark.django_db
OVER, UNSURE = [2.6, 50.0, 28.0], [2.2, 50.0, 28.0]
EACH = 24
"""Battles of one lineup of three teams and three baseline teams, each pairing once from both seats."""


@pytest.fixture
def job(team: Studio) -> Job:
    return search_job(team.project, rows=200)


def listed(job: Job, *lineups: int) -> None:
    genomes, anchors = archive(200)["genome"], archive(200)["anchor"]
    for lineup in lineups:
        ShortlistEntry.objects.create(
            job=job, individual=lineup, genome=genomes[lineup].tolist(), anchors=anchors[lineup].tolist(), reason="Odd"
        )


def pressed(team: Studio, job: Job, **data: str) -> dict[str, Any]:
    client = Client()
    client.force_login(team.designer)
    answer: dict[str, Any] = client.post(
        reverse("studies:explore-recheck", args=[team.project.slug, job.pk]), data
    ).json()
    return answer


def state(team: Studio, job: Job) -> dict[str, Any]:
    client = Client()
    client.force_login(team.designer)
    told: dict[str, Any] = client.get(reverse("studies:explore-state", args=[team.project.slug, job.pk])).json()
    return told


def test_the_button_plays_what_the_sentences_say_and_what_is_new_as_often_as_at_first(team: Studio, job: Job) -> None:
    listed(job, 12, 30)
    finished_recheck(job, [30], UNSURE, [0.1, 1.0, 1.0])
    needs = shortlist(job).fresh[30].needs
    assert f"Needs about {needs:,} more battles" in state(team, job)["html"]
    started = Job.objects.get(pk=pressed(team, job)["started"])
    first, second = started.config["times"]
    assert first == FIRST
    assert needs <= second * EACH < needs + EACH
    assert started.config["replicates"] == max(first, second)


def test_the_page_says_before_the_click_how_many_battles_and_about_how_long(team: Studio, job: Job) -> None:
    listed(job, 12, 30)
    told = state(team, job)
    battles = 2 * FIRST * EACH
    assert told["replay"] == f"Re-check 2: {battles:,} fresh battles"
    assert f"A re-check now plays 2 lineups again, on {battles:,} fresh battles, in under a minute." in told["html"]
    assert pressed(team, job)["said"] == f"Playing 2 lineups again on {battles:,} fresh battles."
    job.counters = {"battles": 1200, "cached": 200, "seconds": 100.0}
    job.save()
    plan = replay(shortlist(job))
    assert plan.lineups == []  # they are being played


def test_the_time_is_told_by_what_the_search_really_played(job: Job) -> None:
    listed(job, 12)
    job.counters = {"battles": 1200, "cached": 200, "seconds": 100.0}
    plan = replay(shortlist(job))
    assert plan.seconds == START_S + FIRST * EACH / 10
    assert "in about 1" in plan.sentences
    job.counters = {}
    assert "how long that takes is not known yet" in replay(shortlist(job)).sentences


def test_no_re_check_takes_longer_than_one_can_wait_and_it_says_what_is_left(job: Job) -> None:
    listed(job, 12, 30)
    finished_recheck(job, [30], [2.01, 50.0, 28.0], [0.1, 1.0, 1.0])
    job.counters = {"battles": 10_000, "cached": 0, "seconds": 1000.0}
    plan = replay(shortlist(job))
    assert plan.times[0] == FIRST <= plan.times[1]
    assert plan.battles < plan.asked
    assert plan.battles <= 10 * LONGEST_S + EACH
    assert "press again for the rest, about" in plan.sentences
    job.counters = {"battles": 10, "cached": 0, "seconds": 1000.0}
    assert replay(shortlist(job)).times == [FIRST, FIRST]  # less would tell nothing
    job.counters = {"battles": 10**9, "cached": 0, "seconds": 1.0}
    assert max(replay(shortlist(job)).times) <= MOST


def test_what_is_told_is_played_again_as_often_as_before(job: Job) -> None:
    listed(job, 12, 30)
    finished_recheck(job, [12, 30], OVER, [0.05, 1.0, 1.0], samples=48)
    plan = replay(shortlist(job), again=True)
    assert plan.times == [48, 48]
    assert plan.label == f"Re-check 2: {2 * 48 * EACH:,} more battles"
    assert f"on {2 * 48 * EACH:,} more fresh battles" in plan.sentences

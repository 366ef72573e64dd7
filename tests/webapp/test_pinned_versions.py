"""A page about a job shows the game data that the job pinned, whatever the project's newest is."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from django.urls import reverse

from tests.factories import Studio, search_job
from tests.webapp.evolutions import evolved
from tests.webapp.trainings import trained
from webapp.games.models import GameVersion
from webapp.studies.models import Job

pytestmark = pytest.mark.django_db


@pytest.fixture
def job(team: Studio) -> Job:
    """A search on version 14; the project has version 15 by now."""
    made = search_job(team.project)
    newer(made)
    return made


def newer(job: Job) -> GameVersion:
    version = GameVersion.objects.get(pk=job.game_version_id)
    version.pk, version.number, version.label, version.content_hash = None, 15, "", "f" * 64
    version.save()
    return version


def bar(team: Studio, address: str) -> str:
    client = Client()
    client.force_login(team.producer)
    page = client.get(address).content.decode()
    found = re.search(r'<details class="menu switcher">(.*?)</summary>', page, re.DOTALL)
    assert found is not None
    return found[1]


@pytest.mark.parametrize("page", ["studies:job", "studies:explore"])
def test_the_bar_of_a_job_s_page_shows_the_version_it_pinned(team: Studio, job: Job, page: str) -> None:
    told = bar(team, reverse(page, args=[team.project.slug, job.pk]))
    assert "Spring data, version 14 (older)" in told
    assert "version 15" not in told


def test_on_the_newest_data_nothing_is_added(team: Studio, job: Job) -> None:
    job.game_version = GameVersion.objects.get(number=15)
    job.save()
    told = bar(team, reverse("studies:job", args=[team.project.slug, job.pk]))
    assert "version 15" in told
    assert "older" not in told


def test_compared_searches_show_what_they_share_and_nothing_where_they_differ(team: Studio, job: Job) -> None:
    address = f"{reverse('studies:compare', args=[team.project.slug])}?job={job.pk}"
    assert "version 14 (older)" in bar(team, address)
    other = Job.objects.get(pk=job.pk)
    other.pk, other.game_version = None, GameVersion.objects.get(number=15)
    other.save()
    assert "version 1" not in bar(team, f"{address}&job={other.pk}")


def test_a_page_about_training_shows_no_game_data(team: Studio, job: Job) -> None:
    for made in (trained(team.project, 2), evolved(team.project)):
        assert "version" not in bar(team, reverse("studies:job", args=[team.project.slug, made.pk]))


def test_the_page_of_an_older_version_shows_that_version(team: Studio, job: Job) -> None:
    told = bar(team, reverse("games:version", args=[team.project.slug, 14]))
    assert "Spring data, version 14 (older)" in told


def test_every_other_page_shows_the_newest(team: Studio, job: Job) -> None:
    for page in ("studies:jobs", "projects:detail"):
        assert "version 15" in bar(team, reverse(page, args=[team.project.slug]))

"""From new game data to a search of it: the project's last question, asked of the version that was just saved."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from tests.factories import Studio, search_job, signed_in, studio
from tests.webapp.games_data import simulator
from webapp.balance.models import Draft
from webapp.games.models import GameVersion
from webapp.studies.asked import last_search
from webapp.studies.models import Job

pytestmark = pytest.mark.django_db
DATA = "/p/herobattle/data/"
OFFER = "Run again with this data"


@pytest.fixture
def team() -> Studio:
    """A project that asked what is too good for its price, of version 14."""
    made = studio()
    search_job(made.project, rows=40, template="price", title="What is too good for its price?")
    return made


def imported(designer: Client, **more: str) -> str:
    """The page to which saving an imported version leads."""
    pasted = designer.post(f"{DATA}import/", {"text": "Id\tCost\nwarhorn\t91\n"})
    designer.post(pasted["Location"], {"action": "columns", "column-0": "id", "column-1": "cost"})
    saved = designer.post(pasted["Location"], {"action": "save", "base": "14", "label": "Spring data", **more})
    assert saved.status_code == 302
    return str(saved["Location"])


def test_a_saved_import_offers_to_ask_the_last_question_of_it(designer: Client, team: Studio) -> None:
    assert OFFER not in designer.get(DATA).content.decode(), "version 14 was asked already"
    page = imported(designer)
    new = team.project.versions.get(number=15)
    address = reverse("studies:ask-again", args=[team.project.slug, 15])
    for place in (page, DATA):
        shown = designer.get(place).content.decode()
        assert OFFER in shown
        assert f'action="{address}"' in shown
    answer = designer.post(address, follow=True).content.decode()
    assert "These are the settings of “What is too good for its price?”, now with Spring data, version 15." in answer
    draft = Draft.objects.get().form
    assert (draft["question"], draft["version"]) == ("price", str(new.pk))
    assert f'<option value="{new.pk}" selected>' in answer


def test_a_draft_that_was_there_is_kept_beside_it(designer: Client, team: Studio) -> None:
    imported(designer)
    Draft.objects.create(project=team.project, user=team.designer, form={"question": "useless"})
    page = designer.post(reverse("studies:ask-again", args=[team.project.slug, 15]), follow=True).content.decode()
    assert "Bring back my earlier draft" in page
    designer.post(reverse("studies:forget", args=[team.project.slug]))
    assert Draft.objects.get().form == {"question": "useless"}


def test_who_only_reads_and_who_looks_at_an_earlier_version_is_offered_nothing(designer: Client, team: Studio) -> None:
    imported(designer)
    assert OFFER not in signed_in(team.producer).get(DATA).content.decode()
    assert OFFER not in designer.get(reverse("games:version", args=[team.project.slug, 14])).content.decode()


def test_a_project_that_asked_nothing_of_this_game_is_offered_nothing(designer: Client, team: Studio) -> None:
    imported(designer)
    GameVersion.objects.filter(number=15).update(simulator=simulator())
    assert last_search(team.project.versions.get(number=15)) is None
    Job.objects.all().delete()
    assert last_search(team.project.versions.get(number=14)) is None
    address = reverse("studies:ask-again", args=[team.project.slug, 15])
    assert designer.post(address)["Location"] == reverse("studies:new", args=[team.project.slug])
    assert not Draft.objects.exists()


@pytest.mark.parametrize(("typed", "kept"), [("", "Imported from pasted cells"), ("After the playtest",) * 2])
def test_a_version_says_where_its_numbers_come_from(designer: Client, team: Studio, typed: str, kept: str) -> None:
    imported(designer, note=typed)
    assert team.project.versions.get(number=15).note == kept

"""Numbers in what is sent that are none: every place that takes a row's number, a part's or a round's."""

from __future__ import annotations

import pytest
from django.test import Client

from tests.factories import Studio, search_job, studio
from tests.webapp.games_data import client_of, with_data
from webapp.lib.whole import MOST, whole
from webapp.studies.models import Job

pytestmark = pytest.mark.django_db
NONE = ("²", "٣", "-1", "1.5", "1 ", "", "9" * 5000, str(2**64))


@pytest.mark.parametrize("text", NONE, ids=lambda text: text[:8])
def test_only_plain_digits_are_a_whole_number(text: str) -> None:
    assert whole(text) is None


def test_a_number_is_taken_up_to_the_most_that_is_asked_for() -> None:
    assert (whole("0"), whole("007"), whole(str(MOST))) == (0, 7, MOST)
    assert (whole("99", 99), whole("100", 99), whole("99", 98)) == (99, None, None)


@pytest.fixture
def team() -> Studio:
    made = studio()
    with_data(made.project)
    search_job(made.project, rows=40)
    return made


@pytest.fixture
def owner(team: Studio) -> Client:
    return client_of(team.owner)


@pytest.mark.parametrize("number", ["²", "9" * 5000, str(2**63)], ids=["a power", "endless", "too large for a row"])
@pytest.mark.parametrize(
    "address",
    [
        "data/?version={}", "data/?edit={}", "data/import/?again={}", "data/versions/1/?against={}",
        "data/export/?version={}", "data/export/?sheet={}", "jobs/compare/?job={}", "jobs/compare/csv/?job={}",
        "jobs/{job}/export.csv?family={}", "jobs/{job}/export.csv?rows={}", "jobs/{job}/front/?tick={}",
        "jobs/{job}/course/?tick={}", "jobs/{job}/players.json?tick={}", "jobs/new/?from={}",
    ],
)  # fmt: skip
def test_an_address_with_a_number_that_is_none_is_answered(
    owner: Client, team: Studio, address: str, number: str
) -> None:
    page = address.replace("{job}", str(Job.objects.get().pk)).format(number)
    assert owner.get(f"/p/{team.project.slug}/{page}").status_code < 500


@pytest.mark.parametrize("number", ["²", "9" * 5000, str(2**63)], ids=["a power", "endless", "too large for a row"])
@pytest.mark.parametrize(
    ("page", "fields"),
    [
        ("data/choose/", {"simulator": "{}"}),
        ("data/edit/", {"action": "save", "base": "{}", "pikes.cost": "90"}),
        ("data/adopt/", {"base": "{}"}),
        ("lineups/new/", {"base": "{}", "name": "Ours"}),
        ("objectives/new/", {"base": "{}", "count": "{}", "strength": "{}", "action": "remove:{}"}),
        ("objectives/new/", {"action": "save", "count": "1", "base": "{}"}),
        ("jobs/{job}/explore/shortlist/", {"action": "add", "lineup": "{}", "reason": "Odd"}),
        ("objectives/sample/?part={}", {"count": "1"}),
        ("jobs/new/preview/", {"version": "{}", "rules": "{}", "objectives": "{}"}),
    ],
)
def test_a_form_with_a_number_that_is_none_is_answered(
    owner: Client, team: Studio, page: str, fields: dict[str, str], number: str
) -> None:
    where = page.replace("{job}", str(Job.objects.get().pk)).format(number)
    sent = {name: value.format(number) for name, value in fields.items()}
    assert owner.post(f"/p/{team.project.slug}/{where}", sent).status_code < 500


def test_events_are_not_asked_for_by_a_number_that_is_none(owner: Client, team: Studio) -> None:
    assert owner.get("/events/?job=²").status_code == 404

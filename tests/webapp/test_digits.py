"""Numbers in what is sent that are none: every place that takes a row's number, a part's or a round's."""

from __future__ import annotations

import pytest
from django.test import Client

from tests.factories import Studio, search_job, signed_in, studio
from tests.webapp.games_data import with_data
from webapp.lib.digits import MOST, fraction, whole
from webapp.studies.models import Job

pytestmark = pytest.mark.django_db
NONE = ("²", "٣", "-1", "1.5", "1 ", "", "9" * 5000, str(2**64))


@pytest.mark.parametrize("text", NONE, ids=lambda text: text[:8])
def test_only_plain_digits_are_a_whole_number(text: str) -> None:
    assert whole(text) is None


def test_a_number_is_taken_up_to_the_most_that_is_asked_for() -> None:
    assert (whole("0"), whole("007"), whole(str(MOST))) == (0, 7, MOST)
    assert (whole("99", 99), whole("100", 99), whole("99", 98)) == (99, None, None)


def test_a_fraction_is_read_as_browsers_write_it() -> None:
    written = ("0", "-0.5", "+3", "1e-7", "1e+21", "5e300", ".5", "2.")
    assert [fraction(text) for text in written] == [0.0, -0.5, 3.0, 1e-7, 1e21, 5e300, 0.5, 2.0]


NO_FRACTION = ("nan", "inf", "-Infinity", "1e400", "1_0", "\uff11", "1,5", "0x1", "", ".", "--1", "1 ", "9" * 5000)


@pytest.mark.parametrize("text", NO_FRACTION, ids=lambda text: ascii(text)[:8])
def test_other_texts_are_no_fraction(text: str) -> None:
    assert fraction(text) is None


@pytest.fixture
def team() -> Studio:
    made = studio()
    with_data(made.project)
    search_job(made.project, rows=40)
    return made


@pytest.fixture
def owner(team: Studio) -> Client:
    return signed_in(team.owner)


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
        ("data/adopt/", {"action": "save", "base": "{}"}),
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


NONSENSE = (
    "min-advantage=nan", "max-advantage=inf", "min-advantage=1e400", "min-advantage=1e300", "min-advantage=1_0",
    "min-advantage=\uff11", "line-advantage=nan", "line-advantage=1_0", "family=99999999999999999999", "family=two",
    "family=-1", "rows=99999999999999999999", "show=strong,excellent", "best=yes", "listed=0",
)  # fmt: skip


@pytest.mark.parametrize("query", NONSENSE, ids=ascii)
def test_an_address_of_lineups_that_cannot_be_read_is_refused_and_never_an_empty_table(
    owner: Client, query: str
) -> None:
    answer = owner.get(f"/p/herobattle/jobs/{Job.objects.get().pk}/export.csv?{query}")
    assert answer.status_code == 400
    assert query.partition("=")[0] in answer.content.decode()


@pytest.mark.parametrize(
    "line", ["1e300", *(text for text in NO_FRACTION if text == text.strip())], ids=lambda text: ascii(text)[:8]
)
def test_no_line_is_kept_where_none_can_be(owner: Client, line: str) -> None:
    address = f"/p/herobattle/jobs/{Job.objects.get().pk}/explore/line/"
    answer = owner.post(address, {"objective": "advantage", "line": line})
    assert answer.status_code == 400, answer.content

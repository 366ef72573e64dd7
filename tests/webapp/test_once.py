"""A form that is sent twice starts one job, or makes one project, and every answer leads to it."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse

from tests.factories import Studio, ready_studio, signed_in
from webapp.lib import once
from webapp.projects import making
from webapp.projects.models import Project
from webapp.studies.form_values import first_values
from webapp.studies.models import Job

pytestmark = pytest.mark.django_db(transaction=True)
KEY = re.compile(r'name="once" value="([^"]+)"')
PAGES = ("studies:new", "training:new", "training:evolve", "evaluate")
EVALUATION = {
    "title": "Two scripts",
    "game": "pong-two-seats",
    "policies": ["pong-follower", "random"],
    "episodes": "40",
}


@pytest.fixture
def team() -> Studio:
    return ready_studio()


@pytest.fixture
def client(team: Studio) -> Client:
    return signed_in(team.designer)


def search(team: Studio, **typed: str) -> dict[str, Any]:
    chosen = {"line": "2", "population": "50", "rounds": "20", "replicates": "4", "fresh": "16"}
    return {**first_values(team.project), **chosen, **typed}


def address(team: Studio, page: str) -> str:
    slug = team.project.slug
    return reverse(page, args=[slug]) if ":" in page else reverse("studies:ask", args=[slug, page])


def key_of(client: Client, place: str) -> str:
    found = KEY.search(client.get(place).content.decode())
    assert found is not None
    return found[1]


def begun() -> int:
    """Jobs that somebody started; a sample or a trial belongs to a form, an experiment may come with a search."""
    return Job.objects.listed().count()


@pytest.mark.parametrize("page", PAGES)
def test_a_form_that_is_sent_twice_starts_one_job_and_both_answers_lead_to_it(
    client: Client, team: Studio, page: str
) -> None:
    place = address(team, page)
    typed: dict[str, Any] = {
        "studies:new": search(team),
        "training:new": {"game": "cartpole", "steps": "20000"},
        "training:evolve": {"game": "cartpole", "learner.rate": "0.0001 to 0.01", "goal-0": "return"},
        "evaluate": EVALUATION,
    }[page]
    sent = {**typed, "once": key_of(client, place)}
    answers = [client.post(place, sent) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [302, 302], answers[0].content.decode()[:3000]
    assert answers[0]["Location"] == answers[1]["Location"]
    assert begun() == 1


def test_four_clicks_at_the_same_time_start_one_job(team: Studio, client: Client) -> None:
    place = address(team, "studies:new")
    sent = {**search(team), "once": key_of(client, place)}
    clients = [signed_in(team.designer) for _ in range(4)]

    def click(client: Client) -> str:
        try:
            return str(client.post(place, sent).get("Location"))
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        places = set(pool.map(click, clients))
    assert places == {reverse("studies:job", args=[team.project.slug, Job.objects.listed().get().pk])}


def test_of_two_clicks_that_see_no_job_yet_the_second_is_led_to_the_first_s(
    team: Studio, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = address(team, "studies:new")
    sent = {**search(team), "once": key_of(client, place)}
    first = client.post(place, sent)["Location"]
    real, looks = once._made, list[Any]()

    def late(*given: Any) -> Job | None:
        looks.append(given)
        return None if len(looks) == 1 else real(*given)

    monkeypatch.setattr(once, "_made", late)
    assert client.post(place, sent)["Location"] == first
    assert (begun(), len(looks)) == (1, 2)


def test_a_page_that_is_gone_back_to_starts_another_job_once_something_is_changed(team: Studio, client: Client) -> None:
    place = address(team, "studies:new")
    key = key_of(client, place)
    assert key != key_of(client, place)
    one = client.post(place, {**search(team), "once": key})["Location"]
    other = client.post(place, {**search(team, seed="5"), "once": key})["Location"]
    assert one != other
    assert begun() == 2


def test_a_form_that_was_refused_may_be_mended_and_sent_again(team: Studio, client: Client) -> None:
    place = address(team, "studies:new")
    answer = client.post(place, {**search(team, population="3"), "once": key_of(client, place)})
    assert answer.status_code == 422
    key = KEY.search(answer.content.decode())
    assert key is not None
    assert client.post(place, {**search(team), "once": key[1]}).status_code == 302
    assert begun() == 1


def test_the_draft_that_is_begun_after_a_start_outlives_a_late_second_click(team: Studio, client: Client) -> None:
    place = address(team, "studies:new")
    sent = {**search(team), "once": key_of(client, place)}
    client.post(place, sent)
    client.post(reverse("studies:preview", args=[team.project.slug]), {**search(team, seed="9"), "keep": "1"})
    client.post(place, sent)
    assert 'value="9"' in client.get(place).content.decode()


NEW = "/projects/new/"


def test_six_posts_of_one_form_at_the_same_time_make_one_project(team: Studio, client: Client) -> None:
    sent = {"name": "Arena", "once": key_of(client, NEW)}
    assert posted_at_once([sent] * 6, team) == {"/p/arena/"}
    assert Project.objects.filter(name="Arena").count() == 1
    assert client.post(NEW, sent)["Location"] == "/p/arena/"


def test_a_form_that_is_opened_again_makes_another_project_of_the_same_name(team: Studio, client: Client) -> None:
    places = [client.post(NEW, {"name": "Arena", "once": key_of(client, NEW)})["Location"] for _ in range(2)]
    assert places == ["/p/arena/", "/p/arena-2/"]


def test_projects_of_one_name_that_are_made_at_the_same_time_get_an_address_each(team: Studio) -> None:
    sent = [{"name": "Arena", "once": f"page {number}"} for number in range(6)]
    assert posted_at_once(sent, team) == {"/p/arena/", *(f"/p/arena-{number}/" for number in range(2, 7))}


def test_an_address_that_somebody_takes_meanwhile_is_not_fought_for(
    team: Studio, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    slugs = iter([team.project.slug, team.project.slug, "arena"])
    monkeypatch.setattr(making, "free_slug", lambda name: next(slugs))
    assert client.post(NEW, {"name": "Arena", "once": "a page"})["Location"] == "/p/arena/"


def posted_at_once(forms: list[dict[str, str]], team: Studio) -> set[str | None]:
    clients = [signed_in(team.designer) for _ in forms]

    def click(client: Client, sent: dict[str, str]) -> str | None:
        try:
            return client.post(NEW, sent).get("Location")
        finally:
            connection.close()

    with ThreadPoolExecutor(len(forms)) as pool:
        return set(pool.map(click, clients, forms))


@pytest.mark.parametrize("page", ["studies:new", "training:new", "training:evolve", "worth"])
def test_a_form_without_any_of_its_fields_starts_nothing(client: Client, team: Studio, page: str) -> None:
    answer = client.post(address(team, page))
    assert answer.status_code == 400
    assert "This form was empty. Nothing was started." in answer.content.decode()
    assert not Job.objects.exists()


def test_an_empty_form_restores_no_version(client: Client, team: Studio) -> None:
    newest, count = team.project.versions.latest("number"), team.project.versions.count()
    assert client.post(reverse("games:restore", args=[team.project.slug, newest.number])).status_code == 400
    assert team.project.versions.count() == count

"""Searching for good training settings: what the form makes, what is wrong at which field, and what the page shows."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from engine.config import EvolveConfig
from engine.config.genes import genes
from tests.factories import Studio, search_job, studio
from tests.webapp.evolutions import config, evolution, evolved
from tests.webapp.trainings import finished
from webapp.studies.models import Job, Status
from webapp.training import searching
from webapp.training.evolving import NO_RANGE, START, EvolveForm, values_of

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def team() -> Studio:
    return studio()


@pytest.fixture
def client(team: Studio) -> Client:
    signed_in = Client()
    signed_in.force_login(team.designer)
    return signed_in


def form(team: Studio, **typed: str) -> EvolveForm:
    named = {name.replace("__", "."): value for name, value in typed.items()}
    made = EvolveForm({**START, **named}, project=team.project)
    made.is_valid()
    return made


def built(team: Studio, **typed: str) -> EvolveConfig:
    made = form(team, **typed)
    assert made.study is not None, made.errors
    return made.study


def wrong(team: Studio, **typed: str) -> dict[str, list[str]]:
    return {name: [str(e) for e in found] for name, found in form(team, **typed).errors.items()}


def test_what_the_page_offers_is_population_based_training_of_cartpole(team: Studio) -> None:
    found = built(team)
    assert (found.task.game.name, found.algorithm.kind, found.algorithm.population) == ("gym:CartPole-v1", "pbt", 8)
    rate, entropy = genes(found.task)
    assert (rate.place, rate.low, rate.high, rate.log) == ("learner.rate", 1e-4, 1e-2, True)
    assert (entropy.place, entropy.low, entropy.high, entropy.log) == ("learner.entropy_weight", 0, 0.03, False)


@pytest.mark.parametrize("kind", searching.MENU)
def test_every_method_of_the_menu_makes_a_search_from_its_defaults(team: Studio, kind: str) -> None:
    assert built(team, method=kind).algorithm.kind == kind


@pytest.mark.parametrize("text", ["0.001 to 0.1", "[0.001, 0.1]", "[0.001, 0.1, log]", "0.001 – 0.1 log"])
def test_a_range_may_be_written_in_several_ways(team: Studio, text: str) -> None:
    rate = genes(built(team, learner__rate=text).task)[0]
    assert (rate.low, rate.high, rate.log) == (0.001, 0.1, True)


@pytest.mark.parametrize(
    ("typed", "field", "says"),
    [
        ({"learner__rate": "a to b"}, "learner.rate", "neither a number nor a range"),
        ({"learner__rate": "0.1 to 0.001"}, "learner.rate", "from low to high"),
        ({"learner__rate": "0.1 to 9"}, "learner.rate", "at most 1"),
        ({"learner__entropy_weight": "0 to 1 log"}, "learner.entropy_weight", "above 0"),
        ({"learner__reuse": "1.5 to 4"}, "learner.reuse", "whole"),
        ({"population": "7", "method": "nsga2"}, "population", "multiple of 2"),
        ({"rounds": "0"}, "rounds", "1"),
        ({"goal": "return", "second": "return"}, "", "measure of its own"),
        ({"method": "magic"}, "method", "valid choice"),
        ({"game": "gymnasium"}, "gymnasium", "LunarLander-v3"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_at_its_field(team: Studio, typed: dict[str, str], field: str, says: str) -> None:
    found = wrong(team, **typed)
    assert list(found) == [field or "__all__"]
    assert says in found[field or "__all__"][0]


def test_without_a_range_there_is_nothing_to_search(client: Client, team: Studio) -> None:
    address = reverse("training:evolve", args=[team.project.slug])
    answer = client.post(address, {"learner.rate": "0.002", "learner.entropy_weight": "", "title": "My search"})
    assert answer.status_code == 422
    page = answer.content.decode()
    assert NO_RANGE in page
    assert 'value="0.002"' in page
    assert 'value="My search"' in page
    assert not Job.objects.exists()


def test_start_makes_a_job_and_its_settings_can_be_asked_again(client: Client, team: Studio) -> None:
    address = reverse("training:evolve", args=[team.project.slug])
    typed = {**START, "method": "map-elites", "population": "6", "second": "length", "second_way": "min"}
    answer = client.post(address, {**typed, "learner.clip": "0.1 to 0.3", "learner.network.policy": "32"})
    job = Job.objects.get()
    assert answer.headers["Location"] == reverse("studies:job", args=[team.project.slug, job.pk])
    assert (job.kind, job.ticks, job.title) == (Job.Kind.EVOLVE, 10, "Settings for CartPole")
    again = EvolveForm(values_of(job, team.project), project=team.project)
    assert again.is_valid(), again.errors
    assert again.study is not None
    assert again.study.model_dump(mode="json") == job.config
    assert 'value="0.1 to 0.3"' in client.get(f"{address}?like={job.pk}").content.decode()
    assert client.get(f"{address}?like={finished(team.project).pk}").status_code == 404
    assert client.get(f"{address}?like=99999").status_code == 404


def test_the_page_is_told_what_can_be_chosen_as_the_form_stands(client: Client, team: Studio) -> None:
    address = reverse("training:evolve-preview", args=[team.project.slug])
    told: dict[str, Any] = client.post(address, {**START, "algorithm": "dqn", "population": "4"}).json()
    assert told["errors"] == {}
    assert "Minibatch" in told["html"]["searched"]
    assert 'name="learner.entropy_weight"' not in told["html"]["searched"]
    assert 'name="learner.entropy_weight" value="0 to 0.03"' in told["html"]["details"]
    assert told["before"]["time"] == "200,000 moves"


@pytest.mark.parametrize("kind", ["pbt", "map-elites"])
def test_a_search_that_has_ended_shows_its_players_and_gives_the_best_away(
    client: Client, team: Studio, kind: str
) -> None:
    job = evolved(team.project, config(kind))
    where = [team.project.slug, job.pk]
    page = client.get(reverse("studies:job", args=where)).content.decode()
    assert "Download the best player" in page
    assert not re.search(r"\b(lineup|battle)s?\b", page[page.index("data-job-actions") :])
    told = client.get(reverse("training:players", args=where)).json()
    assert [gene["title"] for gene in told["genes"]] == ["Learning rate", "Weight of the entropy"]
    assert len(told["players"]) == 4
    assert told["fresh"]
    assert told["policy"]
    returns = [one["goals"][0] for one in told["best"]]
    assert returns == sorted(returns, reverse=True)
    assert client.get(reverse("training:policy", args=where)).status_code == 200
    drawn = "lineage" if kind == "pbt" else "grid"
    picture = client.get(reverse(f"studies:{drawn}", args=where), {"tick": 3}).json()
    assert picture["member"] if kind == "pbt" else picture["quality"]["title"] == "Return"
    rounds = client.get(reverse("studies:rounds", args=where)).json()
    assert len(rounds["best_return_low"]) == len(rounds["mean_return"]) == 3


def test_before_its_first_round_a_search_has_no_players(client: Client, team: Studio) -> None:
    job = evolution(team.project, status=Status.QUEUED)
    assert client.get(reverse("studies:job", args=[team.project.slug, job.pk])).status_code == 200
    assert client.get(reverse("training:players", args=[team.project.slug, job.pk])).json()["best"] == []


def test_other_jobs_have_no_players_and_a_search_for_settings_no_lineups(client: Client, team: Studio) -> None:
    other, job = search_job(team.project, rows=10), evolution(team.project)
    assert client.get(reverse("training:players", args=[team.project.slug, other.pk])).status_code == 404
    for name in ("explore", "course"):
        assert client.get(reverse(f"studies:{name}", args=[team.project.slug, job.pk])).status_code == 404
    for page in (reverse("studies:jobs", args=[team.project.slug]), reverse("projects:home")):
        assert client.get(page).status_code == 200

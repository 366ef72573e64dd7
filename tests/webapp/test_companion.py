"""The experiment that comes with a search: when one does, what it plays, and that the search does not notice."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse

from engine.config import LineupConfig
from engine.games.herobattle.spec import game_spec
from engine.lineups.companion import EVEN, beside, seed
from tests.factories import Studio, ready_studio, signed_in
from tests.webapp.test_jobs_new import finished_sample
from webapp.api import tokens
from webapp.studies import actions, companion, pending, queue
from webapp.studies.form_values import first_values
from webapp.studies.models import Job, Status
from workers import claims, reconcile

pytestmark = pytest.mark.django_db


@pytest.fixture
def team() -> Studio:
    return ready_studio()


@pytest.fixture
def client(team: Studio) -> Client:
    return signed_in(team.designer)


def typed(team: Studio, **more: str) -> dict[str, Any]:
    return {**first_values(team.project), "measure": "advantage", "line": "2", "effort": "quick", **more}


def start(client: Client, team: Studio, **more: str) -> Job:
    answer = client.post(reverse("studies:new", args=[team.project.slug]), typed(team, **more))
    assert answer.status_code == 302, answer.content.decode()
    return Job.objects.filter(kind="search").latest("pk")


def preview(client: Client, team: Studio, **more: str) -> dict[str, Any]:
    answer: dict[str, Any] = client.post(
        reverse("studies:preview", args=[team.project.slug]), typed(team, **more)
    ).json()
    return answer


def script(team: Studio, body: dict[str, Any]) -> Any:
    browser = Client(headers={"Authorization": f"Bearer {tokens.make(team.designer, 'ci', None, 30)[1]}"})
    address = f"/api/v1/projects/{team.project.slug}/jobs"
    return browser.post(address, json.dumps({"kind": "search", **body}), content_type="application/json")


def end(job: Job, status: Status = Status.FINISHED) -> None:
    Job.objects.filter(pk=job.pk).update(status=status)


def test_a_search_for_unfair_teams_brings_one_experiment_with_a_seed_and_battles_of_its_own(
    client: Client, team: Studio
) -> None:
    search = start(client, team)
    found = Job.objects.get(kind="worth")
    assert (found.accompanies, companion.of(search)) == (search, found)
    assert found.config["seed"] == seed(search.config["seed"]) != search.config["seed"]
    assert found.config["battles"] == 288_000, "half of what the search plays"
    assert found.config["game"] == search.config["game"]
    assert found.config["lineups"] == search.config["lineups"]
    assert (found.game_version, found.lineup_rules) == (search.game_version, search.lineup_rules)


def test_a_search_is_the_same_with_an_experiment_beside_it_and_without(client: Client, team: Studio) -> None:
    beside, alone = start(client, team, experiment="yes"), start(client, team, experiment="no")
    assert (beside.config, beside.config_hash) == (alone.config, alone.config_hash)
    assert (companion.of(beside) is None, companion.of(alone) is None) == (False, True)


@pytest.mark.parametrize("question", ["unfair", "first", "price", "useless"])
def test_it_comes_with_every_question_unless_somebody_unticks_it(client: Client, team: Studio, question: str) -> None:
    measure = {"first": "seat", "price": "value", "useless": "left"}.get(question, "advantage")
    for said, comes in (("", True), ("no", False)):
        asked = {"question": question, "experiment": said, "measure": measure}
        told = preview(client, team, **asked)
        assert (told["experiment"]["wanted"], told["experiment"]["possible"]) == (comes, True)
        counted = dict(told["before"]["rows"])["What each piece is worth"]
        assert (counted != "not measured") is comes
        assert (companion.of(start(client, team, **asked)) is not None) is comes


def test_of_single_teams_of_any_price_two_of_equal_cost_meet_in_it(client: Client, team: Studio) -> None:
    search = start(client, team, question="price", measure="value")
    found = search.companions.get()
    assert (search.config["lineups"]["teams"], search.config["lineups"]["cost_tolerance"]) == (1, None)
    assert (found.config["lineups"]["teams"], found.config["lineups"]["cost_tolerance"]) == (2, EVEN)
    assert companion.can(search), "it opens on its suspects"


def test_where_no_pairing_can_be_drawn_the_form_says_why() -> None:
    spec = game_spec()
    dearest = max(piece.cost for piece in spec.pieces if piece.cost is not None)
    rules = LineupConfig(teams=1, cost_tolerance=None, budget_low=1000 * dearest)
    assert companion.obstacle(rules, spec).endswith(".")
    assert not companion.obstacle(LineupConfig(teams=1, cost_tolerance=None), spec)


def test_its_battles_are_counted_before_the_start_and_can_be_typed(client: Client, team: Studio) -> None:
    told = preview(client, team)
    assert dict(told["before"]["rows"])["What each piece is worth"] == (
        "288,000 battles, after the search; at most 288,000 more to test what it names"
    )
    assert told["experiment"]["text"].startswith("288,000 battles after the search")
    assert start(client, team, experiment_battles="5000").companions.get().config["battles"] == 5000
    assert "2,000" in preview(client, team, experiment_battles="10")["errors"]["experiment_battles"][0]


def test_a_search_that_waits_for_its_line_gets_its_experiment_with_it(client: Client, team: Studio) -> None:
    client.post(reverse("studies:preview", args=[team.project.slug]), typed(team, measure="", line=""))
    search = start(client, team, measure="", line="")
    assert search.asked
    assert companion.of(search) is None
    finished_sample(Job.objects.get(kind="sample"), lambda name: np.linspace(1.0, 3.0, 200))
    pending.settle_all()
    pending.settle_all()
    assert search.companions.count() == 1


def test_a_script_has_what_the_page_has_and_may_say_how_many_battles(team: Studio) -> None:
    usual = script(team, {"set": {"ticks": 30}}).json()
    assert Job.objects.get(pk=usual["experiment"]).config["battles"] == 288_000
    assert script(team, {"experiment": 0}).json()["experiment"] is None
    some = script(team, {"experiment": 4000}).json()
    assert Job.objects.get(pk=some["experiment"]).config["battles"] == 4000
    written = script(team, {"config": {"experiment": 5000}}).json()
    assert Job.objects.get(pk=written["experiment"]).config["battles"] == 5000
    assert "experiment" not in Job.objects.get(pk=written["job"]).config, "it is a job of its own"
    problems = script(team, {"experiment": 12}).json()["problems"]
    assert [problem["place"] for problem in problems] == ["experiment"]


def test_a_copy_has_an_experiment_where_the_first_one_had(team: Studio) -> None:
    browser = Client(headers={"Authorization": f"Bearer {tokens.make(team.designer, 'ci', None, 30)[1]}"})
    for wanted in (0, 4000):
        job = script(team, {"experiment": wanted}).json()["job"]
        address = f"/api/v1/projects/{team.project.slug}/jobs/{job}/clone"
        copy = browser.post(address, "{}", content_type="application/json").json()
        found = Job.objects.filter(pk=copy["experiment"]).first()
        assert (found.config["battles"] if found else 0) == wanted


def test_it_waits_for_its_search_and_gives_way_to_what_people_asked_for(
    client: Client, team: Studio, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.JOB_SLOTS = 1
    monkeypatch.setattr(claims, "pool_obstacle", lambda job: "")
    search = start(client, team)
    found = search.companions.get()
    assert (found.status, found.message) == (Status.WAITING, queue.BEHIND)
    end(search, Status.FAILED)
    reconcile.admit()
    assert Job.objects.get(pk=found.pk).status == Status.WAITING
    end(search)
    other = start(client, team, seed="5", experiment="no")
    Job.objects.filter(pk=other.pk).update(status=Status.WAITING, enqueued_at=None)
    reconcile.admit()
    assert Job.objects.get(pk=other.pk).status == Status.QUEUED
    assert Job.objects.get(pk=found.pk).status == Status.WAITING
    end(other)
    reconcile.admit()
    assert Job.objects.get(pk=found.pk).status == Status.QUEUED


def test_a_running_one_takes_a_place_as_any_job_does(client: Client, team: Studio, settings: Any) -> None:
    settings.JOB_SLOTS = 1
    search = start(client, team)
    end(search)
    end(search.companions.get(), Status.RUNNING)
    assert "free place" in queue.room_obstacle(start(client, team, seed="5"))


def test_who_stops_the_search_stops_what_waits_for_it(client: Client, team: Studio) -> None:
    search = start(client, team)
    actions.stop(search)
    assert search.companions.get().status == Status.STOPPED
    other = start(client, team, seed="5")
    end(other)
    end(other.companions.get(), Status.RUNNING)
    with pytest.raises(actions.Refused):
        actions.stop(other)
    assert other.companions.get().command == ""


def test_it_stands_in_no_list_and_has_a_page_and_goes_with_its_search(client: Client, team: Studio) -> None:
    search = start(client, team)
    found = search.companions.get()
    assert found not in Job.objects.listed()
    for address in (reverse("studies:jobs", args=[team.project.slug]), "/"):
        assert found.title not in client.get(address).content.decode()
    assert client.get(reverse("studies:job", args=[team.project.slug, found.pk])).status_code == 200
    search.delete()
    assert not Job.objects.filter(kind="worth").exists()


def test_a_search_has_one_however_often_it_is_asked_for(client: Client, team: Studio) -> None:
    search = start(client, team)
    found = search.companions.get()
    config = beside(Job.objects.get(pk=search.pk).study.config.model_validate(search.config), 4000)
    assert actions.accompany(search, team.designer, config) == found
    end(found, Status.STOPPED)
    again = actions.accompany(search, team.designer, config)
    assert again != found
    assert companion.of(search) == again

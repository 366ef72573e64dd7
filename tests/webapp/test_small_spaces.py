"""New job on rules that leave few lineups: it says how many there are, and offers no more."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse

from engine.config import LineupConfig
from tests.engine.test_small_spaces import FEW, size_of_few
from tests.factories import Studio, ready_studio, signed_in
from tests.webapp.test_jobs_new import finished_sample
from tests.webapp.test_pending_starts import rows
from webapp.balance.models import LineupRules
from webapp.studies import plans
from webapp.studies.form_values import first_values
from webapp.studies.models import Job

pytestmark = pytest.mark.django_db


@pytest.fixture
def team() -> Studio:
    made = ready_studio()
    few = LineupRules.objects.get(project=made.project)
    few.config = {**few.config, **FEW}
    few.save()
    return made


@pytest.fixture
def client(team: Studio) -> Client:
    return signed_in(team.designer)


def asked(client: Client, team: Studio, **typed: str) -> dict[str, Any]:
    address = reverse("studies:preview", args=[team.project.slug])
    found: dict[str, Any] = client.post(address, {**first_values(team.project), **typed}).json()
    return found


def test_no_effort_offers_more_lineups_than_there_are(client: Client, team: Studio) -> None:
    there_are = size_of_few()
    answer = asked(client, team)
    assert answer["errors"] == {}
    for key in ("quick", "usual", "deep"):
        assert answer["efforts"][key]["text"].startswith(f"all {there_are} lineups there are, ")
    assert dict(answer["before"]["rows"])["Lineups"] == f"{there_are}, all there are"
    assert Job.objects.get(kind="sample").config["count"] == min(200, there_are)


def test_lineups_that_are_all_there_are_are_not_called_random(client: Client, team: Studio) -> None:
    asked(client, team)
    finished_sample(Job.objects.get(kind="sample"), lambda name: np.linspace(0.0, 3.0, size_of_few()))
    assert "random" not in asked(client, team)["before"]["range"]


def test_more_effort_plays_each_lineup_more_often_and_never_costs_more_than_usual() -> None:
    rules = LineupConfig(teams=1)
    found = [plans.plan(effort, rules, None, 165) for effort in plans.EFFORTS.values()]
    assert [(p.population, p.rounds, p.replicates) for p in found] == [(165, 1, 4), (165, 1, 16), (165, 1, 64)]
    for effort in plans.EFFORTS.values():
        for most in (1, 165, 5_999, 6_001, 15_000, 131_072):
            plan = plans.plan(effort, rules, None, most)
            assert plan.lineups <= most
            usual = effort.plan.lineups * effort.plan.replicates
            assert plan.lineups * plan.replicates <= usual
            assert plan.whole == (most <= effort.plan.lineups)
            assert plan.population <= plans.LARGEST


def test_rules_that_leave_more_than_an_effort_plays_say_how_many_there_are() -> None:
    plan = plans.plan(plans.EFFORTS["quick"], LineupConfig(teams=1), None, 50_000)
    assert (plan.lineups, plan.whole, plan.numbers) == (6_000, False, plans.EFFORTS["quick"].plan.numbers)


def test_a_round_larger_than_what_there_is_is_refused_with_the_number(client: Client, team: Studio) -> None:
    there_are = size_of_few()
    told = asked(client, team, population=str(there_are + 1))["errors"]["population"]
    assert [text.replace("\u00a0", " ") for text in told] == [
        f"The rules leave {there_are} lineups. Type {there_are} or fewer."
    ]
    own = asked(client, team, population=str(there_are), rounds="9")
    assert dict(own["before"]["rows"])["Lineups"] == f"{there_are}, all there are"


@pytest.mark.parametrize("method", ["nsga2", "cso"])
def test_start_makes_a_search_of_all_of_them(client: Client, team: Studio, method: str) -> None:
    typed = {**first_values(team.project), "algorithm": method, "effort": "quick"}
    answer = client.post(reverse("studies:new", args=[team.project.slug]), typed)
    assert answer.status_code == 302, answer.content.decode()
    job = Job.objects.get(kind="search")
    assert job.config["ticks"] == 1
    assert job.config["algorithm"]["population"] - size_of_few() in (0, 1)


def test_a_sample_of_all_says_so(client: Client, team: Studio) -> None:
    few = LineupRules.objects.get(project=team.project)
    few.config = {**few.config, "banned": [*few.config["banned"], first_hero(few)]}
    few.save()
    asked(client, team)
    job = Job.objects.get(kind="sample")
    count = job.config["count"]
    assert count < 200
    finished_sample(job, rows(count))
    text = asked(client, team)["sample"]["text"]
    assert text.startswith(f"We played all {count} lineups that your rules leave")


def first_hero(rules: LineupRules) -> str:
    """A hero that the rules still allow."""
    spec = rules.project.versions.get().simulator.spec
    heroes = [p["id"] for p in spec["pieces"] if p["category"] == "hero"]
    return str(next(hero for hero in heroes if hero not in rules.config["banned"]))


def test_rules_that_cannot_be_met_together_are_told_before_a_sample(
    client: Client, team: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webapp.studies.forms.counted", lambda spec, rules: 0)
    assert "no lineup is left" in asked(client, team)["errors"]["rules"][0]
    assert not Job.objects.exists()

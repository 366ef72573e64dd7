"""Names that nobody can have are refused where they were typed, which keeps all that was typed, on every form that asks
for one, and by the API."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils.html import escape

from tests.factories import Studio, signed_in
from tests.webapp.agents import kept, trained_at_pong
from tests.webapp.bred import bred
from tests.webapp.games_data import with_data
from webapp.agents.models import Agent
from webapp.api import tokens
from webapp.balance.models import ObjectiveSet
from webapp.studies.models import Job

pytestmark = pytest.mark.django_db(transaction=True)
LONG, BELL, TURNED = "x" * 10_000, "Cal\x07m", "Cal\u202em"
NAMES = [
    (LONG, "This has 10,000 characters, and {} are the most. Shorten it."),
    (BELL, "This holds U+0007, a character that nobody sees. Take it out."),
    (TURNED, "This holds U+202E, a character that nobody sees. Take it out."),
]
every_name = pytest.mark.parametrize(("name", "why"), NAMES)


def jobs(team: Studio) -> int:
    return Job.objects.listed().filter(project=team.project).count()


@every_name
@pytest.mark.parametrize("kind", ["self-play", "hunt", "gossip"])
def test_a_job_of_a_form_that_kinds_share(team: Studio, designer: Client, kind: str, name: str, why: str) -> None:
    answer = designer.post(reverse("studies:ask", args=[team.project.slug, kind]), {"title": name})
    assert answer.status_code == 422
    form = answer.context["form"]
    assert form.errors["title"] == [why.format(120)]
    assert form["title"].value() == name
    assert jobs(team) == 0


@every_name
@pytest.mark.parametrize("page", ["styles:new", "training:new", "training:evolve"])
def test_a_job_of_a_form_that_trains(team: Studio, designer: Client, page: str, name: str, why: str) -> None:
    answer = designer.post(reverse(page, args=[team.project.slug]), {"title": name})
    assert answer.status_code == 422
    assert answer.context["errors"]["title"] == [why.format(120)]
    assert escape(name) in answer.content.decode()
    assert jobs(team) == 0


@every_name
@pytest.mark.parametrize(
    ("kind", "field", "most"), [("arena", "name1", 24), ("arena", "lesson_title1", 120), ("starts", "name1", 60)]
)
def test_a_part_of_a_job(team: Studio, designer: Client, kind: str, field: str, most: int, name: str, why: str) -> None:
    answer = designer.post(reverse("studies:ask", args=[team.project.slug, kind]), {field: name})
    assert answer.status_code == 422
    assert answer.context["form"].errors[field] == [why.format(most)]
    assert escape(name) in answer.content.decode()


@every_name
def test_a_goal_of_a_style(team: Studio, designer: Client, name: str, why: str) -> None:
    typed = {"game": "pong", "scale": "own", "style": "moved", "goal-1": "score + hits", "goal-2": "score"}
    typed["goal-1-called"] = name
    answer = designer.post(reverse("styles:new", args=[team.project.slug]), typed)
    assert answer.status_code == 422
    assert answer.context["errors"]["goal-1-called"] == [why.format(40)]
    assert "goal-1" not in answer.context["errors"], "it is said once"
    assert escape(name) in answer.content.decode()


@every_name
def test_a_set_of_objectives(team: Studio, designer: Client, name: str, why: str) -> None:
    with_data(team.project)
    goal = {"o0-title": "Gap", "o0-formula": "strongest(strength)", "o0-direction": "max", "count": "1", "strength": ""}
    address = reverse("balance:objective-new", args=[team.project.slug])
    before = ObjectiveSet.objects.count()
    answer = designer.post(address, {"set_name": name, "action": "save", **goal})
    assert answer.status_code == 422
    assert answer.context["form"].name_errors == [why.format(80)]
    assert escape(name) in answer.content.decode()
    title = designer.post(address, {"set_name": "Mine", "action": "save", **goal, "o0-title": LONG})
    assert "This has 10,000 characters, and 60 are the most. Shorten it." in title.content.decode()
    assert LONG in title.content.decode()
    assert ObjectiveSet.objects.count() == before


@every_name
def test_an_agent_that_is_kept_or_called_otherwise(team: Studio, designer: Client, name: str, why: str) -> None:
    trained, search, agent = trained_at_pong(team.project), bred(team.project), kept(team.project, "Ada")
    slug, count = team.project.slug, Agent.objects.count()
    addresses: dict[str, dict[str, Any]] = {
        reverse("agents:keep", args=[slug, trained.pk]): {"of": "", "chooses": "chance"},
        reverse("styles:map-keep", args=[slug, search.pk, 0]): {"then": "breed"},
        reverse("agents:agent", args=[slug, agent.pk]): {"notes": "Sleepy", "opened_with": agent.text_hashes},
    }
    for address, beside in addresses.items():
        answer = designer.post(address, {"name": name, **beside})
        page = answer.content.decode()
        assert answer.status_code == 422, address
        assert why.format(80) in page
        for typed in (name, *(text for text in beside.values() if text != agent.text_hashes)):
            assert escape(typed) in page, (address, typed)
    assert (Agent.objects.count(), Agent.objects.get(pk=agent.pk).name) == (count, "Ada")


@every_name
def test_a_job_of_the_api(team: Studio, name: str, why: str) -> None:
    client = Client(headers={"Authorization": f"Bearer {tokens.make(team.designer, 'ci', None, 30)[1]}"})
    body = json.dumps({"kind": "hunt", "config": {"task": {"game": "maze"}, "name": name}})
    answer = client.post(f"/api/v1/projects/{team.project.slug}/jobs", body, content_type="application/json")
    assert answer.status_code in (400, 422)
    (problem,) = answer.json()["problems"]
    assert problem["place"] == "config.name"
    assert ("120 characters" in problem["message"]) == (name == LONG)


def test_a_name_that_is_as_long_as_names_may_be_is_taken(team: Studio) -> None:
    client = signed_in(team.designer)
    assert client.post(reverse("studies:ask", args=[team.project.slug, "hunt"]), {
        "title": "x" * 120, "game": "maze", "method": "random"
    }).status_code == 302  # fmt: skip
    assert Job.objects.get(kind="hunt").title == "x" * 120

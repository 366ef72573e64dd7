"""The page on which a person commands a team of herobattle against an agent: what it is given, and who may open it."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from engine.catalog import GAMES
from engine.config.rl import ConvConfig, NetworkConfig
from engine.games.herobattle.commanders.game import ORDER
from engine.games.herobattle.simulator import compile_tables
from engine.games.herobattle.spec import MAX_SOLDIERS, game_spec
from engine.games.herobattle.teams import roster
from tests.factories import Studio, game_version, signed_in
from tests.webapp.agents import ada
from webapp.agents.models import Agent
from webapp.agents.playable import TOO_MUCH, UNTESTED
from webapp.agents.playing import KEYS, how_often
from webapp.games.models import Simulator
from webapp.lib.storage import store

pytestmark = pytest.mark.django_db


@pytest.fixture
def agent(team: Studio) -> Agent:
    game_version(team.project)
    return ada(team.project, every=6, changes=["battle.field=9.5", "pikes.damage=8.25"])


def address(agent: Agent, name: str = "play") -> str:
    return reverse(f"agents:{name}", args=["herobattle", agent.pk])


def setup(client: Client, agent: Agent) -> dict[str, Any]:
    """What the page is given."""
    found = re.search(r'<script id="play-agent"[^>]*>(.*?)</script>', client.get(address(agent)).content.decode(), re.S)
    assert found is not None
    given: dict[str, Any] = json.loads(found[1])
    return given


def test_whoever_is_in_the_project_can_play_and_nobody_else(team: Studio, agent: Agent) -> None:
    for person in (team.owner, team.designer, team.engineer, team.producer):
        page = signed_in(person).get(address(agent))
        assert page.status_code == 200
        assert "What Ada orders" in page.content.decode()
        assert "Play against it" in signed_in(person).get(address(agent, "agent")).content.decode()
    assert signed_in(team.stranger).get(address(agent)).status_code == 404
    assert Client().get(address(agent)).status_code == 302


def test_the_page_has_the_numbers_that_the_agent_learned_with(designer: Client, agent: Agent) -> None:
    given, spec = setup(designer, agent), game_spec().patched({"battle.field": 9.5, "pikes.damage": 8.25})
    engine, able, tables = compile_tables(spec), roster(spec), given["tables"]
    assert tables["pieces"] == engine.pieces.tolist()
    assert tables["parameters"] == engine.parameters.tolist()
    assert tables["groups"] == able.groups.tolist()
    assert [*tables["budget"], *tables["soldiers"]] == able.limits.tolist()
    assert tables["most"] == MAX_SOLDIERS
    assert given["texts"][0] == spec.pieces[0].text
    assert (given["every"], given["pace"], given["same"], given["input"]) == (6, 12, True, "battle")
    assert [len(words) for words in given["words"]] == list(ORDER.choices)


def test_every_order_has_a_key_of_its_own(designer: Client, agent: Agent) -> None:
    keys = re.findall(r'data-order="\d" data-choice="\d" data-key="(.)"', designer.get(address(agent)).content.decode())
    assert len(keys) == sum(len(choices) for choices in GAMES["commanders"].orders.values())
    assert keys == list("".join(KEYS))
    assert len(set(keys)) == len(keys)


def test_an_agent_that_remembers_can_be_played_and_one_that_sees_pictures_cannot(
    designer: Client, agent: Agent
) -> None:
    description = json.loads(store().get(agent.policy))
    pictures = NetworkConfig(conv=(ConvConfig(channels=4, kernel=3),))
    for network, why in ((NetworkConfig(lstm=8), ""), (pictures, TOO_MUCH)):
        policy = store().put(json.dumps(description | {"network": network.model_dump(mode="json")}).encode())
        Agent.objects.filter(pk=agent.pk).update(policy=policy)
        page = designer.get(address(agent, "agent")).content.decode()
        assert ("Play against it</a>" in page) == (not why)
        assert (TOO_MUCH in page) == bool(why)


def test_before_the_game_is_tested_its_numbers_are_not_known_and_that_is_said(designer: Client, agent: Agent) -> None:
    Simulator.objects.update(spec={})
    assert UNTESTED in designer.get(address(agent, "agent")).content.decode()
    page = designer.get(address(agent)).content.decode()
    assert UNTESTED in page
    assert "play-agent" not in page


@pytest.mark.parametrize(
    ("second", "words"), [(3.0, "3 times a second"), (1.0, "once a second"), (0.4, "every 2.5 seconds")]
)
def test_how_often_orders_take_effect_is_said_in_words(second: float, words: str) -> None:
    assert how_often(second) == words

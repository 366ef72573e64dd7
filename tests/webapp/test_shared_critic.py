"""Evolution with a shared critic on the site: the form, what the API takes, and the page with its curves."""

from __future__ import annotations

import json
import tempfile
from functools import cache
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from engine.events import AnyEvent, Finished, Progressed
from engine.store import FolderStore
from engine.study import run
from tests.engine.test_aesrl import study
from tests.factories import Studio, game_version, signed_in, studio
from webapp.api import tokens
from webapp.lib.storage import store
from webapp.shared_critic.asking import TogetherForm, spread_of
from webapp.shared_critic.drawing import Course
from webapp.studies import actions
from webapp.studies.journal import Entry, append
from webapp.studies.models import Job, Status

CHOSEN = {"game": "pendulum", "method": "aes-rl", "waiting": "rounds", "steps": "20000", "share": "0.25"}


@pytest.fixture
def team(db: None) -> Studio:
    return studio()


@pytest.fixture
def designer(team: Studio) -> Client:
    return signed_in(team.designer)


def form(team: Studio) -> str:
    return reverse("studies:ask", args=[team.project.slug, "aes-rl"])


@cache
def ran() -> tuple[tuple[AnyEvent, ...], dict[str, bytes]]:
    """The events of a small study, run once for all tests, and what it put into its store."""
    with tempfile.TemporaryDirectory() as folder:
        own = FolderStore(folder)
        events = tuple(run(study(), own))
        return events, {digest: own.get(digest) for digest in own}


def played(team: Studio) -> Job:
    """As the relay would have recorded it."""
    job = actions.submit(team.project, team.designer, study(), title="Together")
    events, artifacts = ran()
    for data in artifacts.values():
        store().put(data)
    for event in events:
        told = {"counters": {"steps": event.counters.steps, "seconds": 1.0 + event.tick}}
        if isinstance(event, Progressed):
            body = {**told, "metrics": event.metrics, "artifacts": event.artifacts}
            append(job, {}, [Entry("progressed", body, event.tick)], tick=event.tick, metrics=event.metrics, **told)
        if isinstance(event, Finished):
            entry = Entry("finished", {"artifacts": event.artifacts}, event.tick)
            append(job, {}, [entry], status=Status.FINISHED, artifacts=event.artifacts, finished_at=timezone.now())
    return Job.objects.get(pk=job.pk)


def test_its_form_starts_it(team: Studio, designer: Client) -> None:
    game_version(team.project)
    new = designer.get(reverse("studies:new", args=[team.project.slug])).content.decode()
    assert "What do evolution and learning find together?" in new
    page = designer.get(form(team)).content.decode()
    assert "Pendulum" in page
    assert "CartPole" not in page
    assert designer.post(form(team), CHOSEN).status_code == 302
    config = Job.objects.get(kind="aes-rl").config
    assert (config["steps"], config["spread"], config["method"]["learning_share"]) == (20_000, 1500, 0.25)
    assert config["method"]["waiting"]
    assert config["game"]["name"] == "gym:Pendulum-v1"


def test_a_method_gets_only_what_it_knows(team: Studio) -> None:
    typed = TogetherForm({**CHOSEN, "method": "cem", "population": "6"}, project=team.project, kind="aes-rl")
    assert typed.is_valid(), typed.errors
    assert typed.table()["method"] == {"kind": "cem", "population": 6}


def test_what_is_missing_or_wrong_stands_at_its_field(team: Studio, designer: Client) -> None:
    game_version(team.project)
    for wrong, said, field in (
        ({"game": "gymnasium"}, "Write its name with its version", "environment"),
        ({"game": "gymnasium", "environment": "os:Env-v0"}, "Write its name with its version", "environment"),
        ({"game": "gymnasium", "environment": "CartPole-v1"}, "One chooses among actions in this game", "game"),
        ({"steps": "5000"}, "decisions are played by chance: give more than that", "steps"),
    ):
        answer = designer.post(form(team), {**CHOSEN, **wrong})
        assert answer.status_code == 422
        assert said in answer.content.decode()
        assert set(answer.context["form"].errors) == {field}
    assert not Job.objects.filter(kind="aes-rl").exists()


def test_the_api_starts_it_in_games_that_somebody_has_let_in(team: Studio) -> None:
    client = Client(headers={"Authorization": f"Bearer {tokens.make(team.designer, 'ci', None, 30)[1]}"})

    def ask(config: dict[str, Any]) -> tuple[int, str]:
        body = json.dumps({"kind": "aes-rl", "config": config})
        answer = client.post(f"/api/v1/projects/{team.project.slug}/jobs", body, content_type="application/json")
        return answer.status_code, answer.content.decode()

    assert ask({"game": "pendulum", "spread": 1000})[0] == 201
    for game in ("command:sh -c id", "python:os:getcwd", "pong", "pong-two-seats"):
        status, said = ask({"game": game, "spread": 1000})
        assert status == 422, game
        assert "config.game.name" in said


def test_its_page_tells_how_they_score_who_moves_the_centre_and_who_waits(team: Studio, designer: Client) -> None:
    job = played(team)
    page = designer.get(reverse("studies:job", args=[team.project.slug, job.pk])).content.decode()
    for words in (
        "How well they play", "the centre on fresh episodes", "those that only evolve", "Who moves the centre",
        "Chance that the next one learns", "What workers do", "Waiting", "The centre scores", "σ² on its floor",
    ):  # fmt: skip
        assert words in page, words
    assert "4 of 4 rounds" in page


def test_a_drawing_leaves_out_what_a_round_did_not_tell() -> None:
    columns: dict[str, Any] = {
        "steps": [10.0, 20.0, 30.0], "return_es": [1.0, None, 3.0], "return_rl": [None, None, None],
    }  # fmt: skip
    course = Course(columns, "steps", str, "Decisions")
    (line,) = course.lines
    assert line.mark == "evolving"
    assert line.path == "M248.0 220.0 L616.0 16.0"


def test_the_spread_of_scores_is_known_of_the_games_of_the_paper() -> None:
    assert spread_of("gym:HalfCheetah-v5") == 12_000
    assert spread_of("pendulum") == spread_of("gym:Pendulum-v1") == 1500
    assert spread_of("gym:Unheard-v0") == 1000

"""Training side by side on the site: the form, what the API takes, and the page with curves and links."""

from __future__ import annotations

import csv
import io
import json
import tempfile
from functools import cache
from typing import Any

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from engine.arrays import Bundle
from engine.events import AnyEvent, Finished, Progressed
from engine.rl.gossip import LINKS, neighbours
from engine.store import FolderStore
from engine.study import run
from tests.engine.test_gossip_study import study
from tests.factories import Studio, game_version, signed_in, studio
from webapp.api import tokens
from webapp.gossip.asking import TOPOLOGIES
from webapp.gossip.drawing import Chart, Circle
from webapp.lib.storage import store
from webapp.studies import actions
from webapp.studies.journal import Entry, append
from webapp.studies.models import Job, Status

CHOSEN = {"game": "pong", "agents": "6", "topology": "tree", "waits": "never", "steps": "200000", "rate": "0.001",
          "seed": "7"}  # fmt: skip


@pytest.fixture
def team(db: None) -> Studio:
    return studio()


@pytest.fixture
def designer(team: Studio) -> Client:
    return signed_in(team.designer)


def form(team: Studio) -> str:
    return reverse("studies:ask", args=[team.project.slug, "gossip"])


def page(job: Job) -> str:
    return reverse("studies:job", args=[job.project.slug, job.pk])


@cache
def ran(staleness: int | None) -> tuple[tuple[AnyEvent, ...], dict[str, bytes]]:
    """The events of a study of four agents, and what it put into its store."""
    with tempfile.TemporaryDirectory() as folder:
        own = FolderStore(folder)
        events = tuple(run(study(staleness=staleness, evaluate_every=0), own))
        return events, {digest: own.get(digest) for digest in own}


def played(team: Studio, staleness: int | None = 0) -> Job:
    """As the relay would have recorded it."""
    job = actions.submit(team.project, team.designer, study(staleness=staleness), title="Four of them")
    events, artifacts = ran(staleness)
    for data in artifacts.values():
        store().put(data)
    for event in events:
        told: dict[str, Any] = {"counters": {"steps": event.counters.steps, "seconds": 1.0}}
        if isinstance(event, Progressed):
            body = {**told, "metrics": event.metrics, "artifacts": event.artifacts}
            append(job, {}, [Entry("progressed", body, event.tick)], tick=event.tick, metrics=event.metrics, **told)
        if isinstance(event, Finished):
            entry = Entry("finished", {"artifacts": event.artifacts}, 4)
            append(job, {}, [entry], status=Status.FINISHED, artifacts=event.artifacts, finished_at=timezone.now())
    return Job.objects.get(pk=job.pk)


def test_it_is_offered_and_offers_games_for_one_agent(team: Studio, designer: Client) -> None:
    game_version(team.project)
    assert form(team) in designer.get(reverse("studies:new", args=[team.project.slug])).content.decode()
    content = designer.get(form(team)).content.decode()
    for game in ("pong", "maze", "gym:CartPole-v1"):
        assert f'value="{game}"' in content
    for game in ("pong-two-seats", "connect-four"):
        assert f'value="{game}"' not in content


def test_it_starts_what_was_typed(team: Studio, designer: Client) -> None:
    answer = designer.post(form(team), CHOSEN)
    job = Job.objects.get(kind="gossip")
    assert answer["Location"] == page(job)
    found = job.config
    assert job.title == "Side by side: Pong, numbers"
    assert (found["agents"], found["topology"], found["staleness"], found["steps"]) == (6, "tree", None, 200000)
    assert (found["seed"], found["learner"]["rate"], found["learner"]["kind"]) == (7, 0.001, "a3c")


def test_with_nothing_typed_it_is_as_usual(team: Studio, designer: Client) -> None:
    designer.post(form(team), {"game": "pong", "topology": "ring", "waits": "step"})
    found = Job.objects.get(kind="gossip").config
    assert (found["agents"], found["steps"], found["staleness"]) == (4, 1_000_000, 0)
    assert found["learner"]["batch"] == 512, "as tuned for Pong"


@pytest.mark.parametrize(
    ("typed", "field", "why"),
    [
        ({"agents": "1"}, "agents", "2"),
        ({"steps": "10"}, "steps", "in their first update"),
        ({"game": "x"}, "game", ""),
    ],
)
def test_what_is_wrong_stands_at_its_field(
    typed: dict[str, str], field: str, why: str, team: Studio, designer: Client
) -> None:
    answer = designer.post(form(team), {**CHOSEN, **typed})
    assert answer.status_code == 422
    (said,) = answer.context["form"].errors[field]
    assert why in said
    assert not Job.objects.exists()


@pytest.mark.parametrize(
    ("config", "place"),
    [
        ({"game": "pong-two-seats"}, "config.game.name"),
        ({"game": "command:rm -rf"}, "config.game.name"),
        ({"game": "pong", "agents": 1}, "config.agents"),
        ({"game": "pong", "ordered": False}, "config.staleness"),
    ],
)
def test_a_program_is_told_what_is_wrong_at_its_place(config: dict[str, Any], place: str, team: Studio) -> None:
    client = Client(headers={"Authorization": f"Bearer {tokens.make(team.designer, 'ci', None, 30)[1]}"})
    jobs = f"/api/v1/projects/{team.project.slug}/jobs"
    body = json.dumps({"kind": "gossip", "config": config})
    answer = client.post(jobs, body, content_type="application/json")
    assert answer.status_code == 422
    assert place in answer.content.decode()


def test_a_page_tells_how_well_they_play_who_takes_over_and_how_far_apart_they_are(
    team: Studio, designer: Client
) -> None:
    job = played(team)
    content = designer.get(page(job)).content.decode()
    for told in ("4 of 4 rounds", "How well they play", "Who takes over from whom", "They wait for each other",
                 "apart. They take over enough", "the average of all agents has a return of"):  # fmt: skip
        assert told in content, told
    assert content.count("marker-end") == 4
    free = designer.get(page(played(team, staleness=None))).content.decode()
    assert "Nobody waits, so nothing says how far" in free
    answer = designer.get(reverse("studies:results", args=[team.project.slug, job.pk]))
    links = [["4", "1"], ["1", "2"], ["2", "3"], ["3", "4"]]
    rows = list(csv.reader(io.StringIO(answer.content.decode())))
    assert rows == [["sender", "taker", "age", "behind"], *([*link, "0", "0"] for link in links)]


def test_a_page_that_has_no_round_yet_says_so(team: Studio, designer: Client) -> None:
    job = actions.submit(team.project, team.designer, study(pool={"kind": "ray"}, agents=64, steps=10**6), title="Many")
    content = designer.get(page(job)).content.decode()
    assert content.count("The first round is not complete yet") == 2
    assert "64 agents share" in content


def test_only_the_team_sees_it(team: Studio) -> None:
    job = played(team)
    for user, status in ((team.owner, 200), (team.producer, 200), (team.stranger, 404)):
        assert signed_in(user).get(page(job)).status_code == status


def test_the_average_agent_can_be_taken_away_and_kept(team: Studio, designer: Client) -> None:
    job = played(team)
    answer = designer.get(reverse("agents:keep", args=[team.project.slug, job.pk]))
    assert answer.status_code == 200
    assert "Keep" in answer.content.decode()


def test_every_topology_has_words_and_arrows_end_at_its_agents() -> None:
    assert TOPOLOGIES.keys() == LINKS.keys()
    pairs = [(i, j) for i, each in enumerate(neighbours("tree", 7)) for j in each]
    taker, sender = np.array(pairs).T
    links = Bundle({}, {"taker": taker, "sender": sender, "age": np.arange(len(pairs)), "behind": taker * 0})
    circle = Circle(7, links)
    assert len(circle.arrows) == 12
    assert len(circle.late) == 11
    assert not circle.drawn[0].late
    for arrow in circle.arrows:
        end = circle.dots[arrow.taker - 1]
        assert np.hypot(arrow.x2 - end.x, arrow.y2 - end.y) < 20


def test_a_chart_leaves_out_what_nobody_told() -> None:
    chart = Chart([1, 2, 3], [("a", False, [None, 1.0, 2.0]), ("b", True, [None] * 3)])
    (line,) = chart.lines
    assert line.path.count("L") == 1
    assert [level for level, _ in chart.levels] == ["1", "2"]
    assert [level for level, _ in Chart([1, 2], [("a", True, [-0.25, -0.25])]).levels] == ["−0.25"]

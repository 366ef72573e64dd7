"""Self-play on the site: the form, what the API takes, and the page with the ladder."""

from __future__ import annotations

import csv
import io
import json
import math
import re
import tempfile
from functools import cache
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from engine.catalog import GAMES
from engine.config.self_play import SelfPlayConfig
from engine.events import AnyEvent, Finished, Progressed
from engine.store import FolderStore
from engine.studies import load
from engine.study import run
from tests.engine.test_self_play import settings
from tests.factories import Studio, game_version, signed_in, studio
from tests.webapp.agents import kept
from tests.webapp.trainings import config, training
from webapp.agents.models import Agent
from webapp.api import tokens
from webapp.lib.storage import store
from webapp.self_play.asking import SelfPlayForm
from webapp.self_play.drawing import Course
from webapp.self_play.reading import Reading
from webapp.studies import actions
from webapp.studies.journal import Entry, append
from webapp.studies.models import Job, Status

CHOSEN = {"game": "pong-two-seats", "opponents": "mostly-latest", "policies": ["pong-follower"], "population": "4",
          "rounds": "3", "steps": "20000", "episodes": "10", "rate": "0.0001 to 0.01", "entropy": "0.003"}  # fmt: skip


TOLD = (
    "Who is strongest", "Member 1", "Member 3", "Anything", "does not learn", "How they learned",
    "Earlier members they can meet", "6 earlier members", "2 times a member went on from a better one.",
)  # fmt: skip
"""What its page says."""


@pytest.fixture
def team(db: None) -> Studio:
    return studio()


@pytest.fixture
def designer(team: Studio) -> Client:
    return signed_in(team.designer)


def form(team: Studio) -> str:
    return reverse("studies:ask", args=[team.project.slug, "self-play"])


def page(job: Job) -> str:
    return reverse("studies:job", args=[job.project.slug, job.pk])


def study() -> SelfPlayConfig:
    """Three members of rock, paper, scissors, three rounds, beside a script."""
    others = {"script": {"kind": "scripted", "player": "random", "title": "Anything"}}
    found = load(settings(opponents={"others": others}))
    assert isinstance(found, SelfPlayConfig)
    return found


@cache
def ran() -> tuple[tuple[AnyEvent, ...], dict[str, bytes]]:
    """The events of that study, run once for all tests, and what it put into its store."""
    with tempfile.TemporaryDirectory() as folder:
        own = FolderStore(folder)
        events = tuple(run(study(), own))
        return events, {digest: own.get(digest) for digest in own}


def played(team: Studio, rounds: int = 3) -> Job:
    """As the relay would have recorded it; ended after three ``rounds``."""
    job = actions.submit(team.project, team.designer, study(), title="Three of them")
    events, artifacts = ran()
    for data in artifacts.values():
        store().put(data)
    for event in events:
        told = {"counters": {"steps": event.counters.steps, "seconds": 1.0}}
        if isinstance(event, Progressed) and event.tick <= rounds:
            body = {**told, "metrics": event.metrics, "artifacts": event.artifacts}
            append(job, {}, [Entry("progressed", body, event.tick)], tick=event.tick, **told)
        if isinstance(event, Finished) and rounds == 3:
            entry = Entry("finished", {"artifacts": event.artifacts}, 3)
            append(job, {}, [entry], status=Status.FINISHED, artifacts=event.artifacts, finished_at=timezone.now())
    return Job.objects.get(pk=job.pk)


def test_with_usual_settings_every_battle_of_a_member_ends_three_times_however_long_it_is(team: Studio) -> None:
    for game in ("pong-two-seats", "commanders-two-seats", "rock-paper-scissors"):
        typed = SelfPlayForm({"game": game, "opponents": "hardest"}, project=team.project, kind="self-play")
        assert typed.is_valid()
        task = typed.table()["task"]
        assert task["steps"] >= 3 * GAMES[game].longest * task["environments"]
        assert task["environments"] >= 8


def test_it_offers_games_for_two_that_move_at_once(team: Studio, designer: Client) -> None:
    content = designer.get(form(team)).content.decode()
    for game in ("pong-two-seats", "commanders-two-seats", "rock-paper-scissors"):
        assert f'value="{game}"' in content
    assert 'value="connect-four"' not in content
    assert form(team) in designer.get(reverse("studies:new", args=[team.project.slug])).content.decode(), "without data"
    game_version(team.project)
    assert form(team) in designer.get(reverse("studies:new", args=[team.project.slug])).content.decode()


def test_it_starts_what_was_typed(team: Studio, designer: Client) -> None:
    agent = training(team.project, title="Old hand", status=Status.FINISHED, config=config(game={"name": "pong"}),
                     artifacts={"policy_description": "c" * 64})  # fmt: skip
    saved = f"job-{agent.pk}"
    answer = designer.post(form(team), {**CHOSEN, "policies": ["pong-follower", saved]})
    job = Job.objects.get(kind="self-play")
    assert answer["Location"] == page(job)
    found, task = job.config, job.config["task"]
    assert (job.title, job.ticks, found["algorithm"]["population"]) == ("Self-play: Pong for two", 3, 4)
    assert (task["learner"]["rate"][:2], task["learner"]["entropy_weight"]) == ([0.0001, 0.01], 0.003)
    assert (task["steps"], found["episodes"], found["opponents"]["choice"]) == (20000, 10, "mostly-latest")
    assert found["opponents"]["others"][saved]["policy"] == "c" * 64
    assert found["opponents"]["others"]["pong-follower"]["player"] == "pong-follower"


def test_with_nothing_typed_it_is_as_usual(team: Studio, designer: Client) -> None:
    designer.post(form(team), {"game": "commanders-two-seats", "opponents": "hardest"})
    job = Job.objects.get(kind="self-play")
    assert (job.ticks, job.config["algorithm"]["population"], job.config["episodes"]) == (20, 8, 30)
    assert job.config["task"]["learner"]["entropy_weight"][:2] == [0, 0.03]


def test_saved_agents_such_as_styles_play_too_in_their_own_game(team: Studio, designer: Client) -> None:
    """Also those whom a search for styles has bred, whose policies stand in no job's results."""
    agent = kept(team.project, "Calm")
    Agent.objects.filter(pk=agent.pk).update(policy="d" * 64)
    name = f"agent-{agent.pk}"
    assert "Calm, saved agent of Pong, numbers" in designer.get(form(team)).content.decode()
    refused = designer.post(form(team), {**CHOSEN, "game": "rock-paper-scissors", "policies": [name]})
    assert "“Calm” plays another game" in refused.content.decode()
    designer.post(form(team), {**CHOSEN, "policies": [name]})
    (job,) = Job.objects.filter(kind="self-play")
    assert job.config["opponents"]["others"] == {name: {"kind": "frozen", "policy": "d" * 64, "title": "Calm"}}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"rate": "0.01"}, "One of the two must be a range"),
        ({"rate": "fast"}, "neither a number nor a range"),
        ({"population": "1"}, "2"),
        ({"game": "connect-four"}, "Select a valid choice"),
        ({"game": "commanders-two-seats"}, "plays another game"),
        ({"steps": "10"}, "steps"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_starts(
    team: Studio, designer: Client, change: dict[str, Any], said: str
) -> None:
    answer = designer.post(form(team), {**CHOSEN, **change})
    assert answer.status_code == 422
    assert said in answer.content.decode()
    assert not Job.objects.filter(kind="self-play").exists()


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"task.game": "command:reboot"}, "set.task.game.name"),
        ({"task.game": "pong"}, "config.task.game.name"),
        ({"task.game": "connect-four"}, "config.task.game.name"),
        ({"opponents.others": {"a": {"kind": "frozen", "policy": "a" * 64}}}, "set.opponents.others.a.policy"),
    ],
)
def test_a_program_cannot_ask_for_what_the_form_does_not_offer(
    team: Studio, change: dict[str, Any], place: str
) -> None:
    client = Client(headers={"Authorization": f"Bearer {tokens.make(team.designer, 'ci', None, 30)[1]}"})
    jobs = f"/api/v1/projects/{team.project.slug}/jobs"
    sent = {"kind": "self-play", "config": {key: value for key, value in settings().items() if key != "kind"}}
    sent["config"].pop("pool")
    answer = client.post(jobs, json.dumps({**sent, "set": change}), content_type="application/json")
    assert answer.status_code == 422, answer.content
    assert place.partition(".")[2] in answer.content.decode()
    assert client.post(jobs, json.dumps(sent), content_type="application/json").status_code == 201


def test_its_page_tells_who_is_strongest_and_who_went_on_from_whom(team: Studio, designer: Client) -> None:
    job = played(team)
    content = designer.get(page(job)).content.decode()
    for text in TOLD:
        assert text in content.replace("\xa0", " "), text
    assert len(re.findall(r'<path class="(?:first|other)"', content)) == 3, "a line for each member"
    for jargon in ("PFSP", "exploit", "lineage", "hypervolume"):
        assert jargon not in content.partition("Details for specialists")[0]


def test_before_and_after_the_first_round_it_says_what_there_is(team: Studio, designer: Client) -> None:
    assert "The first round is not complete yet" in designer.get(page(played(team, 0))).content.decode()
    content = designer.get(page(played(team, 1))).content.decode()
    assert "the first appear after the second round" in content


def test_everybody_is_a_row_for_programs(team: Studio, designer: Client) -> None:
    job = played(team)
    text = designer.get(reverse("studies:results", args=[team.project.slug, job.pk])).content.decode()
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [row["player"] for row in rows[:2]] == ["Anything", "Member 1"]
    assert len(rows) == 10
    assert sum(int(row["present"]) for row in rows) == 3
    assert sum(bool(row["copied_from"]) for row in rows) == 2
    ends = [(row["rating_low"], row["rating"], row["rating_high"]) for row in rows]
    assert all(float(low or "-inf") < float(middle) < float(high or "inf") for low, middle, high in ends)


def test_the_strongest_leads_only_as_far_as_differences_tell(team: Studio) -> None:
    reading = Reading.of(played(team))
    assert reading is not None
    first, *rest = reading.members
    assert all(first.rating >= member.rating for member in rest)
    for beside, said in (
        ([-1, 0], f"{first.name} leads, but 1 other may be as strong"), ([-1, -1], f"{first.name} is the strongest"),
    ):  # fmt: skip
        reading.members = [
            first, *(m._replace(beside=b, rating=first.rating - 3) for m, b in zip(rest, beside, strict=True)),
        ]  # fmt: skip
        reading.standing = list(reading.members)
        assert reading.sentence.startswith(said)
    told = reading.members
    reading.members = [m._replace(beside=0, rating=0.2) for m in reading.members]
    reading.standing = list(reading.members)
    assert reading.sentence == "Nobody leads: the meetings do not tell who is strongest.", "all stand at 0"
    reading.members = told
    outsider = next(player for player in reading.players if not player.round)
    for beside_, how in ((0, "seems"), (1, "is surely")):
        reading.standing = [outsider._replace(rating=first.rating + 1, beside=beside_), *reading.members]
        assert (
            reading.sentence
            == f"{outsider.name}, who does not learn, {how} stronger than {first.name}, the best member."
        )
    course = Course(reading, 3)
    assert course.lines[-1].member == first.name
    assert all(before.x < after.x for before, after in course.jumps)
    assert len(course.jumps) == 2


def test_what_its_meetings_leave_open_is_not_told(team: Studio) -> None:
    """Who won everything is at least so strong; who met nobody that is rated cannot be compared."""
    reading = Reading.of(played(team))
    assert reading is not None
    some, none = reading.members[0], math.nan
    for change, said in (
        ({"low": 350.2, "high": math.inf}, ("at least +350", "no upper end known")),
        ({"low": -math.inf, "high": -350.2}, ("at most −350", "no lower end known")),
        ({"low": -math.inf, "high": math.inf}, ("–", "range not known")),
        ({"rating": 12.3, "low": -20.0, "high": 40.0}, ("+12", "−20 to +40")),
    ):
        player = some._replace(**change)
        assert (player.strength, player.range_words) == said
        reading.standing = [player]
        assert all(math.isfinite(end) for end in reading.ends)
    assert some._replace(rating=none, low=none, high=none).strength == "not comparable"

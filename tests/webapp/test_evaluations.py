"""Evaluations on the site: the form, the job that it starts, its table, and who sees them."""

from __future__ import annotations

import csv
import io
import json
import re
from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from engine.arrays import Bundle
from engine.config import parse
from engine.config.evaluate import EvaluateConfig
from engine.events import Finished, Progressed
from engine.studies import load
from engine.study import round_robin
from tests.factories import Studio, signed_in, studio
from tests.webapp.first_rounds import counted
from tests.webapp.trainings import config, training
from webapp.api import tokens
from webapp.evaluations import parts
from webapp.evaluations.asking import GAMES
from webapp.lib.storage import store
from webapp.studies import actions, kinds
from webapp.studies.journal import Entry, append
from webapp.studies.models import Job, Status
from webapp.studies.study_form import LEFT_OUT
from webapp.studies.table_rows import latest
from webapp.training.games import OFFERS

BOX = r'value="(?P<value>[^"]+)"[^>]* data-games="(?P<games>[^"]*)"'
CHOSEN = {"game": "pong-two-seats", "policies": ["random", "pong-follower"], "episodes": "40", "title": "Two scripts"}


@pytest.fixture
def team(db: None) -> Studio:
    return studio()


@pytest.fixture
def designer(team: Studio) -> Client:
    return signed_in(team.designer)


def form(team: Studio) -> str:
    return reverse("studies:ask", args=[team.project.slug, "evaluate"])


def page(job: Job) -> str:
    return reverse("studies:job", args=[job.project.slug, job.pk])


def left_by(team: Studio, title: str, artifacts: dict[str, str], status: Status = Status.FINISHED) -> Job:
    """A training on Pong and what it left."""
    pong = config(game={"name": "pong"})
    return training(team.project, title=title, status=status, artifacts=artifacts, config=pong)


@pytest.fixture
def played(team: Studio) -> Job:
    """Two scripts that have played each other, by the engine."""
    policies = {
        "follower": {"kind": "scripted", "player": "pong-follower", "title": "Follows the ball"},
        "random": {"kind": "scripted", "player": "random", "title": "Random"},
    }
    game = {"name": "pong-two-seats", "settings": {"points": 1, "max_ticks": 200}}
    study = load({"kind": "evaluate", "name": "Two scripts", "game": game, "policies": policies, "episodes": 40})
    job = actions.submit(team.project, team.designer, study, title="Two scripts")
    for event in round_robin.evaluate(study, store(), "", lambda: ""):  # type: ignore[arg-type]
        told = {"counters": {"battles": event.counters.battles, "steps": event.counters.steps, "seconds": 1.0}}
        if isinstance(event, Progressed):
            body = {**told, "metrics": event.metrics, "artifacts": event.artifacts}
            append(job, {}, [Entry("progressed", body, 1)], tick=1, **told)
        if isinstance(event, Finished):
            entry = Entry("finished", {"artifacts": event.artifacts}, 1)
            append(job, {}, [entry], status=Status.FINISHED, artifacts=event.artifacts, finished_at=timezone.now())
    return Job.objects.get(pk=job.pk)


def test_the_form_offers_scripts_and_what_trainings_of_the_project_left(team: Studio, designer: Client) -> None:
    left, alone = {"policy_description/left": "a" * 64, "policy/left": "b" * 64}, {"policy_description": "c" * 64}
    one, two = (left_by(team, title, each) for title, each in (("Learned well", alone), ("Both learned", left)))
    left_by(team, "Under way", alone, status=Status.RUNNING)
    training(team.project, title="Balances a pole", status=Status.FINISHED, artifacts=alone)
    content = designer.get(form(team)).content.decode()
    assert "Follows the ball" in content
    assert f"Learned well (job {one.pk})" in content
    assert f"Both learned: left (job {two.pk})" in content
    assert "Under way" not in content
    assert "Balances a pole" not in content


def test_it_starts_an_evaluation_of_what_was_chosen(team: Studio, designer: Client) -> None:
    learned = left_by(team, "Learned well", {"policy_description": "c" * 64})
    chosen = {**CHOSEN, "policies": [*CHOSEN["policies"], f"job-{learned.pk}"]}
    answer = designer.post(form(team), chosen)
    job = Job.objects.get(kind="evaluate")
    assert answer["Location"] == page(job)
    assert (job.title, job.ticks, job.config["episodes"]) == ("Two scripts", 3, 40)
    assert job.config["policies"][f"job-{learned.pk}"]["policy"] == "c" * 64


def test_it_runs_again_with_changes_in_its_game_and_with_its_players(team: Studio, designer: Client) -> None:
    learned = left_by(team, "Learned well", {"policy_description": "c" * 64})
    designer.post(form(team), {**CHOSEN, "policies": [*CHOSEN["policies"], f"job-{learned.pk}"]})
    first = Job.objects.get(kind="evaluate")
    again = reverse("studies:again", args=[team.project.slug, first.pk])
    assert f'action="{again}"' in designer.get(page(first)).content.decode()
    answer = designer.post(again, follow=True)
    assert LEFT_OUT not in answer.content.decode()
    designer.post(form(team), {name: value for name, value in answer.context["form"].initial.items() if value != ""})
    assert Job.objects.filter(kind="evaluate").latest("pk").config == first.config
    learned.delete()
    answer = designer.post(again, follow=True)
    assert answer.context["form"].initial["policies"] == CHOSEN["policies"], "as far as they are offered"
    assert LEFT_OUT in answer.content.decode()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"policies": ["random"]}, "Choose two at least."),
        ({"episodes": "41"}, "Must be a multiple of 2"),
        ({"game": "command:reboot"}, "Select a valid choice"),
        ({"policies": ["random", "job-999"]}, "Select a valid choice"),
    ],
)
def test_what_is_wrong_stands_at_its_field(team: Studio, designer: Client, change: dict[str, Any], said: str) -> None:
    answer = designer.post(form(team), {**CHOSEN, **change})
    assert answer.status_code == 422
    assert said in answer.content.decode()
    assert not Job.objects.filter(kind="evaluate").exists()


@pytest.mark.parametrize(
    ("settings", "place"),
    [
        ({"game": "command:sh -c reboot"}, "config.game.name"),
        ({"game": "python:os:system"}, "config.game.name"),
        ({"game": {"name": "pong-two-seats", "settings": {"seats": [0]}}}, "config.game.settings.seats"),
        ({"policies": {"a": {"kind": "scripted", "player": "chess"}, "b": {"kind": "scripted", "player": "random"}}},
         "config.policies.a.player"),
        ({"policies": {"a": {"kind": "frozen", "policy": "e" * 64}, "b": {"kind": "scripted", "player": "random"}}},
         "config.policies.a.policy"),
        *(({"game": {"name": "pong-two-seats", "settings": {"points": points}}}, "config.game.settings.points")
          for points in ("x", 1.5, -1, 0, True)),
        ({"game": {"name": "pong-two-seats", "settings": {"rewards": ["score"] * 1000}}},
         "config.game.settings.rewards"),
        ({"game": {"name": "connect-four", "settings": {"opening": 7}}}, "config.game.settings.opening"),
    ],
)  # fmt: skip
def test_a_script_names_no_program_and_no_policy_of_others(team: Studio, settings: dict[str, Any], place: str) -> None:
    other = studio("other")
    training(other.project, status=Status.FINISHED, artifacts={"policy_description": "e" * 64})
    client = Client(headers={"Authorization": f"Bearer {tokens.make(team.designer, 'ci', None, 30)[1]}"})
    both = {name: {"kind": "scripted", "player": "random"} for name in ("a", "b")}
    body = {"kind": "evaluate", "config": {"game": "pong-two-seats", "policies": both, **settings}}
    address = f"/api/v1/projects/{team.project.slug}/jobs"
    answer = client.post(address, json.dumps(body), content_type="application/json")
    assert answer.status_code == 422
    assert place in {problem["place"] for problem in answer.json()["problems"]}


def test_its_page_tells_its_team_who_beats_whom_and_nobody_else(team: Studio, played: Job) -> None:
    for user, status in ((team.owner, 200), (team.producer, 200), (team.stranger, 404)):
        client = Client()
        client.force_login(user)
        answer = client.get(page(played))
        assert answer.status_code == status
        if status == 200:
            content = answer.content.decode()
            assert "Follows the ball <b>beats</b> Random" in content
            assert "1 of 1 pair" in content
            assert "Each range is for its pair alone. <b>Beats</b> and <b>loses</b> allow for all pairs" in content
            assert content.index("Follows the ball</th>") < content.index("Random</th>")


def test_the_form_tells_how_long_it_takes_once_a_few_pairs_have_played(team: Studio, designer: Client) -> None:
    before = f"{form(team)}before/"
    assert before in designer.get(form(team)).content.decode(), "the page asks for it"
    assert "field-error" not in designer.post(before, {**CHOSEN, "policies": []}).content.decode(), "not asked for yet"
    assert "Choose two at least" in designer.post(before, {**CHOSEN, "policies": ["random"]}).content.decode()
    assert "A few pairs play" in designer.post(before, {**CHOSEN, "episodes": "1000"}).content.decode()
    trial = Job.objects.for_forms().get()
    first = parse(EvaluateConfig, trial.config)
    assert (len(first.pairs), first.episodes) == (3, 200), "a copy of one plays, too"
    counted(trial, *({"battles": 200 * tick, "seconds": 20.0 + 100 * tick} for tick in (1, 2, 3)))
    said = designer.post(before, {**CHOSEN, "episodes": "1000"}).content.decode().replace("\xa0", " ")
    assert "2 episodes a second on one processor" in said
    assert "7 min to 13 min" in said, said  # 1000 / 2 seconds, a little less or half as much again, and the start


def test_first_rounds_of_three_and_of_a_program_are_no_larger_than_they_must_be() -> None:
    policies = {name: {"kind": "scripted", "player": "random"} for name in ("a", "b", "c")}
    study = load({"kind": "evaluate", "game": "command:play", "policies": policies, "episodes": 40})
    first = kinds.parts_of("evaluate").first_rounds(study)
    assert parse(EvaluateConfig, first.model_dump(mode="json")).pairs == study.pairs  # type: ignore[attr-defined]
    assert (first.episodes, study.episodes) == (20, 40)  # type: ignore[union-attr, attr-defined]


def test_before_the_first_pair_the_page_says_that_there_is_nothing_yet(team: Studio, designer: Client) -> None:
    designer.post(form(team), CHOSEN)
    assert "No pair has played yet" in designer.get(page(Job.objects.get(kind="evaluate"))).content.decode()


def test_a_table_that_was_lost_is_told_as_lost(played: Job, designer: Client) -> None:
    played.artifacts["table"] = "0" * 64
    played.save()
    assert "The table was lost" in designer.get(page(played)).content.decode()


def test_the_list_of_jobs_says_who_won_most(team: Studio, played: Job, designer: Client) -> None:
    content = designer.get(reverse("studies:jobs", args=[team.project.slug])).content.decode()
    assert "Follows the ball won" in content


def test_where_there_were_draws_the_list_says_that_they_count_half(
    team: Studio, played: Job, designer: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = reverse("studies:jobs", args=[team.project.slug])
    bundle = latest(played)
    assert bundle is not None
    for drawn in (0.0, 0.5):
        arrays = {**bundle.arrays, "drawn": np.full_like(bundle.arrays["drawn"], drawn)}
        monkeypatch.setattr(parts, "latest", lambda job, arrays=arrays: Bundle(bundle.meta, arrays))
        assert ("a draw counts half" in designer.get(listed).content.decode()) == (drawn > 0)


def test_while_pairs_are_still_to_play_the_table_says_so_far(played: Job, designer: Client) -> None:
    assert "Against all</th>" in designer.get(page(played)).content.decode()
    Job.objects.filter(pk=played.pk).update(status=Status.RUNNING)
    assert "Against all so far</th>" in designer.get(page(played)).content.decode()


def test_the_pairs_are_taken_away_as_rows_and_as_csv(team: Studio, played: Job) -> None:
    client = Client(headers={"Authorization": f"Bearer {tokens.make(team.producer, 'ci', None, 30)[1]}"})
    where = f"/api/v1/projects/{team.project.slug}/jobs/{played.pk}/results"
    (row,) = client.get(where).json()["rows"]
    assert (row["first"], row["verdict"], row["second"]) == ("Follows the ball", "beats", "Random")
    assert 0.5 < row["low"] <= row["share"] <= row["high"] <= 1
    (line,) = csv.DictReader(io.StringIO(client.get(f"{where}?as=csv").content.decode()))
    assert float(line["share"]) == row["share"]


def test_players_of_one_title_are_told_apart() -> None:
    ones = np.array([[np.nan, 0.7], [0.3, np.nan]])
    shares = {name: ones for name in ("share", "low", "high", "drawn")}
    meta = {"titles": ["Calm", "Calm"], "episodes": 40}
    table = Bundle(meta, {"overall": np.full((2, 3), 0.5), "beats": np.zeros((2, 2)), **shares})
    assert [each.title for each in parts.standings(table)] == ["Calm", "Calm (2)"]
    (row,) = parts.pairs(table)
    assert (row["first"], row["second"]) == ("Calm", "Calm (2)")


def test_whoever_sees_the_page_takes_the_pairs_away_from_it(team: Studio, played: Job, designer: Client) -> None:
    address = reverse("studies:results", args=[team.project.slug, played.pk])
    assert f'href="{address}"' in designer.get(page(played)).content.decode()
    assert "Follows the ball,Random,beats" in designer.get(address).content.decode()
    designer.force_login(team.stranger)
    assert designer.get(address).status_code == 404


def test_its_page_says_when_each_thing_happened_and_wears_one_chip(team: Studio, designer: Client, played: Job) -> None:
    content = designer.get(page(played)).content.decode()
    history = content.split('<ol class="history plain">')[1].split("</ol>")[0]
    assert history.count("<li>") == history.count("<time ") == history.count("history-icon") > 0
    assert re.search(r"<time [^>]*data-exactly>\d\d:\d\d:\d\d</time>", history), "as on pages that their scripts draw"
    Job.objects.filter(pk=played.pk).update(started_at=played.finished_at - timedelta(minutes=3))
    shown = designer.get(page(played)).content.decode().replace("\N{NO-BREAK SPACE}", " ")
    assert "took 3 min" in shown
    assert '<span class="chip"><span class="chip' not in re.sub(r">\s+<", "><", content)
    assert "Pong for two" in content


def test_lists_call_what_it_played_episodes(team: Studio, designer: Client, played: Job) -> None:
    for address in (reverse("projects:home"), reverse("studies:jobs", args=[team.project.slug])):
        content = designer.get(address).content.decode()
        assert "40 episodes" in content
        assert "40 battles" not in content


def test_a_game_has_one_name_wherever_it_can_be_chosen() -> None:
    assert {key: OFFERS[key].title for key in GAMES} == GAMES


def connect_four(team: Studio) -> Job:
    """A training on Connect Four and what it left."""
    settings = config(game={"name": "connect-four"})
    left = {"policy_description": "f" * 64}
    return training(team.project, title="Drops discs", status=Status.FINISHED, artifacts=left, config=settings)


def test_every_game_for_two_of_the_catalog_is_on_the_menu(team: Studio, designer: Client) -> None:
    content = designer.get(form(team)).content.decode()
    assert {"Pong for two", "Connect Four"} <= set(GAMES.values())
    assert all(f'value="{key}"' in content for key in GAMES)


def test_agents_of_another_game_and_its_scripts_are_refused_at_the_field(team: Studio, designer: Client) -> None:
    pong, discs = left_by(team, "Learned Pong", {"policy_description": "c" * 64}), connect_four(team)
    chosen = {**CHOSEN, "game": "connect-four", "policies": ["random", f"job-{pong.pk}"]}
    answer = designer.post(form(team), chosen)
    assert answer.status_code == 422
    assert "was trained in Pong, numbers" in answer.content.decode()
    answer = designer.post(form(team), {**chosen, "policies": ["random", "pong-follower"]})
    assert "“Follows the ball” plays another game" in answer.content.decode()
    designer.post(form(team), {**chosen, "policies": ["random", f"job-{discs.pk}"]})
    assert Job.objects.get(kind="evaluate").config["game"]["name"] == "connect-four"


def test_each_player_stands_with_the_games_that_it_can_play(team: Studio, designer: Client) -> None:
    discs = connect_four(team)
    content = designer.get(form(team)).content.decode()
    boxes = {box["value"]: box["games"].split() for box in map(re.Match.groupdict, re.finditer(BOX, content))}
    assert boxes == {
        "random": list(GAMES),
        "pong-follower": ["pong-two-seats"],
        "pong-interceptor": ["pong-two-seats"],
        "herobattle-itself": ["commanders-two-seats"],
        "hero-hunter": ["commanders-two-seats"],
        "tanks-static": ["tanks-two-teams"],
        "tanks-passive": ["tanks-two-teams"],
        "tanks-aggressive": ["tanks-two-teams"],
        f"job-{discs.pk}": ["connect-four"],
    }
    assert "Follows the ball, plays Pong for two" in content
    assert f"Drops discs (job {discs.pk}), trained in Connect Four" in content


def test_what_is_missing_where_fewer_than_two_can_play_stands_there_before_anything_is_sent(
    team: Studio, designer: Client
) -> None:
    said = "Connect Four: only Random can play it so far. Two are needed: train an agent in it."
    assert said in designer.get(form(team)).content.decode()
    alone = designer.post(form(team), {**CHOSEN, "game": "connect-four", "policies": ["random"]})
    assert f"<span>{said}</span>" in alone.content.decode()
    connect_four(team)
    assert said not in designer.get(form(team)).content.decode()

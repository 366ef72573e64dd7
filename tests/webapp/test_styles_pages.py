"""Searches for styles of play: their live page, the evidence on it, the control, and what lists and programs read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from engine.catalog import GAMES
from engine.config import parse
from engine.config.styles import StylesConfig
from engine.config.whole_updates import update_of
from tests.factories import Studio, signed_in
from tests.webapp.bred import GAME, bred, breeding, config
from webapp.agents.models import Agent
from webapp.api import tokens
from webapp.lib.storage import store
from webapp.lib.words import number
from webapp.studies import journal, kinds
from webapp.studies.journal import Entry
from webapp.studies.models import Job, Status
from webapp.styles import control, course, evidence
from webapp.styles.corner import corner
from webapp.styles.map_words import axes
from webapp.styles.ties import tied

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def client(team: Studio) -> Client:
    return signed_in(team.designer)


def page(client: Client, job: Job) -> str:
    answer = client.get(reverse("studies:job", args=[job.project.slug, job.pk]))
    assert answer.status_code == 200
    return " ".join(answer.content.decode().split())


def test_a_search_that_runs_says_who_is_in_training(team: Studio, client: Client) -> None:
    job = breeding(team.project, config(pool={"kind": "ray", "workers": 2}))
    assert "of round 1, 0 of 4 agents are trained and measured, 2 in training" in page(client, job)
    counters = {"evaluations": 3, "steps": 900, "seconds": 5.0}
    journal.append(job, {}, [Entry("logged", {"message": "", "counters": counters}, 0)], counters=counters)
    shown = page(client, job)
    assert "of round 1, 3 of 4 agents are trained and measured, 1 in training" in shown
    assert "The first round is not complete yet." in shown
    assert "Are these really different styles?" not in shown
    Job.objects.filter(pk=job.pk).update(tick=1)
    assert course.now(Job.objects.get(pk=job.pk)) == (0, 2, 4, None)
    Job.objects.filter(pk=job.pk).update(status=Status.PAUSED)
    assert course.now(Job.objects.get(pk=job.pk)) is None


def test_the_page_of_an_ended_search_shows_spread_and_skill_and_offers_the_control(
    team: Studio, client: Client
) -> None:
    job = bred(team.project)
    agents, again = evidence.of(job), evidence.again(job)
    assert agents is not None
    assert again is not None
    assert (len(agents.score), agents.ways, agents.goals.shape) == (4, ("moved",), (4, 2))
    assert tied(job)
    rounds = course.rounds(job)
    assert [each.tick for each in rounds] == [1, 2]
    assert rounds[-1].best == agents.best
    shown = page(client, job)
    assert "add up to the same for all agents of equal score, so none of them is better than another" in shown
    (side,) = evidence.sides(evidence.compared(job, None), job, None, corner(job, None))
    assert f"{side.skilled} of 4" in shown
    assert f"By {again.samples} fresh episodes of each agent" in shown
    best = evidence.best(job, agents, again)
    assert shown.count("which scored best of those that stayed; here on 4 fresh episodes") == 1
    assert f"of agent {best.agent}, which scored best" in shown
    assert "of the agent that scored best of those that stayed; here on 4 fresh episodes" in shown
    assert again.few.startswith("4 episodes say little: a score may be about 0.")
    assert again.few in shown
    assert (best.fresh, best.score) == (True, again.score[again.ids == agents.ids[agents.score.argmax()]][0])
    assert "Run the control" in shown
    assert '<a class="btn" data-take' in shown, "one agent alone is not what a search for styles is for"
    assert '<a class="btn btn-primary" href="#style-map">' in shown
    assert shown.count("<polyline") == 4
    found = kinds.of(job).found(job)
    assert found is not None
    assert f"{side.skilled} of the 4 that stayed score within 0.1 of the best" in found.words
    assert "Run the control" not in page(signed_in(team.producer), job)


def test_lists_count_those_who_play_nearly_as_well_as_the_best_as_the_page_does_and_the_map_says_why_it_counts_others(
    team: Studio, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = bred(team.project)
    again = evidence.again(job)
    assert again is not None
    monkeypatch.setattr(evidence, "most_skilled", lambda whose, shown: again.best + 2 * evidence.SKILLED)
    shown, found = page(client, job), kinds.of(job).found(job)
    assert '<td class="number">0 of 4</td>' in shown
    assert found is not None
    assert "0 of the 4 that stayed score within 0.1 of the best" in found.words
    assert "of those that stayed, by their means on fresh episodes" in shown
    assert (
        "The skill band of the map below counts agents in another way: all agents that were trained, not only those "
        "that stayed; by the episodes of every round, not by fresh ones; by their ranges, not by their means." in shown
    )
    assert "data-two-counts" not in page(client, breeding(team.project)), "there is no table yet"


def test_where_the_table_counts_by_wins_that_is_the_reason_why_the_map_counts_otherwise(
    team: Studio, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a first round the same agents are counted by the same episodes: only scores and wins differ, and ranges."""
    monkeypatch.setitem(GAMES, "pong", GAMES["pong"]._replace(names={"skill": "win"}))
    job = bred(team.project)
    first = job.events.filter(kind="progressed", tick=1)
    job.events.filter(kind="progressed").exclude(pk__in=first).delete()
    Job.objects.filter(pk=job.pk).update(status=Status.RUNNING, artifacts={}, tick=1)
    shown = page(client, job)
    assert "another way: by their scores, not by their share of wins; by their ranges, not by their means." in shown
    told = client.get(reverse("styles:map", args=[team.project.slug, job.pk])).content.decode()
    assert "table above" not in told, "the map is asked for by itself, and must not speak of what may not be there yet"


@pytest.mark.parametrize(("ends", "says"), [((0.02, 0.09), True), ((0.4, 0.6), False), (None, True)])
def test_a_search_in_which_nobody_plays_well_says_so_and_what_helps(
    team: Studio, client: Client, monkeypatch: pytest.MonkeyPatch, ends: tuple[float, float] | None, says: bool
) -> None:
    monkeypatch.setattr(evidence, "best_of", lambda job: evidence.Best(0, 0.05, ends, True, 100))
    shown = page(client, bred(team.project))
    assert ("even the best one scores 0.05, where 0 is the worst and 1 the best" in shown) == says


def test_the_control_is_the_same_search_without_selection_and_is_drawn_beside_it(team: Studio, client: Client) -> None:
    job = bred(team.project)
    begin = reverse("styles:control", args=[team.project.slug, job.pk])
    run = Job.objects.get(pk=int(client.post(begin).url.rstrip("/").rpartition("/")[2]))
    assert (run.parent, run.config["selection"], run.title) == (job, False, "Control: Styles of Pong")
    same = {name: value for name, value in run.config.items() if name not in ("selection", "name")}
    assert same == {name: value for name, value in job.config.items() if name not in ("selection", "name")}
    client.post(begin)
    assert Job.objects.filter(kind="style").count() == 2
    assert "is under way. Its agents will stand here beside those of the search once they, too," in page(client, job)
    run.delete()
    done = bred(team.project, parse(StylesConfig, {**job.config, "selection": False}), parent=job, title="Control: it")
    assert control.of(job) == done
    shown = page(client, job)
    assert shown.count('href="#stayed-square"') == 6  # four agents, the legend, and the head of the control's column
    assert "One run of each" in shown
    assert "By 4 fresh episodes of each agent" in shown
    told = evidence.compared(job, done)
    mine, again = evidence.of(job), evidence.again(job)
    assert told.fresh
    assert mine is not None
    assert again is not None
    assert told.mine is again
    assert sorted(again.ids) == sorted(mine.ids), "the same agents, on episodes that had no part in choosing them"
    assert all(side.volume is not None for side in evidence.sides(told, job, done, corner(job, done)))
    Job.objects.filter(pk=done.pk).update(artifacts={**done.artifacts, "fresh_population": ""})
    shown = page(client, job)
    assert "has ended. The two cannot be compared: its control has not been measured on fresh episodes." in shown
    assert "By 4 fresh episodes of each agent" in shown, "the search stands alone"
    assert 'href="#stayed-square"' not in shown
    assert client.post(reverse("styles:control", args=[team.project.slug, done.pk])).status_code == 404
    assert "Control, in which chance chooses who stays" in page(client, done)


def test_a_search_of_one_round_is_neither_offered_a_control_nor_compared_with_one(team: Studio, client: Client) -> None:
    job = bred(team.project, config(ticks=1))
    breeding(team.project, config(ticks=1, selection=False), parent=job, title="Control: it")
    shown = page(client, job)
    assert "No control can help: Everybody stays after a first round, and this search has no other" in shown
    assert "Run the control" not in shown
    assert "is under way" not in shown
    answer = client.post(reverse("styles:control", args=[team.project.slug, job.pk]), follow=True)
    assert control.ALL_STAY in answer.content.decode()
    assert Job.objects.filter(kind="style").count() == 2


def test_while_its_control_goes_on_a_search_is_shown_alone_by_its_fresh_episodes(team: Studio, client: Client) -> None:
    job = bred(team.project)
    alone = evidence.compared(job, None)
    run = bred(team.project, parse(StylesConfig, {**job.config, "selection": False}), parent=job, title="Control: it")
    left = {**run.artifacts, "fresh_population": ""}
    Job.objects.filter(pk=run.pk).update(status=Status.RUNNING, artifacts=left)
    run.refresh_from_db()
    assert evidence.of(run) is not None
    assert evidence.compared(job, run) == alone
    shown = page(client, job)
    assert "By 4 fresh episodes of each agent" in shown
    assert "will stand here beside those of the search once they, too, are measured on fresh episodes." in shown
    assert 'href="#stayed-square"' not in shown
    Job.objects.filter(pk=job.pk).update(artifacts={**job.artifacts, "fresh_population": ""})
    shown = page(client, job)
    assert "it is not compared with its control by them" in shown
    assert "once both are measured on fresh episodes." in shown
    assert 'href="#stayed-square"' not in shown


def test_the_agents_of_a_search_and_of_its_control_are_held_against_one_best_score(
    team: Studio, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = bred(team.project)
    run = bred(team.project, parse(StylesConfig, {**job.config, "selection": False}), parent=job, title="Control: it")
    mine, control = (evidence.again(each) for each in (job, run))
    assert mine is not None
    assert control is not None
    good = mine._replace(skill=np.array([0.27, 0.2, 0.1, 0.05]))
    bad = control._replace(skill=np.array([0.15, 0.12, 0.1, 0.08]))
    monkeypatch.setattr(evidence, "most_skilled", lambda whose, shown: 0.27 if whose == job else 0.15)
    found = evidence.sides(evidence.Compared(good, bad, True), job, run, None)
    assert [side.skilled for side in found] == [2, 0]
    monkeypatch.setattr(evidence, "compared", lambda job, run: evidence.Compared(good, bad if run else None, True))
    shown = page(client, job)
    assert "Agents that score within 0.1 of the best of both" in shown
    assert "0 of 4" in shown


def test_goals_that_a_script_gave_without_a_formula_are_told_by_their_names(team: Studio, client: Client) -> None:
    job = breeding(team.project, config(objectives=[{"measure": "score"}, {"measure": "moved"}]))
    assert "formula" not in job.config["objectives"][0]
    assert page(client, job)
    assert axes(job.config)["moved"].low == "less"


def test_goals_that_do_not_add_up_are_not_called_tied(team: Studio) -> None:
    goals = [{"measure": "score"}, {"measure": "busy", "formula": "score + moved * moved"}]
    assert not tied(bred(team.project, config(objectives=goals)))


def test_goals_that_add_up_to_the_same_for_these_agents_alone_are_not_called_tied(
    team: Studio, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = bred(team.project, config(objectives=[{"measure": "score"}, {"measure": "length"}]))
    agents = evidence.of(job)
    assert agents is not None
    one = agents._replace(goals=np.stack([agents.score, np.full(len(agents.score), 300.0)], axis=1))
    flat = one._replace(score=np.full_like(one.score, 0.5), goals=np.full_like(one.goals, 0.5))
    for alike in (one, flat):
        monkeypatch.setattr(evidence, "of", lambda job, alike=alike: alike)
        assert not tied(job)
    assert "whatever it does" not in page(client, job)
    assert "whatever they do" not in page(client, job)


def test_goals_whose_caps_part_agents_of_equal_score_are_not_called_tied(
    team: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = bred(team.project)
    agents = evidence.of(job)
    assert agents is not None
    assert tied(job)
    capped = agents._replace(goals=np.minimum(agents.goals, agents.goals.min() + 0.01))
    monkeypatch.setattr(evidence, "of", lambda job: capped)
    assert not tied(job)


@pytest.mark.parametrize(
    ("goal", "names", "said", "counts"),
    [
        ("win", {"skill": "win"}, "that win equally often", "Agents whose share of wins is within 0.1 of the best"),
        ("score", {"skill": "win"}, "of equal score", "Agents whose share of wins is within 0.1 of the best"),
        ("score", {}, "of equal score", "Agents that score within 0.1 of the best"),
        ("win", {}, "", "Agents that score within 0.1 of the best"),
    ],
)
def test_agents_are_called_equal_and_counted_by_what_says_skill_in_their_game(
    team: Studio, client: Client, monkeypatch: pytest.MonkeyPatch, goal: str, names: dict[str, str], said: str,
    counts: str,
) -> None:  # fmt: skip
    monkeypatch.setitem(GAMES, "pong", GAMES["pong"]._replace(names=names))
    goals = [{"measure": "busy", "formula": f"{goal} + moved"}, {"measure": "calm", "formula": f"{goal} + (1 - moved)"}]
    job = bred(team.project, config(objectives=goals))
    agents = evidence.of(job)
    assert agents is not None
    assert agents.by == names.get("skill", "score")
    assert tied(job) == said
    shown = page(client, job)
    assert counts in shown
    if said:
        assert f"add up to the same for all agents {said}, so none" in shown
        assert f"so of agents {said} none is better than another" in shown
    fresh = evidence.again(job)
    assert fresh is not None
    wins = fresh._replace(skill=np.array([0.9, 0.85, 0.2, 0.1]))
    assert wins.skilled(0.9) == 2


def test_what_was_lost_from_the_store_leaves_the_page_alive(team: Studio, client: Client) -> None:
    job = breeding(team.project, artifacts={"population": "0" * 64}, status=Status.FINISHED, tick=2)
    assert evidence.of(job) is None
    assert "What its rounds left is not in the store any more." in page(client, job)


def test_a_search_that_was_stopped_before_its_first_round_promises_nothing(team: Studio, client: Client) -> None:
    shown = page(client, breeding(team.project, status=Status.STOPPED))
    assert "It ended before its first round was complete" in shown
    assert "not complete yet" not in shown


def test_of_one_round_lines_are_promised_only_while_more_follow(team: Studio, client: Client) -> None:
    job = bred(team.project, config(ticks=1))
    assert "Only one round was complete when it ended; lines need two." in page(client, job)
    Job.objects.filter(pk=job.pk).update(status=Status.RUNNING, ticks=3)
    assert "One round is complete. From the second on, lines show how it goes." in page(client, job)


def test_a_search_that_is_put_aside_before_anybody_is_trained_is_not_called_ended(team: Studio, client: Client) -> None:
    job = breeding(team.project, status=Status.PAUSED)
    assert "Nobody is trained yet. Resume the job to go on." in page(client, job)
    Job.objects.filter(pk=job.pk).update(status=Status.STOPPED)
    assert "The search ended before anybody was trained." in page(client, job)


def test_a_search_that_began_with_a_saved_agent_leads_to_it(team: Studio, client: Client) -> None:
    description = store().put(b"{}")
    agent = Agent.objects.create(
        project=team.project, name="Follower <1>", policy=description, game=dict(GAME), created_by=team.designer
    )  # fmt: skip
    job = breeding(team.project, config(start=description))
    shown = page(client, job)
    address = reverse("agents:agent", args=[team.project.slug, agent.pk])
    assert f'began with copies of <a href="{address}">Follower &lt;1&gt;</a>' in shown
    assert "began with copies" not in page(client, breeding(team.project))
    agent.deleted_at = timezone.now()
    agent.save()
    shown = page(client, job)
    assert "copies of “Follower &lt;1&gt;”, which was deleted, each changed a little" in shown
    agent.delete()
    assert "copies of an agent that is not kept any more" in page(client, job)


def test_lists_and_programs_read_a_search_for_styles_as_any_other(team: Studio, client: Client) -> None:
    job = bred(team.project)
    listed = client.get(reverse("studies:jobs", args=[team.project.slug])).content.decode()
    assert "Styles of Pong" in listed
    rows = client.get(reverse("studies:results", args=[team.project.slug, job.pk])).content.decode().splitlines()
    assert rows[0].startswith("player,round,episodes,task.style.w2,busy,busy_low,busy_high,calm")
    token = tokens.make(team.designer, "ci", None, 30)[1]
    script = Client(headers={"Authorization": f"Bearer {token}"})
    address = f"/api/v1/projects/{team.project.slug}/jobs/{job.pk}"
    told: dict[str, Any] = script.get(address).json()
    assert (told["kind"], told["status"]) == ("style", "finished")
    assert script.get(f"{address}/results?of=archive").json()["count"] == 8
    assert script.get(f"{address}/rounds").json()["tick"] == [1, 2]
    assert script.get("/api/v1/schema/style").status_code == 200


def test_the_page_says_from_how_many_decisions_an_agent_really_learns(team: Studio, client: Client) -> None:
    study = config()
    batch = update_of(study.task)
    for steps, more in ((2 * batch, False), (batch + 1, True)):
        task = study.task.model_copy(update={"steps": steps})
        content = page(client, breeding(team.project, study.model_copy(update={"task": task})))
        assert ("at a time." in content) == more
    assert f"learns from {number(2 * batch)} decisions and not from {number(batch + 1)}, because" in content

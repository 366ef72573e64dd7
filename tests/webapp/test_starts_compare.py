"""Trainings from easier starts side by side: what is drawn of several, and which do not fit together."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from tests.contracts.asked_kind import page
from tests.engine.test_starts import TASKS, cart
from tests.factories import Studio, search_job
from tests.webapp.recorded import recorded
from tests.webapp.test_starts import played
from webapp.starts.comparison import StartsComparison, why_apart
from webapp.studies.models import Job

pytestmark = pytest.mark.django_db


@pytest.fixture
def methods(team: Studio) -> list[Job]:
    """The same hard start learned in two ways; the second without the start halfway."""
    return [played(team), played(team, scheduler={"kind": "uniform"}, tasks=[TASKS[0], TASKS[2]])]


def address(*jobs: Job, more: str = "") -> str:
    asked = "&".join(f"job={job.pk}" for job in jobs)
    return f"{reverse('starts:compare', args=[jobs[0].project.slug])}?{asked}{more}"


def test_success_from_the_hard_start_is_a_line_with_its_range_for_each_training_and_a_table(
    methods: list[Job], designer: Client
) -> None:
    found = StartsComparison(methods[0].project, [job.pk for job in methods])
    assert [side.name for side in found.sides] == [
        f"{methods[0].pk}: Where it learns most, MP-DQN", f"{methods[1].pk}: All equally often, MP-DQN",
    ]  # fmt: skip
    for line, job, hard in zip(found.success.lines, methods, ("task-3", "task-2"), strict=True):
        rounds = job.events.filter(kind="progressed").values_list("body__metrics", flat=True)
        evaluated = [metrics["iterations"] for metrics in rounds if f"{hard}/success" in metrics]
        assert len(line.tips) == len(evaluated) == 2
        assert line.band
    assert found.success.heads == ["Learning steps", *(side.name for side in found.sides)]
    content = designer.get(address(*methods)).content.decode()
    for said in ("How often it succeeds from the hard start", "All equally often, MP-DQN, ", "The same as a table",
                 "What was set differently", '<th scope="row">How it learns</th>'):  # fmt: skip
        assert said in content, said
    assert content.count('<a href="' + page(methods[1])) == 1


def test_a_chart_goes_along_learning_steps_or_decisions(methods: list[Job], designer: Client) -> None:
    found = StartsComparison(methods[0].project, [job.pk for job in methods], "decisions")
    steps = max(job.counters["steps"] for job in methods)
    assert found.success.rows[-1][0] == f"{steps:,}"
    assert "Decisions → later" in designer.get(address(*methods, more="&along=decisions")).content.decode()
    assert designer.get(address(*methods, more="&along=time")).status_code == 404


def test_starts_that_several_have_are_drawn_too_and_those_of_one_alone_are_not(methods: list[Job]) -> None:
    drawn = {
        small.title: small.chart for small in StartsComparison(methods[0].project, [j.pk for j in methods]).figures
    }
    assert list(drawn) == [
        "Reward of an episode", "Decisions of an episode", "Largest reward that they expect",
        "Success: The last platform",
    ]  # fmt: skip
    assert all(len(chart.lines) == 2 for chart in drawn.values())
    assert [text for text, _ in [*drawn.values()][-1].levels] == ["0\u00a0%", "50\u00a0%", "100\u00a0%"]


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"tasks": [TASKS[0], {"name": "hard", "hard": True, "settings": {"first": 2}}]}, "begins elsewhere"),
        ({"game": {"name": "platform", "settings": {"max_ticks": 40}}}, "begins elsewhere, or its game"),
    ],
)
def test_what_does_not_learn_the_same_is_said_and_not_drawn(
    more: dict[str, Any], why: str, team: Studio, designer: Client
) -> None:
    one, other = played(team), played(team, **more)
    content = designer.get(address(one, other)).content.decode()
    assert "These do not learn the same." in content
    assert why in content
    assert "lines-chart" not in content
    assert "What was set differently" in content
    chosen = designer.get(address(one)).content.decode()
    assert re.search(rf'value="{other.pk}" disabled', chosen)
    assert f'value="{one.pk}" checked' in chosen


def test_only_ends_of_scores_by_which_success_was_told_keep_trainings_apart(team: Studio) -> None:
    """Platform tells who wins, so between what scores lie means nothing there."""
    one, other = played(team), played(team, scheduler={"low": 0.0, "high": 2.0})
    assert why_apart(other, one) == ""
    for job, largest in ((one, 1.0), (other, 2.0)):
        job.metrics = {**job.metrics, "least_score": 0.0, "largest_score": largest}
    assert why_apart(other, one) == "its success is measured between other scores"


def test_starts_are_compared_by_their_names_and_the_hard_one_with_the_hard_one(team: Studio) -> None:
    """The paper's comparison: a way with easier starts beside the hard one alone."""
    one = played(team)
    alone = played(team, tasks=[{"name": "whole level", "hard": True, "settings": TASKS[-1].get("settings", {})}])
    found = {row.title: row.values for row in StartsComparison(team.project, [one.pk, alone.pk]).differences}
    easier = [task["name"] for task in TASKS if not task.get("hard")]
    assert all(found[f"Start “{name}”"][1] == "–" != found[f"Start “{name}”"][0] for name in easier)
    assert "The hard start" not in found, "both begin it at the same place"
    assert not any("whole level" in title or "settings" in title.lower() for title in found)


def test_other_games_and_other_jobs_are_left_out(team: Studio, designer: Client) -> None:
    one, other = played(team), recorded(team, cart(), "Cart")
    assert why_apart(other, one) == "it learns another game"
    search = search_job(team.project)
    content = designer.get(address(one, search)).content.decode()
    assert f"job {search.pk}</a>" in content
    assert "Only trainings from easier starts are compared here" in content


def test_a_setting_that_is_written_out_as_it_usually_is_makes_no_difference(team: Studio) -> None:
    usual = played(team, tasks=[TASKS[0], {"name": "hard", "hard": True, "settings": {"first": 1}}])
    assert why_apart(usual, played(team)) == ""


def test_the_page_of_a_training_leads_to_those_it_can_be_compared_with(methods: list[Job], designer: Client) -> None:
    assert f'href="{address(methods[0])}"' in designer.get(page(methods[0])).content.decode()
    content = designer.get(reverse("starts:compare", args=[methods[0].project.slug])).content.decode()
    assert "Choose trainings" in content
    assert all(f'value="{job.pk}"' in content for job in methods)
    assert content.count(" learning steps · ") == 2
    assert "80 learning steps · " in content


def test_sparse_rewards_stand_beside_shaped_ones_and_what_is_paid_is_then_not_drawn(team: Studio) -> None:
    hard = [{"name": "easy", "settings": {"ball_x_min": 0.7, "ball_x_max": 0.9}}, {"name": "hard", "hard": True}]
    small = {"policy": [8], "critic": [8]}
    learner = {"preset": "half-field-mpdqn", "warmup": 64, "minibatch": 8, "capacity": 400, "network": small}

    def job(**settings: Any) -> Job:
        game = {"name": "half-field", "settings": {"max_ticks": 30, **settings}}
        return played(team, game=game, tasks=hard, learner=learner)

    jobs = [job(rewards=[paid]) for paid in ("score", "shaped", "score")]
    assert why_apart(jobs[1], jobs[0]) == ""
    alike, mixed = (StartsComparison(team.project, [jobs[0].pk, other.pk]) for other in (jobs[2], jobs[1]))
    assert not mixed.obstacle
    assert mixed.success.lines
    titles = [[small.title for small in each.figures] for each in (alike, mixed)]
    assert set(titles[0]) - set(titles[1]) == {"Reward of an episode", "Largest reward that they expect"}
    assert "begins elsewhere" in why_apart(job(rewards=["score"], apart=0.5), jobs[0])

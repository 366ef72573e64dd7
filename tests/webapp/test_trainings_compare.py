"""Trainings of one agent by different methods side by side: what is drawn, and which do not fit together."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse

from engine.config import Study
from engine.studies import load
from tests.contracts.asked_kind import page
from tests.engine import test_aesrl, test_gossip_study
from tests.factories import Studio, search_job
from tests.webapp.recorded import recorded
from webapp.studies.models import Job
from webapp.training.comparison import TrainingsComparison

pytestmark = pytest.mark.django_db

SMALL = {"network": {"policy": [8], "critic": [8]}}


def alone(kind: str, game: Any, **more: Any) -> Study:
    """One agent that learns for a few hundred decisions and is evaluated after each round."""
    learner = {"kind": kind, **SMALL, **({"warmup": 64, "minibatch": 16} if kind == "td3" else {"batch": 64})}
    return load(
        {"kind": "train", "game": game, "learner": learner, "environments": 2, "samplers": 1, "steps": 400,
         "checkpoint_every": 100, "evaluate_every": 1, "episodes": 8, "pool": {"kind": "local"}, **more}
    )  # fmt: skip


def together(**more: Any) -> Study:
    whole = {"longest": 200, "steps": 2400, "checkpoint_every": 600}
    return test_aesrl.study(**{"evaluate_every": 1, "episodes": 8, **whole, **more})


@pytest.fixture
def methods(team: Studio) -> list[Job]:
    """The same game learned in two ways."""
    return [recorded(team, together(), "Together"), recorded(team, alone("td3", "pendulum"), "Alone")]


def address(*jobs: Job, more: str = "") -> str:
    asked = "&".join(f"job={job.pk}" for job in jobs)
    return f"{reverse('training:compare', args=[jobs[0].project.slug])}?{asked}{more}"


def found(*jobs: Job, along: str = "") -> TrainingsComparison:
    return TrainingsComparison(jobs[0].project, [job.pk for job in jobs], along)


def numbers_of(job: Job, name: str) -> list[float]:
    """What its rounds told of a number, in order."""
    rounds = job.events.filter(kind="progressed").order_by("tick").values_list("body__metrics", flat=True)
    return [metrics[name] for metrics in rounds if name in metrics]


def test_each_training_is_a_line_of_its_evaluations_with_their_ranges_and_a_row_with_the_last_one(
    methods: list[Job], designer: Client
) -> None:
    both = found(*methods)
    assert [side.name for side in both.sides] == [f"{methods[0].pk}: AES-RL", f"{methods[1].pk}: TD3"]
    for side, line in zip(both.sides, both.chart.lines, strict=True):
        scores = list(dict.fromkeys(numbers_of(side.job, "evaluation_return")))
        assert len(line.tips) == len(scores) > 0
        assert line.band
        assert side.last is not None
        last = next(row for row in reversed(both.chart.rows) if row[side.number])
        assert (last[0], last[side.number]) == (f"{side.last.steps:,}", f"{side.last.mean} ({side.last.range})")
    content = designer.get(address(*methods)).content.decode()
    for said in ("How well they play on fresh episodes", "<td>AES-RL</td>", "<td>TD3</td>", "Return, higher → better",
                 "The same as a table", "What was set differently", '<th scope="row">How it learns</th>'):  # fmt: skip
        assert said in content, said


def test_an_evaluation_stands_where_it_was_asked_for(methods: list[Job]) -> None:
    """Evolution and learning goes on while an evaluation is played: its line is not later than it was as good."""
    side = found(*methods).sides[0]
    asked = set(numbers_of(methods[0], "evaluation_steps"))
    places = {at for at, score in zip(side.columns["steps"], side.columns["evaluation_return"], strict=True) if score}
    assert places == asked


def test_the_chart_goes_along_decisions_or_minutes_and_nothing_else(methods: list[Job], designer: Client) -> None:
    clock = found(*methods, along="time")
    assert clock.chart.heads[0] == "Minutes"
    seconds = [value for value in clock.sides[1].columns["seconds"] if value is not None]
    assert clock.sides[1].minutes == pytest.approx(seconds[-1] / 60)
    assert f"{max(job.counters['steps'] for job in methods):,}" in [row[0] for row in found(*methods).chart.rows]
    assert "Minutes → later" in designer.get(address(*methods, more="&along=time")).content.decode()
    assert designer.get(address(*methods, more="&along=rounds")).status_code == 404


def test_a_game_is_the_same_by_each_of_its_names(methods: list[Job], team: Studio) -> None:
    assert found(methods[0], recorded(team, alone("td3", "gym:Pendulum-v1"), "By its other name")).obstacle == ""


def test_episodes_that_a_study_cuts_off_say_nothing_beside_whole_ones(methods: list[Job], team: Studio) -> None:
    short = recorded(team, together(longest=20), "Short")
    assert found(methods[1], short).obstacle.endswith("does not fit: episodes of it are cut off after 20 decisions.")
    assert found(short, methods[1]).obstacle.endswith("episodes of the other are cut off after 20 decisions.")


def test_agents_side_by_side_stand_beside_one_alone(team: Studio) -> None:
    several = recorded(team, test_gossip_study.study(evaluate_every=1), "Four")
    one = recorded(team, alone("ppo", {name: several.config["game"][name] for name in ("name", "settings")}), "One")
    both = found(several, one)
    assert [side.method for side in both.sides] == ["PALA, 4 agents", "PPO"]
    assert all(side.last is not None and np.isfinite(float(side.last.mean.replace("−", "-"))) for side in both.sides)


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"game": {"name": "pendulum", "limits": {"delay": 1}}}, "other settings or limits"),
        ({"game": "gym:MountainCarContinuous-v0"}, "plays another game"),
        ({"game": "pendulum", "weight": 0.5}, "weighs rewards differently"),
    ],
)
def test_returns_that_are_not_of_the_same_are_not_drawn_and_it_is_said_why(
    more: dict[str, Any], why: str, methods: list[Job], team: Studio, designer: Client
) -> None:
    study = alone("td3", more["game"])
    if "weight" in more:
        study = load({**study.model_dump(mode="json"), "learner": {
            **study.model_dump(mode="json")["learner"], "rewards": {"score": {"weight": more["weight"]}},
        }})  # fmt: skip
    other = recorded(team, study, "Other")
    content = designer.get(address(methods[0], other)).content.decode()
    assert "Their returns cannot be compared." in content
    assert why in content
    assert "lines-chart" not in content
    assert f'value="{other.pk}" disabled' in designer.get(address(methods[0])).content.decode()


def test_trainings_of_several_agents_and_other_jobs_are_left_out_and_not_offered(
    methods: list[Job], team: Studio, designer: Client
) -> None:
    several = recorded(
        team,
        alone("ppo", "pong-two-seats", policies={"left": {"seats": [0]}, "right": {"seats": [1]}}),
        "Two of them",
    )
    search = search_job(team.project)
    content = designer.get(address(methods[0], several, search)).content.decode()
    for job in (several, search):
        assert f"job {job.pk}</a>" in content
        assert f'value="{job.pk}"' not in content
    assert "Only trainings of one agent" in content
    assert "compare with other trainings" not in designer.get(page(several)).content.decode()


def test_the_pages_of_trainings_lead_here_and_an_unevaluated_one_has_no_line(
    methods: list[Job], team: Studio, designer: Client
) -> None:
    for job in methods:
        assert f'href="{address(job)}"' in designer.get(page(job)).content.decode()
    young = recorded(team, alone("td3", "pendulum", evaluate_every=0), "Young", rounds=2)
    both = found(methods[0], young)
    assert len(both.chart.lines) == 1
    assert "not evaluated yet" in designer.get(address(methods[0], young)).content.decode()
    nothing = designer.get(reverse("training:compare", args=[team.project.slug])).content.decode()
    assert "Choose trainings" in nothing
    assert f"TD3, {young.counters['steps']:,} decisions" in nothing

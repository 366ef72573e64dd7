"""The corner from which the volume under an edge of styles is measured."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse
from hypothesis import given
from hypothesis import strategies as st

from engine.arrays import unpack
from tests.factories import Studio
from tests.webapp.bred import bred, breeding, config
from webapp.lib.storage import store
from webapp.studies.models import Job
from webapp.styles import evidence
from webapp.styles.corner import corner, declared_end

UNDECLARED = [
    {"measure": "busy", "formula": "score + moved * moved"},
    {"measure": "calm", "formula": "1 / (1 + moved)"},
]
"""Of the second nobody knows between what it lies: the formula divides by more than a number."""
values = st.floats(-2, 3, allow_nan=False)


@st.composite
def populations(draw: st.DrawFn) -> tuple[list[list[float]], list[list[float]], list[float]]:
    """Agents, more of them that are each at least as good as one of them, and a corner."""
    goals = draw(st.integers(2, 3))
    points = draw(st.lists(st.lists(values, min_size=goals, max_size=goals), min_size=1, max_size=8))
    gains = st.lists(st.floats(0, 2), min_size=goals, max_size=goals)
    more = draw(st.lists(st.tuples(st.sampled_from(points), gains), max_size=5))
    better = [[a + b for a, b in zip(point, gain, strict=True)] for point, gain in more]
    return points, better, draw(st.lists(values, min_size=goals, max_size=goals))


@given(populations())
def test_agents_that_are_at_least_as_good_never_lower_the_volume_at_one_corner(
    drawn: tuple[list[list[float]], list[list[float]], list[float]],
) -> None:
    points, better, at = drawn
    before, after = evidence.volume(np.array(points), at), evidence.volume(np.array(points + better), at)
    assert before is not None
    assert after is not None
    assert after >= before - 1e-9
    if better:  # also where they take the places of those that they beat
        alone = evidence.volume(np.array(better), at)
        assert alone is not None
        assert after >= alone - 1e-9


@pytest.mark.parametrize(
    ("aim", "end"),
    [
        ({"measure": "busy", "formula": "score + moved", "direction": "max", "low": 0.0, "high": 2.0}, 0.0),
        ({"measure": "busy", "formula": "score + moved", "direction": "min"}, 2.0),
        ({"measure": "busy", "formula": "score - moved", "direction": "max"}, -1.0),
        ({"measure": "moved", "direction": "max"}, 0.0),
        ({"measure": "length", "direction": "max"}, 0.0),
        ({"measure": "length", "direction": "min"}, None),
        ({"measure": "calm", "formula": "1 / (1 + moved)", "direction": "max"}, None),
    ],
)
def test_the_worst_of_a_goal_is_what_it_or_the_game_declares(aim: dict[str, Any], end: float | None) -> None:
    assert declared_end(aim, "pong") == end


@pytest.mark.django_db(transaction=True)
class TestOfJobs:
    def worst(self, job: Job, better: float) -> float:
        """The worst of the second goal in the archive and on fresh episodes."""
        found = []
        for role in ("archive", "fresh_population"):
            arrays = unpack(store().get(job.artifacts[role])).arrays
            goals = arrays["objective"][(arrays["status"] == 0) & np.isfinite(arrays["objective"]).all(axis=1), 1]
            found.append((better * goals).min())
        return float(better * min(found))

    def test_goals_with_declared_ends_are_measured_from_these_ends(self, team: Studio) -> None:
        found = corner(bred(team.project), None)
        assert found is not None
        assert found.at == [0.0, 0.0]
        assert found.words == "the worst that there can be (Busy 0, Calm 0)"
        assert corner(breeding(team.project), None) == found, "also before anybody is measured"

    def test_goals_without_ends_are_measured_from_the_worst_of_everybody_in_the_search_and_its_control(
        self, team: Studio, designer: Client
    ) -> None:
        job = bred(team.project, config(objectives=UNDECLARED))
        run = bred(
            team.project, config(objectives=UNDECLARED, selection=False, seed=9), parent=job, title="Control: it"
        )
        found = corner(job, run)
        assert found is not None
        assert found == corner(run, job), "one corner, whichever of the two asks"
        assert found.at == [0.0, min(self.worst(job, 1), self.worst(run, 1))]
        assert "the worst of all agents measured so far (Calm" in found.words
        searched = designer.get(reverse("studies:job", args=[team.project.slug, job.pk])).content.decode()
        unselected = designer.get(reverse("studies:job", args=[team.project.slug, run.pk])).content.decode()
        said = [re.search(r"data-corner>[^:]*: ([^<]*)<", page) for page in (searched, unselected)]
        assert [each[1] for each in said if each] == [f"{found.words}."] * 2, "and both pages say it"

    def test_the_corner_of_fewer_is_better_is_the_most_of_everybody(self, team: Studio) -> None:
        goals = [UNDECLARED[0], {**UNDECLARED[1], "direction": "min"}]
        job = bred(team.project, config(objectives=goals))
        found = corner(job, None)
        assert found is not None
        assert found.goals[1].value == self.worst(job, -1)
        assert found.at[1] == -found.goals[1].value

    def test_while_nobody_is_measured_goals_without_ends_have_no_corner_and_sides_no_volume(self, team: Studio) -> None:
        assert corner(breeding(team.project, config(objectives=UNDECLARED)), None) is None
        job = bred(team.project)
        (side,) = evidence.sides(evidence.compared(job, None), job, None, None)
        assert side.volume is None

    def test_a_better_population_has_the_larger_volume_though_its_own_worst_is_better_too(self, team: Studio) -> None:
        """From the worst of each population by itself the better one would look smaller."""
        job = bred(team.project)
        at, mine = corner(job, None), evidence.again(job)
        assert at is not None
        assert mine is not None
        weak = mine._replace(goals=np.array([[0.1, 0.1], [0.4, 0.9], [0.9, 0.4], [0.5, 0.5]]))
        strong = mine._replace(goals=np.array([[0.85, 0.85], [0.9, 1.0], [1.0, 0.9], [0.95, 0.95]]))
        volumes = [
            evidence.sides(evidence.Compared(each, None, True), job, None, at)[0].volume for each in (weak, strong)
        ]
        assert volumes == sorted(v for v in volumes if v is not None)
        assert volumes[0] != volumes[1]

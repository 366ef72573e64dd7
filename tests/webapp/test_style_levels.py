"""The same style at other difficulties, on the card of an agent."""

from __future__ import annotations

import html

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse

from engine.styles.likeness import Likeness
from tests.factories import Studio
from tests.webapp.agents import measured
from tests.webapp.styles_bred import bred, config, search
from tests.webapp.test_style_map import made_up
from webapp.agents.models import Agent
from webapp.studies.models import Job
from webapp.styles.freshest import freshest
from webapp.styles.map_agents import Agents, Estimates, agents_of
from webapp.styles.map_card import alike_words, levels_of
from webapp.styles.map_levels import levels, same_style
from webapp.styles.map_words import axes


def known_well(agents: Agents, half: float = 0.001) -> Agents:
    """Where what agents do is known so well."""
    mean = agents.measures["moved"].mean
    return agents._replace(measures={**agents.measures, "moved": Estimates(mean, mean - half, mean + half)})


def test_difficulties_of_a_style_do_alike_and_their_scores_are_surely_apart() -> None:
    agents = known_well(made_up([0.9, 0.6, 0.61, 0.2, 0.9], [0.3, 0.32, 0.33, 0.28, 0.9]))
    assert [each.verdict for each in same_style(agents, 0)] == ["same", "same", "same", "same", "another"]
    assert list(levels(agents, 0)) == [0, 1, 3], "of two equally hard ones the nearest; the last one plays otherwise"
    assert list(levels(agents, 4)) == [4], "nobody else may do as it does"
    unsure = made_up([0.9, 0.6, 0.2], [0.3, 0.3, 0.3], half=0.4)
    assert list(levels(unsure, 0)) == [0]


def test_who_surely_plays_the_same_style_comes_before_who_may_and_of_these_the_nearest() -> None:
    agents = made_up([0.9, 0.6, 0.6, 0.3, 0.3], [0.30, 0.38, 0.33, 0.34, 0.9])
    assert [each.verdict for each in same_style(agents, 0)] == ["same", "open", "open", "open", "another"]
    assert list(levels(agents, 0)) == [0, 2, 3]
    moved = agents.measures["moved"]
    low, high = (np.where(np.arange(5) == 2, np.nan, end) for end in (moved.low, moved.high))
    worse = agents._replace(measures={**agents.measures, "moved": Estimates(moved.mean, low, high)})
    assert same_style(worse, 0)[2].verdict == "open", "of whom no range is known, it cannot be told"
    sure = known_well(agents)
    assert same_style(sure, 0)[1].verdict == "another", "0.08 of 0.6 is more than a tenth"


def test_of_many_scores_must_lie_further_apart_than_of_two() -> None:
    """The strongest and the weakest of forty look apart by luck: ranges that hold for all of them at once do not."""
    assert list(levels(made_up([0.60, 0.55], [0.3] * 2), 0)) == [0, 1]
    forty = made_up([0.60, 0.55, *[0.575] * 38], [0.3] * 40)
    assert list(levels(forty, 0)) == [0]
    (one,) = levels(forty, 0).values()
    assert one.score == pytest.approx((0.56, 0.64)), "log(2 / 0.00125) / log(2 / 0.05) is 2: twice as wide"


def test_how_sure_it_is_that_a_style_is_the_same_is_said_in_words() -> None:
    def said(*found: float) -> str:
        return alike_words(Likeness(*found)).replace("\xa0", " ")

    assert said(0.02, 0.0, 0.09) == ("Surely the same style: it differs by 2 % of what all agents span, at most by 9 %")
    assert said(0.08, 0.0, 0.31).startswith("May be the same style: it differs by 8 % of what all agents span")
    assert said(0.12, 0.0, 0.31).startswith("Looks like another style, but may be the same: it differs by 12 %")
    assert said(0.12, 0.0, np.inf).endswith("too few episodes to say by how much at most")
    assert said(0.12, 0.0, 3.3).endswith("too few episodes to say by how much at most")


def test_a_range_that_holds_for_all_at_once_does_not_go_beyond_what_a_score_can_be() -> None:
    agents = made_up([0.9, 0.01], [0.3, 0.3])
    assert levels(agents, 0)[1].score.low < 0
    words = [level.words for level in levels_of(agents, 0, axes(config().model_dump(mode="json")))]
    assert "Score (0 to 1): 0.01 (0.00 to 0.03" in words[1]


@pytest.mark.django_db
def test_whoever_was_measured_on_fresh_episodes_is_judged_by_these(team: Studio) -> None:
    """By few episodes nobody is surely better than anybody else; by more fresh ones some are."""
    agents = made_up([0.7, 0.6, 0.5], [0.3, 0.31, 0.3], half=0.3)
    assert list(levels(agents, 0)) == [0]
    fresh = made_up([0.8, 0.2], [0.3, 0.31], half=0.05)._replace(id=np.array([0, 2]), samples=100)
    found = freshest(search(team.project), agents, fresh)
    assert found.score.mean.tolist() == [0.8, 0.6, 0.2]
    assert found.measures["moved"].mean.tolist() == [0.3, 0.31, 0.31]
    assert list(levels(found, 0)) == [0, 2]
    assert agents.score.mean.tolist() == [0.7, 0.6, 0.5], "what the search measured stays what it was"
    unknown = fresh._replace(measures={**fresh.measures, "score": Estimates(*[np.full(2, np.nan)] * 3)})
    assert freshest(search(team.project), agents, unknown).score.mean.tolist() == [0.7, 0.6, 0.5]


@pytest.mark.django_db
def test_a_kept_agent_is_judged_by_its_own_measurement_on_the_numbers_that_it_was_bred_on(
    team: Studio, designer: Client
) -> None:
    job = bred(team.project)
    agents = agents_of(job)
    assert agents is not None
    designer.post(reverse("styles:map-keep", args=["herobattle", job.pk, 3]), {"then": ""})
    measured(Agent.objects.get(), moved=0.12)
    row, again = agents.row(3), agents._replace(samples=6)
    assert row is not None
    found = freshest(job, agents, again)
    assert (found.score.mean[row], found.score.low[row], found.score.high[row]) == (0.8, 0.7, 0.9)
    assert found.measures["moved"].mean[row] == 0.12
    more = freshest(job, agents, agents._replace(samples=1000))
    assert more.score.mean[row] == agents.score.mean[row], "the search played more fresh episodes"
    game = {"name": "pong", "settings": {"changes": ["ball.speed=2.0"]}}
    run = Job.objects.get(kind="measure")
    Job.objects.filter(pk=run.pk).update(config={**run.config, "game": game})
    assert freshest(job, agents, None).score.mean[row] == agents.score.mean[row], "other numbers, another game"


@pytest.mark.django_db
@pytest.mark.parametrize("place", ["map-agent", "map-difficulties"])
def test_cards_and_pages_of_saved_agents_show_difficulties_by_fresh_episodes(
    team: Studio, designer: Client, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    job = bred(team.project)
    agents = agents_of(job)
    assert agents is not None
    where = np.arange(len(agents.id))
    known = {"score": np.where(where == 0, 0.91, 0.12), "moved": np.full(len(where), 0.3)}
    measures = {name: Estimates(mean, mean - 0.001, mean + 0.001) for name, mean in known.items()}
    told = agents._replace(measures={**agents.measures, **measures})
    for module in ("map_card", "map_views"):
        monkeypatch.setattr(f"webapp.styles.{module}.freshest", lambda job, agents, again: told)
    address = reverse(f"styles:{place}", args=["herobattle", job.pk, int(agents.id[0])])
    shown = html.unescape(designer.get(address).content.decode())
    assert "0.91 (0.9" in shown
    assert "0.12 (0.1" in shown
    assert "Whoever was measured on fresh episodes is judged by these." in shown

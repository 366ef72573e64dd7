"""The picture of the agents that stayed, on the page of a search for styles."""

from __future__ import annotations

import re

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse

from engine.config import parse
from engine.config.styles import StylesConfig
from tests.factories import Studio
from tests.webapp.bred import bred, config
from webapp.styles.evidence import Population, Spread
from webapp.styles.map_words import axes
from webapp.styles.stayed import SHADES, Stayed, stayed
from webapp.styles.templatetags.measures_of_styles import apart


def people(score: list[float], moved: list[float], first: int = 0) -> Population:
    n = len(score)
    ends = np.full((n, 2), np.nan)
    ends[0] = score[0] - 0.1, score[0] + 0.1
    return Population(
        ("moved",), np.array(score), np.array(moved)[:, None], np.zeros((n, 2)), np.arange(first, first + n), ends, 4,
        np.array(score), "score",
    )  # fmt: skip


def picture(mine: Population | None, control: Population | None = None) -> Stayed | None:
    known = axes(config().model_dump(mode="json"))
    return stayed(mine, control, known["moved"], known["score"])


def test_better_agents_stand_higher_in_a_stronger_colour_and_who_does_more_stands_further_right() -> None:
    found = picture(people([0.2, 0.9, 0.5], [0.9, 0.1, 0.4]))
    assert found is not None
    by = {mark.agent: mark for mark in found.marks}
    assert by[1].y < by[2].y < by[0].y
    assert (by[0].shade, by[1].shade) == (0, SHADES - 1)
    assert by[1].x < by[2].x < by[0].x
    assert [row.agent for row in found.rows] == [1, 2, 0], "the table has the best first"
    assert (by[0].way, by[0].score, by[0].ends) == ("90", "0.20", "0.10 to 0.30")
    assert by[1].ends == "", "of whom no range is known"
    assert (found.worst, found.best) == ("0.20", "0.90")


def test_both_axes_have_numbers_that_lie_within_the_picture_apart_from_each_other() -> None:
    spreads = ([0.0, 1.0], [0.501, 0.502], [0.05, 0.84], [0.5, 0.5], [-3.0, 41.0], [0.0999, 0.1001], [990.0, 1010.0])
    for score, moved in zip(spreads, (spreads[-1], *spreads), strict=False):
        found = picture(people(score, moved))
        assert found is not None
        for texts, first, last in ((found.across, 64, 616), (found.up, 16, 220)):
            places = sorted(at for _, at in texts)
            assert 3 <= len(places) <= 6
            assert places[0] >= first - 0.1
            assert places[-1] <= last + 0.1
            told = [float(text.replace("−", "-").replace(",", "")) for text, _ in sorted(texts, key=lambda one: one[1])]
            steps = np.diff(told)
            assert np.allclose(steps, steps[0]), "numbers are what stands there, as far apart from one to the next"
            assert steps[0]
        inside = [(64 <= mark.x <= 616) and (16 <= mark.y <= 220) for mark in found.marks]
        assert all(inside)


def test_agents_of_the_search_lie_above_those_of_its_control_whose_shape_is_another() -> None:
    found = picture(people([0.2, 0.9], [0.9, 0.1]), people([0.3, 0.4], [0.5, 0.6], first=10))
    assert found is not None
    assert [mark.shape for mark in found.marks] == ["square", "square", "circle", "circle"]
    assert [mark.agent for mark in found.marks] == [10, 11, 0, 1], "and the best of each above the others"


def test_without_anybody_or_anything_that_they_do_there_is_no_picture() -> None:
    assert picture(None) is None
    assert picture(people([0.2], [0.9])._replace(ways=())) is None
    alone = picture(people([0.2], [0.9]), people([0.3], [0.4])._replace(ways=()))
    assert alone is not None
    assert len(alone.marks) == 1


@pytest.mark.django_db(transaction=True)
def test_the_page_names_both_axes_reads_each_agent_and_says_the_same_as_a_table(team: Studio, designer: Client) -> None:
    job = bred(team.project)
    bred(team.project, parse(StylesConfig, {**job.config, "selection": False}), parent=job, title="Control: it")
    page = designer.get(reverse("studies:job", args=[team.project.slug, job.pk])).content.decode()
    whole = page.partition("Those that stayed")[2].partition("</figure>")[0]
    end = whole.index("</svg>", whole.index('<svg class="lines-chart'))
    drawing, table = whole[:end], whole[end:]
    assert "Score (0 to 1), higher → plays better" in drawing
    below = table.partition("<details")[0]
    assert re.search(r"Moves[^<]* → [a-z]+<", below), "below the drawing, where it wraps on a phone"
    assert drawing.count("<title>Agent ") == 8
    assert drawing.count("(Control)") == drawing.count("(This search)") == 4
    assert table.count('<th scope="row">Agent ') == 8
    assert table.count("<td>Control</td>") == 4


@pytest.mark.django_db(transaction=True)
def test_the_page_of_a_control_calls_its_agents_those_of_a_control(team: Studio, designer: Client) -> None:
    job = bred(team.project, config(selection=False))
    page = designer.get(reverse("studies:job", args=[team.project.slug, job.pk])).content.decode()
    assert "This control" in page.partition("Those that stayed")[2]
    assert "This search" not in page


def test_how_far_ends_lie_apart_is_the_difference_of_the_ends_as_they_are_written() -> None:
    moved = axes(config().model_dump(mode="json"))["moved"]
    assert apart(Spread(0.004, 0.906), moved) == "0 to 91 (91 apart)"
    assert apart(Spread(1.004, 2.006), moved._replace(share=False)) == "1.00 to 2.01 (1.01 apart)"
    assert apart(Spread(0.3, 0.3), moved) == "30 to 30 (0 apart)"

"""The chart of a self-play: open ends of ranges, the numbers of its axis, and whose line is whose."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from django.test import Client

from tests.contracts.asked_kind import page
from tests.factories import Studio
from tests.webapp.test_self_play import played
from webapp.self_play.drawing import StrengthCurves
from webapp.self_play.reading import SelfPlayResult

pytestmark = pytest.mark.django_db


def drawn(reading: SelfPlayResult, **changes: dict[str, float]) -> StrengthCurves:
    """Its chart, with other numbers for what stands after the last round: by member, such as ``first``."""
    first = reading.members[0].name
    name = {"first": first, "other": next(p.name for p in reading.members if p.name != first)}
    named = {name[who]: change for who, change in changes.items()}
    reading.players = [p._replace(**named[p.name]) if p.present and p.name in named else p for p in reading.players]
    return StrengthCurves(reading, 3)


def test_an_end_that_meetings_leave_open_is_an_arrow_in_the_chart(team: Studio, designer: Client) -> None:
    reading = SelfPlayResult.of(played(team))
    assert reading is not None
    closed = {"low": -9.0, "high": 9.0}
    reading.players = [p._replace(**closed) for p in reading.players]
    assert not drawn(reading).open_ended
    course = drawn(reading, first={"high": math.inf}, other={"low": -math.inf})
    assert course.open_ended
    marks = {line.first: line.points[-1] for line in course.lines if line.points[-1].open}
    (above,), (below,) = marks[True].open, marks[False].open
    tips = [float(arrow.split(" L")[1].split()[1]) for arrow in (above, below)]
    assert tips[0] < marks[True].y
    assert tips[1] > marks[False].y
    assert marks[True].high == marks[True].y, "no stroke of a range goes where nobody knows its end"
    content = designer.get(page(played(team))).content.decode()
    assert ('<path class="open"' in content) == ("nobody knows how far its range goes this way" in content)


def test_numbers_of_the_axis_of_strength_leave_room_between_each_other(team: Studio) -> None:
    reading = SelfPlayResult.of(played(team))
    assert reading is not None
    for low, high in ((-1.0, 400.0), (-400.0, 1.0), (-2000.0, 3000.0), (-300.0, 481.0), (0.0, 0.0)):
        reading.players = [p._replace(rating=high if p.member else low, low=low, high=high) for p in reading.players]
        heights = sorted(y for _, y in StrengthCurves(reading, 3).levels)
        assert 3 <= len(heights) <= 6
        assert all(b - a >= 24 for a, b in itertools.pairwise(heights)), "also in the large letters"


def test_the_legend_names_whose_line_stands_out_and_says_that_it_may_have_been_behind(
    team: Studio, designer: Client
) -> None:
    """Also where nobody leads: then it is only the first of equals."""
    job = played(team)
    reading = SelfPlayResult.of(job)
    assert reading is not None
    content = designer.get(page(job)).content.decode()
    name = reading.members[0].name
    assert f"{name}, which stands highest of the members now, as it was in each round, with its range" in content
    assert "Who stands highest now may have been behind others before." in content


def test_copies_of_a_round_that_is_not_complete_are_not_counted(team: Studio) -> None:
    """The chart cannot draw them: who went on is in training, and nowhere on the ladder yet."""
    for rounds in (1, 2, 3):
        reading = SelfPlayResult.of(played(team, rounds))
        assert reading is not None
        assert len(reading.copies) == len(StrengthCurves(reading, 3).jumps)
        begun = {name: np.append(column, column[-1:]) for name, column in reading.lineage.items()}
        begun["step"][-1], begun["copied"][-1] = rounds, 0
        before, reading.lineage = len(reading.copies), begun
        assert len(reading.copies) == before
        assert all(copy.round <= rounds for copy in reading.copies)

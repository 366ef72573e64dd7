"""No two lineups of a report have the same name, and its workbook lists all that are not settled."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openpyxl import load_workbook

from engine.lineups.distinct_names import distinct_names
from tests.factories import Studio, search_job
from tests.webapp.published import UNSURE, played_again, report
from webapp.reports.onefile import one_file
from webapp.reports.workbook import MEANT, to_xlsx

TEAM = st.lists(st.sampled_from(["Duke", "Horn", "Pikes ×4"]), min_size=1, max_size=3)


def test_pieces_that_not_all_hold_tell_lineups_of_a_name_apart_and_else_a_number() -> None:
    horn, pikes = [["Duke", "Horn"], ["Captain"]], [["Duke", "Pikes ×4"], ["Captain"]]
    alone = [["Quill Adept"], ["Duke"]]
    assert distinct_names([horn, pikes, alone, horn]) == [
        "Duke · Captain (Horn)",
        "Duke · Captain (Pikes ×4)",
        "Quill Adept · Duke",
        "Duke · Captain (Horn) (2)",
    ]


@given(st.lists(st.lists(TEAM, min_size=2, max_size=2), max_size=8))
def test_no_name_is_given_twice(lineups: list[list[list[str]]]) -> None:
    names = distinct_names(lineups)
    assert len(set(names)) == len(names)


@pytest.mark.django_db
def test_the_page_lists_twenty_that_are_not_settled_and_the_workbook_all(team: Studio) -> None:
    search = search_job(team.project, rows=200)
    played_again(search, list(range(25)), UNSURE, 0.1)
    made = report(search, team.designer)
    page = one_file(made.content, made.content_hash)
    assert "20 of 25 are listed. Members of the project find all in its Excel file." in page
    sheet = load_workbook(io.BytesIO(to_xlsx(made.content, made.content_hash)))["Not settled"]
    names = [row[0] for row in sheet.iter_rows(min_row=2, values_only=True)]
    assert len(names) == len(set(names)) == 25


@pytest.mark.django_db
def test_a_sheet_of_the_workbook_that_does_not_list_all_says_how_many_more_there_are(team: Studio) -> None:
    made = report(search_job(team.project, rows=200), team.designer)
    row = dict.fromkeys(MEANT, "") | {"name": "Duke · Captain"}
    held = {**made.content, "meant": [row] * 2, "meant_more": 8, "over_more": 1}
    book = load_workbook(io.BytesIO(to_xlsx(held, made.content_hash)))
    last = {
        name: [*book[name].iter_rows(values_only=True)][-1][0] for name in ("Intended, not judged", "Over the line")
    }
    assert last == {
        "Intended, not judged": "8 lineups more, less far towards the line, are not listed.",
        "Over the line": "1 lineup more, less far towards the line, is not listed.",
    }
    del held["meant_more"]
    book = load_workbook(io.BytesIO(to_xlsx(held, made.content_hash)))
    assert [*book["Intended, not judged"].iter_rows(values_only=True)][-1][0] == "Duke · Captain"

"""The last change that was tried stands in a report with every lineup before and after."""

from __future__ import annotations

import io

import pytest
from openpyxl import load_workbook

from tests.factories import Studio, search_job, signed_in
from tests.webapp.published import report
from tests.webapp.replays import shortlist, tried
from tests.webapp.test_reports import words_of
from webapp.reports.content import content
from webapp.reports.workbook import to_xlsx

pytestmark = pytest.mark.django_db


def test_a_change_is_told_with_its_numbers_and_both_sides_of_every_lineup(team: Studio) -> None:
    search = search_job(team.project, rows=200)
    assert content(search)["change"] is None
    shortlist(search)
    job = tried(search)
    made = report(search, team.designer)
    change = made.content["change"]
    assert (change["job"], len(change["rows"])) == (job.pk, 3)
    assert change["numbers"][0]["new"] == 400
    page = words_of(signed_in(team.producer).get(made.get_absolute_url()))
    assert "No change has been tried yet." not in page
    assert change["said"][0] in page
    for row in change["rows"]:
        assert row["before"]["value_words"] in page
        assert row["after"]["value_words"] in page
    assert f"job {job.pk}" in dict(map(tuple, made.content["provenance"]))["Change tried"]
    book = load_workbook(io.BytesIO(to_xlsx(made.content, made.content_hash)))
    assert book["Change"].max_row == 1 + 1 + 3

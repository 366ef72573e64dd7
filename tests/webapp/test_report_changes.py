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
from webapp.reports.onefile import for_paper, one_file
from webapp.reports.workbook import to_xlsx
from webapp.studies.models import Job

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
    heads, _, *rows = book["Proposed change"].iter_rows(values_only=True)
    refitted = [row[heads.index("Refitted")] or "" for row in rows]
    assert refitted == [row["refitted"] for row in change["rows"]]


def test_a_change_that_came_as_a_version_is_not_called_proposed(team: Studio) -> None:
    search = search_job(team.project, rows=200)
    shortlist(search)
    Job.objects.filter(pk=tried(search).pk).update(accompanies=search)
    made = report(search, team.designer)
    assert search.game_version is not None
    title = f"Changed since, in version {search.game_version.number}"
    for page in (
        words_of(signed_in(team.producer).get(made.get_absolute_url())),
        one_file(made.content, made.content_hash),
        for_paper(made.content, made.content_hash),
    ):
        assert title in page
        assert "Proposed change" not in page
    assert title in load_workbook(io.BytesIO(to_xlsx(made.content, made.content_hash))).sheetnames

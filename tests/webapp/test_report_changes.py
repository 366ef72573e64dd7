"""The last change that was tried stands in a report with every lineup before and after."""

from __future__ import annotations

import io

import pytest
from django.urls import reverse
from openpyxl import load_workbook

from tests.factories import Studio, search_job, signed_in
from tests.webapp.published import report
from tests.webapp.replays import shortlist, tried
from tests.webapp.test_reports import words_of
from webapp.changes import proposing, starting
from webapp.changes.reading import read
from webapp.reports.content import content
from webapp.reports.models import Report, ReportDraft
from webapp.reports.onefile import for_paper, one_file
from webapp.reports.workbook import to_xlsx
from webapp.studies.models import Job

pytestmark = pytest.mark.django_db


def test_a_change_is_told_with_its_numbers_and_both_sides_of_every_lineup(team: Studio) -> None:
    search = search_job(team.project, rows=200)
    assert content(search)["change"] is None
    shortlist(search)
    job = tried(search)
    made = report(search, team.designer, change=read(job))
    change = made.content["change"]
    assert (change["job"], len(change["rows"])) == (job.pk, 3)
    assert change["numbers"][0]["new"] == 400
    page = words_of(signed_in(team.producer).get(made.get_absolute_url()))
    assert "No change is proposed." not in page
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
    made = report(search, team.designer, change=proposing.usual(proposing.offered(search)))
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


def published(team: Studio, search: Job, **typed: str) -> Report:
    address = reverse("reports:compose", args=[search.project.slug, search.pk])
    signed_in(team.designer).post(address, {"title": "Spring", "release": "spring", **typed})
    found = Report.objects.first()
    assert found is not None
    return found


def test_a_change_that_somebody_only_looked_at_is_proposed_only_where_that_is_chosen(team: Studio) -> None:
    search = search_job(team.project, rows=200)
    shortlist(search)
    job = tried(search)
    found = read(job)
    assert found is not None
    assert not proposing.works(found), "lineups of this replay stay over the line or are not settled"
    address = reverse("reports:compose", args=["herobattle", search.pk])
    page = words_of(signed_in(team.designer).get(address))
    assert "No change is proposed." in page
    assert published(team, search).content["change"] is None
    chosen = published(team, search, change=str(job.pk))
    assert chosen.content["change"]["job"] == job.pk
    assert signed_in(team.designer).post(address, {"title": "A", "release": "b", "change": "999"}).status_code == 422


def test_a_change_that_was_saved_as_data_proposes_itself_and_can_be_left_out(team: Studio) -> None:
    search = search_job(team.project, rows=200)
    shortlist(search)
    job = tried(search)
    starting.save(job, team.designer, "Cheaper")
    tried(search, {"marrow-duke.cost": 410.0})
    usual = proposing.usual(proposing.offered(search))
    assert usual is not None
    assert usual.job == job
    address = reverse("reports:compose", args=["herobattle", search.pk])
    assert f'<option value="{job.pk}" selected>' in signed_in(team.designer).get(address).content.decode()
    assert published(team, search, change="").content["change"] is None


def test_the_preview_shows_the_change_that_is_chosen_and_keeps_the_choice(team: Studio) -> None:
    search = search_job(team.project, rows=200)
    shortlist(search)
    job = tried(search)
    address, client = reverse("reports:preview", args=["herobattle", search.pk]), signed_in(team.designer)
    shown = client.post(address, {"title": "A", "release": "b", "change": str(job.pk)}).content.decode()
    assert 'id="report-proposes"' in shown
    assert "hx-swap-oob" in shown
    assert "No change is proposed." not in shown
    assert ReportDraft.objects.get().typed["change"] == str(job.pk)
    assert "No change is proposed." in client.post(address, {"title": "A", "change": ""}).content.decode()

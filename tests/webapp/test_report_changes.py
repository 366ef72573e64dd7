"""The last change that was tried stands in a report with every lineup before and after."""

from __future__ import annotations

import io
import re

import pytest
from django.http import HttpResponse
from django.template.loader import render_to_string
from django.urls import reverse
from openpyxl import load_workbook

from tests.factories import Studio, search_job, signed_in
from tests.webapp.changes import PATCHES, search_for_changes, table
from tests.webapp.experiments import experiment
from tests.webapp.experiments import table as rows_of_pieces
from tests.webapp.published import link_to, report
from tests.webapp.replays import shortlist, tried
from tests.webapp.test_reports import SETTLED, words_of
from webapp.changes import proposing, starting
from webapp.changes.reading import read
from webapp.games import versions
from webapp.games.specs import version_spec
from webapp.reports import proposals
from webapp.reports.content import content
from webapp.reports.mended import mended
from webapp.reports.models import Report, ReportDraft
from webapp.reports.onefile import for_paper, one_file
from webapp.reports.pieces import pieces_of
from webapp.reports.untested import of_searched
from webapp.reports.workbook import to_xlsx
from webapp.studies.models import Job

pytestmark = pytest.mark.django_db
CHANGED = "warhorn.cost"


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


def test_bars_before_and_after_begin_where_their_scale_does_also_of_a_lineup_without_a_verdict(team: Studio) -> None:
    search = search_job(team.project, rows=200)
    shortlist(search)
    change = report(search, team.designer, change=read(tried(search))).content["change"]
    rows = [{**row, "mark": mark} for row, mark in zip(change["rows"], ("", "fair", ""), strict=True)]
    drawn = render_to_string("reports/change.html", {"change": {**change, "rows": rows}})
    assert len(re.findall(r'<li><(?:svg|span) class="vm', drawn)) == 3


def test_many_lineups_of_a_change_are_folded_on_screens_and_stand_on_paper(team: Studio) -> None:
    search = search_job(team.project, rows=200)
    shortlist(search)
    change = report(search, team.designer, change=read(tried(search))).content["change"]
    many = {**change, "rows": [{**change["rows"][0], "name": f"Lineup {n}"} for n in range(8)]}
    screen, paper = (render_to_string("reports/change.html", {"change": many, "unfolded": on}) for on in (False, True))
    folded = screen.partition("<details")[2].partition("</details>")[0]
    assert ("2 more" in folded, "Lineup 5" in folded, "Lineup 6" in folded) == (True, False, True)
    assert ("<details" in paper, paper.count("<li>")) == (False, 8)


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


def test_a_change_that_was_found_and_proved_is_proposed_and_leads_the_verdict(team: Studio) -> None:
    search = search_job(team.project, rows=200)
    experiment(search)
    job = search_for_changes(team.project, team.designer)
    address = reverse("reports:compose", args=["herobattle", search.pk])
    composing = signed_in(team.designer).get(address).content.decode()
    assert f'<option value="{job.pk}-1" selected>' in composing, "it works, so it proposes itself"
    assert composing.count("Found and proved") == 1, "changes that do not work are not offered"
    made = published(team, search, change=f"{job.pk}-1")
    assert made.sentence == "Not fair yet. One small change fixes the worst."
    told = (
        made.sentence,
        "Warhorn: cost 90 → 120",
        "Frost Captain + Warhorn: 6.7 points (4.1 to 9.0) before, 0.2 points (−1.0 to 1.4) after.",
        "suspects are confirmed.",
        "Dashed: the smallest effect that matters, 3 points.",
        "Suspects rest on other battles, so their number for the same piece may differ by chance.",
    )
    link = words_of(signed_in(team.stranger).get(link_to(made, team.owner)[1]))
    page = words_of(signed_in(team.producer).get(made.get_absolute_url()))
    files = [words_of(HttpResponse(make(made.content, made.content_hash))) for make in (one_file, for_paper)]
    for text in (page, link, *files):
        for said in told:
            assert said in text
    origin = dict(map(tuple, made.content["provenance"]))
    assert origin["Change found and proved"] == f"job {job.pk}, 399,000 battles"
    book = load_workbook(io.BytesIO(to_xlsx(made.content, made.content_hash)))
    assert made.sentence in [row[1] for row in book["Report"].iter_rows(values_only=True)]
    rows = list(book["Proposed change"].iter_rows(values_only=True))
    assert ("Warhorn: cost", 90, 120) in [(row[0], row[2], row[5]) for row in rows]
    assert [row[0] for row in rows[2:]] == ["Warhorn", "Frost Captain + Warhorn"]


def test_a_rule_that_was_proved_is_proposed_as_one(team: Studio) -> None:
    search = search_job(team.project, rows=200)
    search_for_changes(team.project, team.designer, table([{**PATCHES[1], "verdict": "works"}, PATCHES[3]]))
    (found,) = proposals.offered(search)
    change = proposals.kept_change(found)
    assert change is not None
    assert [(n["title"], n["was"], n["value"]) for n in change["numbers"]] == [
        ("Frost Captain and Warhorn in one team", "allowed", "not allowed")
    ]
    assert [row["words"] for row in change["rows"]] == ["Fixed", "Fixed: in no team any more"]


def test_what_was_proved_on_other_data_or_is_not_over_is_not_offered(team: Studio) -> None:
    search = search_job(team.project, rows=200)
    job = search_for_changes(team.project, team.designer)
    assert proposals.offered(search)
    Job.objects.filter(pk=job.pk).update(status="running")
    assert not proposals.offered(search)
    version = search.game_version
    assert version is not None
    other = versions.save(team.project, version.simulator, version_spec(version), {}, user=team.designer)
    Job.objects.filter(pk=job.pk).update(status="finished", game_version=other)
    assert not proposals.offered(search)


def test_lineups_that_fresh_battles_judged_only_where_a_change_was_tried_are_told_as_that(team: Studio) -> None:
    search = search_job(team.project, rows=200)
    experiment(search, SETTLED)
    shortlist(search)
    (alone,) = (each for each in content(search)["untested"] if "which flatter" in each)
    assert alone.endswith("no fresh battles judged that.")
    tried(search)
    found = content(search)
    (said,) = (each for each in found["untested"] if "which flatter" in each)
    assert said.endswith("fresh battles judged 3 of them only where a change was tried, and the others nowhere.")
    assert found["verdict"]["words"] == (
        "Cannot tell yet: no lineup was played again on fresh battles but where a change was tried."
    )


@pytest.mark.parametrize(
    ("searched", "tried", "ends"),
    [
        (1, 0, "1 lineup is over the line by the search’s own battles, which flatter; no fresh battles judged that."),
        (1, 1, "fresh battles judged it only where a change was tried."),
        (6, 5, "fresh battles judged 5 of them only where a change was tried, and the other nowhere."),
        (3, 3, "fresh battles judged them only where a change was tried."),
    ],
)  # fmt: skip
def test_of_what_the_search_alone_says_it_is_told_who_else_judged_it(searched: int, tried: int, ends: str) -> None:
    assert of_searched(searched, tried).endswith(ends)


def test_the_verdict_says_of_a_change_that_was_tried_what_fresh_battles_proved(team: Studio) -> None:
    search = search_job(team.project, rows=200)
    shortlist(search)
    found = read(tried(search))
    assert found is not None
    lineups = found.lineups
    for before, after, said in (
        ("confirmed", "refuted", "One change brings the worst lineups under the line."),
        ("confirmed", "confirmed", "The proposed change leaves one of the worst lineups over the line."),
        ("confirmed", "more", "Whether the proposed change is enough is not settled."),
        ("refuted", "refuted", "Whether the proposed change is enough is not settled."),
    ):
        told = [each._replace(found_before=before, finding=after, unfit=False) for each in lineups]
        found.__dict__["lineups"] = told
        done = mended(found, [])
        assert done is not None
        assert done.words == said
        assert " before, " in done.both
    for each in found.job.config["replayed"]:
        for one in each["teams"]:
            one["slots"] = {}
    experiment(search)
    other = mended(found, pieces_of(Job.objects.get(pk=search.pk)).faults)
    assert other is not None
    assert other.words == "The proposed change was not tried on the worst.", "no lineup of it holds that"


def test_what_a_later_search_confirmed_on_newer_data_comes_first_and_is_named(team: Studio) -> None:
    search = search_job(team.project, rows=200)
    experiment(search)
    assert content(search)["verdict"]["words"] == "Not fair yet. Four suspects are confirmed."
    version = search.game_version
    assert version is not None
    newer = versions.save(team.project, version.simulator, version_spec(version), {CHANGED: 120}, user=team.designer)
    again = Job.objects.get(pk=search.pk)
    again.pk = None
    again.title, again.game_version = "Once more", newer
    again.save()
    assert content(search)["verdict"]["words"].endswith("Four suspects are confirmed."), "it measured no pieces yet"
    measured = experiment(again)
    said = content(search)["verdict"]
    assert said["words"] == (
        f"Not fair yet. On version 15, four suspects are confirmed by the search “Once more” (job {again.pk})."
    )
    assert said["more"][0] == "Four suspects are confirmed.", "nothing that was said is lost"
    assert "version 15" not in content(again)["verdict"]["words"], "it is of that version itself"
    Job.objects.filter(pk=measured.pk).update(artifacts={"table": rows_of_pieces(SETTLED)})
    assert "version 15" not in content(search)["verdict"]["words"], "nothing is unfair there"

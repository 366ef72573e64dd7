"""What is taken away is exactly what was chosen, says where it comes from, and harms nobody who opens it."""

from __future__ import annotations

import base64
import csv
import io
import json
from typing import Any

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse
from openpyxl import load_workbook

from tests.factories import Studio, archive, bundle, search_job
from tests.webapp.test_explore_shortlist import finished_recheck
from webapp.games.models import Simulator
from webapp.lib.storage import store
from webapp.studies.explore_export import safe
from webapp.studies.models import Job

pytestmark = pytest.mark.django_db

HOSTILE = ('=HYPERLINK("http://example.com","x")', "</script><img src=x onerror=alert(1)>")


@pytest.fixture
def job(team: Studio) -> Job:
    return search_job(team.project, rows=300)


@pytest.fixture
def hostile_job(job: Job) -> Job:
    """A game whose heroes all have names that try something."""
    simulator = Simulator.objects.get()
    for i, piece in enumerate(p for p in simulator.spec["pieces"] if p["category"] == "hero"):
        piece["name"] = f"{HOSTILE[i % 2]} {i}"
    simulator.save()
    return job


def fetch(team: Studio, job: Job, kind: str, query: str = "") -> Any:
    client = Client()
    client.force_login(team.producer)
    return client.get(reverse(f"studies:export-{kind}", args=[team.project.slug, job.pk]) + query)


def table(answer: Any) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(answer.content.decode("utf-8-sig"))))


def test_csv_holds_the_chosen_lineups_in_the_order_of_the_table(team: Studio, job: Job) -> None:
    answer = fetch(team, job, "csv", "?rows=7,3,5&sort=gap")
    rows = table(answer)
    assert answer.content.startswith(b"\xef\xbb\xbf")
    assert {row["Lineup"] for row in rows} == {"3", "5", "7"}
    gaps = [float(row["Strength gap (points)"]) for row in rows]
    assert gaps == sorted(gaps)
    assert f"job-{job.pk}-lineups.csv" in answer["Content-Disposition"]


def test_fresh_numbers_come_with_their_ranges_and_the_searchs_beside_them(team: Studio, job: Job) -> None:
    columns = {name: column[[7]] for name, column in archive(300).items()}
    columns["objective"], columns["error"] = np.array([[2.6, 50.0, 28.0]]), np.array([[0.05, 1.0, 1.0]])
    columns["samples"] = np.full(1, 32, dtype=np.int32)
    job.artifacts["fresh"] = store().put(bundle(columns))
    job.save()
    played, searched = sorted(table(fetch(team, job, "csv", "?rows=7,3")), key=lambda row: -int(row["Lineup"]))
    assert (played["How sure"], played["Measured on"], played["Battles"]) == ("Confirmed", "fresh battles", "768")
    low, mean, high = (float(played[f"Strength gap{what}"]) for what in (", 95 % from", " (points)", ", 95 % to"))
    assert low < mean < high
    assert float(played["Strength gap in the search (points)"]) == pytest.approx(archive(300)["objective"][7, 1])
    assert played["Strength gap in the search, 95 % from"] != ""
    assert searched["Measured on"] == "the search’s battles"
    assert searched["Strength gap in the search (points)"] == ""


def test_costs_are_whole_where_the_games_are(team: Studio, job: Job) -> None:
    row = table(fetch(team, job, "csv", "?rows=7"))[0]
    assert all(row[f"Team {team} cost"].isdecimal() for team in (1, 2, 3))


def test_every_line_says_where_it_comes_from(team: Studio, job: Job) -> None:
    source = table(fetch(team, job, "csv", "?rows=7"))[0]["Source"]
    for part in (f"Job: {job.pk}", job.config_hash, "Spring data, version 14", "Herobattle 1.", "Seed: 1",
                 "Battles per evaluation: 96", str(team.producer)):  # fmt: skip
        assert part in source


def test_xlsx_has_lineups_teams_and_config(team: Studio, job: Job) -> None:
    book = load_workbook(io.BytesIO(fetch(team, job, "xlsx", "?show=strong,unsure,under&best=1").content))
    lineups = len(table(fetch(team, job, "csv", "?show=strong,unsure,under&best=1")))
    assert book.sheetnames == ["Lineups", "Teams", "Config"]
    assert book["Lineups"].max_row == lineups + 1
    assert book["Teams"].max_row == 3 * lineups + 1
    assert [cell.value for cell in book["Teams"][1]][4] == "Strength left, in all battles of the search"
    facts = {row[0].value: row[1].value for row in book["Config"].iter_rows()}
    assert facts["Config hash"] == job.config_hash
    assert facts["Seed"] == 1
    assert "the line at 2" in facts["Objective advantage"]


def test_a_row_that_is_cut_out_of_its_file_says_by_which_line_it_was_judged(team: Studio, job: Job) -> None:
    own, moved = (table(fetch(team, job, "csv", f"?rows=7{line}"))[0]["Source"] for line in ("", "&line-advantage=2.3"))
    assert "; The line: Resource advantage at 2; " in own
    assert "; The line, moved: Resource advantage at 2.3; the job’s own is 2; " in moved
    assert "The line: " not in moved


def test_a_workbook_of_all_that_is_listed_says_that_some_of_it_only_may_be_over_the_line(
    team: Studio, job: Job
) -> None:
    facts = {
        row[0].value: row[1].value for row in load_workbook(io.BytesIO(fetch(team, job, "xlsx").content))["Config"]
    }
    assert facts["Filters"] == "none: everything that is or may be over the line"
    for objective in job.config["objectives"]["objectives"]:
        objective["threshold"] = None
    job.save()
    facts = {
        row[0].value: row[1].value for row in load_workbook(io.BytesIO(fetch(team, job, "xlsx").content))["Config"]
    }
    assert facts["Filters"] == "none: everything"


def test_cells_that_look_like_formulas_are_text(team: Studio, hostile_job: Job) -> None:
    for row in table(fetch(team, hostile_job, "csv", "?show=strong,unsure,under")):
        assert not any((cell or "").startswith(("=", "+", "@", "\t", "\r")) for cell in row.values())
    book = load_workbook(io.BytesIO(fetch(team, hostile_job, "xlsx", "?show=strong,unsure,under").content))
    kinds = {cell.data_type for sheet in book for line in sheet.iter_rows() for cell in line}
    assert "f" not in kinds


def test_the_offline_page_holds_the_lineups_and_no_name_becomes_markup(team: Studio, hostile_job: Job) -> None:
    page = fetch(team, hostile_job, "html", "?rows=7,3").content.decode()
    head, _, rest = page.partition('<script type="application/json" id="payload">')
    payload = json.loads(rest.partition("</script>")[0])
    assert [cells[0] for cells in payload["rows"]] in ([3, 7], [7, 3])
    assert "</script><img" in payload["rows"][0][1] + payload["rows"][1][1]
    assert "<img" not in head
    assert "<img src=x" not in rest.partition("</script>")[0]
    assert "default-src 'none'" in head
    assert hostile_job.config_hash in head


def test_a_range_that_is_not_known_is_no_number_on_the_offline_page(team: Studio) -> None:
    """It was 0, which is what certainty looks like; the page on the site draws none."""
    columns = archive(rows=20)
    columns["samples"] = np.ones(20, np.int32)
    job = search_job(team.project, rows=20)
    job.artifacts = {**job.artifacts, "archive": store().put(bundle(columns))}
    job.save()
    page = fetch(team, job, "html", "?rows=7,3").content.decode()
    payload = json.loads(page.partition('id="payload">')[2].partition("</script>")[0])
    halves = [np.frombuffer(base64.b64decode(packed), "<f4") for packed in payload["half"]]
    assert halves
    assert all(len(half) for half in halves)
    assert np.isnan(halves).all()


def test_the_offline_page_marks_what_fresh_battles_confirm(team: Studio) -> None:
    job = search_job(team.project, rows=200)
    finished_recheck(job, [3], [2.6, 50.0, 28.0], [0.02, 1.0, 1.0])

    def payload(query: str) -> Any:
        page = fetch(team, job, "html", query).content.decode()
        return json.loads(page.partition('id="payload">')[2].partition("</script>")[0])

    told = payload("?rows=7,3")
    assert [told["rows"][i][0] for i in told["confirmed"]] == [3]
    assert payload("?rows=7,3&line-advantage=0.5")["confirmed"] == []


def test_nothing_chosen_is_an_empty_table_not_an_error(team: Studio, job: Job) -> None:
    for kind in ("csv", "xlsx", "html"):
        assert fetch(team, job, kind, "?min-advantage=99").status_code == 200
    assert table(fetch(team, job, "csv", "?min-advantage=99")) == []


def test_an_address_that_cannot_be_read_is_said_in_a_sentence(team: Studio, job: Job) -> None:
    answer = fetch(team, job, "csv", "?min-advantage=much")
    assert answer.status_code == 400
    assert "not a number" in answer.content.decode()


def test_more_lineups_than_a_file_opens_well_are_refused_with_a_way_out(
    team: Studio, job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webapp.studies.explore_views.FILE_ROWS", 2)
    for kind, what in (("xlsx", "Excel"), ("html", "one page")):
        answer = fetch(team, job, kind, "?rows=1,2,3")
        assert answer.status_code == 400
        assert f"too many for {what}" in answer.content.decode()
    assert fetch(team, job, "csv", "?rows=1,2,3").status_code == 200


def test_a_withdrawn_lineup_is_not_listed_as_shortlisted(team: Studio, job: Job) -> None:
    client = Client()
    client.force_login(team.owner)
    address = reverse("studies:explore-shortlist", args=[team.project.slug, job.pk])
    client.post(address, {"action": "add", "lineup": 7, "reason": "+1 for this"})
    assert table(fetch(team, job, "csv", "?rows=7"))[0]["Shortlisted because"] == "'+1 for this"
    client.post(address, {"action": "withdraw", "lineup": 7})
    assert table(fetch(team, job, "csv", "?rows=7"))[0]["Shortlisted because"] == ""
    assert table(fetch(team, job, "csv", "?listed=1")) == []


@pytest.mark.parametrize(
    "text", ["=1", "\u202e=1", "\uff1d1+1", "\u200b\uff20x", "\ufe66x", " -1", "\u00a0+1", "\ufeff=1", "\t1"], ids=ascii
)
def test_no_cell_begins_like_a_formula_in_any_width_and_behind_nothing_that_shows(text: str) -> None:
    assert safe(text) == f"'{text}"


@pytest.mark.parametrize("text", ["", "Frost Duke", "\u2212 3", "\u0416=1", "3 - 1"], ids=ascii)
def test_other_cells_stay_as_they_are(text: str) -> None:
    assert safe(text) == text

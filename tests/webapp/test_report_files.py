"""Reports as files: one page without scripts or requests, PDF, Excel, with the numbers of the page and their origin."""

from __future__ import annotations

import builtins
import io
import json
import re
from typing import Any

import pytest
from django.urls import reverse
from openpyxl import load_workbook

from tests.factories import Studio, search_job, signed_in
from tests.webapp.experiments import experiment
from tests.webapp.published import OVER, UNSURE, played_again, report
from tests.webapp.test_api_access import ask, token
from tests.webapp.test_reports import words_of
from webapp.reports import pdf
from webapp.reports.models import Report
from webapp.reports.onefile import one_file

pytestmark = pytest.mark.django_db

KB = 1024
EVIL = '=HYPERLINK("x")<script>alert(1)</script>'


@pytest.fixture
def made(team: Studio) -> Report:
    search = search_job(team.project, rows=200)
    experiment(search)
    played_again(search, list(range(12)), OVER)
    played_again(search, [20], UNSURE, 0.1)
    return report(search, team.designer, EVIL, words="=1+1\nSecond line")


def taken(team: Studio, made: Report, kind: str) -> Any:
    return signed_in(team.producer).get(reverse(f"reports:{kind}", args=["herobattle", made.pk]))


def test_the_page_asks_for_nothing_needs_no_script_and_is_small(team: Studio, made: Report) -> None:
    answer = taken(team, made, "html")
    page = answer.content.decode()
    assert answer["Content-Disposition"].startswith("attachment")
    assert len(answer.content) <= 500 * KB
    assert "<script" not in page
    assert not re.search(r"""(?:src|href)=|url\(|@import|<link|<img|<iframe|https?://""", page)
    assert "default-src 'none'" in page
    assert "prefers-color-scheme: dark" in page
    assert page.count("<svg") > 15


def test_names_are_text_in_the_page(made: Report) -> None:
    assert "&lt;script&gt;alert(1)" in one_file(made.content, made.content_hash)


def test_every_number_of_the_report_s_page_stands_in_the_file(team: Studio, made: Report) -> None:
    body = signed_in(team.producer).get(made.get_absolute_url()).content.decode()
    report_part = body.partition('<div class="stack report">')[2].partition('aria-labelledby="judge-title"')[0]
    numbers = set(re.findall(r"\d[\d,.]*", re.sub(r"<[^>]+>", " ", report_part)))
    assert len(numbers) > 60
    assert numbers <= set(re.findall(r"\d[\d,.]*", re.sub(r"<[^>]+>", " ", taken(team, made, "html").content.decode())))


def test_where_it_comes_from_and_its_hash_stand_in_the_page(team: Studio, made: Report) -> None:
    words = words_of(taken(team, made, "html"))
    assert made.content_hash in words
    for label, value in made.content["provenance"]:
        assert label in words
        assert " ".join(value.split()) in words


def test_a_workbook_has_all_of_it_and_no_formula(team: Studio, made: Report) -> None:
    book = load_workbook(io.BytesIO(taken(team, made, "xlsx").content))
    assert book.sheetnames == ["Report", "Suspects", "Over the line", "Proposed change", "Not settled", "Not tested",
                               "Decisions", "Shortlist", "Where it comes from"]  # fmt: skip
    cells = [cell for sheet in book for row in sheet.iter_rows() for cell in row if cell.value is not None]
    assert not [cell for cell in cells if cell.data_type == "f"]
    texts = [str(cell.value) for cell in cells]
    assert f"'{EVIL}" in texts
    assert any(text.startswith("'=1+1") for text in texts)
    assert made.content_hash in texts
    suspects = list(book["Suspects"].iter_rows(min_row=2, values_only=True))
    kept = [(each["worth"], each["low"], each["high"]) for each in made.content["suspects"]]
    assert [row[3:6] for row in suspects] == [pytest.approx(each) for each in kept]
    assert book["Over the line"].max_row == 1 + 12


def test_a_pdf_has_pages_of_the_report(team: Studio, made: Report) -> None:
    if reason := pdf.obstacle():
        pytest.fail(f"{reason} Install deploy/requirements/base.txt, and libpango-1.0-0 and libpangoft2-1.0-0.")
    answer = taken(team, made, "pdf")
    assert answer["Content-Type"] == "application/pdf"
    assert answer.content.startswith(b"%PDF-")
    assert 10 * KB < len(answer.content) < 2000 * KB


def test_drawings_in_a_pdf_have_colours_and_no_names_of_colours() -> None:
    drawn = pdf.coloured('<svg class="tilt tilt-strong" viewBox="0 0 120 72"><path class="heavy"/></svg>')
    assert ".tilt .heavy { fill: #bf2f1c; }" in drawn
    assert "var(" not in drawn


def no_library(name: str) -> None:
    raise OSError(name)


def test_the_page_of_a_report_does_not_load_what_makes_pdf_files(
    team: Studio, made: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = builtins.__import__

    def without(name: str, *more: Any, **named: Any) -> Any:
        assert not name.startswith("weasyprint"), "it takes the better part of a second of processor time"
        return plain(name, *more, **named)

    pdf.obstacle.cache_clear()
    monkeypatch.setattr(builtins, "__import__", without)
    page = signed_in(team.producer).get(made.get_absolute_url()).content.decode()
    assert reverse("reports:pdf", args=["herobattle", made.pk]) in page


@pytest.mark.parametrize(
    ("name", "instead", "says"),
    [("find_spec", lambda name: None, "WeasyPrint is not installed"), ("CDLL", no_library, "Pango")],
)
def test_where_no_pdf_can_be_made_the_page_and_the_api_say_why(
    team: Studio, made: Report, monkeypatch: pytest.MonkeyPatch, name: str, instead: Any, says: str
) -> None:
    pdf.obstacle.cache_clear()
    monkeypatch.setattr(pdf, name, instead)
    page = signed_in(team.producer).get(made.get_absolute_url())
    assert says in words_of(page)
    assert reverse("reports:pdf", args=["herobattle", made.pk]) not in page.content.decode()
    answer = taken(team, made, "pdf")
    assert answer["Location"] == made.get_absolute_url()
    by_api = ask("get", f"/api/v1/projects/herobattle/reports/{made.pk}/pdf", token(team.producer))
    assert (by_api.status_code, says in by_api.getvalue().decode()) == (503, True)
    pdf.obstacle.cache_clear()


def test_the_api_lists_reports_and_gives_them_and_their_files(team: Studio, made: Report) -> None:
    text = token(team.producer)
    (listed,) = json.loads(ask("get", "/api/v1/projects/herobattle/reports", text).getvalue())
    assert (listed["report"], listed["state"], listed["kind"]) == (made.pk, "waiting", "unfair")
    whole = json.loads(ask("get", f"/api/v1/projects/herobattle/reports/{made.pk}", text).getvalue())
    assert whole["content"] == made.content
    page = ask("get", f"/api/v1/projects/herobattle/reports/{made.pk}/html", text).getvalue()
    assert page.decode() == one_file(made.content, made.content_hash)
    assert ask("get", f"/api/v1/projects/herobattle/reports/{made.pk}/doc", text).status_code == 422
    assert ask("get", "/api/v1/projects/herobattle/reports/99", text).status_code == 404

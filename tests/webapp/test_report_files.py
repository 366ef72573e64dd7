"""Reports as files: one page without scripts or requests, PDF, Excel, with the numbers of the page and their origin."""

from __future__ import annotations

import builtins
import io
import json
import re
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone
from openpyxl import load_workbook
from pytest_django import DjangoCaptureOnCommitCallbacks
from pytest_django.fixtures import Settings

from tests.factories import Studio, search_job, signed_in
from tests.webapp.experiments import experiment
from tests.webapp.published import OVER, UNSURE, played_again, report
from tests.webapp.test_api_access import ask, token
from tests.webapp.test_reports import words_of
from webapp.lib.storage import store
from webapp.reports import paper, pdf
from webapp.reports.judging import judge, standing
from webapp.reports.models import Paper, Report
from webapp.reports.onefile import one_file
from webapp.reports.workbook import to_xlsx
from workers import tasks
from workers.collect import references
from workers.reconcile import reconcile

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


def test_lineups_that_hold_what_is_intended_are_not_on_the_sheet_of_those_over_the_line(made: Report) -> None:
    rows = made.content["over"][0]["rows"]
    meant = [{**row, "value": 1.9, "low": 1.8, "high": 2.0, "holds": "Marrow Duke"} for row in rows[:2]]
    book = load_workbook(io.BytesIO(to_xlsx({**made.content, "meant": meant}, made.content_hash)))
    assert [row[8] for row in book["Intended, not judged"].iter_rows(min_row=2, values_only=True)] == [
        "Marrow Duke"
    ] * 2
    assert book["Over the line"].max_row == 1 + 12


def test_what_is_taken_away_says_at_its_top_that_the_report_was_sent_back(team: Studio, made: Report) -> None:
    judge(made, team.producer, "back", "A secret reason")
    page = taken(team, made, "html").content.decode()
    assert "was sent back on" in page.partition("<h1>")[0]
    assert "secret" not in page
    book = load_workbook(io.BytesIO(taken(team, made, "xlsx").content))
    (what, value), *_ = book["Report"].iter_rows(min_row=2, values_only=True)
    assert (what, value) == ("How it stands", standing(made))
    assert "sent back" in standing(made)


class Queue:
    """The queue of the workers, as the site sees it. ``away``: nobody answers."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.away, self.sent = False, list[int]()
        monkeypatch.setattr(paper, "enqueue", self._take)

    def _take(self, task: str, report: int) -> bool:
        assert task == "make_pdf"
        if not self.away:
            self.sent.append(report)
        return not self.away

    def work(self) -> None:
        """A worker takes every message."""
        while self.sent:
            self.work_once()

    def work_once(self) -> None:
        """A worker takes the oldest message."""
        tasks.make_pdf(self.sent.pop(0))


@pytest.fixture
def queue(monkeypatch: pytest.MonkeyPatch) -> Queue:
    return Queue(monkeypatch)


@pytest.fixture
def settings_of_pages(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The hashes of the reports that were set, instead of setting them."""
    done: list[str] = []

    def instead(content: Any, digest: str) -> bytes:
        done.append(digest)
        return b"%PDF-1.7 " + digest.encode()

    monkeypatch.setattr(paper, "to_pdf", instead)
    monkeypatch.setattr(paper, "obstacle", lambda: "")
    return done


def about_paper(team: Studio, made: Report) -> str:
    """What the page of a report says of its PDF."""
    said = signed_in(team.producer).get(reverse("reports:printing", args=["herobattle", made.pk])).content.decode()
    assert said.strip() in signed_in(team.producer).get(made.get_absolute_url()).content.decode()
    return said


def test_a_pdf_has_pages_of_the_report(team: Studio, made: Report, queue: Queue) -> None:
    if reason := pdf.obstacle():
        pytest.fail(f"{reason} Install deploy/requirements/base.txt, and libpango-1.0-0 and libpangoft2-1.0-0.")
    taken(team, made, "pdf")
    queue.work()
    answer = taken(team, made, "pdf")
    assert answer["Content-Type"] == "application/pdf"
    assert answer.content.startswith(b"%PDF-")
    assert 10 * KB < len(answer.content) < 2000 * KB


def test_a_pdf_is_wanted_as_a_report_is_published_and_made_once_by_a_worker(
    team: Studio,
    made: Report,
    queue: Queue,
    settings_of_pages: list[str],
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    Paper.objects.all().delete()
    with django_capture_on_commit_callbacks(execute=True):
        newer = report(made.search, team.designer, replaces=made)
    assert queue.sent == [newer.pk]
    assert "The PDF is being made." in about_paper(team, newer)
    assert 'hx-trigger="every 2s"' in about_paper(team, newer)
    assert taken(team, newer, "pdf")["Location"] == newer.get_absolute_url()
    assert (queue.sent, settings_of_pages) == ([newer.pk], []), "a request sets no page, and asks no second worker"
    tasks.make_pdf(newer.pk)
    queue.work()
    assert "hx-trigger" not in about_paper(team, newer)
    assert [taken(team, newer, "pdf").content for _ in range(2)] == [b"%PDF-1.7 " + newer.content_hash.encode()] * 2
    assert settings_of_pages == [newer.content_hash]


def test_one_pdf_is_sent_for_at_a_time_and_whoever_asks_for_many_waits_behind_others(
    team: Studio, made: Report, queue: Queue, settings_of_pages: list[str]
) -> None:
    Paper.objects.all().delete()
    many = [report(made.search, team.designer) for _ in range(4)]
    for each in many:
        taken(team, each, "pdf")
    assert queue.sent == [many[0].pk]
    other = report(made.search, team.engineer)
    taken(team, other, "pdf")
    came = []
    while queue.sent:
        assert len(queue.sent) == 1
        came += queue.sent
        queue.work_once()
    assert came == [many[0].pk, other.pk, *(each.pk for each in many[1:])]
    assert len(settings_of_pages) == 5


def test_a_pdf_whose_worker_died_keeps_others_waiting_for_a_minute_and_not_for_good(
    team: Studio, made: Report, queue: Queue, settings_of_pages: list[str]
) -> None:
    taken(team, made, "pdf")
    Paper.objects.update(begun_at=timezone.now())
    other = report(made.search, team.designer)
    taken(team, other, "pdf")
    assert queue.sent == [made.pk]
    Paper.objects.filter(report=made).update(begun_at=timezone.now() - 2 * paper.AT_WORK)
    reconcile()
    assert queue.sent == [made.pk, other.pk]


def test_what_keeps_storage_clean_leaves_a_pdf_and_a_lost_one_is_made_again(
    team: Studio, made: Report, queue: Queue, settings_of_pages: list[str]
) -> None:
    taken(team, made, "pdf")
    queue.work()
    digest = Paper.objects.get().digest
    assert digest in set(references())
    store().discard([digest])
    taken(team, made, "pdf")
    queue.work()
    assert taken(team, made, "pdf").content.startswith(b"%PDF-")
    assert len(settings_of_pages) == 2


def test_while_the_queue_is_away_the_page_says_so_and_the_pdf_is_made_later(
    team: Studio, made: Report, queue: Queue, settings_of_pages: list[str]
) -> None:
    queue.away = True
    assert taken(team, made, "pdf")["Location"] == made.get_absolute_url()
    assert "the queue of this site does not answer" in about_paper(team, made)
    address, text = f"/api/v1/projects/herobattle/reports/{made.pk}/pdf", token(team.producer)
    by_api = ask("get", address, text)
    assert (by_api.status_code, by_api["Retry-After"]) == (503, "5")
    assert "does not answer" in json.loads(by_api.getvalue())["message"]
    queue.away = False
    reconcile()
    assert "being made" in json.loads(ask("get", address, text).getvalue())["message"]
    queue.work()
    assert ask("get", address, text).getvalue().startswith(b"%PDF-")


def test_a_pdf_waits_for_room_on_the_disk(
    team: Studio, made: Report, queue: Queue, settings_of_pages: list[str], settings: Settings
) -> None:
    taken(team, made, "pdf")
    reserve, settings.DISK_RESERVE = settings.DISK_RESERVE, 2**60
    queue.work()
    assert (settings_of_pages, Paper.objects.get().waits) == ([], True)
    settings.DISK_RESERVE = reserve
    Paper.objects.update(sent_at=timezone.now() - 2 * paper.LOST)
    reconcile()
    queue.work()
    assert taken(team, made, "pdf").content.startswith(b"%PDF-")


def test_a_pdf_that_could_not_be_made_says_so_and_can_be_tried_again(
    team: Studio, made: Report, queue: Queue, settings_of_pages: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(paper, "to_pdf", lambda content, digest: 1 // 0)
        taken(team, made, "pdf")
        queue.work()
    assert "The PDF could not be made" in about_paper(team, made)
    assert "The PDF could not be made" in words_of(signed_in(team.producer).get(taken(team, made, "pdf")["Location"]))
    assert queue.sent == [], "what failed a moment ago is not tried again at once"
    Paper.objects.update(asked_at=timezone.now() - 2 * paper.LOST)
    taken(team, made, "pdf")
    queue.work()
    assert taken(team, made, "pdf").content.startswith(b"%PDF-")


def test_drawings_in_a_pdf_have_colours_and_no_names_of_colours() -> None:
    drawn = pdf.coloured('<svg class="tilt tilt-strong" viewBox="0 0 120 72"><path class="heavy"/></svg>')
    assert ".tilt .heavy { fill: #bf2f1c; }" in drawn
    assert "var(" not in drawn


def no_library(name: str) -> None:
    raise OSError(name)


def test_no_request_loads_what_makes_pdf_files(
    team: Studio, made: Report, queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = builtins.__import__

    def without(name: str, *more: Any, **named: Any) -> Any:
        assert not name.startswith("weasyprint"), "it takes the better part of a second of processor time"
        return plain(name, *more, **named)

    pdf.obstacle.cache_clear()
    monkeypatch.setattr(builtins, "__import__", without)
    assert taken(team, made, "pdf").status_code == 302
    page = signed_in(team.producer).get(made.get_absolute_url()).content.decode()
    assert reverse("reports:printing", args=["herobattle", made.pk]) in page


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

"""A report as a file, of whatever kind is asked for."""

from __future__ import annotations

from django.http import HttpResponse

from webapp.reports import paper
from webapp.reports.judging import standing
from webapp.reports.models import Report
from webapp.reports.onefile import one_file
from webapp.reports.workbook import to_xlsx

TYPES = {
    "html": "text/html; charset=utf-8",
    "pdf": "application/pdf",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}


def made(report: Report, kind: str) -> bytes:
    """The file. Raises pdf.NoPdf, and paper.NotYet where it is still to be made."""
    if kind == "pdf":
        return paper.taken(report)
    content, digest, stands = report.content, report.content_hash, standing(report)
    return one_file(content, digest, stands).encode() if kind == "html" else to_xlsx(content, digest, stands)


def answer(report: Report, kind: str) -> HttpResponse:
    """The file as an answer that is saved. Raises what ``made`` does."""
    found = HttpResponse(made(report, kind), content_type=TYPES[kind])
    name = f"{report.project.slug}-report-{report.pk}-edition-{report.edition}.{kind}"
    found["Content-Disposition"] = f'attachment; filename="{name}"'
    found["Cache-Control"] = "private, no-store"
    return found

"""A report as a file, of whatever kind is asked for."""

from __future__ import annotations

from django.http import HttpResponse

from webapp.reports.models import Report
from webapp.reports.onefile import one_file
from webapp.reports.pdf import to_pdf
from webapp.reports.workbook import to_xlsx

TYPES = {
    "html": "text/html; charset=utf-8",
    "pdf": "application/pdf",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}


def made(report: Report, kind: str) -> bytes:
    """The file. Raises pdf.NoPdf."""
    content, digest = report.content, report.content_hash
    if kind == "html":
        return one_file(content, digest).encode()
    return to_pdf(content, digest) if kind == "pdf" else to_xlsx(content, digest)


def answer(report: Report, kind: str) -> HttpResponse:
    """The file as an answer that is saved. Raises pdf.NoPdf."""
    found = HttpResponse(made(report, kind), content_type=TYPES[kind])
    name = f"{report.project.slug}-report-{report.pk}-edition-{report.edition}.{kind}"
    found["Content-Disposition"] = f'attachment; filename="{name}"'
    found["Cache-Control"] = "private, no-store"
    return found

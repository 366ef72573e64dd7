"""Reports: the list, one as it was published, and its files."""

from __future__ import annotations

from typing import Any, Literal

from django.http import Http404, HttpRequest
from ninja import Router

from webapp.api.auth import project_of
from webapp.api.shapes import REFUSALS, WRITING, ReportDetail, ReportShape
from webapp.projects.models import Project
from webapp.reports import files
from webapp.reports.judging import last_verdicts
from webapp.reports.models import Report, Verdict

router = Router(tags=["Reports"])
REPORTS = "/projects/{slug:project}/reports"
REPORT = REPORTS + "/{int:number}"


def _shape(report: Report, verdict: Verdict | None, newer: Report | None) -> dict[str, Any]:
    return {
        "report": report.pk,
        "project": report.project.slug,
        "title": report.title,
        "release": report.release,
        "edition": report.edition,
        "search": report.search_id,
        "verdict": report.sentence,
        "kind": report.kind,
        "state": verdict.choice if verdict else "waiting",
        "reason": verdict.reason if verdict else "",
        "replaced_by": newer.pk if newer else None,
        "published": report.created_at,
        "by": str(report.created_by or ""),
        "hash": report.content_hash,
        "link": report.get_absolute_url(),
    }


def _all(project: Project) -> list[Report]:
    return list(project.reports.select_related("project", "created_by").defer("content"))


@router.get(REPORTS, response={200: list[ReportShape], **REFUSALS}, url_name="reports", summary="A project's reports")
def listing(request: HttpRequest, project: str) -> Any:
    """Every edition, the newest first, each with the verdict that counts."""
    found = _all(project_of(request, project))
    said, newer = last_verdicts(found), {report.replaces_id: report for report in found if report.replaces_id}
    return [_shape(report, said.get(report.pk), newer.get(report.pk)) for report in found]


def _report(request: HttpRequest, project: str, number: int) -> Report:
    rows = project_of(request, project).reports.select_related("project", "created_by")
    found: Report | None = rows.filter(pk=number).first()
    if found is None:
        raise Http404("No report of this project has this number.")
    return found


@router.get(REPORT, response={200: ReportDetail, **REFUSALS}, url_name="report", summary="One report")
def detail(request: HttpRequest, project: str, number: int) -> Any:
    """All that it says, as it was published: content never changes."""
    found = _report(request, project, number)
    said = last_verdicts([found]).get(found.pk)
    return {**_shape(found, said, found.newer), "content": found.content}


@router.get(
    f"{REPORT}/{{kind}}",
    response={200: None, **REFUSALS, 422: WRITING[422], 503: WRITING[422]},
    url_name="report-file",
    summary="A report as a file",
)
def file(request: HttpRequest, project: str, number: int, kind: Literal["html", "pdf", "xlsx"]) -> Any:
    """One HTML page that works without the site, PDF, or Excel, with the numbers of the page. A PDF is made once, by a
    worker: until it is there the answer is 503 with Retry-After, and `curl --fail --retry 9` waits for it. 503 without
    that header where this site cannot make a PDF; the message says why."""
    return files.answer(_report(request, project, number), kind)

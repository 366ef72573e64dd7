"""The pages of published reports, and what people do there."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from webapp.accounts.people import signed_in
from webapp.lib.deadline import FILE_SECONDS, may_take
from webapp.lib.once import secret_of_form
from webapp.lib.posts import posts_only
from webapp.projects.access import Need, allowed, project_for, role_in
from webapp.reports import files, judging, links, paper, pdf
from webapp.reports.forms import LinkForm
from webapp.reports.judging import Unwritable
from webapp.reports.models import Report
from webapp.reports.publishing import current

WRONG = 422
MADE = "made_report_link"
"""Where a session keeps a new link's address from its making to the page that shows it."""


def report_for(request: HttpRequest, slug: str, pk: int, need: Need = "read") -> Report:
    """A report of the project. Raises Http404 and PermissionDenied as ``project_for`` does."""
    project = project_for(request, slug, need)
    rows = Report.objects.select_related("project", "search", "created_by", "replaces")
    return get_object_or_404(rows, project=project, pk=pk)


@require_safe
def listing(request: HttpRequest, slug: str) -> HttpResponse:
    """The reports of a project, the newest edition of each, with how they stand."""
    project = project_for(request, slug)
    newest = list(current(project).defer("content"))
    said = judging.last_verdicts(newest)
    context = {
        "project": project,
        "rows": [(each, said.get(each.pk)) for each in newest],
        "older": project.reports.exclude(replaced_by=None).select_related("project", "created_by").defer("content"),
        "may_write": allowed(role_in(signed_in(request), project), "write"),
    }
    return render(request, "reports/list.html", context)


@never_cache
@require_safe
def page(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """One report: as it was published, and what was said of it since."""
    return _shown(request, report_for(request, slug, pk))


def _shown(request: HttpRequest, report: Report, **refused: Any) -> HttpResponse:
    role = role_in(signed_in(request), report.project)
    said = list(report.verdicts.select_related("created_by").order_by("-pk"))
    made = request.session.get(MADE) if request.method == "GET" else None
    if made and made["report"] == report.pk:
        del request.session[MADE]
    context = {
        "report": report,
        "content": report.content,
        "project": report.project,
        "newer": report.newer,
        "verdict": said[0] if said else None,
        "verdicts": said,
        "comments": report.comments.select_related("created_by"),
        "may_judge": allowed(role, "judge"),
        "may_share": allowed(role, "share"),
        "links": report.links.select_related("created_by", "revoked_by"),
        "link_form": LinkForm(),
        "made": made if made and made["report"] == report.pk else None,
        **_on_paper(report),
        **refused,
    }
    return render(request, "reports/page.html", context, status=WRONG if refused else 200)


def _on_paper(report: Report) -> dict[str, Any]:
    """What the page says of its PDF file."""
    return {"paper": paper.standing(report), "no_pdf": pdf.obstacle(), "away": paper.AWAY}


@never_cache
@require_safe
def printing(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """How its PDF file stands, for a page that waits for it."""
    report = report_for(request, slug, pk)
    return render(request, "reports/pdf.html", {"report": report, "project": report.project, **_on_paper(report)})


@posts_only("reports:page", "slug", "pk")
def judge(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Accept a report, or send it back; what is wrong with that is said where it was typed."""
    report = report_for(request, slug, pk, "judge")
    choice, reason = request.POST.get("choice", ""), request.POST.get("reason", "")
    try:
        judging.judge(report, signed_in(request), choice, reason)
    except Unwritable as wrong:
        return _shown(request, report, refused=str(wrong), typed=reason)
    return redirect(report)


@posts_only("reports:page", "slug", "pk")
def comment(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Add a remark."""
    report, text = report_for(request, slug, pk), request.POST.get("text", "")
    try:
        judging.comment(report, signed_in(request), text)
    except Unwritable as wrong:
        return _shown(request, report, comment_refused=str(wrong), comment_typed=text)
    return redirect(f"{report.get_absolute_url()}#comments")


@posts_only("reports:page", "slug", "pk")
def share(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Make a link, whose address the page shows once."""
    report, form = report_for(request, slug, pk, "share"), LinkForm(request.POST)
    if not form.is_valid():
        return _shown(request, report, link_refused="Choose for how long the link opens the report.")
    try:
        link, text = links.make(report, signed_in(request), form.cleaned_data["days"], secret_of_form(request))
    except links.TooManyLinks as full:
        return _shown(request, report, link_refused=str(full))
    address = request.build_absolute_uri(reverse("reports:shared", args=[text]))
    request.session[MADE] = {"report": report.pk, "link": link.pk, "address": address}
    return redirect(f"{report.get_absolute_url()}#links")


@posts_only("reports:page", "slug", "pk")
def take_back(request: HttpRequest, slug: str, pk: int, link: int) -> HttpResponse:
    """The link opens nothing any more."""
    report = report_for(request, slug, pk, "share")
    links.revoke(get_object_or_404(report.links, pk=link), signed_in(request))
    messages.success(request, "The link is taken back. Whoever opens it reads nothing now.")
    return redirect(f"{report.get_absolute_url()}#links")


@may_take(FILE_SECONDS)
@require_safe
def file(request: HttpRequest, slug: str, pk: int, kind: str) -> HttpResponse:
    """The report as a file; where none of this kind is there, its page says why, or that it is being made."""
    report = report_for(request, slug, pk)
    try:
        return files.answer(report, kind)
    except paper.NotYet:
        return redirect(report)
    except pdf.NoPdf as reason:
        messages.warning(request, str(reason))
        return redirect(report)

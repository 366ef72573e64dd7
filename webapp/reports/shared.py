"""What a link opens: one report as it was published, for anybody, and nothing beside it but whether it was accepted,
sent back or replaced since."""

from __future__ import annotations

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.views.decorators.http import require_safe

from webapp.accounts import throttle
from webapp.lib.words import duration
from webapp.reports import links
from webapp.reports.judging import standing
from webapp.reports.onefile import one_file

HEADERS = {
    "Cache-Control": "private, no-store",
    "Referrer-Policy": "no-referrer",
    "X-Robots-Tag": "noindex, nofollow, noarchive",
}
GONE, WRONG, TOO_MANY = 410, 404, 429


@login_not_required
@require_safe
def page(request: HttpRequest, text: str) -> HttpResponse:
    """The report; the same plain page for every link that opens nothing."""
    answer = _answer(text, str(request.META.get("REMOTE_ADDR", "")))
    for name, value in HEADERS.items():
        answer[name] = value
    return answer


def _answer(text: str, address: str) -> HttpResponse:
    try:
        report = links.report_of(text, address)
    except links.Closed as closed:
        return _closed(GONE if closed.known else WRONG)
    except throttle.TooMany as wait:
        answer = _closed(TOO_MANY, f"Too many wrong links came from where you are. Wait {duration(wait.seconds)}.")
        answer["Retry-After"] = str(wait.seconds)
        return answer
    return HttpResponse(one_file(report.content, report.content_hash, standing(report)))


def _closed(status: int, also: str = "") -> HttpResponse:
    return HttpResponse(render_to_string("reports/closed.html", {"also": also}), status=status)

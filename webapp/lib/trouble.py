"""The answer to a request that cannot be served now, in the form its sender reads: a page, JSON, or the API's JSON."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template.loader import render_to_string

API = "/api/"


def trouble(request: HttpRequest, title: str, sentences: str, status: int = 503, look: str = "") -> HttpResponse:
    """Say ``sentences``, under ``title`` where it is a page; ``look``: the address that shows what came of it. Asks
    neither the database nor who is signed in."""
    answer: HttpResponse
    if request.path_info.startswith(API):
        answer = JsonResponse({"message": sentences, "problems": []}, status=status)
    elif by_script(request):
        answer = JsonResponse({"error": sentences}, status=status)
    else:
        said = {"title": title, "sentences": sentences, "look": look}
        answer = HttpResponse(render_to_string("trouble.html", said), status=status)
    answer["Cache-Control"] = "no-store"
    return answer


def by_script(request: HttpRequest) -> bool:
    """Whether a script asked, which would misread a page."""
    by_htmx = request.headers.get("HX-Request") == "true"
    wants_json = request.headers.get("Accept", "").startswith("application/json")
    return by_htmx or wants_json or request.headers.get("Sec-Fetch-Dest", "document") == "empty"

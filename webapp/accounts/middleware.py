"""Every page needs somebody signed in, unless its view says otherwise, and is theirs alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.http import HttpRequest, HttpResponse, HttpResponseBase

API = "/api/"


class SignInMiddleware(LoginRequiredMiddleware):
    """Sends a visitor to the sign-in page and back; scripts get 401 instead of a page they would misread.

    The API answers 401 by itself. Views marked with ``login_not_required`` are open.
    """

    def process_view(self, request: HttpRequest, view_func: Any, view_args: Any, view_kwargs: Any) -> Any:
        if request.path_info.startswith(API):
            return None
        return super().process_view(request, view_func, view_args, view_kwargs)

    def handle_no_permission(self, request: HttpRequest, view_func: Any) -> HttpResponseBase:  # type: ignore[override]  # Django types it as a redirect only
        by_htmx = request.headers.get("HX-Request") == "true"
        if not by_htmx and request.headers.get("Sec-Fetch-Dest", "document") != "empty":
            return super().handle_no_permission(request, view_func)
        answer = HttpResponse("Sign in again.", status=401, content_type="text/plain; charset=utf-8")
        if by_htmx:
            answer["HX-Refresh"] = "true"
        return answer


class Theirs:
    """Middleware: what somebody sees who is signed in is kept by no browser, so that it cannot be gone back to after
    they signed out. Views that say what may be kept of theirs (``Cache-Control``) decide for themselves."""

    sync_capable, async_capable = True, False

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        was = request.user.is_authenticated
        answer = self._get_response(request)
        if (was or request.user.is_authenticated) and not answer.has_header("Cache-Control"):
            answer["Cache-Control"] = "private, no-store"
        return answer

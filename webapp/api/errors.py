"""Whatever goes wrong below ``/api/`` has one shape: ``{"message", "problems": [{"place", "message"}]}``."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from http import HTTPStatus
from inspect import iscoroutinefunction
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponseBase, JsonResponse
from django.utils.decorators import sync_and_async_middleware
from ninja import NinjaAPI
from ninja.errors import AuthenticationError, ValidationError

from engine.config.base import words
from engine.errors import ConfigError, StoreError, shown_faults
from engine.text import clear
from webapp.accounts.middleware import API
from webapp.api.body import BadBody
from webapp.api.tokens import Denied, TooMany
from webapp.balance.forms import sentence
from webapp.lib.disk import NoRoom
from webapp.lib.once import KeyReused
from webapp.lib.words import plural
from webapp.reports.paper import NotYet
from webapp.reports.pdf import NoPdf
from webapp.studies.actions import Refused

AGAIN_S = 5
"""Seconds after which a program should ask again for what is being made."""
NO_TOKEN = "Send a token: the header “Authorization: Bearer eqp_…”. You make one under API tokens."
_PLAIN = {
    404: "There is no such address in the API. It is listed at /help/api/.",
    405: "This address does not take this method. The API is listed at /help/api/.",
    413: "This is more than the site takes at a time.",
}


def refusal(status: int, message: str, problems: Iterable[tuple[str, str]] = ()) -> JsonResponse:
    """The one shape of an error; of many problems only the first ones, and how many more there are."""
    listed = [{"place": place, "message": sentence(text)} for place, text in shown_faults(problems)]
    answer = JsonResponse({"message": sentence(clear(message)), "problems": listed}, status=status)
    answer["Cache-Control"] = "no-store"
    return answer


def handle(api: NinjaAPI) -> None:
    """Make ``api`` tell what its endpoints raise in the one shape."""
    api.add_exception_handler(ConfigError, _config)
    api.add_exception_handler(ValidationError, _parameters)
    api.add_exception_handler(BadBody, _body)
    api.add_exception_handler(Denied, _denied)
    api.add_exception_handler(KeyReused, lambda request, error: refusal(422, str(error)))
    api.add_exception_handler(AuthenticationError, lambda request, error: _unknown(NO_TOKEN))
    api.add_exception_handler(Http404, lambda request, error: refusal(404, str(error) or _PLAIN[404]))
    api.add_exception_handler(PermissionDenied, lambda request, error: refusal(403, str(error)))
    api.add_exception_handler(Refused, lambda request, error: refusal(409, str(error)))
    api.add_exception_handler(NoRoom, lambda request, error: refusal(503, str(error)))
    api.add_exception_handler(StoreError, lambda request, error: refusal(503, str(error)))
    api.add_exception_handler(NoPdf, lambda request, error: refusal(503, str(error)))
    api.add_exception_handler(NotYet, _not_yet)


def _not_yet(request: HttpRequest, error: Any) -> JsonResponse:
    """As programs that fetch files understand it: they ask again after so many seconds by themselves."""
    answer = refusal(503, str(error))
    answer["Retry-After"] = str(AGAIN_S)
    return answer


def _body(request: HttpRequest, error: Any) -> JsonResponse:
    return refusal(error.status, str(error), error.problems)


def _config(request: HttpRequest, error: Any) -> JsonResponse:
    """Settings that cannot be run: every problem at once, each at its place."""
    count = len(error.problems)
    return refusal(422, f"{plural(count, 'setting')} cannot be used as {'it is' if count == 1 else 'they are'}.",
                error.problems)  # fmt: skip


def _parameters(request: HttpRequest, error: Any) -> JsonResponse:
    found = [(".".join(map(str, each["loc"][1:])), words(each)) for each in error.errors]
    return refusal(422, "The address, or a header, asks for something that cannot be.", found)


def _denied(request: HttpRequest, error: Any) -> JsonResponse:
    if not isinstance(error, TooMany):
        return _unknown(str(error))
    answer = refusal(429, str(error))
    answer["Retry-After"] = str(error.seconds)
    return answer


def _unknown(message: str) -> JsonResponse:
    answer = refusal(401, message)
    answer["WWW-Authenticate"] = 'Bearer realm="Equipoise API"'
    return answer


@sync_and_async_middleware
def one_shape(get_response: Callable[[HttpRequest], Any]) -> Callable[[HttpRequest], Any]:
    """What Django itself refuses below ``/api/`` (no such address, another method, a body too large) as JSON too."""
    if iscoroutinefunction(get_response):

        async def later(request: HttpRequest) -> HttpResponseBase:
            return _reshaped(request, await get_response(request))

        return later

    def now(request: HttpRequest) -> HttpResponseBase:
        return _reshaped(request, get_response(request))

    return now


def _reshaped(request: HttpRequest, answer: HttpResponseBase) -> HttpResponseBase:
    status, kind = answer.status_code, answer.headers.get("Content-Type", "")
    if status < 400 or kind.startswith("application/json") or not request.path_info.startswith(API):
        return answer
    reshaped = refusal(status, _PLAIN.get(status, HTTPStatus(status).phrase))
    if "Allow" in answer.headers:
        reshaped["Allow"] = answer.headers["Allow"]
    return reshaped

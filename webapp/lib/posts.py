"""Addresses that change something: a POST does it, and whoever only opens one is shown the page it belongs to."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponseBase, HttpResponseNotAllowed
from django.shortcuts import redirect

V = TypeVar("V", bound=Callable[..., HttpResponseBase])


def one_of(request: HttpRequest, name: str, *known: str) -> str:
    """What a form says under ``name``, "" where it says nothing. Raises BadRequest for anything that is not ``known``:
    no answer is taken for another one."""
    said = request.POST.get(name, "")
    if said not in known:
        raise BadRequest(f"{name} is none of {', '.join(known)}")
    return said


def posts_only(page: str, *keep: str) -> Callable[[V], V]:
    """A view for POST alone. A GET (somebody signed in again, or opened the address from the history) goes to ``page``,
    named with the arguments in ``keep``; that page says who may see it."""

    def decorate(view: V) -> V:
        @wraps(view)
        def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if request.method == "POST":
                return view(request, *args, **kwargs)
            if request.method in ("GET", "HEAD"):
                return redirect(page, **{name: kwargs[name] for name in keep})
            return HttpResponseNotAllowed(["POST"])

        return answer  # type: ignore[return-value]  # the same signature

    return decorate

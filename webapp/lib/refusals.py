"""The pages of what is not there, not allowed, not readable or broken. Django's own look at the form that was sent, for
its token, and break where just that cannot be read."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string

from webapp.lib.once import EmptyForm
from webapp.lib.queries import NoSuchChoice
from webapp.lib.trouble import trouble


def unreadable(request: HttpRequest, exception: Exception) -> HttpResponse:
    """What was sent cannot be read, so nothing is known of whoever sent it; a form that says nothing is no mistake of
    whoever wrote it."""
    if isinstance(exception, EmptyForm):
        return trouble(request, "This form was empty", str(exception), status=400)
    return HttpResponse(render_to_string("400.html"), status=400)


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Not for this person; the exception may say why."""
    return render(request, "403.html", {"exception": str(exception)}, status=403)


def missing(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Nothing is at this address, or nothing that this person may see; of a page they may see, what it has instead."""
    if isinstance(exception, NoSuchChoice):
        return trouble(request, "There is nothing of this name here", str(exception), status=404)
    return render(request, "404.html", status=404)


def broken(request: HttpRequest) -> HttpResponse:
    """The fault is the site's, and everything may be broken."""
    return HttpResponse(render_to_string("500.html"), status=500)

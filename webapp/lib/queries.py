"""What an address asks for behind its question mark."""

from __future__ import annotations

from collections.abc import Sequence

from django.http import Http404, HttpRequest

from webapp.lib.words import one_of


class NoSuchChoice(Http404):
    """Nothing is called what a query asks for; the message says what there is, to whoever may see the page."""


def choice(request: HttpRequest, name: str, known: Sequence[str]) -> str:
    """What a query says under ``name``, the first of ``known`` where it says nothing. Raises NoSuchChoice for anything
    else: nobody is given another thing than they asked for."""
    said = request.GET.get(name, "") or known[0]
    if said not in known:
        there = one_of([f"{name}={each}" for each in known if each])
        raise NoSuchChoice(f"There is no {name}={said} here. {f'There is {there}.' if there else f'Leave {name} out.'}")
    return said

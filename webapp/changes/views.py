"""The page on which a change is tried, and what is done with one."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_http_methods, require_safe

from engine.errors import ConfigError, StoreError
from webapp.accounts.people import signed_in
from webapp.balance.forms import sentence
from webapp.changes import card, numbers, picking, starting
from webapp.changes.reading import read
from webapp.changes.sentences import named
from webapp.games import versions
from webapp.games.models import GameVersion
from webapp.lib.once import once_by_form
from webapp.lib.posts import posts_only
from webapp.projects.access import allowed, role_in
from webapp.studies import actions
from webapp.studies import explore_source as source
from webapp.studies.models import Job
from webapp.studies.pictures import job_for

WRONG = 422


@require_http_methods(["GET", "HEAD", "POST"])
def page(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """What can be changed for a search's suspect or shortlist, and what was tried; POST tries it, or shows another
    number. htmx gets the card alone."""
    search = job_for(request, slug, pk, "write" if request.method == "POST" else "read", kind="search")
    typed = card.TypedChange.of(request.POST if request.method == "POST" else request.GET)
    if request.method == "POST" and request.POST.get("action") == "try":
        return _tried(request, search, typed)
    return _shown(request, search, typed, trial=card.trial_of(request, search))


def _shown(
    request: HttpRequest, search: Job, typed: card.TypedChange, trial: Job | None = None, refused: str = ""
) -> HttpResponse:
    by_htmx = request.headers.get("HX-Request") == "true"
    context = {"job": search, "project": search.project, "refused_change": refused,
               **card.about(request, search, typed, trial)}  # fmt: skip
    name = "changes/card.html" if by_htmx else "changes/page.html"
    return render(request, name, context, status=WRONG if refused and not by_htmx else 200)


def _tried(request: HttpRequest, search: Job, typed: card.TypedChange) -> HttpResponse:
    """The change on its way; what is wrong with it is said where it was typed."""
    try:
        spec = source.spec(search)
        change = numbers.changes(spec, typed.texts)
        wrong = any(each.problem for each in numbers.sliders(spec, typed.texts, typed.texts, {}))
        lineups = picking.lineups(search, card.suspect_of(search, typed.suspect))
        reason = "" if wrong else _missing(change, lineups)
        if wrong or reason:
            return _shown(request, search, typed, refused=reason or "One of the numbers cannot be used.")
        user = signed_in(request)
        job, _ = once_by_form(
            request,
            search.project.jobs.filter(created_by=user),
            lambda kept: starting.start(search, user, change, lineups, kept),
        )
    except ConfigError as error:
        return _shown(request, search, typed, refused=sentence(error.problems[0].message))
    except (StoreError, actions.Refused) as error:
        return _shown(request, search, typed, refused=str(error))
    assert job is not None
    if request.headers.get("HX-Request") == "true":
        return _shown(request, search, typed, trial=job)
    return HttpResponseRedirect(f"{_address(search)}?{urlencode({'suspect': typed.suspect, 'trial': str(job.pk)})}")


def _missing(change: dict[str, float], lineups: picking.Lineups) -> str:
    if not change:
        return "Move a slider, or type another number: nothing differs from the game as it is."
    return "" if lineups else "No lineup is on the shortlist, and none stands for a suspect."


@require_safe
def trial(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """What a change does, as it fills in: a part of pages."""
    job = job_for(request, slug, pk, kind="change")
    context: dict[str, Any] = {"project": job.project, "trial": card.shown(job), "may_try": _may_try(request, job)}
    return render(request, "changes/trial.html", context)


def _may_try(request: HttpRequest, job: Job) -> bool:
    return allowed(role_in(signed_in(request), job.project), "write")


@posts_only("studies:job", "slug", "pk")
def save(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Save a change that was tried as a new version of the game data."""
    job = _changed(request, slug, pk)
    version = _saved(request, job)
    if version is None:
        return redirect("studies:job", slug, pk)
    again = starting.search_before(version) is not None
    also = " The suspects and the shortlist are replayed on it in the background." if again else ""
    messages.success(request, f"Saved as version {version.number}.{also}")
    return redirect("games:version", slug, version.number)


@posts_only("studies:job", "slug", "pk")
def search(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Search again with a change that was tried: it is saved, and a search with the old settings started on it."""
    job = _changed(request, slug, pk)
    if job.parent is None:
        messages.warning(request, "The search that this change was tried for is gone.")
        return redirect("studies:job", slug, pk)
    old, version = job.parent, _saved(request, job)
    if version is None:
        return redirect("studies:job", slug, pk)
    joined = " With" if old.title.endswith("?") else ", with"
    title, user = f"{old.title}{joined} {named(read(job))}"[:120], signed_in(request)
    try:
        started, _ = once_by_form(
            request,
            job.project.jobs.filter(created_by=user),
            lambda kept: starting.search_again(old, version, user, title, kept),
        )
    except (ConfigError, actions.Refused) as error:
        reason = sentence(error.problems[0].message) if isinstance(error, ConfigError) else str(error)
        messages.warning(request, f"Saved as version {version.number}, but no search could be started. {reason}")
        return redirect("games:version", slug, version.number)
    assert started is not None
    messages.success(request, f"Saved as version {version.number}. This search plays on it.")
    return redirect("studies:job", slug, started.pk)


def _changed(request: HttpRequest, slug: str, pk: int) -> Job:
    """A replay that changed numbers; one under another commander has none that could be saved."""
    job = job_for(request, slug, pk, "write", kind="change")
    if not job.config["change"]:
        raise Http404("This replay changed no number.")
    return job


def _saved(request: HttpRequest, job: Job) -> GameVersion | None:
    """The version that holds the change, saved now if none does; None, and why in a message, where it cannot be."""
    found = read(job)
    try:
        return starting.save(job, signed_in(request), named(found)[:200] if found else "A change that was tried")
    except versions.Stale as stale:
        what = f"Version {stale.newest.number} was saved since this was tried."
        messages.warning(request, f"{what} Try the change on a search of that version, or make it under Game data.")
    except ConfigError as error:
        messages.warning(request, sentence(error.problems[0].message))
    return None


def _address(search: Job) -> str:
    return reverse("changes:page", args=[search.project.slug, search.pk])

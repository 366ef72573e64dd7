"""The page of a search's suspects, and what people do there."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_safe

from engine.config import SearchConfig, parse
from engine.config.worth import WorthConfig
from engine.errors import ConfigError, StoreError
from engine.lineups.companion import battles_of, beside, share
from webapp.accounts.models import User
from webapp.accounts.people import signed_in
from webapp.lib.digits import whole
from webapp.lib.posts import posts_only
from webapp.projects.access import allowed, role_in
from webapp.removal import examples
from webapp.removal.reading import tests_of
from webapp.studies import actions, companion, playable
from webapp.studies import explore_source as source
from webapp.studies.looks import looked
from webapp.studies.models import Job, Status
from webapp.studies.pictures import job_for
from webapp.suspects import cards, decisions, removals
from webapp.suspects.decisions import Undecidable
from webapp.suspects.evidence import SearchLineups
from webapp.suspects.intended import lapsed
from webapp.suspects.reading import Suspect, Suspects, read

WRONG = 422
MOST_MENDED = 12
"""Suspects that one search for changes takes."""
NO_ROOM = "The search plays so few battles that an experiment of half as many would tell nothing."


@require_safe
def page(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """The suspects of a search; ``suspect`` names the one that is shown."""
    return _shown(request, job_for(request, slug, pk, kind="search"), request.GET.get("suspect", ""))


def _shown(request: HttpRequest, search: Job, key: str, **refused: Any) -> HttpResponse:
    person, experiment = signed_in(request), companion.of(search)
    tests = removals.of(search)
    looked(person, [each for each in (search, experiment, tests) if each])
    suspects = read(experiment) if experiment else None
    chosen = suspects.of(key) if suspects else None
    by_htmx = request.headers.get("HX-Request") == "true"
    if by_htmx and not key and (chosen or experiment is None or not experiment.active):
        return HttpResponse(headers={"HX-Refresh": "true"})  # the page waited for this
    decided, lineups = decisions.latest(search), SearchLineups(search)
    context = {
        "job": search,
        "project": search.project,
        "experiment": experiment,
        "suspects": suspects,
        "rows": [(each, decided.get(each.key)) for each in suspects.named] if suspects else [],
        "many": suspects.many if suspects else "",
        "mend": _mend(search, suspects) if suspects else "",
        "meant_rows": [(each, decided.get(each.key)) for each in suspects.intended] if suspects else [],
        "tests_job": tests,
        "families": lineups.families(suspects.named) if suspects and suspects.named else [],
        "state": lineups.state,
        "single": lineups.single,
        "unfair": lineups.many_unfair if lineups.readable else None,
        "chosen": chosen,
        "may_change": allowed(role_in(person, search.project), "write"),
        "by_htmx": by_htmx,
        "obstacle": "" if experiment and not experiment.terminal else _obstacle(search),
        **(cards.shown(request, search, chosen) if chosen else {}),
        **(_about(search, chosen, suspects, lineups) if chosen and suspects else {}),
        "members": search.project.members.exclude(pk=person.pk).order_by("username"),
        **refused,
    }
    return render(request, "suspects/page.html", context, status=WRONG if refused else 200)


def _about(search: Job, chosen: Suspect, suspects: Suspects, lineups: SearchLineups) -> dict[str, Any]:
    """All that is shown of one suspect."""
    past = search.decisions.filter(suspect=chosen.key).select_related("created_by", "asked")
    return {
        "decision": decisions.latest(search).get(chosen.key),
        "past": past.order_by("-pk"),
        "shares": [] if (meant := chosen in suspects.intended) else lineups.shares(chosen),
        "meant": meant,
        "unshared": lineups.unshared(chosen),
        "unswapped": lineups.unswapped(chosen),
        "whole": lineups.readable and lineups.whole,
        "lapsed": _lapsed(search, chosen.key),
        **_tested(search, chosen.key),
        "minus": -suspects.reach,
        "lineups": f"{reverse('studies:explore', args=[search.project.slug, search.pk])}?{_pieces(chosen)}",
    }


def _lapsed(search: Job, key: str) -> Any:
    """What was decided about the suspect earlier and holds no longer; nothing where it was decided anew."""
    if search.game_version is None or key in decisions.latest(search):
        return None
    return lapsed(search.project, search.game_version).get(key)


def _tested(search: Job, key: str) -> dict[str, Any]:
    """The tests of a suspect, how they stand, and what keeps them from being started."""
    job = removals.of(search)
    tests = tests_of(job, key)
    waits = job is not None and (job.active or job.status == Status.PAUSED)
    why = "" if waits or tests is not None else removals.obstacle(search)
    example = examples.of(job, key) if job is not None else None
    return {"tests": tests, "tests_wait": waits, "tests_obstacle": why, "example": example, **_longer(search, tests)}


def _longer(search: Job, tests: Any) -> dict[str, Any]:
    """How long a search has to be to tell (0: none can), and the battles of tests that search for so long, where those
    that were played did not."""
    if tests is None or tests.impossible or tests.told_enough:
        return {}
    enough = removals.enough(search)
    able = tests.searched < enough and not removals.obstacle(search, longer=True)
    return {"enough": enough, "longer": removals.longer(search) if able else 0}


@require_safe
def battle(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """One battle of a suspect, to be drawn."""
    search = job_for(request, slug, pk, kind="search")
    job = removals.of(search)
    found = examples.of(job, request.GET.get("suspect", "")) if job is not None else None
    if found is None:
        raise Http404
    return JsonResponse(found.frames(), headers={"Cache-Control": "private, max-age=3600"})


@posts_only("suspects:page", "slug", "pk")
def test(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Test the suspects of a search now, where that did not begin by itself."""
    search = job_for(request, slug, pk, "write", kind="search")
    longer = request.POST.get("longer") == "yes"
    if reason := removals.obstacle(search, longer=longer):
        messages.warning(request, reason)
    else:
        removals.begin(search, longer=longer)
    return _back(search, request.POST.get("suspect", ""))


def _pieces(chosen: Suspect) -> str:
    return urlencode([("piece", piece) for piece in chosen.line.pieces])


def _mend(search: Job, suspects: Suspects) -> str:
    """Where the smallest change is looked for that mends all suspects but the intended ones; "" where there is none."""
    wrong, meant = ([_typed(each) for each in some] for some in (suspects.named, suspects.intended))
    form = reverse("studies:ask", args=[search.project.slug, "patch"])
    told = {"suspects": wrong[:MOST_MENDED], "intended": meant}
    return f"{form}?{urlencode({field: chr(10).join(lines) for field, lines in told.items()})}" if wrong else ""


def _typed(suspect: Suspect) -> str:
    """A suspect as people type it."""
    return suspect.line.name if suspect.line.least == 1 else suspect.line.pieces[0]


@posts_only("suspects:page", "slug", "pk")
def decide(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Write a decision down; what is wrong with it is said where it was typed."""
    search = job_for(request, slug, pk, "write", kind="search")
    key, choice = request.POST.get("suspect", ""), request.POST.get("choice", "")
    reason = request.POST.get("reason", "")
    try:
        name, side = _known(search, key)
        asked = _asked(request, search)
        decisions.decide(search, key, name, signed_in(request), choice, reason, asked, side)
    except Undecidable as wrong:
        return _shown(request, search, key, refused=str(wrong), refused_choice=choice, typed=reason)
    return _back(search, key)


def _known(search: Job, key: str) -> tuple[str, str]:
    """What the suspect of this key is called, and which team of a lineup it explains. Raises Undecidable where there is
    none."""
    experiment = companion.of(search)
    suspects = read(experiment) if experiment else None
    for each in (*suspects.named, *suspects.intended) if suspects else ():
        if each.key == key:
            return each.line.name, each.pattern.side
    if earlier := search.decisions.filter(suspect=key).last():
        return str(earlier.name), str(earlier.side)
    raise Undecidable("This is none of the suspects any more. Load the page again.")


def _asked(request: HttpRequest, search: Job) -> User | None:
    number = whole(request.POST.get("asked", ""), 2**31)
    return search.project.members.filter(pk=number).first() if number else None


def _back(search: Job, key: str) -> HttpResponseRedirect:
    address = reverse("suspects:page", args=[search.project.slug, search.pk])
    return HttpResponseRedirect(f"{address}?{urlencode({'suspect': key})}" if key else address)


@posts_only("suspects:page", "slug", "pk")
def measure(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Measure what each piece is worth, for a search that has no experiment, or whose experiment came to nothing."""
    search = job_for(request, slug, pk, "write", kind="search")
    reason = _obstacle(search)
    if reason:
        messages.warning(request, reason)
    else:
        actions.accompany(search, signed_in(request), _config(search))
    return redirect("suspects:page", slug, pk)


def _obstacle(search: Job) -> str:
    """Why no experiment can be started for a search now, in a sentence; empty where one can."""
    try:
        config = parse(SearchConfig, search.config)
        reason = companion.obstacle(config.lineups, source.spec(search)) or playable.obstacle(search)
    except (ConfigError, StoreError) as error:
        return str(error)
    return reason or ("" if share(battles_of(config)) else NO_ROOM)


def _config(search: Job) -> WorthConfig:
    config = parse(SearchConfig, search.config)
    return beside(config, share(battles_of(config)))

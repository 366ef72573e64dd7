"""Simulators: the list, registering one, changing its registration, and its handshake test."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_safe

from webapp.accounts.models import User
from webapp.accounts.people import signed_in
from webapp.accounts.rights import may_run_code
from webapp.games import handshake, simulators
from webapp.games.forms import SimulatorForm
from webapp.games.models import Simulator, SimulatorAudit
from webapp.lib.posts import one_of, posts_only
from webapp.lib.taken import checked_again


def _registrar(request: HttpRequest) -> User:
    user = signed_in(request)
    if not may_run_code(user):
        raise PermissionDenied(
            "Simulators are programs that run on this site’s machines. A site operator gives you the right to register "
            "them, under People; no role in a project brings it."
        )
    return user


def _simulator(user: User, pk: int) -> Simulator:
    return get_object_or_404(simulators.visible(user), pk=pk)


@require_safe
def listing(request: HttpRequest) -> HttpResponse:
    """The simulators this person may see."""
    user = _registrar(request)
    found = simulators.visible(user).prefetch_related("projects")
    known = {each.pk for each in found if simulators.knows_program(user, each)}
    audit = SimulatorAudit.objects.select_related("user")
    if not user.is_staff:
        audit = audit.filter(registration__in=found.values("pk"))
    return render(request, "games/simulators.html", {"simulators": found, "known": known, "audit": audit[:20]})


def register(request: HttpRequest) -> HttpResponse:
    """A new simulator, tested at once."""
    user = _registrar(request)
    form = SimulatorForm(request.POST or None, user=user)
    if request.method == "POST" and form.is_valid():
        with checked_again(form):
            made = _registered(form, user)
        if form.is_valid():
            handshake.ask_a_worker(made, user)
            return redirect("games:simulator", made.pk)
    return render(request, "games/simulator_form.html", {"form": form}, status=422 if form.errors else 200)


def _registered(form: SimulatorForm, user: User) -> Simulator:
    typed = form.cleaned_data
    made = Simulator.objects.create(
        name=typed["name"],
        kind=typed["kind"],
        reference=typed["reference"],
        everybody=typed.get("everybody", False),
        created_by=user,
    )
    made.projects.set(typed["projects"])
    simulators.record(made, "registered", user, made.reference)
    return made


@require_safe
def simulator(request: HttpRequest, pk: int) -> HttpResponse:
    """One simulator: its state, what the last test said, who may use it. htmx asks for the test alone."""
    user = _registrar(request)
    found = _simulator(user, pk)
    context = _context(user, found)
    if request.headers.get("HX-Request") == "true":
        answer = render(request, "games/partials/handshake.html", context)
        if not context["testing"]:
            answer["HX-Refresh"] = "true"  # the test has ended: what stands beside it is older
        return answer
    context["audit"] = SimulatorAudit.objects.filter(registration=found.pk).select_related("user")[:20]
    return render(request, "games/simulator.html", context)


def _context(user: User, found: Simulator) -> dict[str, Any]:
    knows = simulators.knows_program(user, found)
    testing = handshake.under_way(found)
    return {
        "simulator": found,
        "testing": testing,
        "lost": bool(found.test) and not testing,
        "left": max(0.0, (found.awaited_until - timezone.now()).total_seconds()) if found.awaited_until else 0.0,
        "most": handshake.DEADLINE,
        "waited": (timezone.now() - found.test_at).total_seconds() if testing and found.test_at else 0,
        "may_change": simulators.may_change(user, found),
        "knows_program": knows,
        "message": found.full_message if knows else found.public_message,
        "findings": found.full_findings if knows else found.public_findings,
    }


def change(request: HttpRequest, pk: int) -> HttpResponse:
    """Another name, program or set of projects; a changed program has to be tested again."""
    user = _registrar(request)
    found = _simulator(user, pk)
    if not simulators.may_change(user, found):
        raise PermissionDenied("Only who registered this simulator, or a site operator, can change it.")
    form = SimulatorForm(request.POST or None, user=user, simulator=found)
    if request.method == "POST" and form.is_valid():
        with checked_again(form):
            _changed(form, found, user)
        if form.is_valid():
            messages.success(request, f"{found} is changed.")
            return redirect("games:simulator", found.pk)
    context = {"form": form, "simulator": found}
    return render(request, "games/simulator_form.html", context, status=422 if form.errors else 200)


def _changed(form: SimulatorForm, found: Simulator, user: User) -> None:
    data = form.cleaned_data
    reference = data.get("reference", found.reference)
    if reference != found.reference:
        simulators.record(found, "changed program", user, f"{found.reference} → {reference}")
        found.reference, found.kind = reference, data["kind"]
        if found.status != Simulator.Status.OFF:
            found.status, found.findings, found.message = Simulator.Status.UNTESTED, [], ""
        found.by_moves = False
    if data["name"] != found.name:
        simulators.record(found, "renamed", user, f"{found.name} → {data['name']}")
    found.name = data["name"]
    found.everybody = data.get("everybody", found.everybody)
    found.save()
    # Who is no operator sees only some projects: grants to the others stay as they are.
    offered = form.fields["projects"].queryset  # type: ignore[attr-defined]  # a model choice field
    hidden = found.projects.exclude(pk__in=offered)
    found.projects.set([*hidden, *data["projects"]])
    granted = "every project" if found.everybody else ", ".join(p.name for p in found.projects.all()) or "nobody"
    simulators.record(found, "granted", user, granted)


@posts_only("games:simulator", "pk")
def switch(request: HttpRequest, pk: int) -> HttpResponse:
    """A site operator switches a program off, or on again."""
    user = _registrar(request)
    found = _simulator(user, pk)
    if not user.is_staff:
        raise PermissionDenied("Only a site operator switches a simulator off and on.")
    if one_of(request, "switch", "on", "off") == "on":
        simulators.switch_on(found, user)
        handshake.ask_a_worker(found, user)
    else:
        simulators.switch_off(found, user)
    return redirect("games:simulator", pk)


@posts_only("games:simulator", "pk")
def test(request: HttpRequest, pk: int) -> HttpResponse:
    """Ask for a handshake test; the page watches it."""
    user = _registrar(request)
    found = _simulator(user, pk)
    handshake.ask_a_worker(found, signed_in(request))
    if request.headers.get("HX-Request") == "true":
        found.refresh_from_db()
        return render(request, "games/partials/handshake.html", _context(user, found))
    return redirect("games:simulator", pk)


@posts_only("games:simulator", "pk")
def stop(request: HttpRequest, pk: int) -> HttpResponse:
    """Stop the handshake test."""
    user = _registrar(request)
    found = _simulator(user, pk)
    handshake.stop(found, signed_in(request))
    if request.headers.get("HX-Request") == "true":
        found.refresh_from_db()
        return render(request, "games/partials/handshake.html", _context(user, found))
    return redirect("games:simulator", pk)

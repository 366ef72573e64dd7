"""Who may register simulators: a site operator gives a person the right, or withdraws it."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect

from webapp.accounts import rights
from webapp.accounts.models import User
from webapp.accounts.people import signed_in
from webapp.games.simulators import registered_by, switch_off
from webapp.lib.posts import one_of, posts_only


@posts_only("accounts:person", "pk")
def code_right(request: HttpRequest, pk: int) -> HttpResponse:
    """Gives or withdraws the right; what the person registered stays, or is switched off."""
    rights.operators_only(request.user)
    somebody, operator = get_object_or_404(User, pk=pk), signed_in(request)
    if one_of(request, "right", "grant", "withdraw") == "grant":
        rights.grant(somebody, operator)
        messages.success(request, f"{somebody} may register simulators now.")
        return redirect("accounts:person", pk)
    rights.withdraw(somebody, operator)
    switched = list(registered_by(somebody)) if request.POST.get("switch_off") else []
    for simulator in switched:
        switch_off(simulator, operator, f"with the right of {somebody} to register simulators")
    off = f" Switched off: {', '.join(map(str, switched))}." if switched else ""
    messages.success(request, f"{somebody} may not register simulators any more.{off}")
    return redirect("accounts:person", pk)

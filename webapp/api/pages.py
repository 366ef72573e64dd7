"""The pages about the API: one's own tokens, and how to use it."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from engine.catalog import STUDIES
from webapp.accounts.models import User
from webapp.accounts.people import signed_in
from webapp.api import reference, tokens
from webapp.api.forms import TokenForm
from webapp.api.models import Token, TokenAudit
from webapp.gates import snippets
from webapp.lib.once import secret_of_form
from webapp.lib.posts import posts_only
from webapp.projects.models import WRITERS, Project
from webapp.studies import kinds

ENDED = 10
"""Tokens that work no more and are still listed."""
MADE = "made_token"
"""Where a session keeps a new token's text from its making to the page that shows it."""


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def listing(request: HttpRequest) -> HttpResponse:
    """One's tokens; POST makes one, whose text the page shows the next time it is opened and never again."""
    user = signed_in(request)
    form = TokenForm(request.POST or None, user=user)
    if request.method == "POST" and form.is_valid():
        typed = form.cleaned_data
        made, text = tokens.make(user, typed["name"], typed["project"], typed["days"], secret_of_form(request))
        request.session[MADE] = {"name": str(made), "text": text}
        return redirect("api:tokens")
    fresh = request.session.pop(MADE, None) if request.method == "GET" else None
    context = {"form": form, "fresh": fresh, **_listed(user)}
    return render(request, "api/tokens.html", context, status=422 if form.errors else 200)


def _listed(user: User) -> dict[str, Any]:
    found = tokens.visible(user).select_related("user", "project")
    audit = TokenAudit.objects.filter(token__in=found).select_related("token", "user")
    mine = [token for token in found if token.user_id == user.pk]
    ended = [token for token in mine if not token.works]
    return {
        "mine": [*(token for token in mine if token.works), *ended[:ENDED]],
        "others": [token for token in found if token.user_id != user.pk and token.works],
        "audit": audit[:20],
    }


@posts_only("api:tokens")
def revoke(request: HttpRequest, pk: int) -> HttpResponse:
    """Ends a token at once."""
    user = signed_in(request)
    token = get_object_or_404(Token, pk=pk)
    if not tokens.visible(user).filter(pk=pk).exists():
        raise PermissionDenied("A token is revoked by its owner, or by a site operator.")
    tokens.revoke(token, user)
    messages.success(request, f"“{token}” lets nobody in any more.")
    return redirect("api:tokens")


@require_safe
def help_page(request: HttpRequest) -> HttpResponse:
    """How to make a token and use it, with examples for a project of this person's."""
    user = signed_in(request)
    mine = Project.objects.filter(memberships__user=user)
    project = mine.filter(memberships__user=user, memberships__role__in=WRITERS).first() or mine.first()
    site, slug = request.build_absolute_uri("/").rstrip("/"), project.slug if project else "my-game"
    context = {
        "examples": reference.examples(site, slug),
        "places": reference.places(),
        "statuses": reference.STATUSES,
        "kinds": [(kind, STUDIES[kind].label) for kind in kinds.begun()],
        "script": reference.script(site, slug),
        "gate": snippets.script(site, slug),
        "site": site,
        "tokens": Token.objects.filter(user=user).exists(),
    }
    return render(request, "api/help.html", context)

"""Signing in and out, one's own password, and the people of the site."""

from __future__ import annotations

from typing import Any

from django.apps import apps
from django.contrib import messages
from django.contrib.auth import views as auth_views
from django.contrib.auth.decorators import login_not_required
from django.db.models import Prefetch
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse_lazy
from django.utils.decorators import method_decorator
from django.views.decorators.http import require_safe

from webapp.accounts import devices, rights
from webapp.accounts.demo import DEMO_NAMES, DEMO_PASSWORD, DEMO_PEOPLE, known_password_works
from webapp.accounts.forms import PasswordForm, PersonForm, SignInForm
from webapp.accounts.models import CodeRight, PersonAudit, User
from webapp.accounts.people import signed_in
from webapp.lib.taken import checked_again


@method_decorator(login_not_required, name="dispatch")
class SignIn(auth_views.LoginView):
    """By user name or email. At the machine itself, while no other can reach the site, demo sign-ins are one click."""

    form_class = SignInForm
    template_name = "accounts/sign_in.html"
    redirect_authenticated_user = True

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        context = super().get_context_data(**kwargs)
        if known_password_works(self.request):
            there = set(User.objects.filter(username__in=DEMO_NAMES).values_list("username", flat=True))
            context["demo_people"] = [person for person in DEMO_PEOPLE if person.username in there]
            context["demo_password"] = DEMO_PASSWORD
        return context

    def form_valid(self, form: Any) -> HttpResponse:
        response = super().form_valid(form)
        self.request.session.save()  # here, where a full disk is told
        devices.remember(self.request, response, form.get_user())
        return response


class ChangePassword(auth_views.PasswordChangeView):
    template_name = "accounts/password.html"
    success_url = reverse_lazy("projects:home")

    form_class = PasswordForm

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return {**super().get_context_data(**kwargs), "tokens": signed_in(self.request).tokens.working().count()}

    def form_valid(self, form: Any) -> HttpResponse:
        kept = form.cleaned_data["keeps_tokens"] or not signed_in(self.request).tokens.working().exists()
        ended = "" if kept else " Your API tokens ended."
        messages.success(self.request, f"Your password is changed. Other browsers are signed out.{ended}")
        return super().form_valid(form)


@require_safe
def people(request: HttpRequest) -> HttpResponse:
    """Everybody with an account, and their role in each project."""
    rights.operators_only(request.user)
    everybody = User.objects.order_by("username").select_related("code_right")
    # Not "memberships__project": SQLite refuses to look up more than a thousand projects in that way.
    memberships = apps.get_model("projects", "Membership").objects.select_related("project")
    everybody = everybody.prefetch_related(Prefetch("memberships", memberships))
    audit = PersonAudit.objects.select_related("user")[:20]
    return render(request, "accounts/people.html", {"people": everybody, "audit": audit})


def new_person(request: HttpRequest) -> HttpResponse:
    """Makes an account."""
    rights.operators_only(request.user)
    form = PersonForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        with checked_again(form):
            person = form.save()
            rights.record(person, "has an account", signed_in(request), "as a site operator" if person.is_staff else "")
        if form.is_valid():
            messages.success(request, f"{person} can sign in as {person.username}.")
            return redirect("accounts:people")
    return render(request, "accounts/person.html", {"form": form}, status=422 if form.errors else 200)


def person(request: HttpRequest, pk: int) -> HttpResponse:
    """Changes an account. Nobody takes the operator's rights or the sign-in from themselves."""
    rights.operators_only(request.user)
    somebody, before = get_object_or_404(User, pk=pk), get_object_or_404(User, pk=pk)
    form = PersonForm(request.POST or None, instance=somebody)
    if request.method == "POST" and form.is_valid():
        kept = form.cleaned_data["is_staff"] and form.cleaned_data["is_active"]
        if somebody.pk == request.user.pk and not kept:
            form.add_error(None, "You cannot take these rights from yourself. Ask another operator.")
        else:
            with checked_again(form):
                rights.record_changes(form.save(), before, signed_in(request))
            if form.is_valid():
                messages.success(request, f"Saved what changed about {somebody}.")
                return redirect("accounts:people")
    context = {
        "form": form,
        "person": before,
        "right": CodeRight.objects.filter(person=before).select_related("granted_by").first(),
        "audit": before.audit.select_related("user")[:20],
    }
    return render(request, "accounts/person.html", context, status=422 if form.errors else 200)

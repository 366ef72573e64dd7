"""Signing in and out, one's own password, and the people of the site."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import views as auth_views
from django.contrib.auth.decorators import login_not_required
from django.core.exceptions import PermissionDenied
from django.db.models import Prefetch
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse_lazy
from django.utils.decorators import method_decorator
from django.views.decorators.http import require_safe

from webapp.accounts.demo import DEMO_NAMES, DEMO_PASSWORD, DEMO_PEOPLE
from webapp.accounts.forms import GOOD_PASSWORD, PersonForm, SignInForm
from webapp.accounts.models import User
from webapp.projects.models import Membership


@method_decorator(login_not_required, name="dispatch")
class SignIn(auth_views.LoginView):
    """By user name or email. While the site listens to its own machine only, the demo sign-ins are one click."""

    form_class = SignInForm
    template_name = "accounts/sign_in.html"
    redirect_authenticated_user = True

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        context = super().get_context_data(**kwargs)
        if settings.DEMO_PASSWORDS:
            there = set(User.objects.filter(username__in=DEMO_NAMES).values_list("username", flat=True))
            context["demo_people"] = [person for person in DEMO_PEOPLE if person.username in there]
            context["demo_password"] = DEMO_PASSWORD
        return context


class ChangePassword(auth_views.PasswordChangeView):
    template_name = "accounts/password.html"
    success_url = reverse_lazy("projects:home")

    def get_form(self, form_class: Any = None) -> Any:
        form = super().get_form(form_class)
        form.fields["new_password1"].help_text = GOOD_PASSWORD
        form.fields["new_password2"].label = "New password once more"
        form.fields["new_password2"].help_text = ""
        return form

    def form_valid(self, form: Any) -> HttpResponse:
        messages.success(self.request, "Your password is changed. Other browsers are signed out.")
        return super().form_valid(form)


def _operators_only(request: HttpRequest) -> None:
    if not (isinstance(request.user, User) and request.user.is_staff):
        raise PermissionDenied("Only a site operator manages the people of this site.")


@require_safe
def people(request: HttpRequest) -> HttpResponse:
    """Everybody with an account, and their role in each project."""
    _operators_only(request)
    memberships = Prefetch("memberships", Membership.objects.select_related("project"))
    everybody = User.objects.order_by("username").prefetch_related(memberships)
    return render(request, "accounts/people.html", {"people": everybody})


def new_person(request: HttpRequest) -> HttpResponse:
    """Makes an account."""
    _operators_only(request)
    form = PersonForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        person = form.save()
        messages.success(request, f"{person} can sign in as {person.username}.")
        return redirect("accounts:people")
    return render(request, "accounts/person.html", {"form": form}, status=422 if form.errors else 200)


def person(request: HttpRequest, pk: int) -> HttpResponse:
    """Changes an account. Nobody takes the operator's rights or the sign-in from themselves."""
    _operators_only(request)
    somebody = get_object_or_404(User, pk=pk)
    form = PersonForm(request.POST or None, instance=somebody)
    if request.method == "POST" and form.is_valid():
        kept = form.cleaned_data["is_staff"] and form.cleaned_data["is_active"]
        if somebody.pk == request.user.pk and not kept:
            form.add_error(None, "You cannot take these rights from yourself. Ask another operator.")
        else:
            messages.success(request, f"Saved what changed about {form.save()}.")
            return redirect("accounts:people")
    context = {"form": form, "person": User.objects.get(pk=pk)}
    return render(request, "accounts/person.html", context, status=422 if form.errors else 200)

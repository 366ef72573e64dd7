"""Home, projects, their members, and help."""

from __future__ import annotations

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_safe

from webapp.accounts.models import User
from webapp.accounts.people import signed_in
from webapp.lib.disk import require_room
from webapp.lib.once import once_by_form
from webapp.lib.posts import one_of, posts_only
from webapp.projects import home as home_parts
from webapp.projects import members as membership_changes
from webapp.projects.access import project_for
from webapp.projects.forms import ROLE_HELP, NewMemberForm, ProjectForm, RoleForm
from webapp.projects.making import make
from webapp.projects.models import Invitation, Membership, Project, Role

INVITED = "{} is invited as {}, and finds the invitation on Home. Until it is accepted nothing changes."


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """What runs, and what waits for this person. htmx asks for what changes with the jobs alone."""
    person = signed_in(request)
    context = home_parts.shown(person)
    if request.headers.get("HX-Request") == "true":
        return render(request, "projects/partials/home_changes.html", context)
    context["invitations"] = invitations_of(person)
    context["memberships"] = person.memberships.select_related("project").order_by("project__name")
    return render(request, "projects/home.html", context)


def invitations_of(person: User) -> QuerySet[Invitation]:
    """What this person was asked to join, or to own, and has not answered."""
    asked = membership_changes.open_invitations().filter(person=person)
    return asked.select_related("project", "invited_by")


@posts_only("projects:home")
def invitation(request: HttpRequest, pk: int) -> HttpResponse:
    """The answer to an invitation: ``accept`` or ``decline``."""
    person, answer = signed_in(request), one_of(request, "answer", "accept", "decline")
    try:
        if answer == "decline":
            membership_changes.decline(pk, person)
            messages.success(request, "The invitation is declined.")
            return redirect("projects:home")
        membership = membership_changes.accept(pk, person)
    except membership_changes.Lapsed as refusal:
        raise PermissionDenied(str(refusal)) from None
    messages.success(request, f"Your role in {membership.project} is {membership.get_role_display().lower()} now.")
    return redirect("projects:detail", membership.project.slug)


def create(request: HttpRequest) -> HttpResponse:
    """A new project, owned by whoever makes it."""
    form, person = ProjectForm(request.POST or None), signed_in(request)
    if request.method == "POST" and form.is_valid():
        require_room()
        earlier = Project.objects.filter(made_by=person)
        project, _ = once_by_form(request, earlier, lambda kept: make(form.cleaned_data["name"], person, kept))
        return redirect("projects:detail", project.slug)
    return render(request, "projects/create.html", {"form": form}, status=422 if form.errors else 200)


@require_safe
def detail(request: HttpRequest, slug: str) -> HttpResponse:
    """One project: its data, rules, jobs and people at a glance, and the next step."""
    project = project_for(request, slug)
    context = {
        "project": project,
        "version": project.versions.select_related("simulator").first(),
        "lineup_rules": project.lineup_rules.filter(replaced_by=None),
        "objective_sets": project.objective_sets.filter(replaced_by=None),
        "jobs": project.jobs.listed().select_related("created_by")[:6],
        "memberships": project.memberships.select_related("user"),
    }
    return render(request, "projects/detail.html", context)


def members(request: HttpRequest, slug: str) -> HttpResponse:
    """Who is in the project; its owners invite people here."""
    project = project_for(request, slug, "own" if request.method == "POST" else "read")
    form = NewMemberForm(request.POST or None, project=project)
    if request.method == "POST" and form.is_valid():
        invited = form.save(signed_in(request))
        messages.success(request, INVITED.format(invited.called, invited.get_role_display().lower()))
        return redirect("projects:members", slug)
    everybody = list(project.memberships.select_related("user"))
    owners = [membership for membership in everybody if membership.role == Role.OWNER]
    context = {
        "project": project,
        "form": form,
        "memberships": everybody,
        "invitations": membership_changes.open_invitations().filter(project=project),
        "only_owner": owners[0] if len(owners) == 1 else None,
        "roles": Role.choices,
        "role_help": [(Role(role).label, words) for role, words in ROLE_HELP.items()],
    }
    return render(request, "projects/members.html", context, status=422 if form.errors else 200)


def _member(project: Project, pk: int) -> Membership:
    return get_object_or_404(Membership.objects.select_related("user", "project"), pk=pk, project=project)


@posts_only("projects:members", "slug")
def change_member(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Gives a member another role."""
    membership = _member(project_for(request, slug, "own"), pk)
    form = RoleForm(request.POST)
    if not form.is_valid():
        messages.error(request, "That is not a role. Choose one of the list.")
        return redirect("projects:members", slug)
    try:
        asked = membership_changes.change_role(membership, form.cleaned_data["role"], signed_in(request))
    except membership_changes.CannotChange as refusal:
        messages.error(request, str(refusal))
    else:
        role = membership.get_role_display().lower()
        until = f" Until they accept on their Home page, they stay {role}."
        messages.success(request, f"{membership.user} is asked to be an owner.{until}" if asked else
                         f"{membership.user} is now {role}.")  # fmt: skip
    return redirect("projects:members", slug)


@posts_only("projects:members", "slug")
def remove_member(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Takes a member out of the project."""
    return _remove(request, slug, _member(project_for(request, slug, "own"), pk))


@posts_only("projects:members", "slug")
def leave(request: HttpRequest, slug: str) -> HttpResponse:
    """Anybody may leave a project that has an owner without them."""
    project = project_for(request, slug)
    mine = get_object_or_404(project.memberships.select_related("user"), user=signed_in(request))
    return _remove(request, slug, mine)


def _remove(request: HttpRequest, slug: str, membership: Membership) -> HttpResponse:
    left_it = membership.user_id == request.user.pk
    after = redirect("projects:home") if left_it else redirect("projects:members", slug)
    try:
        membership_changes.remove(membership, signed_in(request))
    except membership_changes.CannotChange as refusal:
        messages.error(request, str(refusal))
        return after if isinstance(refusal, membership_changes.NoMember) else redirect("projects:members", slug)
    who = "You are" if left_it else f"{membership.user} is"
    whose = "you" if left_it else "they"
    messages.success(request, f"{who} no longer a member of {membership.project}. What {whose} did stays.")
    return after


@posts_only("projects:members", "slug")
def take_back(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """An owner takes an invitation back."""
    project = project_for(request, slug, "own")
    asked = get_object_or_404(Invitation, pk=pk, project=project)
    asked.delete()
    messages.success(request, f"The invitation of {asked.called} is taken back.")
    return redirect("projects:members", slug)


@require_safe
def help_page(request: HttpRequest) -> HttpResponse:
    """How a search works, what the numbers mean, how sure they are, and every word used."""
    return render(request, "projects/help.html")

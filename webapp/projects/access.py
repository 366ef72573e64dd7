"""Who may do what in a project: the one door every view of a project goes through."""

from __future__ import annotations

from typing import Literal

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest

from webapp.accounts.models import User
from webapp.projects.models import JUDGES, SHARERS, WRITERS, Membership, Project, Role

Need = Literal["read", "write", "own", "judge", "share"]
LAST_PROJECT = "project"

_REFUSALS: dict[str, str] = {
    "write": "Your role here is producer: you can read everything, and an owner can give you another role.",
    "own": "Only an owner of this project can do that.",
    "judge": "A producer or an owner of this project accepts reports or sends them back.",
    "share": "An owner, a designer or a producer of this project makes links to reports and takes them back.",
}


def allowed(role: str | None, need: Need) -> bool:
    """Whether a member with ``role`` may do what ``need`` names; None is a stranger."""
    if role is None:
        return False
    return {
        "read": True,
        "write": role in WRITERS,
        "own": role == Role.OWNER,
        "judge": role in JUDGES,
        "share": role in SHARERS,
    }[need]


def role_in(user: User, project: Project) -> str | None:
    """The role of ``user`` in ``project``; None for a stranger."""
    return Membership.objects.filter(project=project, user=user).values_list("role", flat=True).first()


def project_for(request: HttpRequest, slug: str, need: Need = "read") -> Project:
    """The project called ``slug``, remembered as the one this person works in.

    Raises Http404 for strangers, so that a project's existence is not revealed, and PermissionDenied (with a
    sentence that says who could) for members whose role does not reach ``need``. Site operators are members like
    everybody else.
    """
    membership = (
        Membership.objects.select_related("project").filter(project__slug=slug, user_id=request.user.pk).first()
        if request.user.is_authenticated
        else None
    )
    if membership is None:
        raise Http404("No project of yours has this address.")
    if not allowed(membership.role, need):
        raise PermissionDenied(_REFUSALS[need])
    session = getattr(request, "session", None)
    if session is not None and session.get(LAST_PROJECT) != slug:
        session[LAST_PROJECT] = slug
    return membership.project

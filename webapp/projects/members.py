"""Changes of who is in a project. A project always keeps an owner, nobody is made a member or an owner without saying
yes, and an owner is changed by nobody but themselves."""

from __future__ import annotations

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from webapp.accounts.models import User
from webapp.projects.models import Invitation, Membership, Project, Role


class CannotChange(Exception):
    """The change is not possible; the message says why and what is."""


class LastOwner(CannotChange):
    """The change would leave a project without an owner who can sign in."""

    def __init__(self) -> None:
        super().__init__("A project keeps at least one owner. Invite somebody else to be an owner first.")


class NotYours(CannotChange):
    """An owner's role is changed by themselves."""

    def __init__(self, owner: User) -> None:
        super().__init__(f"{owner} is an owner too: only they can give that up, or leave.")


class NoMember(CannotChange):
    """Somebody else took the member out meanwhile, or they left."""

    def __init__(self, person: User) -> None:
        super().__init__(f"{person} is no longer a member of this project, so nothing was changed.")


class Lapsed(CannotChange):
    """The invitation does not count any more, or is somebody else's."""

    def __init__(self) -> None:
        super().__init__(
            "This invitation is not for you, or it was taken back. Ask an owner of the project for another."
        )


def open_invitations() -> QuerySet[Invitation]:
    """Invitations that can be accepted: who sent them may still sign in and still owns the project."""
    owner = Membership.objects.filter(project=OuterRef("project"), user=OuterRef("invited_by"), role=Role.OWNER)
    return Invitation.objects.filter(Exists(owner), invited_by__is_active=True, person__is_active=True)


def invite(project: Project, person: User, role: str, by: User, called: str) -> Invitation:
    """Ask ``person`` to take ``role``; an earlier invitation of theirs is replaced."""
    fields = {"role": role, "invited_by": by, "called": called[:254]}
    return Invitation.objects.update_or_create(project=project, person=person, defaults=fields)[0]


def accept(pk: int, person: User) -> Membership:
    """The person takes the role they were asked to take. Raises Lapsed."""
    with transaction.atomic():
        project = Invitation.objects.filter(pk=pk, person=person).values("project")
        Project.objects.select_for_update().filter(pk__in=project).first()
        invitation = open_invitations().filter(pk=pk, person=person).first()
        if invitation is None:
            raise Lapsed
        role = {"role": invitation.role}
        membership, _ = Membership.objects.update_or_create(project=invitation.project, user=person, defaults=role)
        invitation.delete()
    return membership


def decline(pk: int, person: User) -> None:
    """The person does not want the role. Raises Lapsed."""
    if not Invitation.objects.filter(pk=pk, person=person).delete()[0]:
        raise Lapsed


def change_role(membership: Membership, role: str, by: User) -> Invitation | None:
    """Give a member another role; whoever is to be an owner is asked first. Raises CannotChange."""
    with transaction.atomic():
        if role == membership.role:
            return None
        if role == Role.OWNER:
            return invite(membership.project, membership.user, role, by, str(membership.user))
        _may_change(membership, by)
        membership.role = role
        membership.save(update_fields=["role"])
    return None


def remove(membership: Membership, by: User) -> None:
    """Take a member out, or let one leave; what they did stays, under their name. Raises CannotChange."""
    with transaction.atomic():
        _may_change(membership, by)
        Invitation.objects.filter(project=membership.project_id, person=membership.user_id).delete()
        membership.delete()


def _may_change(membership: Membership, by: User) -> None:
    """Raises CannotChange for an owner whom another changes (unless that owner cannot sign in any more), where nobody
    else owns the project, and for whoever is gone. Locks the project's row, so two changes cannot race."""
    Project.objects.select_for_update().get(pk=membership.project_id)
    try:
        membership.refresh_from_db(fields=["role"])
    except Membership.DoesNotExist:
        raise NoMember(membership.user) from None
    if membership.role != Role.OWNER:
        return
    if membership.user_id != by.pk and membership.user.is_active:
        raise NotYours(membership.user)
    owners = Membership.objects.filter(project=membership.project_id, role=Role.OWNER, user__is_active=True)
    if not owners.exclude(pk=membership.pk).exists():
        raise LastOwner

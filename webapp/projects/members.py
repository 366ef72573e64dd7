"""Changes of who is in a project. A project always keeps an owner."""

from __future__ import annotations

from django.db import transaction

from webapp.projects.models import Membership, Project, Role


class LastOwner(Exception):
    """The change would leave a project without an owner."""

    def __init__(self) -> None:
        super().__init__("A project keeps at least one owner. Make somebody else an owner first.")


def _keep_an_owner(membership: Membership) -> None:
    """Raises LastOwner when nobody else owns the project. Locks the project's row, so two changes cannot race."""
    Project.objects.select_for_update().get(pk=membership.project_id)
    others = Membership.objects.filter(project=membership.project_id, role=Role.OWNER).exclude(pk=membership.pk)
    if membership.role == Role.OWNER and not others.exists():
        raise LastOwner


def change_role(membership: Membership, role: str) -> None:
    """Gives a member another role. Raises LastOwner."""
    with transaction.atomic():
        if role != Role.OWNER:
            _keep_an_owner(membership)
        membership.role = role
        membership.save(update_fields=["role"])


def remove(membership: Membership) -> None:
    """Takes a member out; what they did stays, under their name. Raises LastOwner."""
    with transaction.atomic():
        _keep_an_owner(membership)
        membership.delete()

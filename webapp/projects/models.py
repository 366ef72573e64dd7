"""A project: one game a team is balancing, and who may do what in it."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q


class Role(models.TextChoices):
    OWNER = "owner", "Owner"
    DESIGNER = "designer", "Designer"
    ENGINEER = "engineer", "Engineer"
    PRODUCER = "producer", "Producer"


WRITERS = frozenset({Role.OWNER, Role.DESIGNER, Role.ENGINEER})
"""Roles that change data, start jobs and shortlist; a producer reads, and judges reports."""
JUDGES = frozenset({Role.OWNER, Role.PRODUCER})
"""Roles that accept reports or send them back."""
SHARERS = frozenset({Role.OWNER, Role.DESIGNER, Role.PRODUCER})
"""Roles that let others read a report by a link."""


class Project(models.Model):
    name = models.CharField(max_length=80)
    slug = models.SlugField(max_length=80, unique=True)
    created_at = models.DateTimeField(auto_now_add=True)
    members = models.ManyToManyField(settings.AUTH_USER_MODEL, through="Membership", related_name="projects")
    job_quota = models.PositiveIntegerField(default=4, help_text="Jobs of this project that may run at one time.")
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    request_key = models.CharField(
        max_length=200, blank=True, default="", help_text="Key of the form that it was made with."
    )
    request_hash = models.CharField(max_length=64, blank=True, default="", help_text="sha256 of that form.")

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(
                fields=["made_by", "request_key"], condition=~Q(request_key=""), name="one_project_a_request_key"
            )
        ]

    def __str__(self) -> str:
        return self.name


class Membership(models.Model):
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=10, choices=Role.choices)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["user__username"]
        constraints = [models.UniqueConstraint(fields=["project", "user"], name="one_membership_a_person")]

    def __str__(self) -> str:
        return f"{self.user} · {self.get_role_display()}"


class Invitation(models.Model):
    """An owner asks ``person`` to take ``role``: nobody is in a project, or owns one, before they said yes. It counts
    only while who sent it owns the project (see ``members.open_invitations``)."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="invitations")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="invitations")
    called = models.CharField(max_length=254, help_text="As the owner knows them: what was typed, or a member's name.")
    role = models.CharField(max_length=10, choices=Role.choices)
    invited_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["created_at"]
        constraints = [models.UniqueConstraint(fields=["project", "person"], name="one_invitation_a_person")]

    def __str__(self) -> str:
        return f"{self.called} · {self.get_role_display()}"

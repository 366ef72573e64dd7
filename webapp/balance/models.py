"""What a lineup is in a project, what "imbalanced" means there, and the job somebody is composing."""

from __future__ import annotations

from django.conf import settings
from django.db import models


class LineupRules(models.Model):
    """``config`` is an engine LineupConfig. A saved change is a new row; jobs pin the content hash."""

    project = models.ForeignKey("projects.Project", on_delete=models.CASCADE, related_name="lineup_rules")
    name = models.CharField(max_length=80)
    config = models.JSONField(default=dict)
    content_hash = models.CharField(max_length=64)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)
    created_at = models.DateTimeField(auto_now_add=True)
    replaced_by = models.OneToOneField(
        "self", null=True, blank=True, on_delete=models.SET_NULL, related_name="replaces"
    )

    class Meta:
        ordering = ["name", "-pk"]

    def __str__(self) -> str:
        return self.name


class ObjectiveSet(models.Model):
    """``config`` is an engine ObjectiveSetConfig. A saved change is a new row; jobs pin the content hash."""

    project = models.ForeignKey("projects.Project", on_delete=models.CASCADE, related_name="objective_sets")
    name = models.CharField(max_length=80)
    config = models.JSONField(default=dict)
    content_hash = models.CharField(max_length=64)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)
    created_at = models.DateTimeField(auto_now_add=True)
    replaced_by = models.OneToOneField(
        "self", null=True, blank=True, on_delete=models.SET_NULL, related_name="replaces"
    )

    class Meta:
        ordering = ["name", "-pk"]

    def __str__(self) -> str:
        return self.name


class Draft(models.Model):
    """The new-job form as last typed by one person in one project: nothing typed is lost."""

    project = models.ForeignKey("projects.Project", on_delete=models.CASCADE, related_name="drafts")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="drafts")
    form = models.JSONField(default=dict)
    kept_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["project", "user"], name="one_draft_a_person")]


class KeptLine(models.Model):
    """Where later searches of a project begin with the line of a question; moved in the explorer and kept there."""

    project = models.ForeignKey("projects.Project", on_delete=models.CASCADE, related_name="kept_lines")
    question = models.CharField(max_length=40)
    objective = models.CharField(max_length=40)
    line = models.FloatField()
    kept_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)
    kept_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "question", "objective"], name="one_kept_line_an_objective")
        ]

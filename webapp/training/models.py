"""What people have typed into the Train-an-agent page and not started."""

from __future__ import annotations

from django.conf import settings
from django.db import models


class TrainDraft(models.Model):
    """The form as last typed by one person in one project: nothing typed is lost."""

    project = models.ForeignKey("projects.Project", on_delete=models.CASCADE, related_name="train_drafts")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="train_drafts")
    form = models.JSONField(default=dict)
    kept_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["project", "user"], name="one_train_draft_a_person")]

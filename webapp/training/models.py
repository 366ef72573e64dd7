"""What people have typed into the pages that train agents and not started."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.urls import reverse


class TrainDraft(models.Model):
    """A page's form as last typed by one person in one project: nothing typed is lost."""

    class Page(models.TextChoices):
        TRAIN = "train", "Train an agent"
        EVOLVE = "evolve", "Search for good settings"
        STYLE = "style", "Breed styles of play"

    project = models.ForeignKey("projects.Project", on_delete=models.CASCADE, related_name="train_drafts")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="train_drafts")
    page = models.CharField(max_length=10, choices=Page.choices, default=Page.TRAIN)
    form = models.JSONField(default=dict)
    kept_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["project", "user", "page"], name="one_draft_a_person_and_page")]

    def get_absolute_url(self) -> str:
        """Where it can be gone on with."""
        return reverse(ADDRESSES[self.Page(self.page)], args=[self.project.slug])


ADDRESSES = {TrainDraft.Page.TRAIN: "training:new", TrainDraft.Page.EVOLVE: "training:evolve",
             TrainDraft.Page.STYLE: "styles:new"}  # fmt: skip

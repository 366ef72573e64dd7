"""What people decided about suspects."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from webapp.studies.models import Job


class Decision(models.Model):
    """A decision about one suspect of a search, append-only: the last one counts, and may be that there is none."""

    class Choice(models.TextChoices):
        FIX = "fix", "Fix"
        INTENDED = "intended", "Intended"
        ASK = "ask", "Ask"
        NONE = "none", "Taken back"

    search = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="decisions")
    suspect = models.CharField(max_length=500, help_text="Its pieces by their ids, and the amount.")
    name = models.CharField(max_length=500, help_text="What it was called when this was decided.")
    choice = models.CharField(max_length=10, choices=Choice.choices)
    reason = models.TextField(max_length=2000, blank=True)
    side = models.CharField(
        max_length=10, default="strongest", help_text="Which team of a lineup it explains: strongest, or weakest."
    )
    numbers = models.JSONField(
        default=dict, help_text="Costs and attributes of its pieces when this was decided, by their paths."
    )
    asked = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        """ "Fix", "Intended: “riders are the theme of spring”", "Ask Piotr: “is this the tank?”"."""
        said = f"{self.get_choice_display()} {self.asked or 'somebody'}" if self.choice == self.Choice.ASK else ""
        said = said or self.get_choice_display()
        return f"{said}: “{self.reason}”" if self.reason else said

"""Reports as they were published, what was said of them, and the links that lead others to one."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.urls import reverse
from django.utils import timezone

from webapp.studies.models import Job

MARKS = {"unfair": "strong", "fair": "fair", "open": "unsure"}
"""The verdict marks of what a report says."""


class Report(models.Model):
    """One edition of a report, which nobody changes: a newer edition takes its place. ``content`` is all that the
    report says, with every number, name and origin as it was when it was published (``webapp.reports.content``)."""

    project = models.ForeignKey("projects.Project", on_delete=models.CASCADE, related_name="reports")
    search = models.ForeignKey(Job, null=True, on_delete=models.SET_NULL, related_name="reports")
    replaces = models.OneToOneField("self", null=True, on_delete=models.SET_NULL, related_name="replaced_by")
    edition = models.PositiveIntegerField(default=1)
    title = models.CharField(max_length=120)
    release = models.CharField(max_length=80, help_text="The release that it is for.")
    kind = models.CharField(max_length=10, help_text="Of its verdict: unfair, fair or open.")
    sentence = models.TextField(help_text="Its verdict.")
    content = models.JSONField()
    content_hash = models.CharField(max_length=64)
    request_key = models.CharField(max_length=64, blank=True, default="", help_text="Of the form that made it.")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["project", "created_by", "request_key"],
                condition=~models.Q(request_key=""),
                name="one_report_a_form",
            )
        ]

    def __str__(self) -> str:
        return self.title

    def get_absolute_url(self) -> str:
        """Its page."""
        return reverse("reports:page", args=[self.project.slug, self.pk])

    @property
    def mark(self) -> str:
        """Of its verdict."""
        return MARKS[self.kind]

    @property
    def newer(self) -> Report | None:
        """The edition that took its place."""
        return Report.objects.filter(replaces=self).first()


class Paper(models.Model):
    """A report as a PDF file: wanted, then in the store (``digest``), or why it could not be made (``trouble``)."""

    report = models.OneToOneField(Report, on_delete=models.CASCADE, related_name="paper")
    digest = models.CharField(max_length=64, blank=True, default="", help_text="Of the file in the store.")
    trouble = models.TextField(blank=True, default="", help_text="Why it could not be made, in a sentence.")
    asked_at = models.DateTimeField(default=timezone.now)
    sent_at = models.DateTimeField(null=True, blank=True, help_text="When a worker was last sent for.")
    begun_at = models.DateTimeField(null=True, blank=True, help_text="When a worker began it.")

    @property
    def waits(self) -> bool:
        """Whether it is still to be made."""
        return not (self.digest or self.trouble)


class ReportDraft(models.Model):
    """What one person typed about one search and has not published."""

    search = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="report_drafts")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="report_drafts")
    typed = models.JSONField(default=dict, help_text="By the names of the form's fields.")
    kept_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["search", "person"], name="one_report_draft_a_person")]


class Verdict(models.Model):
    """What somebody who may judge says of a report, append-only: the last one counts."""

    class Choice(models.TextChoices):
        ACCEPT = "accept", "Accepted"
        BACK = "back", "Sent back"

    report = models.ForeignKey(Report, on_delete=models.CASCADE, related_name="verdicts")
    choice = models.CharField(max_length=10, choices=Choice.choices)
    reason = models.TextField(max_length=2000, blank=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        """ "Sent back: “the Marrow Duke is missing”"."""
        said = self.get_choice_display()
        return f"{said}: “{self.reason}”" if self.reason else said


class Comment(models.Model):
    """A remark of a member on a report, append-only."""

    report = models.ForeignKey(Report, on_delete=models.CASCADE, related_name="comments")
    text = models.TextField(max_length=4000)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pk"]


class LinkQuerySet(models.QuerySet["Link"]):
    def working(self) -> LinkQuerySet:
        """Those that are neither taken back nor over."""
        return self.filter(revoked_at=None, expires_at__gt=timezone.now())


class Link(models.Model):
    """Whoever has its address reads one report, and nothing else. The secret in the address is kept nowhere: only its
    hash is. A link is never deleted, so that who made it and how often it was opened can still be told."""

    report = models.ForeignKey(Report, on_delete=models.CASCADE, related_name="links")
    key = models.CharField(max_length=12, unique=True, help_text="The part that finds the row; it is no secret.")
    digest = models.CharField(max_length=64, help_text="sha256 of the secret part.")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True, blank=True)
    revoked_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    opened = models.PositiveIntegerField(default=0, help_text="How often it was opened.")
    opened_at = models.DateTimeField(null=True, blank=True)

    objects = LinkQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]

    @property
    def works(self) -> bool:
        """Whether it is neither taken back nor over."""
        return self.revoked_at is None and self.expires_at > timezone.now()

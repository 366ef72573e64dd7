"""Personal tokens for scripts, and what was done with them."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone


class TokenQuerySet(models.QuerySet["Token"]):
    def working(self) -> TokenQuerySet:
        """Those that are neither revoked nor over."""
        return self.filter(revoked_at=None, expires_at__gt=timezone.now())


class Token(models.Model):
    """Lets a script act as ``user``, in one project or in all of theirs. The secret itself is kept nowhere: only its
    hash is. A token is never deleted, so that what it did can still be told."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="tokens")
    name = models.CharField(max_length=80)
    project = models.ForeignKey(
        "projects.Project", null=True, blank=True, on_delete=models.CASCADE, related_name="tokens"
    )
    key = models.CharField(max_length=12, unique=True, help_text="The part that finds the row; it is no secret.")
    digest = models.CharField(max_length=64, help_text="sha256 of the secret part.")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True, blank=True)
    used_at = models.DateTimeField(null=True, blank=True, help_text="To the minute.")
    used_from = models.CharField(max_length=45, blank=True)

    objects = TokenQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return self.name

    @property
    def works(self) -> bool:
        """Whether it is neither revoked nor over."""
        return self.revoked_at is None and self.expires_at > timezone.now()


class TokenAudit(models.Model):
    """Who made or revoked a token, and what was started and stopped with it; append-only."""

    token = models.ForeignKey(Token, on_delete=models.CASCADE, related_name="audit")
    action = models.CharField(max_length=40)
    detail = models.TextField(blank=True)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-at", "-pk"]

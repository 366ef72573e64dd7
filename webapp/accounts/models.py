"""People who sign in."""

from __future__ import annotations

from django.contrib.auth.models import AbstractUser
from django.db import models


class User(AbstractUser):
    """Signs in with user name or email. ``is_staff`` makes a site operator: registers simulators, sees workers."""

    email = models.EmailField("email address", unique=True)

    keeps_tokens = False
    """Set before a save by whoever changes the password and wants the API tokens to go on working."""

    def __str__(self) -> str:
        return self.get_full_name() or self.username

    @property
    def initials(self) -> str:
        """Two letters for the round badge in the bar."""
        words = str(self).replace(".", " ").split()
        return ("".join(word[0] for word in words[:2]) or "?").upper()


class Attempts(models.Model):
    """How many wrong passwords, tokens or links of one kind there were lately (see ``throttle``): in the database, so
    that a restart forgives nobody."""

    key = models.CharField(max_length=64, unique=True, help_text="Hash of what was tried, and from where.")
    empty_at = models.DateTimeField(db_index=True, help_text="When none of them counts any more.")


class CodeRight(models.Model):
    """A site operator lets ``person`` register simulators: programs that run on the site's machines."""

    person = models.OneToOneField(User, on_delete=models.CASCADE, related_name="code_right")
    granted_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    granted_at = models.DateTimeField(auto_now_add=True)


class PersonAudit(models.Model):
    """Who gave whom which right on this site, and took it; append-only, also after an account is gone."""

    person = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="audit")
    name = models.CharField(max_length=150, help_text="What the person was called then.")
    action = models.CharField(max_length=60)
    detail = models.TextField(blank=True)
    user = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-at", "-pk"]

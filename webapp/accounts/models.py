"""People who sign in."""

from __future__ import annotations

from django.contrib.auth.models import AbstractUser
from django.db import models


class User(AbstractUser):
    """Signs in with user name or email. ``is_staff`` makes a site operator: registers simulators, sees workers."""

    email = models.EmailField("email address", unique=True)

    def __str__(self) -> str:
        return self.get_full_name() or self.username

    @property
    def initials(self) -> str:
        """Two letters for the round badge in the bar."""
        words = str(self).replace(".", " ").split()
        return ("".join(word[0] for word in words[:2]) or "?").upper()


class SignInFailure(models.Model):
    """A password that was wrong: kept for the length of the throttle's window, so a restart forgives nobody."""

    name = models.CharField(max_length=254, help_text="What was typed as user name or email, in lower case.")
    address = models.CharField(max_length=45, blank=True)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes = [models.Index(fields=["name", "at"]), models.Index(fields=["address", "at"])]

"""API tokens end when the password changes, however it is changed: who changes it may fear that somebody knew it."""

from __future__ import annotations

from webapp.accounts.models import User
from webapp.api import tokens


class EndTokens:
    """A password validator that accepts everything. Django tells it of every new password once that is saved, and not
    of one that it only hashes anew."""

    def validate(self, password: str, user: User | None = None) -> None:
        """Nothing is wrong with any password."""

    def get_help_text(self) -> str:
        """There is nothing to heed."""
        return ""

    def password_changed(self, password: str, user: User | None = None) -> None:
        """Revoke this person's tokens, unless whoever changed the password kept them."""
        if user is not None and not user.keeps_tokens:
            tokens.revoke_all(user, "the password was changed")

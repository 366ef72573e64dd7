"""Names that people choose: how long they may be, and which characters they may have."""

from __future__ import annotations

from typing import Any

from django import forms

from webapp.lib.text import wrong_with


def wrong_name(text: str, most: int) -> str:
    """Why nothing can be called this, in a sentence, where a name may have ``most`` characters; empty where it can."""
    if len(text) > most:
        return f"This has {len(text):,} characters, and {most} are the most. Shorten it."
    return wrong_with(text) if text else ""


class NameField(forms.CharField):
    """A name of so many characters at ``most``. Its box takes longer ones: who pastes one is told how long it may be,
    instead of finding it cut off."""

    def __init__(self, most: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.most = most

    def validate(self, value: Any) -> None:
        """Raises ValidationError with what is wrong with it."""
        super().validate(value)
        if why := wrong_name(str(value or ""), self.most):
            raise forms.ValidationError(why)

"""Making a token."""

from __future__ import annotations

from typing import Any

from django import forms

from webapp.accounts.models import User
from webapp.api import tokens
from webapp.lib.text import seen
from webapp.projects.models import Project

DAYS = ((7, "A week"), (30, "30 days"), (90, "90 days"), (365, "A year"))
USUAL_DAYS = 90


class TokenForm(forms.Form):
    """What a new token is called, where it works, and for how long."""

    name = forms.CharField(
        label="Name", max_length=80, validators=[seen], help_text="Where it will be used, such as “nightly build”.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
        error_messages={"required": "Say where it will be used: that is how you find it again."},
    )  # fmt: skip
    project = forms.ModelChoiceField(
        Project.objects.none(), label="Works in", required=False, empty_label="Every project of mine",
        help_text="One project is safer: whoever finds the token gets no further.",
    )  # fmt: skip
    days = forms.TypedChoiceField(label="Ends after", choices=DAYS, coerce=int, initial=USUAL_DAYS)

    def __init__(self, data: Any = None, *, user: User) -> None:
        super().__init__(data)
        self.user = user
        chosen: Any = self.fields["project"]
        chosen.queryset = Project.objects.filter(members=user)

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if self.user.tokens.working().count() >= tokens.MOST:
            raise forms.ValidationError(f"You have {tokens.MOST} tokens that work. Revoke one first.")
        return cleaned

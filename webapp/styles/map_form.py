"""What a style map is asked for: whose skill is enough, whom to show, how many to pick."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import urlencode

from django import forms
from django.http import QueryDict

from webapp.games.fields import NumberField

WITHIN = 0.1
PICKED = 4
MOST_PICKED = 12
TYPE_ONE = "Type a number."
EVERYBODY, BAND, EDGE = "all", "band", "edge"


class MapForm(forms.Form):
    """The skill band, who is shown, and how many are picked."""

    within = NumberField(
        label="Skill band", low=0, high=1e6, error_messages={"required": TYPE_ONE},
        help_text="Enough skill: by their ranges they may score within so much of the best.",
    )  # fmt: skip
    show = forms.ChoiceField(
        label="Show",
        choices=[(EVERYBODY, "All agents"), (BAND, "Those in the skill band"), (EDGE, "Those on the edge")],
    )  # fmt: skip
    k = NumberField(
        label="Pick a diverse few", whole=True, low=2, high=MOST_PICKED, error_messages={"required": TYPE_ONE},
        help_text="So many of the skill band that differ most in what they do. Up to four play side by side.",
    )  # fmt: skip


class Asked(NamedTuple):
    """What was asked for, where it is not wrong. ``picks``: whether a diverse few shall be picked."""

    within: float
    show: str
    k: int
    picks: bool

    @property
    def within_text(self) -> str:
        """The width of the skill band, as it is typed."""
        return f"{self.within:g}"

    @property
    def query(self) -> str:
        """It as the end of an address."""
        told = {"within": self.within_text, "show": self.show, "k": self.k}
        return urlencode({**told, **({"pick": 1} if self.picks else {})})


def asked(given: QueryDict) -> tuple[MapForm, Asked]:
    """The form as it was filled in, with what is usual where nothing, or something wrong, was typed."""
    usual = {"within": f"{WITHIN:g}", "show": EVERYBODY, "k": str(PICKED)}
    form = MapForm({name: given.get(name, each) for name, each in usual.items()})
    form.is_valid()
    typed = form.cleaned_data
    within, k = typed.get("within"), typed.get("k")
    return form, Asked(
        WITHIN if within is None else float(within), typed.get("show") or EVERYBODY,
        PICKED if k is None else int(k), given.get("pick", "") == "1",
    )  # fmt: skip

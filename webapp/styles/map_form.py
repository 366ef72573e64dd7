"""What a style map is asked for: whose skill is enough, whom to show, how many to pick."""

from __future__ import annotations

from django import forms

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
        help_text="Enough skill: those who, by their ranges, may score within so much of the best. 0: may be the best.",
    )  # fmt: skip
    show = forms.ChoiceField(
        label="Show",
        choices=[(EVERYBODY, "All agents"), (BAND, "Those in the skill band"), (EDGE, "Those on the edge")],
    )  # fmt: skip
    k = NumberField(
        label="Pick a diverse few", whole=True, low=2, high=MOST_PICKED, error_messages={"required": TYPE_ONE},
        help_text="So many of the skill band that differ most in what they do. Up to four play side by side.",
    )  # fmt: skip

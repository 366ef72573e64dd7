"""Fields for the limits of a player: how late it reacts, and how often it acts."""

from __future__ import annotations

from typing import Any

from django import forms

from webapp.games.fields import NumberField
from webapp.training import hands


class HandFields(forms.Form):
    """Both may stay empty: then a player reacts at once and acts whenever it likes."""

    react = NumberField(
        label="Reaction delay", required=False, low=0, high=hands.SLOWEST_MS, unit="ms",
        help_text="Milliseconds between what an agent sees and what it does, in whole decisions of the game.",
    )  # fmt: skip
    pace = NumberField(
        label="Actions a second", required=False, low=hands.SLOWEST_PACE, high=1000,
        help_text="It does something else at most so often. A person manages about 5.",
    )  # fmt: skip

    def limits(self, game: dict[str, Any]) -> dict[str, Any]:
        """The limits that were typed, as a part of a game that is given as data; nothing where there are none."""
        typed = getattr(self, "cleaned_data", {})
        found = hands.limits(game, typed.get("react"), typed.get("pace"))
        return {"limits": found} if found else {}

    def check_hands(self, game: dict[str, Any]) -> None:
        """Say at its field what cannot be limited."""
        for name in ("react", "pace"):
            if self.cleaned_data.get(name) and hands.decisions_a_second(game) is None:
                self.add_error(name, hands.NO_CLOCK)

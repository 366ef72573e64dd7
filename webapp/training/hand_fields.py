"""Fields for the limits of a player: how late it reacts, and how often it acts."""

from __future__ import annotations

from typing import Any

from django import forms

from webapp.games.fields import NumberField
from webapp.training import hands


class HandFields(forms.Form):
    """Both may stay empty: then a player reacts at once and acts whenever it likes."""

    react = NumberField(
        label="Reaction delay", required=False, low=0, high=hands.SLOWEST_MS, unit="ms", help_text=hands.HELP["react"]
    )
    pace = NumberField(
        label="Actions a second", required=False, low=hands.SLOWEST_PACE, high=1000, help_text=hands.HELP["pace"]
    )

    def limits(self, game: dict[str, Any]) -> dict[str, Any]:
        """The limits that were typed, as a part of a game that is given as data; nothing where there are none."""
        found = hands.limits(game, *self._typed_limits())
        return {"limits": found} if found else {}

    def check_hands(self, game: dict[str, Any]) -> None:
        """Say at its field what this game cannot hold."""
        for name, why in hands.problems(game, *self._typed_limits()).items():
            self.add_error(name, why)

    def hands_in_words(self, game: dict[str, Any]) -> dict[str, str]:
        """What the page says of them for this game: ``held``, what will be held of what was typed (empty: nothing, or
        something is wrong with it), and the help of ``react`` and of ``pace``."""
        wrong = self.errors.keys() & {"react", "pace"}
        return {"held": "" if wrong else hands.held(game, *self._typed_limits()), **hands.help_of(game)}

    def _typed_limits(self) -> tuple[float | None, float | None]:
        typed = getattr(self, "cleaned_data", {})
        return typed.get("react"), typed.get("pace")

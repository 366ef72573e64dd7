"""A form field for numbers as designers type them."""

from __future__ import annotations

import math
from typing import Any

from django import forms

from webapp.games import numbers
from webapp.lib.words import number

FAR = 1e12
"""A bound beyond which nobody means to go: it is kept, and not told."""


def words(value: float) -> str:
    """A bound as pages write numbers: 10,000."""
    return number(value, 0 if value == int(value) else None)


class NumberField(forms.CharField):
    """A number with a decimal point or comma; a text with two readings is an error, not a guess. Empty: None."""

    def __init__(
        self,
        *,
        low: float = -math.inf,
        high: float = math.inf,
        unit: str = "",
        whole: bool = False,
        css: str = "",
        **kwargs: Any,
    ) -> None:
        attrs = {"inputmode": "numeric" if whole else "decimal", "autocomplete": "off"}
        if css:
            attrs["class"] = css
        super().__init__(max_length=40, widget=forms.TextInput(attrs=attrs), **kwargs)
        self.low, self.high, self.unit, self.whole = low, high, unit, whole

    def clean(self, value: Any) -> Any:
        text: str = super().clean(value)
        if not text:
            return None
        found = numbers.value_of(text, None, self.unit)
        if found is None:
            raise forms.ValidationError(self._unread(text))
        if self.whole and found != int(found):
            raise forms.ValidationError("Type a whole number.")
        if found > self.high >= FAR:
            raise forms.ValidationError(f"Type a smaller number: at most {words(self.high)}.")
        if not self.low <= found <= self.high:
            raise forms.ValidationError(f"Type a number {self._range()}.")
        return int(found) if self.whole else found

    def prepare_value(self, value: Any) -> Any:
        return numbers.shown(value) if isinstance(value, int | float) else value

    def _unread(self, text: str) -> str:
        two = numbers.readings(text, self.unit)
        if len(two) == 2:
            point, comma = numbers.shown(two["."]), numbers.shown(two[","])
            return f"{text} can mean {point} or {comma}. Type it without a separator for thousands."
        return f"{text} is not a number. Type one {self._range()}.".replace(" .", ".")

    def _range(self) -> str:
        low = words(self.low) if self.low > -math.inf else ""
        high = words(self.high) if self.high < FAR else ""
        if low and high:
            return f"from {low} to {high}"
        return f"of at least {low}" if low else f"of at most {high}" if high else "such as 2 or 0.5"

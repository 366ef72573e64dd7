"""A form field for numbers as designers type them."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from django import forms

from webapp.games import numbers
from webapp.lib.words import number

FAR = numbers.MOST
"""A bound beyond which nobody means to go: it is kept, and not told."""


def words(value: float) -> str:
    """A bound as pages write numbers, to the last digit: 10,000 and 0.999999."""
    return number(value, 0) if value == int(value) else numbers.shown(value)


class NumberRange(NamedTuple):
    """The numbers that a field takes. ``above``: not ``low`` itself; ``below``: not ``high`` itself."""

    low: float = -math.inf
    high: float = math.inf
    above: bool = False
    below: bool = False

    def takes(self, value: float) -> bool:
        """Whether the number is one of them."""
        high_enough = self.low < value if self.above else self.low <= value
        return high_enough and (value < self.high if self.below else value <= self.high)

    @property
    def sentence(self) -> str:
        """ "from 0 to 1", "more than 0, at most 1", "at least 1"; nothing where every number is taken."""
        low = words(self.low) if self.low > -math.inf else ""
        high = words(self.high) if self.high < FAR else ""
        if low and high and not (self.above or self.below):
            return f"from {low} to {high}"
        least = low and f"{'more than' if self.above else 'at least'} {low}"
        most = high and f"{'less than' if self.below else 'at most'} {high}"
        return ", ".join(filter(None, (least, most)))


class NumberField(forms.CharField):
    """A number with a decimal point or comma; a text with two readings is an error, not a guess, but in a ``whole``
    number a separator can only be one of thousands. Empty: None. ``usual``: what that stands for, as a number or in a
    few words, which the empty box shows in grey."""

    def __init__(
        self,
        *,
        low: float = -math.inf,
        high: float = math.inf,
        above: bool = False,
        below: bool = False,
        unit: str = "",
        whole: bool = False,
        css: str = "",
        usual: float | str = "",
        **kwargs: Any,
    ) -> None:
        attrs = {"inputmode": "numeric" if whole else "decimal", "autocomplete": "off"}
        styled = {"class": css, "placeholder": usual if isinstance(usual, str) else words(usual)}
        attrs |= {name: value for name, value in styled.items() if value}
        super().__init__(max_length=40, widget=forms.TextInput(attrs=attrs), **kwargs)
        self.span, self.unit, self.whole = NumberRange(low, high, above, below), unit, whole

    def clean(self, value: Any) -> Any:
        text: str = super().clean(value)
        if not text:
            return None
        found = numbers.whole_of(text, self.unit) if self.whole else numbers.value_of(text, None, self.unit)
        if found is None:
            raise forms.ValidationError(self._unread(text))
        if self.whole and found != int(found):
            raise forms.ValidationError("Type a whole number.")
        if found > self.span.high >= FAR:
            raise forms.ValidationError(f"Type a smaller number: at most {words(self.span.high)}.")
        if not numbers.sensible(found, self._most()):
            such = self._allowed() or f" such as {'2' if self.whole else '2 or 0.5'}"
            raise forms.ValidationError(f"{text} is too large, or too near to zero. Type a number{such}.")
        if not self.span.takes(found):
            raise forms.ValidationError(f"Type a number{self._allowed()}.")
        return int(found) if self.whole else found

    def prepare_value(self, value: Any) -> Any:
        return numbers.field_text(value) if isinstance(value, int | float) else value

    def _most(self) -> float:
        return max(FAR, *(abs(end) if math.isfinite(end) else 0.0 for end in (self.span.low, self.span.high)))

    def _unread(self, text: str) -> str:
        plain = f"{text} is not a number. Type one{self._allowed() or ' such as 2 or 0.5'}."
        return numbers.question(text, self.unit) or plain

    def _allowed(self) -> str:
        """Which numbers may be typed, as it stands behind “a number”."""
        sentence = self.span.sentence
        return f" {sentence}" if sentence.startswith("from") else sentence and f": {sentence}"

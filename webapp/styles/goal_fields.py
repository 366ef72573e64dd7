"""Goals that somebody writes: fields for a formula over an episode and its name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django import forms

from webapp.lib.names import NameField, wrong_name
from webapp.styles.scales import KnownSignals

GOALS, CALLED = 3, 40
"""Goals that a search may have, and most characters of the name of one."""


def _fields() -> dict[str, forms.Field]:
    found: dict[str, forms.Field] = {}
    for i in range(1, GOALS + 1):
        found[f"goal-{i}"] = forms.CharField(
            label=f"Goal {i}", max_length=500, required=False,
            help_text="A formula over an episode; more is better." if i == 1 else "",
        )  # fmt: skip
        found[f"goal-{i}-called"] = NameField(CALLED, label=f"Name of goal {i}", required=False)
    return found


# The fields' names hold hyphens, so they cannot be written as attributes of a class.
_Fields: Any = type("_Fields", (forms.Form,), _fields())


class GoalFields(_Fields):
    """The fields, and what is typed into them."""

    def own_goals(self, game_signals: KnownSignals) -> Iterator[dict[str, Any]]:
        """Goals as data, each with the ``field`` that it stands in; a measure alone needs no name."""
        measures = {word.name for word in game_signals.measures}
        for i in range(1, GOALS + 1):
            formula, named = (str(self.data.get(f"goal-{i}{end}", "")).strip() for end in ("", "-called"))
            called = "" if wrong_name(named, CALLED) else named  # what is wrong with it stands at its own field
            if formula in measures and not called:
                yield {"measure": formula, "field": f"goal-{i}"}
            elif formula:
                yield {"measure": called or f"goal {i}", "formula": formula, "field": f"goal-{i}"}

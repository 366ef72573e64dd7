"""Values typed by hand: each is checked at its own field, and shown as a change before it is saved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from engine.simulators.contract import GameSpec, Parameter
from webapp.games import numbers
from webapp.games.errors import is_formula
from webapp.games.importing import allowed, outside
from webapp.games.tables import TypedNumbers

PREFIX = "v:"
MOST = 900


@dataclass(frozen=True)
class Edits:
    """``typed``: texts and problems by path; ``values``: the numbers of those that can be used."""

    typed: TypedNumbers
    values: dict[str, float]


def read(spec: GameSpec, fields: Mapping[str, str]) -> Edits:
    """The values in a form's fields ``v:PATH``. Unknown paths are left out: the form never has them."""
    tunables = spec.tunables()
    texts = {name.removeprefix(PREFIX): text.strip() for name, text in fields.items() if name.startswith(PREFIX)}
    typed, values = TypedNumbers(), {}
    for path, text in list(texts.items())[:MOST]:
        parameter = tunables.get(path)
        if parameter is None:
            continue
        typed.texts[path] = text[:80]
        if not text:
            values[path] = parameter.default
            continue
        value = numbers.value_of(text, None, parameter.unit)
        if value is None:
            typed.problems[path] = numbers.question(text, parameter.unit) or _unread(text, parameter)
        elif not parameter.low <= value <= parameter.high:
            typed.problems[path] = f"{text} {outside(parameter)}"
        else:
            values[path] = value
    return Edits(typed, values)


def _unread(text: str, parameter: Parameter) -> str:
    if is_formula(text):
        return f"This is a formula, and nothing is calculated here. Type the number it gives, {allowed(parameter)}."
    return f"This is not a number. Type one {allowed(parameter)}."

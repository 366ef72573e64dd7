"""The menu of search methods and the parts of its form as the New job page shows them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django import forms

from webapp.games.fields import NumberField
from webapp.studies.methods import (
    BREEDING,
    GROUPS,
    METHODS,
    NOISE,
    RACING,
    STEADY,
    STOPS,
    USUAL,
    Method,
)
from webapp.studies.setting_fields import Setting, choices_of, shown_default

_RACING_WORDS = {
    "off": "No racing",
    "chance": "By chance: out when it can hardly stay",
    "halving": "By halves: a fixed share leaves at each step",
}
_NUMBERS = (
    "This method moves through numbers. Each slot of a lineup is one number that picks its piece, so a small step can "
    "change a piece and the rest stays; whatever the numbers are, the lineup is valid."
)
_NO_NOISE = "With this method every lineup changes in every round, so none can be measured again. The final edge is."
_AGAIN = (
    "The best so far may have been lucky. Measured again, they are seen as they are, and the edge may also fall. "
    "This takes battles beyond the estimate."
)
_RACE = "Battles go where they can still change who stays; hopeless lineups stop early."
_STOP = "The search ends at the first of these, else after its last round. Leave empty what should not count."


def menu(typed: Mapping[str, Any], errors: Mapping[str, Any]) -> dict[str, Any]:
    """The context of ``studies/partials/method.html`` for what was typed; it is open where something of it was."""
    chosen = METHODS.get(typed.get("algorithm", ""), METHODS[USUAL])
    first, more = (
        [part | {"hidden": not _shown(part["key"], chosen)} for part in parts]
        for parts in (_first_parts(typed), _more_parts(typed))
    )
    names = {s["name"] for part in more for s in part["settings"]}
    touched = bool(names & set(errors)) or any(typed.get(name) for name in names)
    return {
        "groups": [
            {"title": title, "methods": [m for m in METHODS.values() if m.group == key]}
            for key, title in GROUPS.items()
        ],
        "parts": first,
        "more": more,
        "touched": touched,
        "chosen": chosen.kind,
        "usual": USUAL,
        "now": now(chosen),
        "open": touched or chosen.kind != USUAL or "algorithm" in errors,
    }


def now(method: Method) -> str:
    """The method in the closed menu's line."""
    return f"{method.title}, the usual way" if method.kind == USUAL else method.title


def _shown(key: str, method: Method) -> bool:
    return key == "stop" or key in method.parts.split()


def _first_parts(typed: Mapping[str, Any]) -> Iterable[dict[str, Any]]:
    yield _part("aim", "What is the best?", [_aim(typed)])
    yield _part("numbers", "How lineups are told by numbers", [], _NUMBERS)


def _more_parts(typed: Mapping[str, Any]) -> Iterable[dict[str, Any]]:
    for method in METHODS.values():
        if method.own:
            yield _part(f"own-{method.kind}", f"Settings of {method.title}", _all(method.own, typed))
    yield _part("breeding", "How lineups are combined and changed", _all(BREEDING, typed))
    yield _part("steady", "Rounds, or one after another", _all(STEADY, typed))
    yield _part("no-noise", "Luck", [], _NO_NOISE)
    yield _part("noise", "Measuring again", _all(NOISE, typed), _AGAIN)
    yield _part("racing", "Racing", _all(RACING, typed), _RACE)
    yield _part("stop", "Ending early", [s for _, each in STOPS.values() for s in _stops(each, typed)], _STOP)


def _part(key: str, title: str, settings: list[dict[str, Any]], text: str = "") -> dict[str, Any]:
    return {"key": key, "title": title, "settings": settings, "text": text}


def _aim(typed: Mapping[str, Any]) -> dict[str, Any]:
    """The choice of objective; the page's script fills in the question's own."""
    return {
        "name": "aim",
        "kind": "menu",
        "label": "This method looks for one best lineup",
        "help": "All together: a lineup is better when fewer others beat it in everything, then when it stands more by "
        "itself. One alone: nothing else counts, and what is strong is not asked.",
        "value": typed.get("aim") or "",
        "objectives": "All objectives together",
        "choices": [("", "All objectives together")],
    }


def _all(settings: Iterable[Setting], typed: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [_shown_setting(s, typed) for s in settings]


def _shown_setting(setting: Setting, typed: Mapping[str, Any]) -> dict[str, Any]:
    field, value = setting.field, typed.get(setting.name)
    found = {
        "name": setting.name,
        "kind": _kind(field),
        "label": field.label,
        "help": field.help_text,
        "default": shown_default(setting),
        "value": "" if value is None else value,
    }
    if isinstance(field, forms.ChoiceField):
        words = _RACING_WORDS if setting.name == "noise-racing" else {}
        found["choices"] = [(v, words.get(v, label)) for v, label in choices_of(field)]
        found["value"] = value or setting.default
    if setting.name == "map-elites-quality":
        found |= {"kind": "menu", "objectives": "The first objective", "choices": [("", "The first objective")]}
    return found


def _kind(field: forms.Field) -> str:
    if isinstance(field, forms.BooleanField):
        return "tick"
    if isinstance(field, forms.ChoiceField):
        return "menu"
    return "number" if isinstance(field, NumberField) else "text"


def _stops(settings: tuple[Setting, ...], typed: Mapping[str, Any]) -> Iterable[dict[str, Any]]:
    """A rule's settings; without the first one the rule does not hold, so it has no default."""
    first, *others = settings
    yield _shown_setting(first, typed) | {"default": "no limit"}
    yield from _all(others, typed)

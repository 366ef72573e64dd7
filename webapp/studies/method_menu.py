"""The menu of search methods and the parts of its form, as pages show them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django import forms

from webapp.games.fields import NumberField
from webapp.studies.methods import LINEUPS, Menu, Method
from webapp.studies.setting_fields import Setting, choices_of, shown_default

Part = dict[str, Any]
CHOICES = {
    "noise-racing": {
        "off": "No racing",
        "bounds": "By bounds, for any noise",
        "tests": "By tests, for noise near normal",
        "halving": "By halves, with no stated error",
    },
    "pbt-exploit": {
        "truncation": "Worst copy best (truncation)",
        "welch": "By test (Welch’s t-test)",
        "both": "Worst copy best, else by test",
    },
    "settings_crossover": {
        "simulated_binary": "Between both parents’ (simulated binary)",
        "uniform": "From either parent (uniform)",
    },
    "settings_mutation": {
        "polynomial": "By a small step (polynomial)",
        "uniform": "Drawn anew (uniform)",
    },
}
"""Choices of settings in words, by the setting's name."""
_NUMBERS = (
    "This method moves through numbers. Each slot of a lineup is one number that picks its piece, so a small step can "
    "change a piece and the rest stays; whatever the numbers are, the lineup is valid."
)
_NO_NOISE = "With this method every lineup changes in every round, so none can be measured again. The final edge is."
_AGAIN = (
    "The best so far may have been lucky. Measured again, they are seen as they are, and the edge may also fall. "
    "This takes battles beyond the estimate."
)
_RACE = (
    "Battles go where they can still change who stays; hopeless lineups stop early. Off unless you choose it: with "
    "several objectives it saves next to nothing. With one, bounds saved 0 to 26 % of the battles, most where they are "
    "won or lost and lineups differ much; tests saved 21 to 36 % where noise is normal."
)
_STOP = "The search ends at the first of these, else after its last round. Leave empty what should not count."
_AIM = (
    "All together: a lineup is better when fewer others beat it in everything, then when it stands more by itself. One "
    "alone: nothing else counts, and what is strong is not asked."
)


def lineups(typed: Mapping[str, Any], errors: Mapping[str, Any]) -> dict[str, Any]:
    """The menu of the New job page; its script fills in the question's objectives."""
    aim = offered("aim", "This method looks for one best lineup", _AIM, typed, "objectives", "All objectives together")
    first = [part("aim", "What is the best?", [aim]), part("numbers", "How lineups are told by numbers", [], _NUMBERS)]
    return shown(LINEUPS, typed, errors, first)


def shown(
    menu: Menu, typed: Mapping[str, Any], errors: Mapping[str, Any], first: Iterable[Part], more: Iterable[Part] = ()
) -> dict[str, Any]:
    """The context of ``studies/partials/method.html`` for what was typed; it is open where something of it was.
    ``first``: parts of this page's own, before the fold; ``more``: those in front of the others in it."""
    chosen = menu.of(typed.get(menu.choice, ""))
    at_once, folded = (
        [each | {"hidden": not _belongs(each["key"], chosen)} for each in parts]
        for parts in (first, (*more, *_parts(menu, typed)))
    )
    touched = any(_touched(s, errors) for each in folded for s in each["settings"])
    before = {s["name"] for each in at_once for s in each["settings"]} | {menu.choice}
    return {
        "choice": menu.choice,
        "groups": [
            {"title": title, "methods": [m for m in menu.methods.values() if m.group == key]}
            for key, title in menu.groups.items()
        ],
        "parts": at_once,
        "more": folded,
        "touched": touched,
        "chosen": chosen.kind,
        "usual": menu.usual,
        "now": f"{chosen.title}, the usual way" if chosen.kind == menu.usual else chosen.title,
        "open": touched or chosen.kind != menu.usual or bool(before & set(errors)),
    }


def part(key: str, title: str, settings: list[dict[str, Any]], text: str = "") -> Part:
    """Settings that belong together; ``key``: what a method's ``parts`` call it."""
    return {"key": key, "title": title, "settings": settings, "text": text}


def offered(
    name: str, label: str, text: str, typed: Mapping[str, Any], kind: str, blank: str,
    choices: Iterable[tuple[str, str]] = (), usual: str = "",
) -> dict[str, Any]:  # fmt: skip
    """A menu whose choices depend on the rest of the form: the page's script fills it with what it knows of that
    ``kind``. ``blank``: what the empty choice is called, if there is one; ``usual``: the choice of who chose none."""
    return {
        "name": name,
        "kind": "menu",
        "label": label,
        "help": text,
        "value": typed.get(name) or usual,
        "usual": usual,
        "offers": kind,
        "blank": blank,
        "choices": [*([("", blank)] if blank else []), *choices],
    }


def as_shown(settings: Iterable[Setting], typed: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Settings as ``studies/partials/setting.html`` shows them."""
    return [_as_shown(s, typed) for s in settings]


def _touched(setting: Mapping[str, Any], errors: Mapping[str, Any]) -> bool:
    """Whether somebody typed something of it, or should."""
    return setting["name"] in errors or setting["value"] not in ("", setting.get("usual", ""))


def _belongs(key: str, method: Method) -> bool:
    return key == "stop" or key in method.parts.split()


def _parts(menu: Menu, typed: Mapping[str, Any]) -> Iterable[Part]:
    worded = menu.worded
    for kind, own in menu.own.items():
        if own:
            yield part(f"own-{kind}", f"Settings of {menu.methods[kind].title}", as_shown(own, typed))
    yield part("breeding", worded("How lineups are combined and changed"), as_shown(menu.breeding, typed))
    yield part("steady", "Rounds, or one after another", as_shown(menu.steady, typed))
    yield part("no-noise", "Luck", [], worded(_NO_NOISE))
    yield part("noise", "Measuring again", as_shown(menu.noise, typed), worded(_AGAIN))
    yield part("racing", "Racing", as_shown(menu.racing, typed), worded(_RACE))
    stops = [s for _, settings in menu.stops.values() for s in _stop(settings, typed)]
    yield part("stop", "Ending early", stops, _STOP)


def _as_shown(setting: Setting, typed: Mapping[str, Any]) -> dict[str, Any]:
    field, value = setting.field, typed.get(setting.name)
    if setting.name == "map-elites-quality":
        return offered(setting.name, str(field.label), str(field.help_text), typed, "objectives", "The first")
    found = {
        "name": setting.name,
        "kind": _kind(field),
        "label": field.label,
        "help": field.help_text,
        "default": shown_default(setting),
        "value": "" if value is None else value,
    }
    if isinstance(field, forms.ChoiceField):
        words = CHOICES.get(setting.name, {})
        found["choices"] = [(v, words.get(v, label)) for v, label in choices_of(field)]
        found |= {"value": value or setting.default, "usual": setting.default}
    return found


def _kind(field: forms.Field) -> str:
    if isinstance(field, forms.BooleanField):
        return "tick"
    if isinstance(field, forms.ChoiceField):
        return "menu"
    return "number" if isinstance(field, NumberField) else "text"


def _stop(settings: tuple[Setting, ...], typed: Mapping[str, Any]) -> Iterable[dict[str, Any]]:
    """A rule's settings; without the first one the rule does not hold, so it has no default."""
    first, *others = settings
    yield _as_shown(first, typed) | {"default": "no limit"}
    yield from as_shown(others, typed)

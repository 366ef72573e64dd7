"""What the Search-for-good-settings page shows of its form: goals, and the menu of methods with parts of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from webapp.studies import method_menu
from webapp.studies.method_menu import as_shown, offered, part
from webapp.studies.setting_fields import Setting
from webapp.training import goals
from webapp.training.evolving import NETWORKS, EvolveForm
from webapp.training.searching import BEHAVIOUR, NETWORK, PLAYERS

FEW = 2
"""Goals, and kinds of play, that the page shows while no more are chosen."""
_SEVERAL = (
    "This method looks for one best player. With several goals a player is better when fewer others beat it in all of "
    "them, then when it stands more by itself."
)
_NETWORKS = (
    "Settings are not all that can be bred: children may go on with what a parent’s network has learned. Population "
    "based training does that by itself."
)
_BEHAVIOUR = "Players that differ in these are of different kinds; the map keeps the best of each."
_OTHERS = "The other goals, or the length"


def measures(form: EvolveForm) -> list[dict[str, str]]:
    """What can be chosen as a goal or a kind of play: all that the game tells, or what most games do."""
    return [{"name": name, "title": title} for name, title in goals.choices(form.known_signals or goals.ALWAYS)]


def chosen_goals(form: EvolveForm) -> list[dict[str, str]]:
    """The goals as they stand."""
    return [{"name": name, "title": title} for name, title in goals.choices([a.measure for a in form.goals.values()])]


def goal_rows(form: EvolveForm) -> list[dict[str, Any]]:
    """A row for every goal that there may be; ``hidden`` where none is chosen."""
    filled = _filled(form, "goal", goals.MOST)
    return [_goal(form, i, hidden=i > max(FEW, filled)) for i in range(1, goals.MOST + 1)]


def _filled(form: EvolveForm, name: str, most: int) -> int:
    """The number of the last of ``name-1`` to ``name-most`` that is chosen."""
    return max((i for i in range(1, most + 1) if form.data.get(f"{name}-{i}")), default=0)


def _goal(form: EvolveForm, i: int, *, hidden: bool) -> dict[str, Any]:
    name, typed = f"goal-{i}", form.data
    fields = [Setting(f"{name}-{key}", key, form.fields[f"{name}-{key}"], usual) for key, usual in
              (("way", "max"), ("epsilon", 0.0), ("low", None), ("high", None))]  # fmt: skip
    way, *fine = as_shown(fields, typed)
    label, usual = ("Goal", goals.USUAL) if i == 1 else (f"Goal {i}", "")
    chosen = _menu(form, name, label, str(form.fields[name].help_text) if i == 1 else "", usual)
    return {"chosen": chosen, "way": way, "fine": fine, "hidden": hidden}


def _menu(form: EvolveForm, name: str, label: str, text: str, usual: str, blank: str = "None") -> dict[str, Any]:
    """A choice among what the game tells; what was chosen before stays on it even where the game does not tell it.
    ``usual``: what is chosen by who chooses nothing; else ``blank`` is what that is called."""
    known = form.known_signals or goals.ALWAYS
    value = form.data.get(name) or usual
    names = known if value in (*known, "") else (*known, value)
    return offered(name, label, text, form.data, "measures", "" if usual else blank, goals.choices(names), usual)


def method(form: EvolveForm, errors: Mapping[str, Any]) -> dict[str, Any]:
    """The menu of methods with this page's own parts."""
    typed = form.data
    several = part("aim", "Several goals", [], _SEVERAL)
    filled = _filled(form, BEHAVIOUR, goals.MOST_WAYS)
    ways = [
        _menu(form, f"behaviour-{i}", "and by" if i > 1 else "Told apart by", "", "", "None" if i > 1 else _OTHERS)
        for i in range(1, min(goals.MOST_WAYS, max(FEW, filled + 1)) + 1)
    ]
    first = [several, part(BEHAVIOUR, "Kinds of play", ways, _BEHAVIOUR)]
    networks = part(NETWORK, "Networks", as_shown(NETWORKS, typed), _NETWORKS)
    return method_menu.shown(PLAYERS, typed, errors, first, [networks])

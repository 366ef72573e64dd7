"""Starts as rows of the form: a name and, for each game, the settings that say where its episodes begin."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from django import forms

from engine.catalog import GAMES
from webapp.games.called import reference_of
from webapp.games.fields import NumberField
from webapp.games.simulators import by_moves, obstacle
from webapp.lib.names import NameField
from webapp.projects.models import Project
from webapp.studies.lines import shown
from webapp.training import games

ROWS = 5
"""Starts that the form has room for; a file or a program may name more."""
NAMES = ("Very easy", "Easy", "Halfway", "Harder", "The hard one")


class SettingColumn(NamedTuple):
    """A setting as a column: its head, its bounds, and what the game has where nothing is typed."""

    head: str
    low: float
    high: float
    usual: str
    whole: bool = False


COLUMNS = {
    "first": SettingColumn("Platform", 1, 3, "1", True),
    "x_min": SettingColumn("Along, from", 0, 12, "0"),
    "x_max": SettingColumn("Along, to", 0, 12, "0"),
    "y_min": SettingColumn("Across, from", -15, 15, "-15"),
    "y_max": SettingColumn("Across, to", -15, 15, "15"),
    "ball_x_min": SettingColumn("Along, from", 0, 0.98, "0"),
    "ball_x_max": SettingColumn("Along, to", 0, 0.98, "0.2"),
    "ball_y_min": SettingColumn("Across, from", -0.98, 0.98, "-0.8"),
    "ball_y_max": SettingColumn("Across, to", -0.98, 0.98, "0.8"),
    "apart": SettingColumn("Player’s distance", 0, 1, "1"),
}
OFFERED = {name: game for name, game in GAMES.items() if game.starts}
"""Games whose settings say where an episode begins."""
FIRST: Mapping[str, Mapping[str, tuple[float, ...]]] = {
    "platform": {"first": (3, 2)},
    "goal": {"x_min": (7, 4, 2), "x_max": (8, 6, 4), "y_min": (-3, -6, -10), "y_max": (3, 6, 10)},
    "half-field": {
        "ball_x_min": (0.8, 0.6, 0.2), "ball_x_max": (0.9, 0.9, 0.8),
        "ball_y_min": (-0.15, -0.4, -0.6), "ball_y_max": (0.15, 0.4, 0.6), "apart": (0, 0.1, 0.4),
    },
}  # fmt: skip
"""Rows to begin with, the easiest first, by game; those after them are empty."""


class StartColumn(NamedTuple):
    """A column of settings: the beginning of its fields' names, which the row's number ends; the setting; the games
    that have it."""

    key: str
    setting: str
    games: tuple[str, ...]
    field: SettingColumn


def programs(project: Project) -> dict[str, str]:
    """The project's programs that say where their episodes begin, by the name that the API takes."""
    return {row.called: str(row) for row in by_moves(project) if row.starts and not obstacle(row)}


def columns(project: Project) -> list[StartColumn]:
    """Those of the built-in games, then those of the project's programs."""
    found = [
        StartColumn(name, name, tuple(game for game, row in OFFERED.items() if name in row.starts), field)
        for name, field in COLUMNS.items()
    ]
    for called in programs(project):
        for k, one in enumerate(games.starts_of(reference_of(called, project), project)):
            field = SettingColumn(one.title or one.name, one.low, one.high, shown(one.usual), one.whole)
            found.append(StartColumn(f"{called.replace(':', '-')}-{k}-", one.name, (called,), field))
    return found


def fields(known: Sequence[StartColumn]) -> dict[str, Any]:
    """The fields of all rows, by name."""
    found: dict[str, Any] = {}
    for i in range(1, ROWS + 1):
        found[f"name{i}"] = NameField(
            60, label=f"Name of start {i}", required=False, initial=NAMES[i - 1],
            widget=forms.TextInput({
                "aria-label": f"Name of start {i}", "class": "form-control", "autocomplete": "off",
            }),
        )  # fmt: skip
        for column in known:
            field, label = column.field, f"{column.field.head}, start {i}"
            made: Any = NumberField(
                label=label, low=field.low, high=field.high, whole=field.whole, required=False,
                initial=_first(column.setting, i - 1) if column.setting == column.key else "",
            )  # fmt: skip
            made.widget.attrs |= {
                "aria-label": label, "placeholder": field.usual, "class": "form-control",
                "data-low": f"{field.low}", "data-high": f"{field.high}",
            }  # fmt: skip
            found[f"{column.key}{i}"] = made
    return found


def _first(setting: str, row: int) -> str:
    values = next((columns[setting] for columns in FIRST.values() if setting in columns), ())
    return f"{values[row]:g}" if row < len(values) else ""


def typed(cleaned: Mapping[str, Any], game: str, known: Sequence[StartColumn]) -> Iterator[tuple[int, dict[str, Any]]]:
    """(row, task of the study) of each row that somebody filled in, or marked as the hard one."""
    for i in range(1, ROWS + 1):
        own = {column.setting: cleaned.get(f"{column.key}{i}") for column in known if game in column.games}
        settings = {name: value for name, value in own.items() if value is not None}
        hard = cleaned.get("hard") == str(i)
        if settings or hard:
            name = cleaned.get(f"name{i}") or f"Start {i}"
            yield i, {"name": name, "settings": settings} | ({"hard": True} if hard else {})


def where(settings: Mapping[str, Any], heads: Mapping[str, str]) -> str:
    """The settings of a start in words: "along 0.5 to 0.7, player’s distance 0". ``heads``: of a program's own."""
    found = []
    for name, value in settings.items():
        head = heads.get(name) or (COLUMNS[name].head if name in COLUMNS else name)
        base = head.partition(",")[0].lower()
        other = name.replace("_min", "_max")
        if other != name and other in settings:
            found.append(f"{base} {shown(value)} to {shown(settings[other])}")
        elif not (name.endswith("_max") and name.replace("_max", "_min") in settings):
            found.append(f"{head.lower()} {value_of(value)}")
    return ", ".join(found)


def value_of(value: Any) -> str:
    """The value of any setting as people write it: 0.5, yes, "score and shaped"."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return shown(value)
    return " and ".join(value) if isinstance(value, list | tuple) else str(value)


def kept(config: Mapping[str, Any], game: str, known: Sequence[StartColumn]) -> list[dict[str, Any]]:
    """The tasks of a study in a game that rows can say: the hard one, and of those with a setting that has a column the
    first ones."""
    settings = {column.setting for column in known if game in column.games}
    hard = [task for task in config["tasks"] if task["hard"]]
    others = [task for task in config["tasks"] if not task["hard"] and settings & task["settings"].keys()]
    found = [*hard, *others[: ROWS - len(hard)]]
    return [task for task in config["tasks"] if task in found]


def filled(config: Mapping[str, Any], game: str, known: Sequence[StartColumn]) -> dict[str, Any]:
    """What would have to be typed for the tasks of a study in a game; rows that it does not need are empty."""
    keys = {column.setting: column.key for column in known if game in column.games}
    every = ("name", *(column.key for column in known))
    found: dict[str, Any] = {f"{key}{i}": "" for i in range(1, ROWS + 1) for key in every}
    for i, task in enumerate(kept(config, game, known), 1):
        found[f"name{i}"] = task["name"]
        found |= {f"{keys[name]}{i}": value for name, value in task["settings"].items() if name in keys}
        if task["hard"]:
            found["hard"] = str(i)
    return found

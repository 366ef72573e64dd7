"""The project's own numbers in games for agents that are played on them: herobattle with commanders."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.catalog import GAMES, built_in
from webapp.games import versions
from webapp.games.models import GameVersion
from webapp.games.simulators import plays_inside
from webapp.projects.models import Project
from webapp.training.games import DATA

_PLAYED_ON_DATA = GAMES["commanders"].path


def newest(project: Project) -> GameVersion | None:
    """The project's newest data, where agents can be played on it."""
    version = versions.current(project)
    return version if version is not None and plays_inside(version.simulator) else None


def _on_data(game: str) -> bool:
    """Whether the game of this engine's name is played on a project's data."""
    known = built_in(game) if game else None
    return known is not None and known.path == _PLAYED_ON_DATA


def version_of(game: str, project: Project) -> GameVersion | None:
    """The newest data of a project that the game of this engine's name is played on; None where it is on none."""
    return newest(project) if _on_data(game) else None


def on(game: Mapping[str, Any], version: GameVersion | None) -> dict[str, Any]:
    """A game with the numbers of this data; without one, with its own numbers."""
    plain = {name: each for name, each in game.get("settings", {}).items() if name != DATA}
    changed = [f"{path}={float(value)!r}" for path, value in sorted(version.patch.items())] if version else []
    found = plain | ({DATA: changed} if changed else {})
    rest = {name: each for name, each in game.items() if name != "settings"}
    return rest | ({"settings": found} if found or "settings" in game else {})


def differs(game: Mapping[str, Any], version: GameVersion | None) -> bool:
    """Whether a game was played on other numbers than those of this data; False for one that is on no data."""
    if version is None or not _on_data(str(game["name"])):
        return False
    played, wanted = (each.get("settings", {}).get(DATA, []) for each in (game, on(game, version)))
    return list(played) != list(wanted)

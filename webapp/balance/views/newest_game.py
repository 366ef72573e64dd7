"""The newest data of a project, which rules and objectives are written for."""

from __future__ import annotations

from engine.errors import ConfigError
from engine.simulators.contract import GameSpec
from webapp.games import versions
from webapp.games.models import GameVersion
from webapp.games.specs import patched_spec
from webapp.projects.models import Project


def game_of(project: Project) -> tuple[GameVersion | None, GameSpec | None]:
    """The project's newest data, and the game as it has it; None where there is none yet."""
    version = versions.current(project)
    if version is None:
        return None, None
    try:
        return version, patched_spec(version)
    except ConfigError:
        return version, None

"""What the pages of lineup rules and objectives share."""

from __future__ import annotations

from django.http import HttpRequest

from engine.errors import ConfigError
from engine.simulators.contract import GameSpec
from webapp.accounts.models import User
from webapp.games import versions
from webapp.games.models import GameVersion
from webapp.games.specs import patched_spec
from webapp.projects.models import Project


def person(request: HttpRequest) -> User:
    """The signed-in person; the sign-in middleware let nobody else through."""
    assert isinstance(request.user, User)
    return request.user


def game_of(project: Project) -> tuple[GameVersion | None, GameSpec | None]:
    """The project's newest data, and the game as it has it; None where there is none yet."""
    version = versions.current(project)
    if version is None:
        return None, None
    try:
        return version, patched_spec(version)
    except ConfigError:
        return version, None

"""A project chooses its game: the game's own data become its next version, and other apps make what they need of it."""

from __future__ import annotations

from collections.abc import Callable

from webapp.accounts.models import User
from webapp.games import versions
from webapp.games.models import GameVersion, Simulator
from webapp.projects.models import Project

Then = Callable[[Project, User], object]
"""What an app does once a project has a game."""

THEN: dict[str, Then] = {}


def register(app: str, then: Then) -> None:
    """Do this too, from the app's ``AppConfig.ready``."""
    THEN[app] = then


def choose(project: Project, simulator: Simulator, user: User) -> GameVersion:
    """The version that was made. Raises ConfigError where the simulator has not described itself."""
    version = versions.first_version(project, simulator, user)
    for then in THEN.values():
        then(project, user)
    return version

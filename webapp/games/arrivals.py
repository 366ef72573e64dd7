"""A new version of a project's game data is there: what other apps do then."""

from __future__ import annotations

from collections.abc import Callable

from webapp.games.models import GameVersion

Then = Callable[[GameVersion], object]
"""What an app does once a version is saved: imported, edited, restored, moved or made of a change that was tried."""

THEN: dict[str, Then] = {}


def register(app: str, then: Then) -> None:
    """Do this too, from the app's ``AppConfig.ready``."""
    THEN[app] = then


def arrived(version: GameVersion) -> None:
    """The version is saved for good."""
    for then in THEN.values():
        then(version)

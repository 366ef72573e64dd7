"""Cooperative navigation: entities that must cover all targets together."""

from engine.games.navigation.game import Navigation, NavigationChoices

__all__ = ["Navigation", "NavigationChoices"]

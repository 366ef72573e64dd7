"""Goal: kick a ball past a keeper."""

from engine.games.goal.game import Goal

__all__ = ["Goal"]

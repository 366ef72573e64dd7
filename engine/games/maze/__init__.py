"""A grid maze with planted bugs, for hunts for bugs."""

from engine.games.maze.game import Maze

__all__ = ["Maze"]

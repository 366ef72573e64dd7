"""Half-field offence: get a ball into a goal, without or with a goalkeeper."""

from engine.games.half_field.game import HalfField, HalfFieldGoalkeeper

__all__ = ["HalfField", "HalfFieldGoalkeeper"]

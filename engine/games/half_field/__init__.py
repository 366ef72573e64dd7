"""Half-field offence: get a ball into a goal, without or with a goalkeeper."""

from engine.games.half_field.game import HalfField, HalfFieldKeeper

__all__ = ["HalfField", "HalfFieldKeeper"]

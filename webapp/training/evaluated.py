"""What an evaluation on fresh episodes found, as the pages of trainings of one agent say it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from engine.catalog import GAMES, reach_of
from webapp.training.curve import EVALUATED

LOW, HIGH = f"{EVALUATED}_low", f"{EVALUATED}_high"
MOVED = "evaluation_moved"
"""The share of an evaluation's moments in which the agent moved, in games that tell it."""


class Evaluated(NamedTuple):
    """``mean`` of what is called ``noun``, its ``range`` (empty: unknown), and whether that is of 95 % whatever
    episodes are like, because the game says how far they go; ``steps``: decisions that were played before it;
    ``still``: whether it never moved in them."""

    mean: str
    range: str
    declared: bool
    steps: int
    noun: str
    still: bool = False

    @property
    def words(self) -> str:
        """In brief."""
        kind = "95\N{NO-BREAK SPACE}% range" if self.declared else "range"
        return f"{self.mean} ({kind} {self.range})" if self.range else self.mean

    @property
    def caution(self) -> str:
        """What its range rests on, or why there is none; empty where there is nothing to say."""
        if self.range:
            rests = "so the range holds only if no episode goes far beyond the ones that were played"
            return "" if self.declared else f"Nobody says how far {self.noun}s go in this game, {rests}."
        many = f"many gave the very same {self.noun} and nobody says how far {self.noun}s go in this game"
        return f"No range is known: there were fewer than seven episodes, or {many}."

    @property
    def stillness(self) -> str:
        """That it never moved, where it did not."""
        return (
            f"In these episodes it never moved: such a {self.noun} is what standing still brings." if self.still else ""
        )


def still(config: Mapping[str, Any], moved: float | None) -> bool:
    """Whether somebody who ``moved`` in this share of an evaluation's moments never did; not where the game of a study
    may mean something else by it."""
    row = GAMES.get(config["game"]["name"].removeprefix("builtin:"))
    return moved == 0 and row is not None and "moved" in row.captions


def declared(config: Mapping[str, Any]) -> bool:
    """Whether the game of a study says between what its returns lie."""
    game = config["game"]
    return reach_of(game["name"], game.get("settings", {})) is not None

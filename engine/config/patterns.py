"""Patterns as data: what a team holds that explains why it wins, or loses, too often."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from engine.config.base import Config


class Pattern(Config):
    """A piece, so many of a piece, or two pieces that one team holds together. Of a lineup it explains that its
    ``side`` team is what it is: too good a pattern the strongest, too weak a one the weakest."""

    pieces: tuple[str, ...] = Field(min_length=1, max_length=2, title="Pieces", description="By their ids.")
    least: int = Field(1, ge=1, le=1_000_000, title="So many or more", description="Of a single piece.")
    side: Literal["strongest", "weakest"] = Field("strongest", title="Which team of a lineup it explains")

    @model_validator(mode="after")
    def _one_or_two(self) -> Self:
        if len(set(self.pieces)) < len(self.pieces):
            raise ValueError("a pair is of two different pieces")
        if self.least > 1 and len(self.pieces) > 1:
            raise ValueError("an amount is of a single piece")
        return self

    @property
    def key(self) -> str:
        """Its pieces by their ids, and the amount: the same in every study of the game."""
        return f"{'+'.join(self.pieces)}{f'*{self.least}' if self.least > 1 else ''}"


Intended = Annotated[
    tuple[Pattern, ...],
    Field(
        max_length=100, title="Meant to be so",
        description="Lineups that one of these explains are played, but neither ranked nor counted.",
        exclude_if=lambda patterns: not patterns,  # a study that says nothing here stays the study it was
    ),
]  # fmt: skip

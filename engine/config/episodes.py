"""Sample episodes of a game as data, on which the rewards of a style are tried before a training."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field, field_validator

from engine.config.base import Shown, Study, refuse
from engine.config.genes import genes
from engine.config.train import Game, TrainGame

SAMPLED = 1
"""The usual seed of sample episodes: a study of styles tries its rewards on these."""


class EpisodesConfig(Study):
    """Play episodes of a game by a random player and by its script, and keep what the game tells of each decision."""

    no_ranges: ClassVar[str] = "sample episodes are of one game"
    kind: Literal["episodes"] = "episodes"
    name: Shown = Field("sample episodes", min_length=1, max_length=120, title="Name")
    seed: int = Field(SAMPLED, ge=0, lt=2**63, title="Seed")
    game: Game

    @field_validator("game")
    @classmethod
    def _settled(cls, game: TrainGame) -> TrainGame:
        refuse((gene.place, "sample episodes are of one game: give a number") for gene in genes(game))
        return game

"""What a study names that its game has not."""

from __future__ import annotations

from engine.config.patch import PatchConfig
from engine.simulators.contract import GameSpec


def unknown(config: PatchConfig, spec: GameSpec) -> list[tuple[str, str]]:
    """Pieces and categories that the game does not know, as (place, sentence)."""
    pieces, kinds = spec.piece_index(), {category.id for category in spec.categories}
    named = [(f"fixed.{i}", piece) for i, piece in enumerate(config.fixed)]
    every = {"suspects": config.suspects, "intended": config.intended}
    named += [
        (f"{name}.{i}.pieces", piece)
        for name, suspects in every.items()
        for i, each in enumerate(suspects)
        for piece in each.pieces
    ]
    wrong = [(place, f"{piece!r} is not a piece of this game") for place, piece in named if piece not in pieces]
    return wrong + [
        (f"categories.{i}", f"{kind!r} is not a category of this game")
        for i, kind in enumerate(config.categories)
        if kind not in kinds
    ]

"""Small games whose numbers say exactly what a piece is worth. Simulators load this file, so it imports little."""

from __future__ import annotations

import msgspec
import numpy as np
from numpy.typing import NDArray

from engine.rng import combine64
from engine.simulators.contract import OK, Battles, Patch
from tests.engine.sample_simulators import SPEC, Rows, Seeds, TugOfWar

HERO, SOLDIER, CHARM = 0, 6, 9
"""The first of the pieces of each category."""


class Numbers(TugOfWar):
    """Heroes beat each other in a ring; a point of power more than a piece has by itself is a point of the chance to
    win. Nothing else matters, and nobody is unfair but for ``unfair``: points by the pieces that a team holds."""

    def __init__(self, unfair: dict[tuple[int, ...], float] | None = None) -> None:
        self.unfair = unfair or {}

    def play(self, left: Rows, right: Rows, seeds: Seeds, patch: Patch) -> Battles:
        pieces = zip(self.spec.patched(patch).pieces, SPEC.pieces, strict=True)
        more = {(i,): now.attributes["power"] - was.attributes["power"] for i, (now, was) in enumerate(pieces)}
        points = {**{held: each for held, each in more.items() if each}, **self.unfair}
        ring = np.sin(2 * np.pi * (left[:, 0] - right[:, 0]) / 6)
        chance = 0.5 + 0.25 * ring + _bonus(left, points) - _bonus(right, points)
        mark = (combine64(seeds, 1) >> np.uint64(11)).astype(np.float64) / 2**53
        win = (mark < chance).astype(float)
        strength = 100 * np.clip(0.5 + chance - mark, 0, 1)
        sides = [np.stack([s, s, w], axis=1) for s, w in ((strength, win), (100 - strength, 1 - win))]
        return Battles(np.stack(sides, axis=1), np.ones((len(seeds), 1)), np.full(len(seeds), OK, np.uint8))


class Overpowered(Numbers):
    """One charm has far too much power, which a change of its number mends."""

    spec = msgspec.structs.replace(
        SPEC,
        pieces=tuple(
            msgspec.structs.replace(piece, attributes={"power": 32.0}) if i == CHARM + 1 else piece
            for i, piece in enumerate(SPEC.pieces)
        ),
    )


class Unfair(Numbers):
    """One charm is far too good."""

    def __init__(self) -> None:
        super().__init__({(CHARM + 1,): 30.0})


def _bonus(teams: NDArray[np.int32], points: dict[tuple[int, ...], float]) -> NDArray[np.float64]:
    found = np.zeros(len(teams))
    for pieces, each in points.items():
        held = [(teams[:, [0, 1, 3, 4]] == piece).any(axis=1) for piece in pieces]
        found += each / 100 * np.logical_and.reduce(held)
    return found

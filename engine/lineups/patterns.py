"""Which teams hold a pattern, and which lineups patterns explain."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from engine.config.patterns import Pattern
from engine.simulators.contract import GameSpec

Bools = NDArray[np.bool_]
Ints = NDArray[np.int32]


class Patterns:
    """Patterns of one game, in their order. Pieces that the game does not have are held by nobody."""

    def __init__(self, spec: GameSpec, patterns: Sequence[Pattern]) -> None:
        index = spec.piece_index()
        at = {slot.id: s for s, slot in enumerate(spec.slots)}
        counted = {at[slot.of]: s for s, slot in enumerate(spec.slots) if slot.kind == "count"}
        self.slots = [(s, counted.get(s, -1)) for s, slot in enumerate(spec.slots) if slot.kind == "piece"]
        self.patterns = tuple(patterns)
        self.pieces = [[index.get(piece, -2) for piece in pattern.pieces] for pattern in patterns]

    def held(self, teams: Ints) -> Bools:
        """bool[..., patterns] of teams int32[..., slots]: which of them hold each, in its amount or more."""
        found = np.ones((*teams.shape[:-1], len(self.patterns)), np.bool_)
        for p, (pattern, pieces) in enumerate(zip(self.patterns, self.pieces, strict=True)):
            for piece in pieces:
                found[..., p] &= self._amount(teams, piece) >= pattern.least
        return found

    def explained(self, lineups: Ints, anchors: NDArray[np.integer]) -> Bools:
        """bool[n, patterns] of lineups int32[n, teams, slots]: whose strongest team, or whose weakest where a pattern
        is too weak, holds each. ``anchors`` [n, 2]: those two; -1: not known, and nothing explains it."""
        rows = np.arange(len(lineups))
        ends = [self.held(lineups[rows, anchors[:, side]]) & (anchors[:, side] >= 0)[:, None] for side in (0, 1)]
        weak = np.array([pattern.side == "weakest" for pattern in self.patterns], np.bool_)
        return np.where(weak, ends[1], ends[0])

    def _amount(self, teams: Ints, piece: int) -> NDArray[np.int64]:
        """How many of a piece each team has."""
        many = np.zeros(teams.shape[:-1], np.int64)
        for slot, count in self.slots:
            many += (teams[..., slot] == piece) * (teams[..., count] if count >= 0 else 1)
        return many


def strangers(spec: GameSpec, patterns: Sequence[Pattern], place: str) -> Iterator[tuple[str, str]]:
    """(place, sentence) of each piece that is none of this game."""
    index = spec.piece_index()
    for i, pattern in enumerate(patterns):
        for j, piece in enumerate(pattern.pieces):
            if piece not in index:
                yield f"{place}.{i}.pieces.{j}", f"{piece!r} is not a piece of this game"

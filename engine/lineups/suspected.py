"""What of a removal test does not fit its game, said where it is asked for and again before it is played."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from engine.config.removal import RemovalConfig, SuspectConfig
from engine.lineups.patterns import Patterns, strangers
from engine.simulators.checks import row_problems
from engine.simulators.contract import GameSpec

Wrong = Iterator[tuple[str, str]]


def unfit(config: RemovalConfig, spec: GameSpec) -> Wrong:
    """(place, sentence) of all that is wrong: suspects that are no pieces of the game, objectives without a line, and
    lineups that are none of the game, or do not hold their suspect in the team that it explains."""
    for place, why in strangers(spec, [each.pattern for each in config.suspects], "suspects"):
        yield place.replace(".pieces", ".pattern.pieces"), why
    if all(objective.threshold is None for objective in config.objectives.objectives):
        yield "objectives", "one of them needs a line: what is left is told by what is over it"
    for i, suspect in enumerate(config.suspects):
        shape = (len(suspect.genomes), config.lineups.teams, len(spec.slots))
        if (lineups := _shaped(suspect)).shape == shape:
            yield from _strange(lineups, suspect, spec, f"suspects.{i}.genomes")
        elif suspect.genomes:
            yield f"suspects.{i}.genomes", f"each is {shape[1]} teams of {shape[2]} numbers"


def _shaped(suspect: SuspectConfig) -> NDArray[np.int32]:
    """Its lineups as an array; an empty one where they are not all of one shape, or numbers are too large."""
    try:
        return np.array(suspect.genomes, np.int32)
    except (ValueError, OverflowError):
        return np.empty(0, np.int32)


def _strange(lineups: NDArray[np.int32], suspect: SuspectConfig, spec: GameSpec, place: str) -> Wrong:
    """Lineups int32[n, teams, slots] with numbers that do not fit their slots, or whose team does not hold the
    suspect."""
    held = Patterns(spec, [suspect.pattern]).explained(lineups, np.array(suspect.anchors, np.int64))[:, 0]
    for i, lineup in enumerate(lineups):
        yield from ((f"{place}.{i}", why) for why in row_problems(spec, lineup))
        if not held[i]:
            yield f"{place}.{i}", f"its {suspect.pattern.side} team does not hold the suspect"

"""One battle of a suspect to watch: what a game draws of it, as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.simulators.contract import Frame

MOST_FRAMES = 400
"""Of a longer battle every second frame is kept, or every third, …; what happened in between is told with the next."""
NUMBERS = ("x", "y", "life")


class Example(NamedTuple):
    """``units``: side, name and role of each; ``ticks`` of the frames; ``events`` of each; ``places`` float32[frames,
    units, 3] (x, y, life in [0, 1]; not a number: not there)."""

    units: list[dict[str, str]]
    ticks: list[int]
    events: list[list[str]]
    places: NDArray[np.float32]

    def facts(self) -> dict[str, Any]:
        """All but the places, as JSON."""
        return {"units": self.units, "ticks": self.ticks, "events": self.events}


def recorded(frames: Sequence[Frame]) -> Example | None:
    """The frames of one battle; None where the game gives none, or none with places to draw."""
    if not frames or not any("x" in unit and "y" in unit for unit in frames[0].units):
        return None
    step = -(-len(frames) // MOST_FRAMES)
    kept = sorted({*range(0, len(frames), step), len(frames) - 1})
    many = max(len(frame.units) for frame in frames)
    longest = max(frames, key=lambda frame: len(frame.units))
    units = [{key: str(unit.get(key, "")) for key in ("side", "name", "role")} for unit in longest.units]
    places = np.full((len(kept), many, len(NUMBERS)), np.nan, np.float32)
    events, before = list[list[str]](), -1
    for row, at in enumerate(kept):
        for column, unit in enumerate(frames[at].units):
            places[row, column] = [_number(unit.get(name)) for name in NUMBERS]
        events.append([event for frame in frames[before + 1 : at + 1] for event in frame.events])
        before = at
    return Example(units, [frames[at].tick for at in kept], events, places)


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else float("nan")

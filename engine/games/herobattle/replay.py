"""A recorded battle as frames that a browser can draw."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.games.herobattle.layout import LANES
from engine.simulators.contract import Frame, GameSpec

F64 = NDArray[np.float64]
I32 = NDArray[np.int32]
U8 = NDArray[np.uint8]


def _members(spec: GameSpec, row: I32) -> list[tuple[str, str]]:
    """(role, name) of each unit of a team, in the kernel's order."""
    units = [("hero", spec.pieces[row[0]].name)]
    for slot in (4, 6):
        if row[slot] >= 0:
            piece = spec.pieces[row[slot]]
            units += [(piece.id, piece.name)] * int(row[slot + 1])
    return units


def _ending(side: F64) -> str:
    if side[0, 2] == 0.5:
        return "Draw"
    return "Left wins" if side[0, 2] == 1.0 else "Right wins"


def frames(spec: GameSpec, left: I32, right: I32, trace: F64, casts: U8, duration: int, side: F64) -> list[Frame]:
    """Frames 0 to ``duration`` from the kernel's recording: ``trace`` float64[ticks, units, 3] (x, y, hit points),
    ``casts`` uint8[ticks, 2]. The last frame's events name the winner."""
    roster = [(s, i, *unit) for s, row in enumerate((left, right)) for i, unit in enumerate(_members(spec, row))]
    names, sides = ("left", "right"), (left, right)
    full = trace[0, :, 2]
    found = []
    for tick in range(duration + 1):
        units: list[dict[str, Any]] = []
        casters = [sides[s] for s in (0, 1) if casts[tick, s]]
        events = [f"{spec.pieces[row[0]].name} uses {spec.pieces[row[1]].name}" for row in casters]
        for s, i, role, name in roster:
            u = s * LANES + i
            x, y, life = trace[tick, u]
            if tick and life <= 0.0 < trace[tick - 1, u, 2]:
                events.append(f"{name if role == 'hero' else 'One of the ' + name} falls ({names[s]})")
            units.append(
                {"side": names[s], "role": role, "name": name, "x": round(float(x), 3), "y": round(float(y), 3),
                 "life": float(life / full[u])}
            )  # fmt: skip
        if tick == duration:
            events.append(_ending(side))
        found.append(Frame(tick, tuple(units), tuple(events)))
    return found

"""One row of a benchmark's output."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any


def row(
    bench: str,
    case: str,
    value: float,
    unit: str,
    *,
    peer: str = "",
    peer_value: float | None = None,
    goal: str = "",
    meets: bool | None = None,
    seeds: Sequence[int] = (),
    detail: str = "",
) -> dict[str, Any]:
    """One row of output, of plain numbers whatever library they come from; ``ratio`` is value over the peer's."""
    value, peer_value = float(value), None if peer_value is None else float(peer_value)
    meets = None if meets is None else bool(meets)
    ratio = value / peer_value if peer_value else None
    return {
        "bench": bench, "case": case, "value": value, "unit": unit, "peer": peer, "peer_value": peer_value,
        "ratio": ratio, "goal": goal, "meets": meets, "seeds": list(seeds), "cores": os.cpu_count(), "detail": detail,
    }  # fmt: skip

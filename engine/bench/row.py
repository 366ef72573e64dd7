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
    """One row of output; ``ratio`` is value over the peer's."""
    ratio = value / peer_value if peer_value else None
    return {
        "bench": bench, "case": case, "value": value, "unit": unit, "peer": peer, "peer_value": peer_value,
        "ratio": ratio, "goal": goal, "meets": meets, "seeds": list(seeds), "cores": os.cpu_count(), "detail": detail,
    }  # fmt: skip

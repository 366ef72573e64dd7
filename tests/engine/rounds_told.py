"""What the rounds of a training say that does not depend on the clock."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from engine.events import AnyEvent, Progressed

TIMES = {"steps_per_second", "sampling_seconds", "learning_seconds", "waiting"}


def curve(found: Iterable[AnyEvent]) -> list[tuple[Any, ...]]:
    """Ticks, steps, the policy's hash and metrics of each round."""
    return [
        (e.tick, e.counters.steps, e.artifacts["policy"], {k: v for k, v in e.metrics.items() if k not in TIMES})
        for e in found
        if isinstance(e, Progressed)
    ]

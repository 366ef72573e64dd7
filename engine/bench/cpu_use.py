"""How much of the machine trains: processor seconds inside stepping, inference and learning, of all processors' time,
on image Pong. Steps that were dropped as too old do not count, nor does moving data or waiting.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from engine.bench.row import row
from engine.bench.sampling_pong import study_of
from engine.bench.training_speed import speed

NAME = "cpu-use"
CASES = ("pong",)
LEAST = 0.85


def run(case: str, quick: bool) -> Iterator[dict[str, Any]]:
    """Measure it."""
    found = speed(study_of(quick), 5.0 if quick else 120.0)
    share = found.processors / len(os.sched_getaffinity(0))
    yield row(
        NAME, case, 100 * share, "% of all processors", goal=f">= {100 * LEAST:.0f} %", meets=share >= LEAST, seeds=[1],
        detail=f"{found.steps_per_second:,.0f} steps/s, {found.dropped:.0f} fragments dropped",
    )  # fmt: skip

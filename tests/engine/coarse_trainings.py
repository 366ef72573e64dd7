"""Trainings whose ends every processor agrees on, for golden files.

Processors differ in the last bits of a float, and a training's seed is the hash of what it goes on from: what follows
would be another story on each of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from engine.arrays import pack
from engine.columns import Arrays
from engine.evorl import evaluator

STEPS = 64.0
"""Numbers of a training's end are multiples of one part of so many."""


def round_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the evaluators of this process round all numbers of a training's end."""
    monkeypatch.setattr(evaluator, "pack", lambda meta, arrays: pack(_rounded(meta), _rounded(arrays)))


def _rounded(kept: Mapping[str, Any] | Arrays) -> dict[str, Any]:
    return {name: _round(value) for name, value in kept.items()}


def _round(value: Any) -> Any:
    if isinstance(value, dict):
        return _rounded(value)
    if isinstance(value, float):
        return round(value * STEPS) / STEPS
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        return np.round(value * STEPS).astype(value.dtype) / value.dtype.type(STEPS)
    return value

"""The hashes of ``engine.rng`` for one number, compiled. A module of its own, because importing numba is slow."""

from __future__ import annotations

from typing import Any

from engine.compiling import njit
from engine.rng import GOLDEN, finalised

_jit = njit(cache=True, nogil=True)
mix = _jit(finalised)
"""``mix64`` of a uint64."""


@_jit
def combine(a: Any, b: Any) -> Any:
    """``combine64`` of two uint64."""
    return mix(mix(a) + GOLDEN + b)

"""Random numbers of compiled games: each is a hash of a word, that is of (episode seed, decision), and its number."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeVar, cast

from engine.compiling import njit
from engine.mdp.choosing import uniform

F = TypeVar("F", bound=Callable[..., Any])


def compiled(function: F) -> F:
    """Compile without fast-math: the order of operations is as written, on every machine."""
    return cast(F, njit(cache=True, nogil=True, fastmath=False, error_model="numpy")(function))


@compiled
def between(word: Any, i: int, low: float, high: float) -> float:
    """The ``i``-th number of a word's stream, uniform between two ends."""
    return low + (high - low) * uniform(word, i)


@compiled
def normal(word: Any, i: int) -> float:
    """A standard normal number from the ``2 i``-th and the next number of a word's stream (Box & Muller 1958)."""
    return math.sqrt(-2.0 * math.log(1.0 - uniform(word, 2 * i))) * math.cos(2.0 * math.pi * uniform(word, 2 * i + 1))


@compiled
def clip(value: float, low: float, high: float) -> float:
    """The nearest number from ``low`` to ``high``."""
    return min(max(value, low), high)

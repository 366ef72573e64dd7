"""The stages of an experiment, and the battles that a completed one has played."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
Chosen = NDArray[np.int64]
PROOFS, PRICES = tuple(f"proof-{i}" for i in range(1, 4)), "prices"
"""The stages of the proof, and the last stage, with changed prices."""


class Stage(NamedTuple):
    """Battles from number ``first`` on; ``traits`` are assigned to them in turn (empty: the reference)."""

    name: str
    first: int
    battles: int
    traits: tuple[int, ...] = ()


class PlayedStage(NamedTuple):
    """A completed stage: ``rows`` int32[n, 2, slots], the first team of each holding the trait ``dealt`` int64[n] (-1:
    none) at a price changed by ``dearer`` float64[n]; ``ahead`` float64[n, 2]: its win and its strength above even, NaN
    where a battle was not finished."""

    stage: Stage
    rows: Ints
    dealt: Chosen
    dearer: Floats
    ahead: Floats

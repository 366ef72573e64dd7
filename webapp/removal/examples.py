"""Battles of suspects that can be watched, as a removal test recorded them."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.arrays import unpack
from engine.config.patterns import Pattern
from engine.errors import StoreError
from webapp.lib.storage import store
from webapp.studies.models import Job


class Example(NamedTuple):
    """A battle between the strongest (left) and the weakest team of a lineup; ``meta`` as ``engine.removal.example``
    has it, ``places`` float32[frames, units, 3] (x, y, life)."""

    meta: dict[str, Any]
    places: NDArray[np.float32]

    @property
    def teams(self) -> list[str]:
        """What the two teams are called."""
        return list(self.meta["names"])

    @property
    def course(self) -> list[tuple[int, str]]:
        """What happened, in words: (tick, event)."""
        pairs = zip(self.meta["ticks"], self.meta["events"], strict=True)
        return [(tick, event) for tick, events in pairs for event in events]

    def frames(self) -> dict[str, Any]:
        """For scripts; a unit that is not there has no place."""
        rounded = np.round(self.places.astype(np.float64), 2).tolist()
        places = [[[finite(number) for number in unit] for unit in frame] for frame in rounded]
        return {**self.meta, "places": places}


def finite(number: float) -> float | None:
    """None for what is no number, which JSON has not."""
    return number if math.isfinite(number) else None


def of(job: Job, key: str) -> Example | None:
    """The battle of a suspect, by its key; None where the game gives none to draw, or it was lost."""
    digest = job.artifacts.get("examples", "")
    keys = [Pattern.model_validate(each["pattern"]).key for each in job.config.get("suspects", ())]
    if not digest or key not in keys:
        return None
    try:
        meta, arrays = unpack(store().get(digest))
    except StoreError:
        return None
    at = str(keys.index(key))
    return Example(meta[at], arrays[f"places_{at}"]) if at in meta else None

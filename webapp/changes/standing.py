"""How the lineups that would be replayed stand now, by what their search knows of them: the card's bars before a change
is tried."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.config import ObjectiveConfig
from engine.config.lineups import TeamRow
from engine.errors import ConfigError, StoreError
from engine.lineups.schema import team_row
from webapp.changes.picking import Lineups
from webapp.changes.reading import Measured
from webapp.lib.figures import in_unit, ranged_digits, sign_of, telling
from webapp.lib.words import number
from webapp.studies import explore_source as source
from webapp.studies.explore_build import Explored, explored
from webapp.studies.models import Job


class Now(NamedTuple):
    """A lineup before any change; ``fresh``: by fresh battles."""

    name: str
    before: Measured
    fresh: bool
    after: Measured = Measured(None)


@dataclass(frozen=True)
class LineupsNow:
    """``lineups`` that are known, in the ``objective`` that has the line."""

    objective: ObjectiveConfig
    lineups: list[Now]

    @property
    def picked(self) -> bool:
        """Whether some are known by the battles alone that they were picked by."""
        return not all(each.fresh for each in self.lineups)

    @property
    def line(self) -> float | None:
        """Its line."""
        return self.objective.threshold

    def value_of(self, measured: Measured) -> str:
        """A value with its unit, with so many digits that it stands on its side of the line; a dash where there is
        none."""
        return "–" if measured.value is None else self._number(measured.value, measured, self.objective.unit)

    def ends_of(self, measured: Measured) -> str:
        """The ends of its range; empty where there is none."""
        ends = measured.low, measured.high
        unit = sign_of(self.objective.unit)
        return (
            " to ".join(self._number(end, measured, unit) for end in ends if end is not None)
            if None not in ends
            else ""
        )

    def _number(self, n: float, of: Measured, unit: str) -> str:
        lines = [] if self.line is None else [self.line]
        digits = ranged_digits(((each.before.value, each.before.ends) for each in self.lineups), self.objective.unit)
        return in_unit(number(n, telling(of.value or 0.0, of.ends, digits, lines)), unit)


def standing(search: Job, replayed: Lineups) -> LineupsNow | None:
    """The lineups of a search that are given as a study has them; None where none of them is known any more."""
    try:
        found, spec = explored(search), source.spec(search)
    except (StoreError, ConfigError):
        return None
    objectives = source.objectives(search).objectives
    measure = next((j for j, o in enumerate(objectives) if o.threshold is not None), 0)
    if not found.core:
        return None
    genomes = [np.stack([team_row(spec, TeamRow(**team)) for team in each["teams"]]) for each in replayed]
    known = [_now(found, measure, each["name"], genome) for each, genome in zip(replayed, genomes, strict=True)]
    lineups = [each for each in known if each is not None]
    return LineupsNow(objectives[measure], lineups) if lineups else None


def _now(found: Explored, measure: int, name: str, genome: NDArray[np.int32]) -> Now | None:
    rows = np.flatnonzero((found.genome == genome).all(axis=(1, 2)))
    if not len(rows):
        return None
    value, half = (float(found.core[column][measure, rows[0]]) for column in ("value", "half"))
    ends = (value - half, value + half) if np.isfinite(half) else (None, None)
    return Now(name, Measured(value, *ends), int(found.core["id"][rows[0]]) in found.fresh)

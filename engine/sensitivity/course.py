"""The course of a sensitivity: all plantings, then the effects of what experiments confirmed beside what was planted.

Whatever holds none of the planted pieces and was confirmed is either unfair in the game as it is, or innocent. So its
effect there is measured, on battles of its own, and it is called innocent where that is smaller than what matters or
goes the other way.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.arrays import Bundle
from engine.config.sensitivity import SensitivityConfig
from engine.evolution.algorithm import Parts, Progress
from engine.problem import Evaluation, Request
from engine.rng import combine64
from engine.sensitivity.evaluator import CONFIRMED, PLANTED, AskedPattern
from engine.sensitivity.plan import Planting

_MEASURED = 0x5E48
WAITS, DONE, FAILED = range(3)


class Named(NamedTuple):
    """A trait that an experiment confirmed, as too good (1) or too weak (-1)."""

    pieces: tuple[int, ...]
    least: int
    sign: int


def found(planting: Planting, confirmed: list[Named]) -> bool:
    """Whether an experiment found what was planted."""
    right = [named for named in confirmed if named.sign == planting.sign]
    own = set(planting.pieces)
    if planting.kind == "triple":
        return any(set(named.pieces) <= own for named in right)
    return any(set(named.pieces) == own for named in right)


class PlantingCourse:
    """Requests plantings and collects what came of them, as an ``Algorithm`` does. ``metrics`` float64[n, PLANTED] and
    ``confirmed`` by planting; ``effects``: of each ``Named`` beside, its effect in the game as it is. The game did not
    finish ``unfinished`` of the ``measured`` battles, by which effects are known."""

    def __init__(self, config: SensitivityConfig, plantings: list[Planting]) -> None:
        self.config, self.plantings = config, plantings
        self.status = np.full(len(plantings), WAITS, np.uint8)
        self.metrics = np.full((len(plantings), len(PLANTED)), np.nan)
        self.confirmed: dict[int, list[Named]] = {}
        self.effects: dict[Named, tuple[float, float, float]] = {}
        self.played, self._asked = 0, set[int]()
        self.unfinished = self.measured = 0

    @property
    def tick(self) -> int:
        """Plantings that are over."""
        return int((self.status != WAITS).sum())

    @property
    def hits(self) -> list[bool]:
        """Of each planting whose experiment is over, whether it found what was planted."""
        return [found(self.plantings[i], confirmed) for i, confirmed in sorted(self.confirmed.items())]

    @property
    def planted(self) -> bool:
        """Whether all of them are."""
        return self.tick == len(self.plantings)

    @property
    def beside(self) -> list[Named]:
        """All that was confirmed beside what was planted: it holds none of the pieces of the break."""
        every = ((named, self.plantings[i]) for i, confirmed in self.confirmed.items() for named in confirmed)
        found = {named for named, planting in every if not set(named.pieces) & set(planting.pieces)}
        return sorted(found)

    @property
    def done(self) -> bool:
        """Whether every answer has come."""
        return self.planted and len(self.effects) == len(self.beside)

    def ask(self, room: int) -> list[Request]:
        """At most so many requests of what was neither asked for nor answered."""
        waiting = self._measuring() if self.planted else self._planting()
        found = [request for request in waiting if request.id not in self._asked][: max(room, 0)]
        self._asked |= {request.id for request in found}
        return found

    def tell(self, evaluation: Evaluation) -> list[Progress]:
        """Take in an answer. Raises KeyError for one that is not outstanding."""
        self._asked.remove(evaluation.id)
        self.played += evaluation.cost
        i, (*planted, unfinished, measured) = evaluation.id, evaluation.metrics.tolist()
        if evaluation.status == "ok":
            self.unfinished, self.measured = self.unfinished + int(unfinished), self.measured + int(measured)
        if i >= len(self.plantings):
            low_to_high = planted[0], planted[1], planted[2]
            self.effects[self.beside[i - len(self.plantings)]] = low_to_high
            return []
        self.status[i] = DONE if evaluation.status == "ok" else FAILED
        if evaluation.status == "ok":
            self.metrics[i] = planted
            self.confirmed[i] = _named(evaluation.values)
        return [Progress(self.tick)]

    def state(self) -> Parts:
        """All that has come."""
        rows = [(i, *_row(named)) for i, confirmed in sorted(self.confirmed.items()) for named in confirmed]
        beside = [(*_row(named), *effect) for named, effect in self.effects.items()]
        arrays = {
            "status": self.status, "metrics": self.metrics,
            "battles": np.array([self.played, self.unfinished, self.measured], np.int64),
            "told": np.array(rows, np.int32).reshape(-1, 1 + len(CONFIRMED)),
            "effects": np.array(beside, np.float64).reshape(-1, len(CONFIRMED) + 3),
        }  # fmt: skip
        return {"course": Bundle({}, arrays)}

    def load(self, parts: Parts) -> None:
        """Continue from a state."""
        arrays = parts["course"].arrays
        self.status, self.metrics = np.array(arrays["status"]), np.array(arrays["metrics"])
        self.played, self.unfinished, self.measured = [*arrays["battles"].tolist(), 0, 0][:3]  # older ones: played
        self.confirmed = {i: [] for i in np.flatnonzero(self.status == DONE).tolist()}
        for i, *row in arrays["told"].tolist():
            self.confirmed[i].append(_name(row))
        self.effects = {_name(row[:4]): (row[4], row[5], row[6]) for row in arrays["effects"].tolist()}

    def _planting(self) -> list[Request]:
        return [
            Request(p.number, AskedPattern(p.pieces, 1, p.target, p.sign).genome(), 0, 1, p.seed)
            for p in self.plantings
            if self.status[p.number] == WAITS
        ]

    def _measuring(self) -> list[Request]:
        found = []
        for j, named in enumerate(self.beside):
            if named not in self.effects:
                key = combine64(combine64(self.config.seed, _MEASURED), hash_of(named))
                asked = AskedPattern(named.pieces, named.least, 0.0, named.sign)
                found.append(Request(len(self.plantings) + j, asked.genome(), 0, 1, int(key) >> 1))
        return found


def hash_of(named: Named) -> int:
    """A number that is the same for equal traits."""
    key = named.least * 2 + (named.sign > 0)
    for piece in named.pieces:
        key = int(combine64(key, piece))
    return key


def _named(values: NDArray[np.float64] | None) -> list[Named]:
    return [] if values is None else [_name(row) for row in values.tolist()]


def _name(row: list[float]) -> Named:
    first, second, least, sign = (int(each) for each in row)
    return Named((first,) if second < 0 else (first, second), least, sign)


def _row(named: Named) -> tuple[int, int, int, int]:
    first, second = (*named.pieces, -1)[:2]
    return first, second, named.least, named.sign

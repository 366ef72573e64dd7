"""The agents that stayed, and those of the control beside them, as a picture and as a table: to the right what they do
first, upwards and as a colour how well they play."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from webapp.lib.words import number
from webapp.studies.lines import Frame, several
from webapp.styles.evidence import Population, padded
from webapp.styles.map_words import MeasureAxis

SHADES = 5
"""Colours from the worst score in the picture to the best."""
ROUNDING = 1e-9
"""Of a logarithm."""
SHAPES = ("circle", "square")
"""Of the search’s agents, and of its control’s."""


class StayedMark(NamedTuple):
    """One agent: ``shape`` says whose it is, ``shade`` how well it plays (0: the worst in the picture); in words what
    it does (``way``) and its ``score``; the range of the score in ``ends`` (empty: unknown)."""

    shape: str
    agent: int
    x: float
    y: float
    shade: int
    way: str
    score: str
    ends: str


class Stayed:
    """``marks``: all agents, the best of the search last, so that they lie above the others; ``rows``: the same, the
    best first. ``across`` and ``up``: texts of the axes and where they stand; ``worst`` and ``best`` score in words."""

    def __init__(self, both: dict[str, Population], way: MeasureAxis, skill: MeasureAxis) -> None:
        self.way, self.skill = way, skill
        scores = np.concatenate([agents.score for agents in both.values()])
        ends = padded(np.concatenate([agents.behaviour[:, 0] for agents in both.values()])), padded(scores)
        self._frame, self._ends = Frame(*ends), (float(scores.min()), float(scores.max()))
        found = [mark for shape in reversed(both) for mark in self._of(shape, both[shape])]
        self.marks, self.rows = found, sorted(found, key=lambda mark: mark.y)
        self.across = [(text, self._frame.x(at)) for text, at in _numbers(*ends[0], 100 if way.share else 1)]
        self.up = [(text, self._frame.y(at)) for text, at in _numbers(*ends[1])]
        self.worst, self.best = (number(score, 2) for score in self._ends)

    def _of(self, shape: str, agents: Population) -> list[StayedMark]:
        """One side, the worst first."""
        return [self._mark(shape, agents, row) for row in np.argsort(agents.score, kind="stable").tolist()]

    def _mark(self, shape: str, agents: Population, row: int) -> StayedMark:
        score, way = float(agents.score[row]), float(agents.behaviour[row, 0])
        low, high = agents.ends[row].tolist()
        between = f"{number(low, 2)} to {number(high, 2)}" if np.isfinite(high - low) else ""
        worst, best = self._ends
        share = (score - worst) / (best - worst) if best > worst else 1.0
        return StayedMark(
            shape, int(agents.ids[row]), self._frame.x(way), self._frame.y(score), round(share * (SHADES - 1)),
            self.way.text(way), number(score, 2), between,
        )  # fmt: skip


def _numbers(low: float, high: float, times: int = 1) -> list[tuple[str, float]]:
    """Numbers of an axis, with as many decimals as tell them apart, and where they are."""
    found = several(low, high)
    digits = max(0, -math.floor(math.log10(times * (found[1] - found[0])) + ROUNDING))
    return [(number(times * at, digits), at) for at in found]


def stayed(mine: Population | None, control: Population | None, way: MeasureAxis, skill: MeasureAxis) -> Stayed | None:
    """The picture; None while there is nobody, and where nothing is measured of what they do."""
    sides = zip(SHAPES, (mine, control), strict=True)
    both = {shape: agents for shape, agents in sides if agents is not None and agents.ways}
    return Stayed(both, way, skill) if SHAPES[0] in both else None

"""The same style at other difficulties: agents of the archive that do alike and surely play better or worse.

The strongest and the weakest of many look further apart than they are. So scores are compared, and told, with ranges
that hold at once for everybody of a style."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.confidence import Range
from engine.means import widened
from webapp.styles.map_agents import Agents

MOST = 3
ALIKE = 0.1
"""Of the range of a behaviour among all agents: what differs by no more is the same style."""
ERROR = 0.05


def same_style(agents: Agents, row: int) -> NDArray[np.bool_]:
    """Who does as the agent in this row does, in every behaviour: bool[n]."""
    alike = np.ones(len(agents.id), np.bool_)
    for name in agents.behaviour:
        values = agents.measures[name].mean
        alike &= np.abs(values - values[row]) <= ALIKE * np.ptp(values) + 1e-12
    return alike


def levels(agents: Agents, row: int) -> dict[int, Range]:
    """Up to ``MOST`` rows of one style with the ranges of their scores, the strongest first, the agent itself among
    them: no two ranges overlap, though they hold for all of this style together. Where there are more, its own level,
    and the strongest and weakest of the others."""
    alike = np.flatnonzero(same_style(agents, row)).tolist()
    ends = {each: found for each in alike if (found := _ends(agents, each, len(alike))) is not None}
    if row not in ends:
        return {}
    chosen = [row]
    order = sorted((each for each in ends if each != row), key=lambda each: float(agents.score.mean[each]))
    for candidate in (*order[::-1][:1], *order, *order[::-1]):
        if len(chosen) < MOST and all(_apart(ends[candidate], ends[each]) for each in chosen):
            chosen.append(candidate)
    return {each: ends[each] for each in sorted(chosen, key=lambda each: -float(agents.score.mean[each]))}


def _ends(agents: Agents, row: int, among: int) -> Range | None:
    """The range of a score that holds for all ``among`` so many at once; None where it is not known."""
    found = agents.score.ends(row)
    return None if found is None else widened(float(agents.score.mean[row]), Range(*found), ERROR / among)


def _apart(one: Range, other: Range) -> bool:
    return one.high < other.low or other.high < one.low

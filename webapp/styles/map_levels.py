"""The same style at other difficulties: agents of the archive that do alike and surely play better or worse."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from webapp.styles.map_agents import Agents

MOST = 3
ALIKE = 0.1
"""Of the range of a behaviour among all agents: what differs by no more is the same style."""


def same_style(agents: Agents, row: int) -> NDArray[np.bool_]:
    """Who does as the agent in this row does, in every behaviour: bool[n]."""
    alike = np.ones(len(agents.id), np.bool_)
    for name in agents.behaviour:
        values = agents.measures[name].mean
        alike &= np.abs(values - values[row]) <= ALIKE * np.ptp(values) + 1e-12
    return alike


def levels(agents: Agents, row: int) -> list[int]:
    """Up to ``MOST`` rows of one style, the strongest first, the agent itself among them: the ranges of the scores of
    no two overlap. Where there are more, its own level, and the strongest and weakest of the others."""
    chosen = [row]
    others = np.flatnonzero(same_style(agents, row) & (np.arange(len(agents.id)) != row))
    order = others[np.argsort(agents.score.mean[others], kind="stable")].tolist()
    for candidate in (*order[::-1][:1], *order, *order[::-1]):
        if len(chosen) < MOST and all(_apart(agents, candidate, each) for each in chosen):
            chosen.append(candidate)
    return sorted(chosen, key=lambda each: -float(agents.score.mean[each]))


def _apart(agents: Agents, one: int, other: int) -> bool:
    first, second = agents.score.ends(one), agents.score.ends(other)
    return first is not None and second is not None and (first[1] < second[0] or second[1] < first[0])

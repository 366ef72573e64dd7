"""The same style at other difficulties: agents of the archive that are not surely of another style, and that surely
play better or worse.

The strongest and the weakest of many look further apart than they are. So scores are compared, and told, with ranges
that hold at once for everybody of a search. Whoever was measured on fresh episodes is judged by these
(``webapp.styles.freshest``)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from engine.confidence import Range
from engine.means import widened
from engine.styles.likeness import Likeness, likeness
from webapp.styles.map_agents import Agents

MOST = 3
ERROR = 0.05


class Difficulty(NamedTuple):
    """An agent at a difficulty of its own: the range of its ``score``, and how alike what it does is."""

    score: Range
    alike: Likeness


def same_style(agents: Agents, row: int) -> list[Likeness]:
    """How alike everybody is to the agent in this row, in what they do."""
    measured = [agents.measures[name] for name in agents.behaviour]
    mean, low, high = (np.stack([each[part] for each in measured], axis=1) for part in range(3))
    return likeness(mean, low, high, row)


def levels(agents: Agents, row: int) -> dict[int, Difficulty]:
    """Up to ``MOST`` rows with the ranges of their scores, the strongest first, the agent itself among them: no two
    ranges overlap, and nobody is surely of another style. Who surely is of this style comes before who may be, and of
    these who is nearest by the mean."""
    alike = same_style(agents, row)
    found = {k: Difficulty(ends, alike[k]) for k in range(len(alike)) if (ends := _ends(agents, k)) is not None}
    if row not in found:
        return {}
    able = [k for k, each in found.items() if k != row and each.alike.verdict != "another"]
    chosen = [row]
    for k in sorted(able, key=lambda k: (alike[k].verdict != "same", alike[k].by, int(agents.id[k]))):
        if len(chosen) < MOST and all(_apart(found[k].score, found[each].score) for each in chosen):
            chosen.append(k)
    return {k: found[k] for k in sorted(chosen, key=lambda k: -float(agents.score.mean[k]))}


def _ends(agents: Agents, row: int) -> Range | None:
    """The range of a score that holds for all agents at once; None where it is not known."""
    found = agents.score.ends(row)
    return None if found is None else widened(float(agents.score.mean[row]), Range(*found), ERROR / len(agents.id))


def _apart(one: Range, other: Range) -> bool:
    return one.high < other.low or other.high < one.low

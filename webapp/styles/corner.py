"""The corner from which the volume under an edge is measured: the worst of each goal. It is one for a search, its
control and all of their rounds. Measured from the worst of those that stayed, the volume would fall while they get
better."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from engine.arrays import unpack
from engine.catalog import declared_ends
from engine.config.evolve import KNOWN_ENDS
from engine.config.style_reward import identifier
from engine.errors import StoreError
from webapp.lib.storage import store
from webapp.studies.lines import shown
from webapp.studies.models import Job
from webapp.styles.map_agents import of_rounds
from webapp.styles.map_reach import reach_of
from webapp.training.goals import title_of

FRESH = "fresh_population"
"""Role of the agents that stayed to the end, on fresh episodes."""
ROLES = ("arrived", "archive", FRESH)
"""Of artifacts in which agents stand, beside those of rounds."""


class WorstOfGoal(NamedTuple):
    """The worst ``value`` of a goal: the worst that there can be (``declared``), or the worst of all agents measured so
    far. ``sign``: 1 where more is better, else -1."""

    measure: str
    sign: float
    value: float
    declared: bool

    @property
    def words(self) -> str:
        """ "Busy 0"."""
        return f"{title_of(self.measure)} {shown(self.value)}"


class Corner(NamedTuple):
    """The worst of each goal."""

    goals: tuple[WorstOfGoal, ...]

    @property
    def at(self) -> list[float]:
        """It as a point, where more is better in every goal."""
        return [goal.sign * goal.value for goal in self.goals]

    @property
    def words(self) -> str:
        """ "the worst that there can be (Busy 0, Calm 0)"."""
        parts = (("the worst that there can be", True), ("the worst of all agents measured so far", False))
        named = [(what, [goal.words for goal in self.goals if goal.declared == known]) for what, known in parts]
        return " and ".join(f"{what} ({', '.join(goals)})" for what, goals in named if goals)


def corner(job: Job, control: Job | None) -> Corner | None:
    """That of a search and its control; None where it goes by what agents reached, and none was measured."""
    found = []
    for place, aim in enumerate(job.config["objectives"]):
        sign = 1.0 if aim["direction"] == "max" else -1.0
        end = declared_end(aim, job.config["task"]["game"]["name"])
        measured = (row[place] for run in (job, control) if run is not None and end is None for row in _worst(run))
        value = min(measured, default=None) if end is None else sign * end
        if value is None:
            return None
        found.append(WorstOfGoal(aim["measure"], sign, sign * value, end is not None))
    return Corner(tuple(found))


def declared_end(aim: dict[str, Any], game: str) -> float | None:
    """The worst that a goal can be: as the goal says, or as the game says of what the goal is made of."""
    side, measure, formula = (0 if aim["direction"] == "max" else 1), aim["measure"], aim.get("formula", "")
    typed = aim.get(("low", "high")[side])
    if typed is not None:
        return float(typed)
    ends = {**KNOWN_ENDS, **declared_ends(game)}
    known = ends.get(measure) if not formula else None
    end = (known or reach_of(formula or identifier(measure), {identifier(each): e for each, e in ends.items()}))[side]
    return float(end) if math.isfinite(end) else None


def _worst(run: Job) -> Iterator[tuple[float, ...]]:
    """The worst of each goal in all that a job has measured: in its rounds, in the one under way and on fresh episodes.
    What was lost from the store is left out."""
    for digest in (*of_rounds(run, "chunk"), *(str(run.artifacts.get(role, "")) for role in ROLES)):
        try:
            worst = _worst_in(digest) if digest else None
        except StoreError:
            worst = None
        if worst is not None:
            yield worst


@lru_cache(maxsize=4096)
def _worst_in(digest: str) -> tuple[float, ...] | None:
    """That of one artifact, more being better; None where nobody in it could be measured. Raises StoreError."""
    bundle = unpack(store().get(digest))
    goals = bundle.arrays["objective"]
    good = goals[(bundle.arrays["status"] == 0) & np.isfinite(goals).all(axis=1)]
    signs = np.array([1.0 if way == "max" else -1.0 for way in bundle.meta["directions"]])
    return tuple((good * signs).min(axis=0).tolist()) if len(good) else None

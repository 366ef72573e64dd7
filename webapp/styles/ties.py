"""Whether the two goals of a search for styles leave agents that play equally well without a better one among them.

That is a law of the goals, so it is read from their formulas: a few agents may add up to the same by chance."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.config.sound_goals import SAME as ROUNDING
from engine.config.sound_goals import made_up
from engine.config.style_reward import identifier
from webapp.studies.models import Job
from webapp.styles import evidence
from webapp.styles.evidence import Floats

EQUAL = {"win": "that win equally often"}
"""Agents that are alike in a measure, where that is not "of equal score"."""
SAME = 1e-6
"""What agents add up to differs by no more than rounding."""


def tied(job: Job) -> str:
    """Of which agents none beats another, as two goals add up to the same for them, whatever they do: "of equal
    score", or those of equal skill. Empty where there are no such, and where a floor or a cap parted those that
    stayed."""
    agents = evidence.of(job)
    if agents is None or agents.goals.shape[1] != 2:
        return ""
    for name, values in ((agents.by, agents.skill), ("score", agents.score)):
        if _add_up(job.config["objectives"], name) and _alike(agents.goals.sum(axis=1) - 2 * values, SAME):
            return EQUAL.get(name, f"of equal {name}")
    return ""


def _add_up(objectives: list[dict[str, Any]], name: str) -> bool:
    """Whether goals add up to twice this measure, and a constant, in any episode."""
    rest = made_up(identifier(name))
    for aim in objectives:
        values = made_up(aim.get("formula") or identifier(aim["measure"]))
        if rest is None or values is None:
            return False
        rest = rest - (values if aim["direction"] == "max" else -values) / 2
    return rest is not None and _alike(rest, ROUNDING)


def _alike(values: Floats, within: float) -> bool:
    return bool(np.ptp(values) <= within * max(1.0, float(np.abs(values).max())))

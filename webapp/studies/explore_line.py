"""The line where somebody has moved it in the explorer: the same numbers, judged by another line.

``static/js/explore/judging.js`` judges in the browser by the same rules, so that a file holds what the screen shows.
The job keeps its own line. What fresh battles measured stays, but "confirmed" is a word of the line that they were
played for, so moved verdicts do not use it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from django.http import QueryDict
from numpy.typing import NDArray

from engine.indicators import STRONG, UNDER, UNSURE, verdicts
from webapp.games.numbers import sensible
from webapp.lib.digits import fraction
from webapp.studies.explore_build import Explored

PREFIX = "line-"
_UNDER_FRESH, _UNDER, _WEAK, _UNSURE, _STRONG, _STRONG_FRESH = range(6)


def asked(query: QueryDict, meta: Mapping[str, Any]) -> dict[str, float]:
    """The lines that an address moves, by the objective's short name. Raises ValueError for what is no number."""
    found = {}
    for objective in meta["objectives"]:
        text = str(query.get(f"{PREFIX}{objective['name']}", "")).strip()
        if not text or objective["threshold"] is None:
            continue
        line = fraction(text)
        if line is None or not sensible(line):
            raise ValueError(f"{PREFIX}{objective['name']} is {text!r}, which is not a number that a line can be at")
        if line != objective["threshold"]:
            found[objective["name"]] = line
    return found


def moved(explored: Explored, lines: Mapping[str, float]) -> Explored:
    """``explored`` judged by ``lines``; itself where none is moved."""
    if not lines or not explored.core:
        return explored
    meta = explored.meta
    objectives = [{**o, "threshold": lines.get(o["name"], o["threshold"])} for o in meta["objectives"]]
    verdict, sure = _judge(explored.core, objectives, meta["median"], [int(i) for i in meta["fresh"]])
    changed = {**meta, "objectives": objectives, "sure": meta["moved_sure"], "moved": dict(lines)}
    return explored._replace(meta=changed, core={**explored.core, "verdict": verdict, "sure": sure})


def _judge(
    core: Mapping[str, NDArray[Any]],
    objectives: list[dict[str, Any]],
    median: Mapping[str, Any] | None,
    fresh: list[int],
) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Verdict and place in ``Words.moved_sure`` of each lineup."""
    value, half = core["value"].astype(np.float64).T, core["half"].astype(np.float64).T
    sign = [1.0 if o["direction"] == "max" else -1.0 for o in objectives]
    j = next((j for j, o in enumerate(objectives) if o["strength"]), None)
    level = None if median is None else float(median["value"])
    theirs = np.inf if median is None else float(median.get("half", np.inf))
    verdict = verdicts(value, half, sign, [o["threshold"] for o in objectives], j, level, theirs)
    verdict = np.where(core["meant"] == 1, UNDER, verdict).astype(np.uint8)
    sure = np.array([_UNDER, _UNSURE, _STRONG], dtype=np.uint8)[verdict]
    if j is not None and level is not None:
        sure[(verdict == UNSURE) & (sign[j] * (value[:, j] - level) < -np.hypot(half[:, j], theirs))] = _WEAK
    again = np.isin(core["id"], fresh)
    sure[again & (verdict == UNDER)] = _UNDER_FRESH
    sure[again & (verdict == STRONG)] = _STRONG_FRESH
    return verdict, sure

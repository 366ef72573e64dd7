"""What is left of a study of starts without what is wrong with it. One wrong value hides all that does not go together,
which is looked for in the rest."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from typing import Any

from webapp.lib.digits import whole
from webapp.studies.intake import Table

_FOR_LEARNER = ("learner", "iterations", "environments", "sampling")
"""What a learner has to fit: without one of these nothing can be told of it."""
_ENDS = ("low", "high")
"""Of the scores of an episode: one alone is wrong."""


def rest(data: Table, places: Iterable[str]) -> dict[str, Any] | None:
    """The settings without what stands at these places; None where nothing can be told without it."""
    found: dict[str, Any] = copy.deepcopy({**data})
    for place in places:
        first, *inner = place.split(".")
        if first in ("", "game", "kind"):
            return None
        if first == "tasks":
            _leave_out(found, inner)
        elif isinstance(found.get(first), dict) and len(inner) == 1 and place != "learner.kind":
            gone = {*_ENDS, *inner} if inner[0] in _ENDS else {*inner}
            found[first] = {name: value for name, value in found[first].items() if name not in gone}
        else:
            found.pop(first, None)
    return found


def _leave_out(found: dict[str, Any], inner: list[str]) -> None:
    """A part of a start goes; of a range both ends do, for one alone might not go with the usual other."""
    tasks = found.get("tasks")
    i = whole(inner[0], len(tasks) - 1) if isinstance(tasks, list) and inner else None
    task = tasks[i] if isinstance(tasks, list) and i is not None else None
    if not isinstance(tasks, list) or i is None:
        found["tasks"] = [{"name": "it", "hard": True}]
    elif not isinstance(task, dict) or len(inner) == 1:
        tasks[i] = {"name": f"start {i + 1}"}
    elif inner[1] == "name":
        task["name"] = f"start {i + 1}"
    elif len(inner) > 2 and isinstance(task.get(inner[1]), dict):
        base = _of_both(inner[2])
        task[inner[1]] = {name: value for name, value in task[inner[1]].items() if _of_both(name) != base}
    else:
        task.pop(inner[1], None)


def _of_both(setting: str) -> str:
    return setting.removesuffix("_min").removesuffix("_max")


def news(more: Iterable[tuple[str, str]], known: Mapping[str, str]) -> dict[str, str]:
    """What is wrong with the rest and was not ``known``: nothing inside of what was left out, nor what is wrong only
    because that is missing."""
    firsts = {place.partition(".")[0] for place in known}
    starts = {place for place in known if place.startswith("tasks.") and place.count(".") == 1}
    found = {}
    for place, why in more:
        inside = any(place == one or place.startswith(f"{one}.") for one in known)
        of_learner = place.partition(".")[0] == "learner" and not firsts.isdisjoint(_FOR_LEARNER)
        if not (inside or of_learner or (place == "tasks" and starts)):
            found[place] = why
    return found

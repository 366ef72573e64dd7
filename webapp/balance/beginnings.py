"""With which line a search that asks a project's own objectives begins, where that is not the line they have: an app in
which lines are accepted tells it here when the site starts (``AppConfig.ready``)."""

from __future__ import annotations

from collections.abc import Callable

from webapp.balance.models import ObjectiveSet

Begins = Callable[[ObjectiveSet], dict[str, float]]
"""The accepted line, by its objective's name; empty where none was."""

BEGINS: dict[str, Begins] = {}


def register(app: str, begins: Begins) -> None:
    """Let an app say what it has accepted."""
    BEGINS[app] = begins


def begins(row: ObjectiveSet) -> dict[str, float]:
    """The lines that were accepted since the objectives were saved, by the names of objectives."""
    return {name: line for lines_of in BEGINS.values() for name, line in lines_of(row).items()}

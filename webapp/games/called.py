"""What simulators are called where everybody can read it. A command line may hold paths and keys, so it is told to site
operators and to who typed it; everybody else reads the program's number, ``simulator:7``, and writes that."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from webapp.accounts.models import User
from webapp.games.commands import is_program
from webapp.games.models import PROGRAM
from webapp.games.simulators import granted, knows_program, registration
from webapp.lib.digits import whole
from webapp.projects.models import Project

_PLACES = (("game", "simulator"), ("game", "name"), ("task", "game", "name"))
CHANGED = f"{PROGRAM}:changed"
"""A program that no registration names any more."""


def called(reference: str, project: Project) -> str:
    """An engine's reference in a job of ``project``, as everybody may read it."""
    if not is_program(reference):
        return reference
    row = registration(reference, project)
    return CHANGED if row is None else row.called


def reference_of(name: str, project: Project) -> str:
    """The engine's reference of what may be written as its number, for a simulator of the project; else ``name``."""
    kind, _, number = name.partition(":")
    if kind != PROGRAM or (pk := whole(number)) is None:
        return name
    return granted(project).filter(pk=pk).values_list("reference", flat=True).first() or name


def asked_for(name: str, project: Project, user: User) -> str:
    """The same of what ``user`` wrote. A program itself may be written by those who know its command line; to everybody
    else one that is registered is as any other, so nobody can find out a command line by guessing."""
    if not is_program(name):
        return reference_of(name, project)
    known = any(knows_program(user, row) for row in granted(project).filter(reference=name))
    return name if known else CHANGED


def public_config(config: Mapping[str, Any], project: Project) -> dict[str, Any]:
    """The settings of a study of ``project`` as everybody may read them."""
    public: dict[str, Any] = deepcopy(dict(config))
    for *path, last in _PLACES:
        table = public
        for key in path:
            table = table.get(key) if isinstance(table, dict) else {}  # type: ignore[assignment]
        if isinstance(table, dict) and isinstance(table.get(last), str):
            table[last] = called(table[last], project)
    return public

"""What people of a project mean to be so: for how long that holds, and what it did not survive.

A decision is about a piece as it was. When its cost or one of its attributes changes, "intended" lapses, and is asked
again: nobody has said that the new numbers are meant.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from engine.config.patterns import Pattern
from engine.errors import ConfigError
from engine.simulators.contract import GameSpec
from engine.text import figures
from webapp.games.models import GameVersion
from webapp.games.specs import patched_spec, version_spec
from webapp.projects.models import Project
from webapp.suspects.models import Decision

Numbers = dict[str, float]
UNKNOWN = "what its numbers were then was not written down"


class Lapsed(NamedTuple):
    """A decision that does not hold any more, and ``why``, in words."""

    decision: Decision
    why: str


def numbers_of(spec: GameSpec, pieces: Iterable[str]) -> Numbers:
    """Cost and attributes of pieces, by their paths; of those that the game does not have, none."""
    wanted, found = set(pieces), Numbers()
    for piece in spec.pieces:
        if piece.id in wanted:
            found[f"{piece.id}.cost"] = float(piece.cost)
            found |= {f"{piece.id}.{name}": float(value) for name, value in piece.attributes.items()}
    return found


def pieces_of(key: str) -> tuple[tuple[str, ...], int]:
    """The pieces of a suspect and its amount, by its key."""
    plain, _, many = key.partition("*")
    return tuple(plain.split("+")), int(many or 1)


def pattern_of(decision: Decision) -> Pattern:
    """What a decision is about."""
    pieces, least = pieces_of(decision.suspect)
    return Pattern.model_validate({"pieces": pieces, "least": least, "side": decision.side})


def standing(
    project: Project, version: GameVersion, patch: Mapping[str, float] | None = None
) -> tuple[Pattern, ...]:  # fmt: skip
    """What is meant to be so in a version of a project's game, by the last decision about each suspect, in any of its
    searches. ``patch``: the numbers that are played, where they are not the version's own."""
    try:
        spec = patched_spec(version) if patch is None else version_spec(version).extended(patch).patched(patch)
    except ConfigError:
        return ()
    meant = _latest(project, version)
    return tuple(pattern_of(each) for key, each in sorted(meant.items()) if not _why(each, spec))


def lapsed(project: Project, version: GameVersion) -> dict[str, Lapsed]:
    """What was meant to be so and is not any more in a version of the game, by the suspect's key."""
    try:
        spec = patched_spec(version)
    except ConfigError:
        return {}
    found = {key: Lapsed(each, _why(each, spec)) for key, each in _latest(project, version).items()}
    return {key: each for key, each in found.items() if each.why}


def _latest(project: Project, version: GameVersion) -> dict[str, Decision]:
    """The decision that counts for each suspect of a game, where it is that it is intended."""
    rows = Decision.objects.filter(search__project=project, search__game_version__simulator=version.simulator)
    latest = {each.suspect: each for each in rows.select_related("created_by").order_by("pk")}
    return {key: each for key, each in latest.items() if each.choice == Decision.Choice.INTENDED}


def _why(decision: Decision, spec: GameSpec) -> str:
    """What has changed since a decision, in words; empty where nothing has."""
    pieces, _ = pieces_of(decision.suspect)
    now, names = numbers_of(spec, pieces), {piece.id: piece.name for piece in spec.pieces}
    if gone := [piece for piece in pieces if piece not in names]:
        return f"{gone[0]} is no piece of the game any more"
    if not decision.numbers:
        return UNKNOWN
    tunables = spec.tunables()
    changes = [
        f"{tunables[path].title if path in tunables else path} went from {figures(before)} to {figures(now[path])}"
        for path, before in decision.numbers.items()
        if path in now and now[path] != before
    ]
    added = now.keys() ^ decision.numbers.keys()
    return ", ".join(changes) or ("it has other attributes now" if added else "")

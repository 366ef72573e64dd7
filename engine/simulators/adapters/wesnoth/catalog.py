"""The ``GameSpec`` of the installed game, from its own description: leaders are heroes, recruits are soldiers, traits
are skills, World Conquest's artifacts are equipment. This package contains none of the game's data."""

from __future__ import annotations

import re
from typing import NamedTuple

from engine.simulators.contract import (
    Attribute,
    Category,
    Distinct,
    Fidelity,
    GameSpec,
    Metric,
    Piece,
    Rules,
    Slot,
)

ADAPTER = "1"
TURN_LIMIT = 20
ARTIFACT_GOLD = 15.0
"""The game gives artifacts no price (they are found, not bought); all start at this one and can be patched."""

HITPOINTS, MOVES, MELEE, RANGED, RESISTANCE = "hitpoints", "moves", "melee", "ranged", "resistance"
PATCHED = (HITPOINTS, MOVES, MELEE, RANGED, RESISTANCE)
_UNIT_ATTRIBUTES = (
    Attribute(HITPOINTS, "Hit points", 1, 200, "hp"),
    Attribute(MOVES, "Movement points", 1, 15, "hexes"),
    Attribute(MELEE, "Melee damage", 0, 80, "hp", "of one strike of the best melee attack; the others change along"),
    Attribute(RANGED, "Ranged damage", 0, 80, "hp", "of one strike of the best ranged attack; the others change along"),
    Attribute(RESISTANCE, "Extra resistance", -100, 90, "points", "against every damage type, added to the unit's own"),
)
_CATEGORIES = (
    Category("hero", "Hero", "Heroes", _UNIT_ATTRIBUTES, 0, 500),
    Category("soldier", "Soldier", "Soldiers", _UNIT_ATTRIBUTES, 0, 200),
    Category("skill", "Skill", "Skills", (), 0, 200),
    Category("equipment", "Artifact", "Artifacts", (), 0, 200),
)
_SLOTS = (
    Slot("hero", "Hero", category="hero"),
    Slot("skill", "Hero's trait", category="skill"),
    Slot("equipment", "Hero's artifact", category="equipment", optional=True),
    Slot("soldiers_1", "Soldiers", category="soldier", group="soldiers"),
    Slot("count_1", "How many", kind="count", of="soldiers_1", low=1, high=3),
    Slot("soldiers_2", "More soldiers", category="soldier", group="soldiers"),
    Slot("count_2", "How many", kind="count", of="soldiers_2", low=1, high=3),
    Slot("soldiers_3", "Third kind of soldiers", category="soldier", optional=True, group="soldiers"),
    Slot("count_3", "How many", kind="count", of="soldiers_3", low=1, high=3),
)
_SIDE_METRICS = (
    Metric("strength", "Hit points left", "%", "higher", 0, 100, "of all the hit points the team began with"),
    Metric(
        "resources", "Gold left", "gold", "higher", 0, None, "what the surviving units cost, skill and artifact too"
    ),
    Metric("win", "Won", "", "higher", 0, 1, "0.5 when both still stand at the turn limit"),
)


class Catalog(NamedTuple):
    """The game's spec, and each piece's name in the add-on (unit type, trait id or artifact number)."""

    spec: GameSpec
    names: tuple[str, ...]


def read(lines: list[list[str]]) -> Catalog:
    """The catalog from the lines that ``addon/battles.lua`` prints at its start."""
    version = next(line[1] for line in lines if line[0] == "version")
    found: dict[str, tuple[Piece, str]] = {}
    for line in lines:
        piece, name = _piece(line)
        if piece is not None:
            found.setdefault(piece.id, (piece, name))
    order = {c.id: i for i, c in enumerate(_CATEGORIES)}
    pieces = sorted(found.values(), key=lambda entry: (order[entry[0].category], entry[0].id))
    spec = GameSpec(
        name="wesnoth",
        title="Battle for Wesnoth",
        version=f"{version}+{ADAPTER}",
        categories=_CATEGORIES,
        pieces=tuple(piece for piece, _ in pieces),
        slots=_SLOTS,
        side_metrics=_SIDE_METRICS,
        battle_metrics=(Metric("turns", "Duration", "turns", "neutral", 1, TURN_LIMIT),),
        rules=Rules(
            distinct=(Distinct("hero"), Distinct("soldier", "team")),
            budget_low=65, budget_high=100, units_low=2, units_high=4,
        ),
        reproducible=False,
        fidelities=(Fidelity("full", "Full battle"),),
        about=_ABOUT,
    )  # fmt: skip
    return Catalog(spec, tuple(name for _, name in pieces))


_ABOUT = (
    "The installed game plays both sides with its own default AI, told to attack, on a small map that looks the same "
    "from both ends. Units, costs and artifacts are read from the installation. A battle starts at a time of day drawn "
    "by its seed; its dice are the game's own and cannot be fixed, so repeats with intervals do the work. Traits are "
    "free and every artifact costs the same until somebody says otherwise: the game sells neither."
)


def _piece(line: list[str]) -> tuple[Piece | None, str]:
    if line[0] == "unit":
        _, role, faction, kind, name, level, cost, *numbers = line
        if role == "leader" and int(level) < 2:
            return None, ""
        category = "hero" if role == "leader" else "soldier"
        attributes = dict(zip((HITPOINTS, MOVES, MELEE, RANGED), map(float, numbers), strict=True))
        attributes[RESISTANCE] = 0.0
        text = f"{faction}, level {level}"
        return Piece(f"{category}-{_slug(kind)}", name, category, float(cost), attributes, text), kind
    if line[0] == "trait":
        return Piece(f"skill-{line[1]}", line[2].capitalize(), "skill", 0.0, {}, _plain(line[3])), line[1]
    if line[0] == "artifact":
        return Piece(f"artifact-{_slug(line[2])}", line[2], "equipment", ARTIFACT_GOLD, {}, _plain(line[3])), line[1]
    return None, ""


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower().replace("’", "").replace("'", "")).strip("-")


def _plain(text: str) -> str:
    """Help text without the game's markup."""
    return re.sub(r"<[^>]*?text='([^']*)'[^>]*>", r"\1", text)[:500]

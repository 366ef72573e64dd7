"""The spec of herobattle: categories, pieces (read from ``data/*.csv``), slots, rules and parameters."""

from __future__ import annotations

import csv
import functools
from pathlib import Path

from engine.errors import SimulatorError
from engine.simulators.contract import (
    Attribute,
    Category,
    Distinct,
    GameSpec,
    Metric,
    Parameter,
    Piece,
    Rules,
    Slot,
)

DATA = Path(__file__).parent / "data"
VERSION = "1.0"

_KINDS = (
    Attribute("edge", "Edge", 0, 12, "parts", "Parts of the damage that are dealt by blades"),
    Attribute("point", "Point", 0, 12, "parts", "Parts of the damage that are dealt by spears and arrows"),
    Attribute("hex", "Hex", 0, 12, "parts", "Parts of the damage that are dealt by magic"),
)
_GUARDS = (
    Attribute("edge_guard", "Edge guard", -50, 60, "%", "Blade damage that is kept off; below 0, taken on top"),
    Attribute("point_guard", "Point guard", -50, 60, "%", "Spear and arrow damage kept off; below 0, taken on top"),
    Attribute("hex_guard", "Hex guard", -50, 60, "%", "Magic damage that is kept off; below 0, taken on top"),
)
_BODY = (
    Attribute("hit_points", "Hit points", 1, 5000, "points", "Damage it takes to defeat one of them"),
    Attribute("damage", "Damage", 0, 500, "points", "Damage of one blow before guards"),
    Attribute("interval", "Interval", 1, 50, "ticks", "Time between two blows"),
    Attribute("range", "Range", 0.5, 20, "paces", "How far it reaches"),
    Attribute("speed", "Speed", 0, 3, "paces a tick", "How fast it walks"),
)

HERO = Category("hero", "Hero", "Heroes", (*_BODY, *_KINDS, *_GUARDS), 50, 2000)
SKILL = Category(
    "skill",
    "Skill",
    "Skills",
    (
        Attribute("cooldown", "Cooldown", 2, 200, "ticks", "Time between two uses"),
        Attribute("first", "First use", 0, 200, "ticks", "Not before this moment of the battle"),
        Attribute(
            "trigger",
            "Trigger",
            0,
            3,
            "",
            "0: whenever ready, 1: team under 65 % of its life, 2: a friend fell, 3: the enemy hero used a skill",
        ),
        Attribute("radius", "Radius", 0, 20, "paces", "How far around the target, or the hero, it works"),
        Attribute("duration", "Duration", 0, 200, "ticks", "How long guard, rally, weaken and slow last"),
        Attribute("strike", "Strike", 0, 500, "points", "Damage to each enemy around the target"),
        Attribute("shield", "Shield", 0, 500, "points", "Damage that each friend around the hero is covered for"),
        Attribute("guard", "Guard", 0, 80, "%", "Damage kept off the own team"),
        Attribute("rally", "Rally", 0, 200, "%", "Damage the own team deals on top"),
        Attribute("stun", "Stun", 0, 50, "ticks", "Enemies around the target neither move nor strike"),
        Attribute("weaken", "Weaken", 0, 80, "%", "Damage the enemy team deals less"),
        Attribute("slow", "Slow", 0, 90, "%", "Speed the enemy team loses"),
    ),
    10,
    1000,
)
EQUIPMENT = Category(
    "equipment",
    "Equipment",
    "Equipment",
    (
        Attribute("hero_hit_points", "Hero hit points", -50, 200, "%", "Added to the hero's hit points"),
        Attribute("hero_damage", "Hero damage", -50, 200, "%", "Added to the hero's damage"),
        Attribute("soldier_hit_points", "Soldier hit points", -50, 100, "%", "Added to the soldiers' hit points"),
        Attribute("soldier_damage", "Soldier damage", -50, 100, "%", "Added to the soldiers' damage"),
        Attribute("haste", "Haste", -50, 100, "%", "How much more often the team strikes"),
        Attribute("speed", "Speed", -50, 200, "%", "How much faster the team walks"),
        Attribute("range", "Range", -5, 10, "paces", "Added to the hero's range"),
        *_KINDS,
        *_GUARDS,
        Attribute("thorns", "Thorns", 0, 200, "%", "Damage to the hero that is thrown back"),
        Attribute("opening_damage", "Opening damage", 0, 200, "%", "Damage on top early in the battle"),
        Attribute("opening_guard", "Opening guard", 0, 80, "%", "Damage kept off early in the battle"),
        Attribute("last_stand", "Last stand", 0, 200, "%", "Damage on top once half the team's life is gone"),
        Attribute("grudge", "Grudge", 0, 50, "%", "Damage on top for each friend who fell"),
    ),
    10,
    1000,
)
SOLDIER = Category(
    "soldier",
    "Soldiers",
    "Soldiers",
    (
        *_BODY,
        *_KINDS,
        *_GUARDS,
        Attribute("against_pikes", "Against Pikes", -80, 500, "%", "Damage on top against Pikes"),
        Attribute("against_bows", "Against Bows", -80, 500, "%", "Damage on top against Bows"),
        Attribute("against_riders", "Against Riders", -80, 500, "%", "Damage on top against Riders"),
    ),
    10,
    1000,
)
CATEGORIES = (HERO, SKILL, EQUIPMENT, SOLDIER)
FILES = (("heroes.csv", HERO), ("skills.csv", SKILL), ("equipment.csv", EQUIPMENT), ("soldiers.csv", SOLDIER))

MAX_SOLDIERS = 9
SLOTS = (
    Slot("hero", "Hero", category="hero"),
    Slot("skill", "Skill", category="skill"),
    Slot("equipment_1", "Equipment", category="equipment", group="equipment"),
    Slot("equipment_2", "Equipment", category="equipment", group="equipment"),
    Slot("soldiers_1", "Soldiers", category="soldier", group="soldiers"),
    Slot("count_1", "How many", kind="count", of="soldiers_1", low=1, high=MAX_SOLDIERS),
    Slot("soldiers_2", "More soldiers", category="soldier", group="soldiers", optional=True),
    Slot("count_2", "How many more", kind="count", of="soldiers_2", low=1, high=MAX_SOLDIERS),
)
RULES = Rules(
    distinct=(Distinct("hero", "lineup"), Distinct("equipment", "team"), Distinct("soldier", "team")),
    budget_low=1400,
    budget_high=1600,
    units_low=5,
    units_high=MAX_SOLDIERS,
)
PARAMETERS = (
    Parameter("battle.time_limit", "Time limit", 300, 20, 1000, "ticks"),
    Parameter("battle.roll_spread", "Luck of a blow", 20, 0, 100, "%"),
    Parameter("battle.field", "Distance at the start", 12, 4, 40, "paces"),
    Parameter("battle.banner_kinds", "Soldiers' damage dealt in the hero's manner", 30, 0, 100, "%"),
    Parameter("battle.banner_guard", "Hero's guards that soldiers share", 30, 0, 100, "%"),
    Parameter("battle.opening", "Length of the opening", 30, 0, 300, "ticks"),
    Parameter("battle.reach", "Reach of skills", 9, 1, 40, "paces"),
    Parameter("battle.salvage", "Worth of the fallen that is recovered", 20, 0, 100, "%"),
)
SIDE_METRICS = (
    Metric("strength", "Strength left", "%", "higher", 0, 100, "Share of the team's hit points that is left"),
    Metric(
        "resources",
        "Resources left",
        "gold",
        "higher",
        0,
        None,
        "Cost of what survives, by the life it has left, and salvage of the rest",
    ),
    Metric("win", "Win", "", "higher", 0, 1, "1 for a win, 0.5 for a draw, 0 for a loss"),
)
BATTLE_METRICS = (Metric("duration", "Duration", "ticks", "neutral", 1, 1000, "How long the battle lasted"),)


def _number(cell: str, file: str, line: int, column: str) -> float:
    try:
        return float(cell)
    except ValueError:
        message = f"{file}, line {line}, {column}: {cell!r} is not a number. Correct the cell."
        raise SimulatorError(message, permanent=True) from None


def read_pieces(file: str, category: Category, folder: Path = DATA) -> list[Piece]:
    """The pieces of one CSV file, in its order. Raises SimulatorError with file, line and column of a bad cell."""
    ids = [a.id for a in category.attributes]
    head = ["id", "name", "cost", *ids, "text"]
    pieces = []
    with (folder / file).open(newline="", encoding="utf-8") as handle:
        rows = csv.reader(handle)
        if next(rows, None) != head:
            raise SimulatorError(f"{file}: the first line has to be {','.join(head)}.", permanent=True)
        for line, row in enumerate(rows, start=2):
            if len(row) != len(head):
                raise SimulatorError(
                    f"{file}, line {line}: {len(row)} cells instead of {len(head)}. Correct the line.", permanent=True
                )
            cost, *values = (_number(c, file, line, h) for c, h in zip(row[2:-1], head[2:-1], strict=True))
            attributes = dict(zip(ids, values, strict=True))
            pieces.append(Piece(row[0], row[1], category.id, cost, attributes, row[-1]))
    return pieces


@functools.cache
def game_spec() -> GameSpec:
    """The unpatched game, with pieces in the order heroes, skills, equipment, soldiers."""
    pieces = tuple(p for file, category in FILES for p in read_pieces(file, category))
    return GameSpec(
        name="herobattle",
        title="Herobattle",
        version=VERSION,
        categories=CATEGORIES,
        pieces=pieces,
        slots=SLOTS,
        side_metrics=SIDE_METRICS,
        battle_metrics=BATTLE_METRICS,
        rules=RULES,
        parameters=PARAMETERS,
        about="A hero, a skill, two pieces of equipment and five to nine soldiers fight another such team.",
    )

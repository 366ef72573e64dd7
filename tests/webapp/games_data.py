"""A small game for the tests of the data pages: heroes and soldiers that share attributes, and two settings."""

from __future__ import annotations

import io
from collections.abc import Sequence

from openpyxl import Workbook

from engine.lineups.schema import spec_to_json
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
from webapp.games import versions
from webapp.games.models import GameVersion, SheetImport, Simulator
from webapp.games.specs import keep
from webapp.lib.storage import store
from webapp.projects.models import Project

BODY = (
    Attribute("hit_points", "Hit points", 1, 5000, "points"),
    Attribute("speed", "Speed", 0, 3, "paces a tick"),
)
SPEC = GameSpec(
    name="skirmish",
    title="Skirmish",
    version="1.0",
    categories=(
        Category("hero", "Hero", "Heroes", (*BODY, Attribute("rally", "Rally bonus", 0, 60, "%")), 50, 2000),
        Category("soldier", "Soldier", "Soldiers", BODY, 10, 500),
    ),
    pieces=(
        Piece("frost-captain", "Frost Captain", "hero", 450, {"hit_points": 422, "speed": 0.57, "rally": 30}),
        Piece("gale-lancer", "Gale Lancer", "hero", 410, {"hit_points": 329, "speed": 1.05, "rally": 10}),
        Piece("marrow-duke", "Marrow Duke", "hero", 490, {"hit_points": 334, "speed": 0.75, "rally": 0}),
        Piece("tide-abbess", "Tide Abbess", "hero", 480, {"hit_points": 296, "speed": 0.52, "rally": 5}),
        Piece("pikes", "Pikes", "soldier", 95, {"hit_points": 112, "speed": 0.6}),
        Piece("bows", "Bows", "soldier", 100, {"hit_points": 80, "speed": 0.6}),
    ),
    slots=(
        Slot("hero", "Hero", category="hero"),
        Slot("soldiers", "Soldiers", category="soldier"),
        Slot("count", "How many", kind="count", of="soldiers", low=1, high=9),
    ),
    side_metrics=(
        Metric("strength", "Strength left", "%", "higher", 0, 100, "Share of the team's hit points that is left"),
        Metric("resources", "Resources left", "gold", "higher", 0, None, "Cost of what survives"),
        Metric("win", "Win", "", "higher", 0, 1, "1 for a win, 0.5 for a draw, 0 for a loss"),
    ),
    battle_metrics=(Metric("duration", "Duration", "ticks", "neutral", 1, 300, "How long the battle lasted"),),
    rules=Rules(distinct=(Distinct("hero", "lineup"),), units_low=2, units_high=9),
    parameters=(
        Parameter("battle.limit", "Time limit", 300, 20, 1000, "ticks"),
        Parameter("battle.luck", "Luck of a blow", 40, 0, 100, "%"),
    ),
)


def workbook(rows: Sequence[Sequence[object]], title: str = "Heroes") -> bytes:
    """The bytes of an Excel workbook with one worksheet."""
    book = Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.title = title
    for row in rows:
        sheet.append(list(row))
    return saved(book)


def saved(book: Workbook) -> bytes:
    """The workbook's bytes."""
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def simulator(**changes: object) -> Simulator:
    """The row of a simulator that described this game."""
    return Simulator.objects.create(
        **{
            "name": "Skirmish",
            "kind": Simulator.Kind.PYTHON,
            "reference": "python:skirmish:make",
            "status": Simulator.Status.READY,
            "version": SPEC.version,
            "spec": spec_to_json(SPEC),
            "spec_hash": keep(SPEC),
            "everybody": True,
            **changes,
        }
    )


def with_data(project: Project) -> GameVersion:
    """Version 1 of the game's data in ``project``."""
    return versions.first_version(project, Simulator.objects.first() or simulator(), None)


def an_import(project: Project) -> SheetImport:
    """A pasted sheet whose columns nobody has matched yet."""
    return SheetImport.objects.create(
        project=project, name="Pasted cells", digest=store().put(b"Name,Cost\nPikes,99\n"), pasted=True
    )

"""Where the numbers of a report come from, and what is needed to get them again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from django.conf import settings

from engine.errors import ConfigError, StoreError
from engine.text import written
from webapp.games.called import called
from webapp.lib.words import number, stamp
from webapp.reports.lineups import Judged
from webapp.reports.pieces import Pieces
from webapp.studies import commanders
from webapp.studies import explore_source as source
from webapp.studies.models import Job

Fact = tuple[str, str]
SHORT = 12
"""Characters of a hash that are printed."""


def provenance(search: Job, pieces: Pieces, lineups: Judged, change: Mapping[str, Any] | None) -> list[Fact]:
    """Labels and values, in the order they are read."""
    played = [*_search(search), *_experiment(pieces), *_fresh(search, lineups), *_change(change)]
    return [*_game(search), *played, *_code()]


def short(text: object) -> str:
    """The hash of plain data, as it is printed."""
    return hashlib.sha256(json.dumps(text, sort_keys=True, ensure_ascii=False).encode()).hexdigest()[:SHORT]


def _game(search: Job) -> Iterator[Fact]:
    data = search.game_version
    if data is not None:
        yield "Game data", f"{data} ({data.content_hash[:SHORT]})"
        yield "Description of the game", data.spec_hash[:SHORT]
    try:
        spec = source.spec(search)
        simulator = f"{spec.title} {spec.version}"
    except (StoreError, ConfigError):
        simulator = "not described any more"
    yield "Simulator", f"{simulator} ({called(search.config['game']['simulator'], search.project)})"
    yield "Both sides led by", commanders.words(search.config)
    rules = search.config["lineups"]
    named = f"{search.lineup_rules}, " if search.lineup_rules else ""
    yield "Rules of lineups", f"{named}{rules['teams']} teams ({short(rules)})"
    for o in source.objectives(search).objectives:
        line = "no line" if o.threshold is None else f"the line at {written(o.threshold, 'g')} {o.unit}".rstrip()
        yield f"Objective: {o.title}", f"{o.formula} ({line})"


def _search(search: Job) -> Iterator[Fact]:
    yield "Search", f"job {search.pk}: {search.title}"
    yield "Asked for by", f"{search.created_by or 'the site'}, {stamp(search.created_at)}"
    yield "Searched until", stamp(search.finished_at)
    yield "Seed of the search", str(search.config["seed"])
    yield "Settings of the search", search.config_hash[:SHORT]
    battles = search.counters.get("battles", 0)
    yield "Battles of the search", f"{number(battles)}, in {number(search.tick)} rounds"


def _experiment(pieces: Pieces) -> Iterator[Fact]:
    made = pieces.experiment
    if made is None:
        return
    yield "Experiment on pieces", f"job {made.pk}, {made.get_status_display().lower()}"
    yield "Seed of the experiment", str(made.config["seed"])
    yield "Settings of the experiment", made.config_hash[:SHORT]
    yield "Battles of the experiment", number(made.counters.get("battles", 0))


def _fresh(search: Job, lineups: Judged) -> Iterator[Fact]:
    again = ", ".join(f"job {job.pk}" for job in source.rechecks(search)) or "none"
    yield "Lineups played again", f"{number(lineups.played)}, in {number(lineups.battles)} fresh battles"
    yield "Re-checks", again


def _change(change: Mapping[str, Any] | None) -> Iterator[Fact]:
    if change is None:
        return
    tried = change["of"] == "replay"
    played = f"job {change['job']}, {number(change['battles'])} battles{' of both versions' if tried else ''}"
    yield "Change tried" if tried else "Change found and proved", played
    yield "Seed of the change", str(change["seed"])
    yield "Settings of the change", change["settings"][:SHORT]


def _code() -> Iterator[Fact]:
    yield "Code of the engine when published", engine_hash()


@cache
def engine_hash() -> str:
    """The hash of all files of the engine, as it is printed."""
    digest = hashlib.sha256()
    for path in sorted((settings.BASE_DIR / "engine").rglob("*.py")):
        digest.update(str(path.relative_to(settings.BASE_DIR)).encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:SHORT]

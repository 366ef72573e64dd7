"""The logs of a report: what people decided about suspects, and, apart from that, why they shortlisted lineups."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from engine.errors import ConfigError, StoreError
from engine.lineups import schema
from webapp.lib.words import stamp
from webapp.studies import explore_source as source
from webapp.studies.models import Job, ShortlistEntry

KEPT = 200
"""The newest of them that a report keeps."""


def decided(search: Job) -> dict[str, Any]:
    """Decisions about suspects. ``rows``, the newest first; ``count``: of all of them, by so many ``people``."""
    return _log(_of_suspects(search))


def shortlisted(search: Job) -> dict[str, Any]:
    """What was put on the shortlist and taken from it, in the same way."""
    return _log(_of_lineups(search))


def _log(rows: list[dict[str, str]]) -> dict[str, Any]:
    people = {row["by"] for row in rows}
    return {"rows": rows[:KEPT], "count": len(rows), "people": len(people)}


def _row(at: datetime, by: object, about: str, words: str) -> dict[str, str]:
    return {"at": stamp(at), "by": str(by or "somebody"), "about": about, "words": words}


def _of_suspects(search: Job) -> list[dict[str, str]]:
    made = search.decisions.select_related("created_by", "asked").order_by("-created_at", "-pk")
    return [_row(each.created_at, each.created_by, each.name, str(each)) for each in made]


def _of_lineups(search: Job) -> list[dict[str, str]]:
    entries = list(search.shortlist.select_related("created_by").order_by("-created_at", "-pk"))
    try:
        spec = source.spec(search) if entries else None
    except (StoreError, ConfigError):
        spec = None
    found = []
    for entry in entries:
        teams = [schema.team_name(spec, row) for row in entry.genome] if spec else [f"Lineup {entry.individual}"]
        found.append(_row(entry.created_at, entry.created_by, " · ".join(teams), _said(entry)))
    return found


def _said(entry: ShortlistEntry) -> str:
    said = entry.get_action_display()
    return f"{said}: “{entry.reason}”" if entry.reason else said

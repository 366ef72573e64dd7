"""Which teams of a search meet in a round robin: those of its shortlisted lineups, then its baseline teams."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from engine.arrays import unpack
from engine.errors import StoreError
from engine.lineups import schema
from webapp.lib.storage import store
from webapp.studies import explore_source as source
from webapp.studies.models import Job, ShortlistEntry

MOST = 40
"""Teams of one round robin that a search gives."""


def shortlisted(job: Job) -> list[list[list[int]]]:
    """The lineups on the shortlist now, in the order they first came up."""
    on: dict[int, list[list[int]] | None] = {}
    for entry in job.shortlist.exclude(action=ShortlistEntry.Action.REMARK):
        on[entry.individual] = entry.genome if entry.action == ShortlistEntry.Action.ADD else None
    return [genome for genome in on.values() if genome is not None]


def teams_of(job: Job) -> list[dict[str, Any]]:
    """The teams as a study has them, each once; where there are more than ``MOST``, the later ones of the shortlist
    are left out. Raises StoreError where the game is no longer described."""
    spec = source.spec(job)
    rows = {tuple(row): "" for genome in shortlisted(job) for row in genome}
    baselines = {tuple(row): f"Baseline: {name}"[:120] for name, row in _baselines(job) if tuple(row) not in rows}
    kept = [*list(rows.items())[: max(MOST - len(baselines), 0)], *list(baselines.items())[:MOST]]
    return [{"name": name, "slots": schema.team_slots(spec, row)} for row, name in kept]


def _baselines(job: Job) -> Iterator[tuple[str, list[int]]]:
    """Names and rows of the baseline teams that the search's lineups met; none where what it found was lost."""
    digest = next((job.artifacts[role] for role in ("fresh", "front", "archive") if job.artifacts.get(role)), "")
    try:
        told = unpack(store().get(digest)).meta.get("baselines", ()) if digest else ()
    except StoreError:
        told = ()
    yield from ((each["name"], each["row"]) for each in told)

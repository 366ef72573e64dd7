"""Which teams of a search meet in a round robin: those of its shortlisted lineups, then its baseline teams."""

from __future__ import annotations

from typing import Any

from engine.lineups import schema
from webapp.studies import explore_source as source
from webapp.studies.explore_shortlist import on_list
from webapp.studies.models import Job

MOST = 40
"""Teams of one round robin that a search gives."""


def shortlisted(job: Job) -> list[list[list[int]]]:
    """The lineups on the shortlist now, in the order they first came up."""
    return [entry.genome for entry in on_list(job)]


def teams_of(job: Job) -> list[dict[str, Any]]:
    """The teams as a study has them, each once; where there are more than ``MOST``, the later ones of the shortlist
    are left out. Raises StoreError where the game is no longer described."""
    spec = source.spec(job)
    rows = {tuple(row): "" for genome in shortlisted(job) for row in genome}
    met = source.baselines(job)
    baselines = {tuple(row): f"Baseline: {name}"[:120] for name, row in met if tuple(row) not in rows}
    kept = [*list(rows.items())[: max(MOST - len(baselines), 0)], *list(baselines.items())[:MOST]]
    return [{"name": name, "slots": schema.team_slots(spec, row)} for row, name in kept]

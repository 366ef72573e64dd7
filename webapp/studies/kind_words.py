"""What a job is, for a row of a list whose job has a title of somebody's own."""

from __future__ import annotations

from engine.catalog import built_in
from engine.catalog.studies import STUDIES
from engine.text import folded
from webapp.studies.models import Job


def kind_and_game(job: Job) -> str:
    """ "Styles of play · Pong, numbers": the kind of study, and a built-in game for agents; without what the title says
    already."""
    known = STUDIES.get(job.kind)
    task = job.config.get("task") or job.config
    game = task.get("game") or {}
    found = built_in(str(game.get("name", ""))) if isinstance(game, dict) else None
    kind, title = known.label if known else "", folded(job.title)
    said = [kind] if folded(kind.partition(" of ")[0]) not in title else []  # a “Measurement: Busy 7” says it
    return " · ".join(said + ([found.label] if found and folded(found.label) not in title else []))

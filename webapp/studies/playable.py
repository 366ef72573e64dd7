"""Whether what a job plays may be played now: one rule for every way in which work starts."""

from __future__ import annotations

from engine.catalog import built_in
from webapp.games.commands import is_program, reference_in
from webapp.games.simulators import granted, registration, taken_away
from webapp.games.simulators import obstacle as simulator_obstacle
from webapp.games.versions import obstacle as version_obstacle
from webapp.studies.models import Job

CHANGED = "Its simulator’s program was changed or removed after it was asked for. Start a new job with the game of now."


def obstacle(job: Job) -> str:
    """Why the job can neither start nor go on now, in a sentence; empty when it can.

    A job keeps the command that it was asked with, so the command must still be the one that a registration names, for
    this project, and that is not switched off."""
    reference, version = reference_in(job.config), job.game_version
    if version is not None and (reason := version_obstacle(version)):
        return reason
    # A game for agents of the engine's own may be played on the numbers of the data, whatever simulator that is for.
    if version is not None and reference != version.simulator.reference and built_in(reference) is None:
        return CHANGED
    row = version.simulator if version is not None else registration(reference, job.project)
    if row is None:
        return CHANGED if is_program(reference) else ""
    if not granted(job.project).filter(pk=row.pk).exists():
        return taken_away(row)
    return simulator_obstacle(row)

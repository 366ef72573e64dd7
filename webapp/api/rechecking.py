"""Lineups of a search once more on fresh battles, as its page does it, for scripts: does what was found still stand?"""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import Field

from engine.config import Config
from engine.errors import ConfigError
from webapp.accounts.models import User
from webapp.lib.once import Kept
from webapp.studies import actions, kinds
from webapp.studies import explore_build as build
from webapp.studies import explore_source as source
from webapp.studies.explore_build import Explored
from webapp.studies.explore_replay import FIRST, MOST, replay
from webapp.studies.explore_shortlist import Shortlist
from webapp.studies.models import Job

Lineup = Annotated[int, Field(ge=0, lt=2**53, strict=True)]
Chosen = tuple[list[list[list[int]]], list[list[int]], list[int]]
"""Genomes, their strongest and weakest teams, and the times that each one's pairings are played."""


class Recheck(Config):
    """What to play again; as much as the search's page would, where nothing is said."""

    lineups: tuple[Lineup, ...] = Field(
        (), max_length=10_000, title="Lineups",
        description="Their numbers, as in the results; by default those on the shortlist that are not settled.",
    )  # fmt: skip
    again: bool = Field(
        False,
        strict=True,
        title="Settled ones",
        description="Of the shortlist, those that are settled: once they were re-checked, their ranges get narrower.",
    )
    replicates: int | None = Field(
        None, ge=2, le=MOST, strict=True, title="Times each pairing is played",
        description="From both seats; by default as often as is said to be needed, 32 times at first, and as often as "
        "before where settled ones are played again.",
    )  # fmt: skip


def play_again(job: Job, user: User, wanted: Recheck, kept: Kept) -> Job:
    """The job that plays them; its battles are new to the search and to every earlier re-check. Raises Refused where
    there is nothing to play, ConfigError for lineups that are not the job's, StoreError."""
    if not kinds.of(job).replayed or job.game_version is None:
        raise actions.Refused("Only what a search for lineups found can be played again.")
    explored = build.explored(job)
    genomes, anchors, times = _named(explored, wanted) if wanted.lineups else _listed(job, explored, wanted)
    chosen = [wanted.replicates] * len(genomes) if wanted.replicates else times
    return actions.recheck(job, user, genomes, anchors, chosen, **kept)


def _named(explored: Explored, wanted: Recheck) -> Chosen:
    ids = explored.core.get("id", np.zeros(0, np.uint32)).tolist()
    where = {lineup: row for row, lineup in enumerate(ids)}
    why = "this job has no such lineup; …/results?of=archive lists them"
    wrong = [(f"lineups.{i}", why) for i, lineup in enumerate(wanted.lineups) if lineup not in where]
    if wanted.again:
        wrong.append(("again", "this is about the shortlist: leave it out, or the lineups"))
    if wrong:
        raise ConfigError(wrong)
    rows = [where[lineup] for lineup in dict.fromkeys(wanted.lineups)]
    return explored.genome[rows].tolist(), explored.lineups["anchor"][rows].tolist(), [FIRST] * len(rows)


def _listed(job: Job, explored: Explored, wanted: Recheck) -> Chosen:
    plan = replay(Shortlist(job, explored, source.spec(job)), again=wanted.again)
    if not plan.lineups:
        settled = "is settled" if wanted.again else "waits for a re-check"
        raise actions.Refused(f"Nothing on the shortlist {settled}. Name lineups, or put some on the list.")
    return [listed.genome for listed in plan.lineups], [listed.anchors for listed in plan.lineups], plan.times

"""The exploits of a project: lineups of its earlier searches that people shortlisted, or that fresh battles confirmed.
A gate plays them again, and the game's own script leads there; so what an agent played is none of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from engine.arrays import unpack
from engine.config.lineups import TeamRow
from engine.errors import ConfigError, StoreError
from engine.lineups import schema
from engine.simulators.contract import GameSpec
from webapp.lib.storage import store
from webapp.projects.models import Project
from webapp.studies import explore_source as source
from webapp.studies.commanders import BY_SCRIPT
from webapp.studies.explore_recheck import findings
from webapp.studies.fresh_battles import genome_key
from webapp.studies.models import Job, ShortlistEntry, Status

MOST = 40
"""Exploits that a gate plays where nobody names them."""
SEARCHES = 10
"""The newest searches that they are taken from."""


class Archived(NamedTuple):
    """A lineup of a search: the rows of its teams, and which is the strongest and which the weakest."""

    job: Job
    genome: list[list[int]]
    anchors: Sequence[int]


class FoundExploits(NamedTuple):
    """Lineups as a study has them, and the baseline teams of the searches that found them (its ``met``)."""

    exploits: list[dict[str, Any]]
    met: list[dict[str, Any]]


def exploits(project: Project, spec: GameSpec, teams: int) -> FoundExploits:
    """Each lineup once: what is on shortlists first, then what was confirmed, of the newest searches first; those whose
    pieces the game ``spec`` has, of so many ``teams``. Each is judged against the baseline teams of its search, where
    the game still has their pieces; searches that met the same ones share them."""
    found, met, names = (
        list(islice(_kept(project, spec, teams), MOST)),
        dict[str, dict[str, Any]](),
        dict[int, str](),
    )
    for job, _ in found:
        if job.pk not in names and (theirs := _met(job, spec)):
            same = met.setdefault(repr(theirs), {"name": f"job {job.pk}", "teams": theirs})
            names[job.pk] = same["name"]
    lineups = [{**each, "met": names[job.pk]} if job.pk in names else each for job, each in found]
    return FoundExploits(lineups, list(met.values()))


def _met(job: Job, spec: GameSpec) -> list[dict[str, Any]]:
    """The baseline teams that a search's lineups met; none where they are not known, or the game has not all of their
    pieces and slots any more."""
    try:
        own = source.spec(job)
        teams = [TeamRow(name=name[:120], slots=schema.team_slots(own, row)) for name, row in source.baselines(job)]
        for team in teams:
            schema.team_row(spec, team)
    except (StoreError, ConfigError, IndexError):
        return []
    return [team.model_dump(mode="json") for team in teams]


def _kept(project: Project, spec: GameSpec, teams: int) -> Iterator[tuple[Job, dict[str, Any]]]:
    searches = [
        job
        for job in project.jobs.filter(kind="search", status__in=(Status.FINISHED, Status.STOPPED), **BY_SCRIPT)
        .select_related("project", "game_version__simulator")
        .order_by("-pk")[:SEARCHES]
        if job.game_version is not None and int(job.config["lineups"]["teams"]) == teams
    ]
    seen: set[bytes] = set()
    for found in (_shortlisted, _confirmed):
        for job in searches:
            for each in found(job):
                key = genome_key(each.genome)
                if key not in seen and (exploit := _playable(each, spec)) is not None:
                    seen.add(key)
                    yield job, exploit


def _shortlisted(job: Job) -> Iterator[Archived]:
    on: dict[int, Archived | None] = {}
    for entry in job.shortlist.exclude(action=ShortlistEntry.Action.REMARK):
        on[entry.individual] = (
            Archived(job, entry.genome, entry.anchors) if entry.action == ShortlistEntry.Action.ADD else None
        )
    yield from (each for each in on.values() if each is not None and len(each.anchors) == 2)


def _confirmed(job: Job) -> Iterator[Archived]:
    """None where what fresh battles said was lost."""
    try:
        confirmed = {key for key, fresh in findings(job).items() if fresh.finding == "confirmed"}
        bundles = [unpack(store().get(digest)) for digest in source.replayed(job)] if confirmed else []
    except (StoreError, ConfigError):
        return
    for bundle in bundles:
        columns = bundle.arrays
        for genome, anchors in zip(columns["genome"], columns["anchor"].tolist(), strict=True):
            if genome_key(genome) in confirmed:
                yield Archived(job, genome.tolist(), anchors)


def _playable(each: Archived, spec: GameSpec) -> dict[str, Any] | None:
    """None where the game has not all of its pieces and slots any more."""
    strongest, weakest = each.anchors
    teams = len(each.genome)
    if not (0 <= strongest < teams and 0 <= weakest < teams):
        return None
    between = [t for t in range(teams) if t not in (strongest, weakest)]
    order = [strongest, *between, weakest][:teams] if strongest != weakest else [strongest]
    if len(order) != teams:
        return None
    try:
        own = source.spec(each.job)
        slots = [schema.team_slots(own, row) for row in each.genome]
        rows = [schema.team_row(spec, TeamRow(slots=row)) for row in slots]
    except (StoreError, ConfigError, IndexError):
        return None
    name = " · ".join(schema.team_name(spec, np.asarray(row).tolist()) for row in rows)  # as all pages call it
    return {"name": f"{name} (job {each.job.pk})"[:200], "teams": [{"slots": slots[t]} for t in order]}

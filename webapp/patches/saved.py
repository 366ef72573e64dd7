"""Which version of a project's game data, and which lineup rules, hold a change that was found."""

from __future__ import annotations

from typing import NamedTuple

from engine.errors import ConfigError
from engine.lineups.schema import merged_patch
from webapp.balance import saving
from webapp.balance.models import LineupRules
from webapp.games.models import GameVersion
from webapp.games.specs import version_spec
from webapp.patches.reading import PatchRow
from webapp.studies.models import Job


class Saved(NamedTuple):
    """Where a change is kept: its numbers in a ``version``, its pairs in ``rules``; None where it has none of these."""

    version: GameVersion | None
    rules: LineupRules | None


def saved(job: Job, row: PatchRow) -> Saved | None:
    """None where a part of the change is kept nowhere."""
    version = _version(job, row) if row.table["changes"] else None
    rules = _rules(job, row) if row.table["apart"] else None
    lacks = (row.table["changes"] and version is None) or (row.table["apart"] and rules is None)
    return None if lacks else Saved(version, rules)


def _version(job: Job, row: PatchRow) -> GameVersion | None:
    """The first one later than the job's that has its numbers."""
    before = job.game_version
    if before is None:
        return None
    changed = {each["path"]: each["after"] for each in row.table["changes"]}
    later = job.project.versions.filter(simulator=before.simulator_id, number__gt=before.number).order_by("number")
    for version in later:
        try:
            if merged_patch(version_spec(version), version.patch, changed) == version.patch:
                return version
        except ConfigError:
            continue  # the game calls its numbers otherwise there
    return None


def _rules(job: Job, row: PatchRow) -> LineupRules | None:
    """The newest of the rules that the job played by, where they keep its pairs apart."""
    first = job.lineup_rules or job.project.lineup_rules.filter(replaced_by=None).first()
    newest = saving.newest(first) if first else None
    if newest is None:
        return None
    known = {frozenset(pair) for pair in saving.lineup_config(newest).apart}
    return newest if all(frozenset(pair) in known for pair in row.table["apart"]) else None

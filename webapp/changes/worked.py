"""Did it work? What the newest version of the game data did to the old suspects and the old shortlist, for the page
that compares searches."""

from __future__ import annotations

from typing import Any

from webapp.changes.picking import suspects
from webapp.changes.reading import Replayed, read
from webapp.changes.sentences import of_those
from webapp.changes.starting import of_version
from webapp.games.models import GameVersion
from webapp.projects.models import Project
from webapp.studies.models import Job


def shown(project: Project) -> dict[str, Any]:
    """The replay that came with the newest version, where one did."""
    newest = project.versions.select_related("simulator", "created_by").first()
    job = of_version(newest) if newest is not None else None
    if job is None or newest is None:
        return {}
    found = read(job)
    about = {"suspects": _suspects(found) if found else []}
    return {"worked": {"job": job, "found": found, "version": newest, "before": _before(job), **about}}


def since(search: Job) -> Job | None:
    """The latest replay that came with a newer version than a search played."""
    if search.game_version is None:
        return None
    jobs = Job.objects.filter(kind="change", project=search.project_id).exclude(accompanies=None)
    newer = jobs.filter(game_version__number__gt=search.game_version.number)
    return newer.select_related("project", "parent", "game_version__simulator").order_by("-pk").first()


def _suspects(found: Replayed) -> list[str]:
    """What it did to each suspect of the old search, in a sentence; of those that no lineup holds, nothing."""
    named = suspects(found.job.parent) if found.job.parent is not None else []
    each = [(suspect.line.name, found.holding(suspect.line.pieces)) for suspect in named]
    return [f"{name}: {of_those(found, lineups)}" for name, lineups in each if lineups]


def _before(job: Job) -> GameVersion | None:
    """The version that the old shortlist was found on."""
    return job.parent.game_version if job.parent is not None else None

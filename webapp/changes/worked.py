"""Did it work? What the newest version of the game data did to the old shortlist, for the page that compares
searches."""

from __future__ import annotations

from typing import Any

from webapp.changes.reading import read
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
    return {"worked": {"job": job, "found": read(job), "version": newest, "before": _before(job)}}


def since(search: Job) -> Job | None:
    """The latest replay that came with a newer version than a search played."""
    if search.game_version is None:
        return None
    jobs = Job.objects.filter(kind="change", project=search.project_id).exclude(accompanies=None)
    newer = jobs.filter(game_version__number__gt=search.game_version.number)
    return newer.select_related("project", "parent", "game_version__simulator").order_by("-pk").first()


def _before(job: Job) -> GameVersion | None:
    """The version that the old shortlist was found on."""
    return job.parent.game_version if job.parent is not None else None

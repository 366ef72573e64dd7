"""What a project asked before."""

from __future__ import annotations

from webapp.games.models import GameVersion
from webapp.studies.models import Job


def last_search(version: GameVersion) -> Job | None:
    """The newest search of the version's project in the same game; None where it played this version already."""
    found = Job.objects.filter(project=version.project_id, kind="search", game_version__simulator=version.simulator_id)
    last = found.order_by("-pk").first()
    return last if last is not None and last.game_version_id != version.pk else None

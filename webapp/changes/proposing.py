"""Which of the changes that were tried on a search somebody may propose, and which one proposes itself."""

from __future__ import annotations

from collections.abc import Sequence

from engine.config.lineups import TeamRow
from engine.errors import ConfigError
from engine.lineups.schema import team_row
from webapp.changes import meant, starting
from webapp.changes.reading import Replayed, read
from webapp.studies import explore_source as source
from webapp.studies.fresh_battles import genome_key
from webapp.studies.models import Job, Status

MOST = 12
"""Changes that are offered, the latest."""


def offered(search: Job) -> list[Replayed]:
    """The latest changes that were played to their end on fresh battles, the newest first. Replays that came by
    themselves with a new data version count as well."""
    changed = {"parent": search, "kind": "change", "config__under__isnull": True}
    jobs = Job.objects.filter(**changed, status=Status.FINISHED).select_related("project", "game_version__simulator")
    found = (read(job) for job in jobs.order_by("-pk")[:MOST])
    return [each for each in found if each is not None and each.fresh]


def usual(changes: Sequence[Replayed]) -> Replayed | None:
    """The newest that somebody saved as data, or that works. One that was only looked at is nobody's proposal."""
    return next((each for each in changes if works(each) or saved(each.job)), None)


def judged_before(search: Job) -> set[bytes]:
    """Lineups of which the fresh battles of such a change told something before it, by genome. Raises StoreError and
    ConfigError where the game is no longer described."""
    found = set[bytes]()
    for change in offered(search):
        spec = source.spec(search)
        for each, lineup in zip(change.job.config["replayed"], change.lineups, strict=True):
            if lineup.found_before or lineup.finding == meant.FINDING:
                found.add(genome_key([team_row(spec, TeamRow(**team)) for team in each["teams"]]))
    return found


def works(change: Replayed) -> bool:
    """Whether fresh battles put all of its lineups under the line, of which one at least was over it before."""
    allowed = [each for each in change.lineups if each.counts]
    after = all(each.finding == "refuted" for each in allowed)
    return bool(allowed) and after and any(each.found_before == "confirmed" for each in allowed)


def saved(trial: Job) -> bool:
    """Whether a version of the game data holds it."""
    try:
        return bool(trial.accompanies_id) or starting.saved_as(trial) is not None
    except ConfigError:  # the game has not all of its numbers any more
        return False

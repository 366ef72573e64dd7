"""Round robins for tests: tables as the engine writes them, of battles that nobody played."""

from __future__ import annotations

from typing import Any

from engine.arrays import Bundle, pack
from engine.config.metagame import MetagameConfig
from engine.metagame.table import read
from tests.engine.test_metagame import RING, played
from webapp.lib.storage import store
from webapp.metagame.teams import teams_of
from webapp.studies import actions
from webapp.studies.models import Job, Status

NAMES = ("Frost Captain", "<b>Warhorn</b>", "=Bows")


def bundle(chances: Any, meetings: int = 200, names: tuple[str, ...] = NAMES) -> Bundle:
    """The table of teams with these chances against each other, which met so often."""
    meta, columns = read(len(chances), played(chances, meetings), 1)
    teams = [{"name": name, "parts": [name, "Pikes ×3"], "cost": 100.0} for name in names]
    return Bundle({**meta, "teams": teams, "game": "A game", "battles": 2 * meetings}, columns)


def over(job: Job) -> Job:
    """A round robin that has ended: rock, paper, scissors."""
    table = store().put(pack(*bundle(RING)))
    changes = {"status": Status.FINISHED, "artifacts": {"table": table}, "tick": 10, "counters": {"battles": 1500}}
    Job.objects.filter(pk=job.pk).update(**changes)
    return Job.objects.get(pk=job.pk)


def round_robin(search: Job) -> Job:
    """One of the teams of a search, over."""
    config = MetagameConfig.model_validate({"game": search.config["game"], "teams": teams_of(search)})
    return over(actions.submit(search.project, search.created_by, config, title=config.name, parent=search,
                               game_version=search.game_version))  # fmt: skip

"""Replays for tests: real ones, played here and now by the engine, with few battles."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
from django.conf import settings
from django.utils import timezone

from engine.config import ChangeConfig, LineupConfig, parse
from engine.events import Finished
from engine.games.herobattle.spec import game_spec
from engine.lineups.encoding import LineupSpace
from engine.lineups.rules import compile_rules
from engine.lineups.schema import team_slots
from engine.store import FolderStore
from engine.study import run
from webapp.changes import starting
from webapp.changes.picking import lineups
from webapp.studies.explore_build import explored
from webapp.studies.explore_shortlist import decide
from webapp.studies.models import Job, Status

CHANGE = {"marrow-duke.cost": 400.0}


def shortlist(search: Job, count: int = 3) -> None:
    """Put the first lineups that are over the line and strong on the shortlist."""
    found = explored(search)
    strong = [int(i) for i, verdict in zip(found.core["id"], found.core["verdict"], strict=True) if verdict == 2]
    for lineup in strong[:count]:
        decide(search, found, search.created_by, lineup, "add", "It wins far too much.")


def tried(search: Job, change: Mapping[str, float] = CHANGE, **more: Any) -> Job:
    """A change that was tried on the shortlist, and is over."""
    return finished(starting.start(search, search.created_by, change, lineups(search), more))


def finished(job: Job) -> Job:
    """The job, once it was played: a look of eight fresh replicates of lineups that the rules allow, each with the duke
    in it."""
    names = [each["name"] for each in job.config["replayed"]]
    played = [{"name": name, "teams": teams} for name, teams in zip(names, _allowed(len(names)), strict=True)]
    rules = {**job.config["lineups"], "baselines": {"kind": "drawn", "count": 2}}
    few = {"pool": {"kind": "local"}, "replicates": 8, "replayed": played, "lineups": rules}
    config = parse(ChangeConfig, {**job.config, **few})
    *_, last = run(config, FolderStore(settings.STORE_DIR))
    assert isinstance(last, Finished), last
    over = {"status": Status.FINISHED, "tick": last.tick, "artifacts": last.artifacts, "finished_at": timezone.now(),
            "counters": {"battles": last.counters.battles, "seconds": 1.0}, "message": ""}  # fmt: skip
    Job.objects.filter(pk=job.pk).update(**over)
    return Job.objects.select_related("project", "game_version__simulator", "parent").get(pk=job.pk)


@cache
def _allowed(count: int) -> list[list[dict[str, Any]]]:
    """Teams of so many lineups that the game's rules allow."""
    spec = game_spec()
    rules = compile_rules(spec, LineupConfig(required=("marrow-duke",)))
    rows = LineupSpace(rules).sample(np.random.default_rng(1), count)
    return [[{"slots": team_slots(spec, row)} for row in lineup] for lineup in rows]

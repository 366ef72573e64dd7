"""Which lineups of a replay are as they are because of something that is meant to be so."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from engine.config.lineups import TeamRow
from engine.config.patterns import Pattern
from engine.errors import ConfigError, StoreError
from engine.lineups.patterns import Patterns
from engine.lineups.schema import team_row
from webapp.studies import explore_source as source
from webapp.studies import patterns
from webapp.studies.models import Job

FINDING = "meant"


def meant(trial: Job, count: int) -> Sequence[bool]:
    """Of so many lineups that were replayed, in their order, whoever leads. What a change is about is not meant to be
    so with other numbers."""
    replayed = trial.config["replayed"]
    if trial.parent is None or len(replayed) != count:
        return [False] * count
    changed = {path.rpartition(".")[0] for path in trial.config["change"]}
    intended = [each for each in patterns.meant_by_now(trial.parent) if not changed.intersection(each.pieces)]
    try:
        return _explained(trial, intended) if intended else [False] * count
    except (ConfigError, StoreError):  # the game is no longer described
        return [False] * count


def _explained(trial: Job, intended: Sequence[Pattern]) -> list[bool]:
    found = list[bool]()
    of_game, spec = Patterns(source.spec(trial), intended), source.spec(trial)
    for lineup in trial.config["replayed"]:
        rows = np.stack([team_row(spec, TeamRow.model_validate(team)) for team in lineup["teams"]])
        anchors = np.array([lineup.get("anchors") or (-1, -1)])
        found.append(bool(of_game.explained(rows[None], anchors).any()))
    return found

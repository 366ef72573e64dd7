"""How often a suspect stands in the lineups of its search: in those that are unfair, and in random ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import ConfigError, StoreError
from engine.indicators import STRONG, wilson
from webapp.studies.explore_build import Explored, explored
from webapp.studies.models import Job
from webapp.suspects.reading import Suspect

Held = NDArray[np.bool_]
FEW = 20
"""Confirmed lineups; of fewer no share tells much."""


@dataclass(frozen=True)
class Share:
    """``count`` of ``total`` hold it, and the 95 % range of that share."""

    words: str
    count: int
    total: int
    kind: str

    @property
    def share(self) -> float:
        """In [0, 1]."""
        return self.count / self.total

    @property
    def ends(self) -> tuple[float, float]:
        """Of its range."""
        return wilson(self.count, self.total)


def shares(search: Job, suspect: Suspect) -> list[Share]:
    """In unfair lineups and in random ones; nothing where the search has none of either, or cannot be read."""
    try:
        found = explored(search)
    except (StoreError, ConfigError):
        return []
    if not found.core or not {piece["id"] for piece in found.meta["pieces"]}.issuperset(suspect.line.pieces):
        return []
    rows, words = _unfair(found)
    seat, which = (0, "strongest") if suspect.good else (1, "weakest")
    lineups = np.flatnonzero(rows & (found.lineups["anchor"][:, seat] >= 0))
    teams = found.genome[lineups, found.lineups["anchor"][lineups, seat]]
    drawn = found.genome[found.core["random"] == 1]
    if not len(lineups) or not len(drawn):
        return []
    every = drawn.reshape(-1, drawn.shape[-1])
    return [
        _share(f"In the {which} team of {len(lineups):,} {words}", teams, found, suspect, "strong"),
        _share(f"In all teams of {len(drawn):,} random lineups", every, found, suspect, ""),
    ]


def _unfair(found: Explored) -> tuple[Held, str]:
    """The lineups that fresh battles confirmed; where these are few, all that are over the line and strong by the
    battles of the search or by fresh ones."""
    confirmed = [lineup for lineup, fresh in found.fresh.items() if fresh.finding == "confirmed"]
    if len(confirmed) >= FEW:
        return np.isin(found.core["id"], confirmed), "lineups that fresh battles confirmed"
    return np.asarray(found.core["verdict"] == STRONG), "lineups that are over the line and strong"


def _share(words: str, teams: NDArray[np.int32], found: Explored, suspect: Suspect, kind: str) -> Share:
    return Share(words, int(held(teams, found.meta, suspect).sum()), len(teams), kind)


def held(teams: NDArray[np.int32], meta: dict[str, Any], suspect: Suspect) -> Held:
    """Which teams int32[n, slots] hold all of its pieces, in its amount or more."""
    place = {piece["id"]: i for i, piece in enumerate(meta["pieces"])}
    have = np.ones(len(teams), np.bool_)
    for piece in suspect.line.pieces:
        have &= _amount(teams, meta["slots"], place[piece]) >= suspect.line.least
    return have


def _amount(teams: NDArray[np.int32], slots: list[dict[str, Any]], piece: int) -> NDArray[np.int64]:
    """How many of a piece each team has."""
    many = np.zeros(len(teams), np.int64)
    for s, slot in enumerate(slots):
        if slot["kind"] == "piece":
            each = teams[:, slot["count"]] if slot["count"] >= 0 else 1
            many += (teams[:, s] == piece) * each
    return many

"""All findings of a round robin about its teams, as columns of one table."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.columns import Arrays
from engine.metagame.counters import counters, rings
from engine.metagame.dominance import dominant, dominates
from engine.metagame.equilibrium import ranges, shares
from engine.metagame.ladder import Ladder, Meetings
from engine.metagame.matchups import Matchups, matchups, pairs_of
from engine.metagame.order import order
from engine.metagame.split import ELO, Split, expected, split
from engine.metagame.tiers import Tiers, tiers
from engine.problem import ShouldStop
from engine.rng import generator

Floats = NDArray[np.float64]
MOST = 200
"""Teams for which a hundred equilibria are found in a minute where most pairs have not met."""


def read(
    teams: int, results: Floats, seed: int, rated: Arrays | None = None, stopped: ShouldStop = lambda: False
) -> tuple[dict[str, Any], Arrays]:
    """Meta and columns from ``results`` float64[pairs, meetings] (``matchups``). ``seed`` draws the tables from which
    the ranges of ``picked`` are taken. ``rated``: the columns ``rating``, where they are rated otherwise. Raises
    Cancelled once ``stopped()``.

    Meta: ``cyclic`` {share, low, high}: cyclic share of the differences between teams (None: no difference is known),
    ``missing``: pairs that never met, ``unfinished``: meetings of all pairs that are left out. Columns [teams]:
    ``order`` on a map, ``rating`` {"", "_low", "_high"} in Elo points, as of a ladder in which all match-ups weigh
    alike, however many of their meetings ended (NaN where no chain of meetings runs to a team, infinite where none
    bounds it), ``strength``, the ratings of ``split``, which all have, ``picked``
    {"", "_low", "_high"}: how often it is seen when everybody picks optimally (pairs that have not met as the ratings
    of those that have expect it, and anything in the range; NaN where such pairs leave more than ``MOST`` teams open),
    ``standing`` {"", "_low", "_high"}: its
    share of wins against all others, its ``tier``, ``dominant``. Columns [teams, teams] of the row team against the
    column team: ``share``, ``low``, ``high``, ``least``, ``most``, ``meetings``, ``dominates``. ``counter`` [k, 2]:
    (team, team it surely beats), the surest first, with ``upset`` [k]; ``ring`` [m, 3]: each team surely beats the
    next, the last one the first."""
    found, rows = matchups(teams, results), tiers(teams, results)
    parts = split(found)
    missing = int((found.meetings[pairs_of(teams)] == 0).sum())
    meta = {"cyclic": _cyclic(parts), "missing": missing, "unfinished": int(np.isnan(results).sum())}
    picked = _picked(found, parts, generator(seed, "picked"), stopped)
    columns: Arrays = {
        "order": order(found.payoff),
        **(ratings(teams, results) if rated is None else rated),
        "strength": parts.ratings,
        **dict(zip(("picked", "picked_low", "picked_high"), picked, strict=True)),
        "dominant": dominant(found).astype(np.uint8),
        "dominates": dominates(found).astype(np.uint8),
        **_standings(rows),
        **_cells(found),
        **_sure(found, parts),
    }
    return meta, columns


def _picked(
    found: Matchups, parts: Split, rng: np.random.Generator, stopped: ShouldStop
) -> tuple[Floats, Floats, Floats]:
    """The columns ``picked`` of ``read``."""
    if not found.whole and found.teams > MOST:
        nobody = np.full(found.teams, np.nan)
        return nobody, nobody, nobody
    open_ = (found.meetings == 0) & ~np.eye(found.teams, dtype=np.bool_)
    middle = shares(np.where(open_, expected(parts.ratings) - 0.5, found.payoff))
    return middle, *ranges(found, middle, rng, stopped=stopped)


def _cyclic(parts: Split) -> dict[str, float | None]:
    known = not np.isnan(parts.cyclic)
    return {"share": parts.cyclic if known else None, "low": parts.range.low, "high": parts.range.high}


def ratings(teams: int, results: Floats) -> Arrays:
    """The columns ``rating`` of ``read``."""
    known = ~np.isnan(results)
    wins = np.where(known, results, 0.0)
    played = Meetings(pairs_of(teams), known.sum(axis=1).astype(float), wins.sum(axis=1), (wins**2).sum(axis=1))
    found = Ladder(teams, played, np.ones(teams, np.bool_), alike=True)
    return {"rating": ELO * found.ratings, "rating_low": ELO * found.low, "rating_high": ELO * found.high}


def _standings(rows: Tiers) -> Arrays:
    return {"standing": rows.share, "standing_low": rows.low, "standing_high": rows.high, "tier": rows.tier}


def _cells(found: Matchups) -> Arrays:
    return {name: getattr(found, name) for name in ("share", "low", "high", "least", "most", "meetings")}


def _sure(found: Matchups, parts: Split) -> Arrays:
    listed, ringed = counters(found, parts.ratings), rings(found)
    return {
        "counter": np.array([(c.team, c.beaten) for c in listed], np.int64).reshape(-1, 2),
        "upset": np.array([c.upset for c in listed], np.uint8),
        "ring": np.array([ring.teams for ring in ringed], np.int64).reshape(-1, 3),
    }

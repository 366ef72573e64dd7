"""The experiment that comes with a search for lineups.

A search finds which lineups are unfair, an experiment which pieces make them so (``engine.worth``). So every search
brings one along: on the same game data and rules, with a seed and battles of its own, after the search, which does not
depend on it. In it two teams of equal cost meet, also where the search itself plays single teams of any price.
"""

from __future__ import annotations

import hashlib

from engine.config.lineups import LineupConfig
from engine.config.study import FEWEST_MEASURING, SearchConfig
from engine.config.worth import WorthConfig
from engine.lineups.rules import feasibility
from engine.lineups.schema import battles_of_lineup
from engine.simulators.contract import GameSpec

MOST = 400_000
"""Battles of the experiment, unless somebody asked for another number; it never plays more than half of its search
does."""
EVEN = 0.05
"""How far apart the costs of the two teams may be that meet for a search of single teams of any price."""
LED = "battles of experiments are led by the game’s own script, and an agent leads those of this search"
SHORT = f"a search of fewer than {2 * FEWEST_MEASURING:,} battles has none to spare"


def obstacle(rules: LineupConfig, spec: GameSpec) -> str:
    """Why no experiment can come with a search under these rules; empty where one can."""
    return next((reason for _, reason in feasibility(spec, _two(rules).model_copy(update={"teams": 2}))), "")


def share(battles: int) -> int:
    """The battles of the experiment beside a search of so many, as a rule; 0 where they would tell nothing."""
    own = min(MOST, battles // 2)
    return own if own >= FEWEST_MEASURING else 0


def battles_of(search: SearchConfig) -> int:
    """Battles of a search, its end not counted."""
    return search.algorithm.population * search.ticks * battles_of_lineup(search.lineups, search.replicates)


def beside(search: SearchConfig, battles: int) -> WorthConfig:
    """The experiment of so many battles."""
    return WorthConfig(
        seed=seed(search.seed), game=search.game, lineups=_two(search.lineups), battles=battles,
        intended=search.intended, pool=search.pool,
    )  # fmt: skip


def seed(search: int) -> int:
    """Its seed, made of the search's: the same search, the same experiment."""
    return int.from_bytes(hashlib.sha256(f"worth of {search}".encode()).digest()[:6])


def planned(search: SearchConfig, spec: GameSpec, battles: int | None) -> tuple[WorthConfig | None, str]:
    """The experiment that a search brings along, of so many ``battles`` (0: none is wanted; None: as usual), or why
    there is none."""
    if battles == 0:
        return None, ""
    if search.game.commander is not None:
        return None, LED
    if why := obstacle(search.lineups, spec):
        return None, why
    many = share(battles_of(search)) if battles is None else battles
    return (beside(search, many), "") if many else (None, SHORT)


def _two(rules: LineupConfig) -> LineupConfig:
    """Rules by which two teams can meet and be compared; those of a search of several teams say so themselves."""
    return rules if rules.teams > 1 else rules.model_copy(update={"teams": 2, "cost_tolerance": EVEN})

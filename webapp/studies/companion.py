"""The experiment that comes with a search for lineups.

A search finds which lineups are unfair, an experiment which pieces make them so (``engine.worth``). So every question
brings one along: on the same game data and rules, with a seed and battles of its own. In it two teams of equal cost
meet, also where the search itself plays single teams of any price. It is a job that no list tells of, waits until its
search has ended, and gives way to whatever people asked for.
"""

from __future__ import annotations

import hashlib
from typing import NamedTuple

from engine.config import LineupConfig, SearchConfig
from engine.config.worth import WorthConfig
from engine.lineups.rules import feasibility
from engine.simulators.contract import GameSpec
from webapp.balance.forms import sentence
from webapp.lib.first import first
from webapp.studies import commanders, plans
from webapp.studies.models import Job

MOST = 400_000
"""Battles of the experiment, unless somebody typed another number; it never plays more than half of its search does."""
FEWEST = int(first(m.ge for m in WorthConfig.model_fields["battles"].metadata if hasattr(m, "ge")))
FORECAST_S, EACH_S = (40.0, 100.0), (0.0003, 0.0005)
"""Seconds that it takes beside playing, least and most, and more for each of its battles: forecasts are fitted to them,
and pairings are drawn to look at what they say. Measured on the built-in game."""
EVEN = 0.05
"""How far apart the costs of the two teams may be that meet for a search of single teams of any price."""


class Asked(NamedTuple):
    """Whether an experiment is wanted (None: as usual, it is), and of how many battles (None: as usual)."""

    wanted: bool | None = None
    battles: int | None = None


def of(search: Job, kind: str = "worth") -> Job | None:
    """The experiment that came with a search, or that it was given last; or the tests of its suspects, by their kind of
    study."""
    known = search.companions.all() if search.pk else ()
    return max((job for job in known if job.kind == kind), key=lambda job: job.pk, default=None)


def obstacle(rules: LineupConfig, spec: GameSpec) -> str:
    """Why no experiment can come with a search under these rules, in a sentence; empty where one can."""
    return next((sentence(reason) for _, reason in feasibility(spec, _two(rules).model_copy(update={"teams": 2}))), "")


def can(search: Job) -> bool:
    """Whether an experiment can come with such a search."""
    return not commanders.name_in(search.config)


def share(battles: int) -> int:
    """The battles of the experiment beside a search of so many, as a rule; 0 where they would tell nothing."""
    own = min(MOST, battles // 2)
    return own if own >= FEWEST else 0


def seconds(battles: int) -> tuple[float, float]:
    """Seconds, least and most, that an experiment of so many battles takes beside playing them."""
    least, most = (once + battles * each for once, each in zip(FORECAST_S, EACH_S, strict=True))
    return (least, most) if battles else (0.0, 0.0)


def tests(battles: int) -> int:
    """Battles at most that tests of the suspects take which an experiment of so many battles names: as many."""
    return battles


def battles_of(search: SearchConfig) -> int:
    """Battles of a search, its end not counted."""
    each = plans.battles_each(search.lineups, search.replicates)
    return search.algorithm.population * search.ticks * each


def beside(search: SearchConfig, battles: int) -> WorthConfig:
    """The experiment of so many battles."""
    return WorthConfig(
        seed=seed(search.seed), game=search.game, lineups=_two(search.lineups), battles=battles, pool=search.pool
    )


def seed(search: int) -> int:
    """Its seed, made of the search's: the same search, the same experiment."""
    return int.from_bytes(hashlib.sha256(f"worth of {search}".encode()).digest()[:6])


def planned(search: SearchConfig, spec: GameSpec, asked: Asked) -> WorthConfig | None:
    """The experiment that a search brings along; None where there is to be none, or none can be."""
    if asked.wanted is False or obstacle(search.lineups, spec):
        return None
    if search.game.commander is not None:  # battles of experiments are the script's
        return None
    battles = share(battles_of(search)) if asked.battles is None else asked.battles
    return beside(search, battles) if battles else None


def _two(rules: LineupConfig) -> LineupConfig:
    """Rules by which two teams can meet and be compared; those of a search of several teams say so themselves."""
    return rules if rules.teams > 1 else rules.model_copy(update={"teams": 2, "cost_tolerance": EVEN})

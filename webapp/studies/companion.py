"""The experiment that comes with a search for lineups (``engine.lineups.companion``), as a job.

It is a job that no list tells of, waits until its search has ended, and gives way to whatever people asked for.
"""

from __future__ import annotations

from typing import NamedTuple

from engine.config import LineupConfig, SearchConfig
from engine.config.worth import WorthConfig
from engine.lineups import companion
from engine.simulators.contract import GameSpec
from webapp.balance.forms import sentence
from webapp.studies import commanders
from webapp.studies.models import Job

FORECAST_S, EACH_S = (40.0, 100.0), (0.0003, 0.0005)
"""Seconds that it takes beside playing, least and most, and more for each of its battles: forecasts are fitted to them,
and pairings are drawn to look at what they say. Measured on the built-in game."""


class ExperimentChoice(NamedTuple):
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
    why = companion.obstacle(rules, spec)
    return sentence(why) if why else ""


def can(search: Job) -> bool:
    """Whether an experiment can come with such a search."""
    return not commanders.name_in(search.config)


def seconds(battles: int) -> tuple[float, float]:
    """Seconds, least and most, that an experiment of so many battles takes beside playing them."""
    least, most = (once + battles * each for once, each in zip(FORECAST_S, EACH_S, strict=True))
    return (least, most) if battles else (0.0, 0.0)


def tests(battles: int) -> int:
    """Battles at most that tests of the suspects take which an experiment of so many battles names: as many."""
    return battles


def planned(search: SearchConfig, spec: GameSpec, asked: ExperimentChoice) -> WorthConfig | None:
    """The experiment that a search brings along; None where there is to be none, or none can be."""
    return None if asked.wanted is False else companion.planned(search, spec, asked.battles)[0]

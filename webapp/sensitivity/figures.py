"""Which sensitivity belongs to an experiment: of the same game, data, rules, battles and line."""

from __future__ import annotations

from typing import Any, NamedTuple

from engine.config import LineupConfig
from webapp.sensitivity.reading import PlantedCell, cells_of
from webapp.studies.models import Job, Status
from webapp.studies.table_rows import latest

ENDED = (Status.FINISHED, Status.STOPPED)
LATEST = 30
"""Sensitivities of the same game data that are looked at."""


class Screen(NamedTuple):
    """What an experiment plays, whatever kind of job it is part of."""

    game: dict[str, Any]
    lineups: dict[str, Any]
    battles: int
    matters: float
    pairs: bool = True

    @classmethod
    def of(cls, job: Job) -> Screen | None:
        """The experiment of a job: its own, or the screen of a gate; None where it has none."""
        config, own = job.config, job.config.get("screen") if job.kind == "gate" else job.config
        if job.kind not in ("worth", "gate", "sensitivity") or not own:
            return None
        game = {name: value for name, value in config["game"].items() if name != "spec"}  # the game version tells it
        return cls(game, config["lineups"], int(own["battles"]), float(own["matters"]), own.get("pairs", True))

    def same(self, other: Screen) -> bool:
        """Whether a sensitivity of the one is that of the other: baseline teams and the number of teams of a lineup do
        not matter where two teams meet."""
        mine, theirs = (_rules(each.lineups) for each in (self, other))
        return self._replace(lineups={}) == other._replace(lineups={}) and mine == theirs


def _rules(lineups: dict[str, Any]) -> LineupConfig:
    usual = LineupConfig()
    return LineupConfig.model_validate(lineups).model_copy(update={"teams": 2, "baselines": usual.baselines})


def measured(job: Job) -> Job | None:
    """The newest sensitivity that belongs to a job's experiment and has counted anything."""
    return _newest(job, ended=True)


def going(job: Job) -> Job | None:
    """The newest one that belongs to it and has not ended."""
    return _newest(job, ended=False)


def _newest(job: Job, *, ended: bool) -> Job | None:
    screen = Screen.of(job)
    if screen is None:
        return None
    rows = job.project.jobs.filter(kind="sensitivity", game_version=job.game_version).order_by("-pk")
    rows = rows.filter(status__in=ENDED) if ended else rows.exclude(status__in=(*ENDED, Status.FAILED))
    for each in rows[:LATEST]:
        other = Screen.of(each)
        if other is not None and other.same(screen) and (not ended or counted(each)):
            return each
    return None


def counted(job: Job) -> list[PlantedCell]:
    """What a sensitivity has counted; empty where that is nothing, or was lost."""
    bundle = latest(job)
    return [cell for cell in cells_of(bundle) if cell.planted] if bundle else []


UNMEASURED = "How often an experiment of this size finds a break of a given size was not measured."


def sentences(job: Job) -> list[str]:
    """What is known of how hard a job's experiment looked, in sentences."""
    found = measured(job)
    return [cell.sentence for cell in counted(found)] if found else [UNMEASURED]

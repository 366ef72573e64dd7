"""What a sensitivity takes, before anybody starts it."""

from __future__ import annotations

from typing import NamedTuple

from django.conf import settings

from engine.config.sensitivity import SensitivityConfig
from webapp.games.models import GameVersion
from webapp.lib.words import about, number, plural
from webapp.studies.models import Job

LATEST = 5
"""Earlier jobs of a kind that are asked."""
UNKNOWN = "How long that takes is not known: no experiment on this game has been played here yet."


class Seconds(NamedTuple):
    """The shortest and the longest time."""

    low: float
    high: float

    @property
    def words(self) -> str:
        """ "2 h to 4 h 30 min"."""
        return " to ".join(dict.fromkeys((about(self.low), about(self.high))))


def seconds(version: GameVersion, plantings: int, battles: int) -> Seconds | None:
    """How long so many plantings take whose experiments have so many ``battles``: by earlier sensitivities of the game,
    or by its experiments. A worker runs a planting by itself, so of what an experiment takes on all workers, battles
    are shared among as many as before, and what is worked out from them among more. None: nobody knows."""
    jobs = Job.objects.filter(game_version__spec_hash=version.spec_hash, counters__seconds__gt=0).order_by("-pk")
    own = [_planting(job, battles) for job in jobs.filter(kind="sensitivity", tick__gt=0)[:LATEST]]
    if own:
        return Seconds(0.8 * plantings * min(own), 1.3 * plantings * max(own))
    others = jobs.filter(kind="worth", counters__battles__gt=0)[:LATEST]
    each = [float(job.counters["seconds"]) * battles / float(job.counters["battles"]) for job in others]
    if not each:
        return None
    return Seconds(plantings * min(each) / max(settings.CPUS, 1), 1.5 * plantings * max(each))


def _planting(job: Job, battles: int) -> float:
    """Seconds for each planting of an earlier sensitivity, were its experiments as long."""
    return float(job.counters["seconds"]) / job.tick * battles / int(job.config["battles"])


def words(version: GameVersion, config: SensitivityConfig) -> str:
    """ "300 plantings: 162,000,000 battles at most, 2 h to 4 h 30 min by what was played here."; then what each is."""
    said = f"{plural(config.many, 'planting')}: {number(config.most)} battles at most"
    takes = seconds(version, config.many, config.battles)
    sentence = f"{said}. {UNKNOWN}" if takes is None else f"{said}, {takes.words} by what was played here."
    each = f"{plural(config.battles, 'battle')}, and what it takes to plant its break and to measure it"
    return f"{sentence} Each is an experiment of {each}."

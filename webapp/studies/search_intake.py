"""Searches for lineups that the API starts: what a body leaves out comes from the project."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from django.conf import settings

from engine.config import LineupConfig, ObjectiveSetConfig, SearchConfig, Study
from engine.simulators.contract import GameSpec
from webapp.studies import checks
from webapp.studies.intake import Body, Intake, Refers, Table, Wrong, part
from webapp.studies.methods import LINEUPS
from webapp.studies.models import Job
from webapp.studies.pins import BESIDE, Pins, pins_of, pins_of_job


class SearchIntake(Intake):
    """How the API starts searches for lineups."""

    beside: ClassVar[frozenset[str]] = BESIDE

    def first(self, body: Body) -> tuple[Study, Refers]:
        """With what the project has now."""
        return _searched(body, pins_of(body))

    def again(self, body: Body, job: Job) -> tuple[Study, Refers]:
        """With what the other search rested on."""
        return _searched(body, pins_of_job(job, body.user))


def _searched(body: Body, pins: Pins) -> tuple[SearchConfig, Refers]:
    """A search of the project's game data, and the rows it rests on."""
    data = body.table(pins.filled(body.config))
    game = data["game"]
    if isinstance(game, dict) and game.get("simulator") == pins.version.simulator.called:
        game["simulator"] = pins.version.simulator.reference
    study, wrong = body.loaded(data, settings.CPUS)
    wrong += _strange(data, pins.spec)
    if isinstance(study, SearchConfig):
        wrong += [*pins.changed(study), *_idle(study)]
    body.refuse(wrong)
    assert isinstance(study, SearchConfig)
    return study, pins.refers(study)


def _strange(data: Table, spec: GameSpec) -> Iterator[tuple[str, str]]:
    """What the game has against lineup rules and objectives, each as far as it can be read."""
    rules, objectives = part(LineupConfig, data["lineups"]), part(ObjectiveSetConfig, data["objectives"])
    if rules is not None:
        yield from checks.lineups(rules, spec)
    if rules is not None and objectives is not None:
        yield from checks.formulas(objectives, spec, rules)
        yield from checks.lines(objectives, spec, rules)


def _idle(study: SearchConfig) -> Wrong:
    """A method that makes sense where candidates learn, which lineups do not."""
    learns = study.algorithm.kind not in LINEUPS.methods
    return [("algorithm.kind", "this method needs players that train: choose another")] if learns else []

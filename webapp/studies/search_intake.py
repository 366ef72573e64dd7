"""Searches for lineups that the API starts: what a body leaves out comes from the project."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from django.conf import settings

from engine.config import LineupConfig, ObjectiveSetConfig, SearchConfig, Study
from engine.config.study import FEWEST_MEASURING
from engine.errors import ConfigError
from engine.simulators.contract import GameSpec
from webapp.games.models import GameVersion
from webapp.studies import checks, commanders, companion
from webapp.studies.intake import Body, Intake, Refers, Table, Wrong, part
from webapp.studies.methods import LINEUPS
from webapp.studies.models import Job
from webapp.studies.pins import BESIDE, Pins, pins_of, pins_of_job


class SearchIntake(Intake):
    """How the API starts searches for lineups."""

    beside: ClassVar[frozenset[str]] = BESIDE | {"experiment"}

    def first(self, body: Body) -> tuple[Study, Refers]:
        """With what the project has now. ``experiment``: the battles of the one that comes with it; 0: none does. The
        settings may say it, too."""
        pins = pins_of(body)
        study, refers = _searched(body, pins)
        battles = body.beside.get("experiment", study.experiment)
        led = commanders.NO_EXPERIMENT if study.game.commander is not None else ""
        if battles and (why := _few(battles) or led or companion.obstacle(study.lineups, pins.spec)):
            raise ConfigError([("experiment", why)])
        asked = companion.ExperimentChoice(None if battles is None else bool(battles), battles)
        return _alone(study), {**refers, **_beside(study, refers, pins, asked)}

    def again(self, body: Body, job: Job) -> tuple[Study, Refers]:
        """With what the other search rested on, and with an experiment as large as its own."""
        return self._like(body, job, pins_of_job(job, body.user))

    def on(self, body: Body, job: Job, version: GameVersion) -> tuple[Study, Refers]:
        """The same on another version of the game data."""
        return self._like(body, job, pins_of_job(job, body.user, version))

    def _like(self, body: Body, job: Job, pins: Pins) -> tuple[Study, Refers]:
        found = companion.of(job)
        study, refers = _searched(body, pins)
        known = companion.ExperimentChoice(found is not None, None if found is None else found.config["battles"])
        asked = (
            known if study.experiment is None else companion.ExperimentChoice(bool(study.experiment), study.experiment)
        )
        return _alone(study), {**refers, **_beside(study, refers, pins, asked)}


def _alone(study: SearchConfig) -> SearchConfig:
    """A search as its job has it: the experiment that comes with it is a job of its own."""
    return study.model_copy(update={"experiment": None})


def _few(battles: int) -> str:
    return f"must be {FEWEST_MEASURING} or more, or 0 for none" if battles < FEWEST_MEASURING else ""


def _beside(study: SearchConfig, refers: Refers, pins: Pins, asked: companion.ExperimentChoice) -> Refers:
    """The experiment that comes with a search, if one does."""
    found = companion.planned(study, pins.spec, asked)
    return {} if found is None else {"companion": found}


def _searched(body: Body, pins: Pins) -> tuple[SearchConfig, Refers]:
    """A search of the project's game data, and the rows it rests on."""
    data = body.table(pins.filled(body.config))
    pins.named(data["game"], body)
    study, wrong = body.loaded(data, settings.CPUS)
    wrong += strange(data, pins.spec)
    if isinstance(study, SearchConfig):
        wrong += [*pins.changed(study), *_idle(study)]
    body.refuse(wrong)
    assert isinstance(study, SearchConfig)
    return study, pins.refers(study)


def strange(data: Table, spec: GameSpec) -> Iterator[tuple[str, str]]:
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

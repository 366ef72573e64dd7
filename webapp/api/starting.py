"""From a body to a job: its table is filled from the project, checked by the engine's own models and by what the site's
forms check, and handed to ``actions.submit``, as a form's would be."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal

from django.conf import settings
from pydantic import Field

from engine.config import AnyStudy, Config, EvolveConfig, SearchConfig, TrainConfig, load
from engine.config.overrides import placed
from engine.errors import ConfigError
from webapp.accounts.models import User
from webapp.api.pins import Pins, pins_of, pins_of_job
from webapp.projects.models import Project
from webapp.studies import actions, checks
from webapp.studies.models import Job
from webapp.training import games, methods, trials
from webapp.training.games import OFFERS
from webapp.training.methods import PRESET_LIST

Kind = Literal["search", "train", "evolve"]
Number = Annotated[int, Field(ge=1, lt=2**31)]
Table = Mapping[str, Any]
Refers = dict[str, Any]


class Changes(Config):
    """Single settings that replace those of a study, as ``-m`` does on the command line."""

    set: dict[str, Any] = Field(
        default_factory=dict, max_length=1000, title="Single settings",
        description="Path to value, such as {“algorithm.population”: 50}; ranges as [low, high].",
    )  # fmt: skip


class Wanted(Changes):
    """A job to start."""

    kind: Kind | None = Field(
        None, title="Kind of study",
        description="search: for lineups; train: one agent; evolve: for training settings. May stand in config.",
    )  # fmt: skip
    config: dict[str, Any] = Field(
        default_factory=dict, title="The study",
        description="As in a study's YAML file; GET /api/v1/schema/{kind} describes it. What it leaves out comes from "
        "the project, or is as it is by default.",
    )  # fmt: skip
    game_version: Number | None = Field(
        None, title="Version of the game data", description="Its number; by default the newest. For a search."
    )
    lineup_rules: Number | None = Field(
        None, title="Lineup rules", description="Their number; by default the project's first. For a search."
    )
    objective_set: Number | None = Field(
        None, title="Objectives", description="Their number; by default those of the question. For a search."
    )
    question: str = Field(
        "", max_length=40, title="Question", description="Of the New job page; by default unfair. For a search."
    )


def start(project: Project, user: User, wanted: Wanted) -> Job:
    """The job that a body asks for, on its way. Raises ConfigError with everything that is wrong with it."""
    kind = wanted.kind or wanted.config.get("kind")
    if kind not in ("search", "train", "evolve"):
        raise ConfigError([("kind", "say what kind of study this is: search, train or evolve")])
    if kind != "search":
        aside = ("game_version", "lineup_rules", "objective_set", "question")
        wrong = [(name, "this is for a search of lineups") for name in aside if getattr(wanted, name)]
        if wrong:
            raise ConfigError(wrong)
        return _submit(project, user, *_trained(kind, wanted.config, wanted.set, project))
    pins = pins_of(project, user, wanted)
    return _submit(project, user, *_searched(pins, wanted.config, wanted.set))


def again(job: Job, user: User, changes: Changes) -> Job:
    """A new job with the settings of another and what ``changes`` says. Raises ConfigError, and Refused for a kind of
    job that is no study of its own."""
    if job.kind in (Job.Kind.TRAIN, Job.Kind.EVOLVE):
        study, refers = _trained(job.kind, job.config, changes.set, job.project)
        return _submit(job.project, user, study, {**refers, "template": refers["template"] or job.template})
    if job.kind != Job.Kind.SEARCH or job.game_version is None:
        raise actions.Refused("Only a search, a training or a search for training settings can be started again.")
    return _submit(job.project, user, *_searched(pins_of_job(job, user), job.config, changes.set))


def _submit(project: Project, user: User, study: AnyStudy, refers: Refers) -> Job:
    return actions.submit(project, user, study, title=study.name, **refers)


def _searched(pins: Pins, config: Table, changes: Table) -> tuple[SearchConfig, Refers]:
    """A search of the project's game data, and the rows it rests on."""
    study = _loaded("search", pins.filled(config), changes)
    assert isinstance(study, SearchConfig)
    _refuse(pins.changed(study), changes)
    rules, formulas = (
        checks.lineups(study.lineups, pins.spec),
        checks.formulas(study.objectives, pins.spec, study.lineups),
    )
    _refuse([*rules, *formulas, *checks.method(study), *_pool(study)], changes)
    return study, pins.refers(study)


def _trained(kind: str, config: Table, changes: Table, project: Project) -> tuple[TrainConfig | EvolveConfig, Refers]:
    """A training, or a search for training settings, in a game that may be played here, and its preset."""
    study = _loaded(kind, config, changes)
    assert isinstance(study, TrainConfig | EvolveConfig)
    within = "task." if isinstance(study, EvolveConfig) else ""
    task = study.task if isinstance(study, EvolveConfig) else study
    game = task.game.model_copy(update={"name": games.full_name(task.game.name)})
    unfit = [(f"{within}game.{place}", why) for place, why in games.unfit(game.name, game.settings, project)]
    offer = OFFERS[games.named(game.name, project)[0]]
    if reason := methods.misfit(task.learner.kind, games.does(offer, game.name)):
        unfit.append((f"{within}learner.kind", reason))
    _refuse([*unfit, *(checks.method(study) if isinstance(study, EvolveConfig) else ()), *_pool(study)], changes)
    if isinstance(study, EvolveConfig):
        study = study.model_copy(update={"task": study.task.model_copy(update={"game": game})})
    else:
        study = study.model_copy(update={"game": game})
        _refuse(trials.problems(trials.known(project, study)), changes)
    data = placed(config, changes.items())
    if "name" not in data:
        title = games.title_of(game.name)
        named = f"Settings for {title}" if within else f"An agent for {title}"
        study = study.model_copy(update={"name": named[:120]})
    return study, {"template": _preset(data, within)}


def _preset(data: Table, within: str) -> str:
    """The preset that a training begins with, where the site knows it."""
    learner = (data.get("task", {}) if within else data).get("learner", "")
    name = learner.get("preset", "") if isinstance(learner, Mapping) else learner
    return name if name in PRESET_LIST else ""


def _loaded(kind: str, config: Table, changes: Table) -> AnyStudy:
    """The study of a table, with ``changes`` in it. Raises ConfigError, each problem at its place in the body."""
    try:
        data = placed(config, changes.items())
    except ConfigError as error:
        raise ConfigError((f"set.{p.place}", p.message) for p in error.problems) from error
    if data.setdefault("kind", kind) != kind:
        raise ConfigError([(_where("kind", changes), f"the job is to be of kind {kind}")])
    pool = data.setdefault("pool", {})
    if kind != "train" and isinstance(pool, dict):
        pool.setdefault("workers", settings.CPUS)
    try:
        return load(data)
    except ConfigError as error:
        _refuse(error.problems, changes)
        raise


def _pool(study: SearchConfig | TrainConfig | EvolveConfig) -> list[tuple[str, str]]:
    return [("pool.address", "jobs of this site run on its own Ray: leave it out")] if study.pool.address else []


def _refuse(found: Iterable[tuple[str, str]], changes: Table) -> None:
    """Raise ConfigError for whatever was found, at its place in the body."""
    wrong = [(_where(place, changes), why) for place, why in found]
    if wrong:
        raise ConfigError(wrong)


def _where(place: str, changes: Table) -> str:
    """A place of the study as a place of the body."""
    mine = any(place == path or place.startswith(f"{path}.") for path in changes)
    return f"{'set' if mine else 'config'}.{place}".rstrip(".")

"""From a body to a job: its table is filled from the project, checked by the engine's own models and by what the site's
forms check, and handed to ``actions.submit``, as a form's would be."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any, Literal

from django.conf import settings
from pydantic import Field

from engine.config import (
    Config,
    EvolveConfig,
    LineupConfig,
    ObjectiveSetConfig,
    SearchConfig,
    Study,
    TaskConfig,
    TrainConfig,
    parse,
)
from engine.config.base import M
from engine.config.overrides import placed
from engine.config.train import TrainGame
from engine.errors import ConfigError
from engine.simulators.contract import GameSpec
from engine.studies import load
from webapp.accounts.models import User
from webapp.api.once import Kept
from webapp.api.pins import Pins, pins_of, pins_of_job
from webapp.games.called import reference_of
from webapp.projects.models import Project
from webapp.studies import actions, checks, retired
from webapp.studies.methods import LINEUPS
from webapp.studies.models import Job
from webapp.training import games, goals, methods, trials
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
        description="Path to value, as with -m: {“algorithm.population”: 50}; a range as [low, high].",
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


def start(project: Project, user: User, wanted: Wanted, kept: Kept) -> Job:
    """The job that a body asks for, on its way, with what is ``kept`` of the request. Raises ConfigError with all that
    is wrong with it."""
    kind = wanted.kind or wanted.config.get("kind")
    if kind not in ("search", "train", "evolve"):
        raise ConfigError([("kind", "say what kind of study this is: search, train or evolve")])
    if kind != "search":
        aside = ("game_version", "lineup_rules", "objective_set", "question")
        wrong = [(name, "this is for a search of lineups") for name in aside if getattr(wanted, name)]
        if wrong:
            raise ConfigError(wrong)
        study, refers = _trained(kind, wanted.config, wanted.set, project)
        return _submit(project, user, study, refers | kept)
    search, refers = _searched(pins_of(project, user, wanted), wanted.config, wanted.set)
    return _submit(project, user, search, refers | kept)


def again(job: Job, user: User, changes: Changes, kept: Kept) -> Job:
    """A new job with the settings of another and what ``changes`` says. Raises ConfigError, and Refused for a kind of
    job that is no study of its own."""
    config, gone = retired.renewed(job.config)
    told: Refers = {**kept, "notes": [each.copy for each in gone if not _set(each.place, changes.set)]}
    if job.kind in (Job.Kind.TRAIN, Job.Kind.EVOLVE):
        study, refers = _trained(job.kind, config, changes.set, job.project)
        return _submit(job.project, user, study, {**refers, **told, "template": refers["template"] or job.template})
    if job.kind != Job.Kind.SEARCH or job.game_version is None:
        raise actions.Refused("Only a search, a training or a search for training settings can be started again.")
    search, refers = _searched(pins_of_job(job, user), config, changes.set)
    return _submit(job.project, user, search, refers | told)


def _submit(project: Project, user: User, study: Study, refers: Refers) -> Job:
    return actions.submit(project, user, study, title=study.name, **refers)


def _searched(pins: Pins, config: Table, changes: Table) -> tuple[SearchConfig, Refers]:
    """A search of the project's game data, and the rows it rests on."""
    data = _placed(pins.filled(config), changes)
    game = data["game"]
    if isinstance(game, dict) and game.get("simulator") == pins.version.simulator.called:
        game["simulator"] = pins.version.simulator.reference
    study, wrong = _loaded("search", data, changes)
    wrong += _strange(data, pins.spec)
    if isinstance(study, SearchConfig):
        wrong += [*pins.changed(study), *_idle(study), *_pool(study)]
    _refuse(wrong, changes)
    assert isinstance(study, SearchConfig)
    return study, pins.refers(study)


def _strange(data: Table, spec: GameSpec) -> Iterator[tuple[str, str]]:
    """What the game has against lineup rules and objectives, each as far as it can be read."""
    rules, objectives = _part(LineupConfig, data["lineups"]), _part(ObjectiveSetConfig, data["objectives"])
    if rules is not None:
        yield from checks.lineups(rules, spec)
    if rules is not None and objectives is not None:
        yield from checks.formulas(objectives, spec, rules)
        yield from checks.lines(objectives, spec, rules)


def _idle(study: SearchConfig) -> list[tuple[str, str]]:
    """A method that makes sense where candidates learn, which lineups do not."""
    learns = study.algorithm.kind not in LINEUPS.methods
    return [("algorithm.kind", "this method needs players that train: choose another")] if learns else []


def _part(model: type[M], data: Any) -> M | None:
    """A part of a study; None where the models have said what is wrong with it."""
    try:
        return parse(model, data)
    except ConfigError:
        return None


def _trained(kind: str, config: Table, changes: Table, project: Project) -> tuple[TrainConfig | EvolveConfig, Refers]:
    """A training, or a search for training settings, in a game that may be played here; and its preset."""
    within = "task." if kind == "evolve" else ""
    data = _named(_placed(config, changes), within, project)
    study, wrong = _loaded(kind, data, changes)
    wrong += _unfit(data, within, study, project)
    if isinstance(study, EvolveConfig):
        wrong += _untold(study, project)
    if isinstance(study, TrainConfig | EvolveConfig):
        wrong += _pool(study)
    _refuse(wrong, changes)
    assert isinstance(study, TrainConfig | EvolveConfig)
    if isinstance(study, TrainConfig):
        _refuse(trials.problems(trials.known(project, study)), changes)
    return study, {"template": _preset(data, within)}


def _named(data: dict[str, Any], within: str, project: Project) -> dict[str, Any]:
    """The table with the game's full name, and with a name of its own where it has none."""
    task = data.get("task") if within else data
    game = task.get("game") if isinstance(task, dict) else None
    name = game.get("name") if isinstance(game, dict) else game
    if not isinstance(task, dict) or not isinstance(name, str):
        return data  # the models say what is wrong
    full = reference_of(games.full_name(name), project)
    task["game"] = {**game, "name": full} if isinstance(game, dict) else full
    title = games.title_of(full)
    return {"name": (f"Settings for {title}" if within else f"An agent for {title}")[:120], **data}


def _unfit(data: Table, within: str, study: Study | None, project: Project) -> Iterator[tuple[str, str]]:
    """What speaks against the game, as far as it can be read, and against the learner in this game."""
    task = data.get("task") if within else data
    given = task.get("game") if isinstance(task, dict) else None
    game = _part(TrainGame, {"name": given} if isinstance(given, str) else given)
    if game is None:
        return
    for place, why in games.unfit(game.name, game.settings, project):
        yield f"{within}game.{place}", why
    trained = study.task if isinstance(study, EvolveConfig) else study
    does = games.does(OFFERS[games.named(game.name, project)[0]], game.name)
    if isinstance(trained, TaskConfig | TrainConfig) and (reason := methods.misfit(trained.learner.kind, does)):
        yield f"{within}learner.kind", reason


def _untold(study: EvolveConfig, project: Project) -> Iterator[tuple[str, str]]:
    """Measures that the game is known not to tell."""
    aims = [aim.measure for aim in study.objectives]
    told = goals.told_by(project, study.task.game.model_dump(mode="json"))
    places = {f"objectives.{i}.measure": name for i, name in enumerate(aims)}
    places |= {f"behaviour.{i}": name for i, name in enumerate(study.behaviour)}
    for place, name in places.items():
        if told and name not in told:
            yield place, f"the game does not tell {name!r}; it tells {', '.join(told)}"


def _preset(data: Table, within: str) -> str:
    """The preset that a training begins with, where the site knows it."""
    learner = (data["task"] if within else data).get("learner", "")
    name = learner.get("preset", "") if isinstance(learner, Mapping) else learner
    return name if name in PRESET_LIST else ""


def _placed(config: Table, changes: Table) -> dict[str, Any]:
    """The table with ``changes`` in their places. Raises ConfigError."""
    try:
        return placed(config, changes.items())
    except ConfigError as error:
        raise ConfigError((f"set.{p.place}", p.message) for p in error.problems) from error


def _loaded(kind: str, data: dict[str, Any], changes: Table) -> tuple[Study | None, list[tuple[str, str]]]:
    """The study of a table, or what is wrong with it. Raises ConfigError for one of another kind."""
    if data.setdefault("kind", kind) != kind:
        _refuse([("kind", f"the job is to be of kind {kind}")], changes)
    pool = data.setdefault("pool", {})
    if kind != "train" and isinstance(pool, dict):
        pool.setdefault("workers", settings.CPUS)
    try:
        return load(data), []
    except ConfigError as error:
        return None, [*error.problems]


def _pool(study: SearchConfig | TrainConfig | EvolveConfig) -> list[tuple[str, str]]:
    return [("pool.address", "jobs of this site run on its own Ray: leave it out")] if study.pool.address else []


def _refuse(found: Iterable[tuple[str, str]], changes: Table) -> None:
    """Raise ConfigError for whatever was found, at its place in the body."""
    wrong = [(_where(place, changes), why) for place, why in found]
    if wrong:
        raise ConfigError(wrong)


def _where(place: str, changes: Table) -> str:
    """A place of the study as a place of the body."""
    return f"{'set' if _set(place, changes) else 'config'}.{place}".rstrip(".")


def _set(place: str, changes: Table) -> bool:
    """Whether ``changes`` say what is at a place of the study."""
    return any(place == path or place.startswith(f"{path}.") for path in changes)

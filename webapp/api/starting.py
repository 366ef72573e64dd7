"""From a body to a job: its kind's ``Intake`` makes a study of it, which is handed to ``actions.submit``, as a form's
would be."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from engine.catalog import STUDIES
from engine.config import Config, Study
from engine.errors import ConfigError
from webapp.accounts.models import User
from webapp.games.called import public_config
from webapp.lib.once import Kept
from webapp.lib.words import one_of
from webapp.projects.models import Project
from webapp.studies import actions, kinds, retired
from webapp.studies.intake import Body, Refers, changed
from webapp.studies.models import Job

Number = Annotated[int, Field(ge=1, lt=2**31, strict=True)]
"""A row's. No text and no true stands for one."""
SETTINGS = ("kind", "config", "set")
"""What a body of any kind of study may say. Each kind takes some of the rest, or none."""


class Changes(Config):
    """Single settings that replace those of a study, as ``-m`` does on the command line."""

    set: dict[str, Any] = Field(
        default_factory=dict, max_length=1000, title="Single settings",
        description="Path to value, as with -m: {“algorithm.population”: 50}; a range as [low, high].",
    )  # fmt: skip


class Wanted(Changes):
    """A job to start."""

    kind: str | None = Field(
        None, title="Kind of study", max_length=40, json_schema_extra=lambda found: found.update(enum=[*kinds.begun()]),
        description="search: for lineups; train: one agent; evolve: for training settings; style: for styles of play. "
        "May stand in config.",
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
    search: Number | None = Field(
        None, title="Search", description="The number of one whose shortlist is replayed. For a change."
    )
    experiment: int | None = Field(
        None, ge=0, le=100_000_000, strict=True, title="Battles to measure the pieces by",
        description="Of the experiment that comes with a search and says what each piece is worth; 0: none does. By "
        "default as on the New job page.",
    )  # fmt: skip


def start(project: Project, user: User, wanted: Wanted, kept: Kept) -> Job:
    """The job that a body asks for, on its way, with what is ``kept`` of the request. Raises ConfigError with all that
    is wrong with it."""
    study, refers = _first(project, user, wanted)
    return _submit(project, user, study, refers | kept)


def checked(project: Project, user: User, wanted: Wanted) -> dict[str, Any]:
    """What ``start`` would begin, and nothing is begun. Raises ConfigError with all that is wrong with it."""
    study, refers = _first(project, user, wanted)
    return {
        "kind": study.kind,
        "config": public_config(study.model_dump(mode="json"), project),
        "notes": _notes(study, refers),
        "plan": kinds.parts_of(study.kind).plan(study, project),
    }


def _first(project: Project, user: User, wanted: Wanted) -> tuple[Study, Refers]:
    kind = wanted.kind or wanted.config.get("kind")
    intake = kinds.parts_of(kind).intake if isinstance(kind, str) and kind in STUDIES else None
    if intake is None:
        raise ConfigError([("kind", f"say what kind of study this is: {one_of(kinds.begun())}")])
    beside = {name: value for name, value in wanted if value not in (None, "") and name not in SETTINGS}
    if strange := [name for name in beside if name not in intake.beside]:
        raise ConfigError((name, "this kind of study does not take it") for name in strange)
    return intake.first(Body(str(kind), project, user, wanted.config, wanted.set, beside))


def again(job: Job, user: User, changes: Changes, kept: Kept) -> Job:
    """A new job with the settings of another and what ``changes`` says. Raises ConfigError, and Refused for a kind of
    job that is no study of its own."""
    config, gone = retired.renewed(job.config)
    details: Refers = {**kept, "notes": [each.copy for each in gone if not changed(each.place, changes.set)]}
    intake = kinds.parts_of(job.kind).intake
    if intake is None:
        able = one_of([STUDIES[kind].called for kind in kinds.begun()])
        raise actions.Refused(f"Only {able} can be started again.")
    config = public_config(config, job.project)  # so that whoever may not know the program can have the same again
    study, refers = intake.again(Body(job.kind, job.project, user, config, changes.set, {}), job)
    details["notes"] += refers.pop("notes", ())
    return _submit(job.project, user, study, refers | details)


def _submit(project: Project, user: User, study: Study, refers: Refers) -> Job:
    notes = _notes(study, refers)
    return actions.submit(project, user, study, title=study.name, notes=notes, **refers)


def _notes(study: Study, refers: Refers) -> list[str]:
    """What its job says first; taken out of what it refers to."""
    parts = kinds.parts_of(study.kind)
    return [*filter(None, [*refers.pop("notes", ()), parts.crowded(study), parts.short(study)])]

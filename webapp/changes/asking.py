"""What the API takes to try a change: lineups by the ids of their pieces, or those of a search's shortlist."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from django.conf import settings

from engine.catalog import STUDIES
from engine.config import ChangeConfig, Study
from engine.errors import ConfigError, StoreError
from engine.lineups.schema import check_patch, team_row
from webapp.changes import starting
from webapp.changes.picking import baselines, lineups
from webapp.games.specs import version_spec
from webapp.studies import checks, commanders
from webapp.studies.intake import Body, Intake, Refers, Table
from webapp.studies.models import Job
from webapp.studies.pins import BESIDE, Pins, pins_of, pins_of_job


class ChangeIntake(Intake):
    """How the API starts replays. ``search``: the number of one whose shortlist is replayed, with its rules, objectives
    and baseline teams."""

    beside: ClassVar[frozenset[str]] = BESIDE | {"search"}

    def first(self, body: Body) -> tuple[Study, Refers]:
        """With what the project has now, or with what the search rested on."""
        if "search" not in body.beside:
            return _replayed(body, pins_of(body), {})
        search = body.project.jobs.filter(kind="search", pk=body.beside["search"]).first()
        if search is None:
            raise ConfigError([("search", "the project has no search of this number")])
        try:
            shared = {name: search.config[name] for name in ("objectives", "pool")}
            if commander := search.config["game"].get("commander"):  # its lineups are replayed as they were played
                shared["game"] = {"commander": commander}
            rules = {**search.config["lineups"], **baselines(search)}
            usual = {**shared, "lineups": rules, "replayed": lineups(search), "tried": starting.tried(search)}
        except StoreError as error:
            raise ConfigError([("search", str(error))]) from error
        if not usual["replayed"] and "replayed" not in body.config:
            raise ConfigError([("search", "nothing is on its shortlist: name the lineups, or put some on the list")])
        study, refers = _replayed(body, pins_of_job(search, body.user), usual)
        return study, {**refers, "parent": search, "template": search.template}

    def again(self, body: Body, job: Job) -> tuple[Study, Refers]:
        """With what the other one rested on."""
        pins, search = pins_of_job(job, body.user), job.parent
        study, refers = _replayed(body, pins, {})
        return study, {**refers, "parent": search, "template": job.template}


def _replayed(body: Body, pins: Pins, usual: Table) -> tuple[Study, Refers]:
    """A replay on the project's game data, and the rows it rests on."""
    data = body.table(pins.filled({"name": STUDIES["change"].label, **usual, **body.config}))
    pins.named(data["game"], body)
    study, wrong = body.loaded(data, settings.CPUS)
    if isinstance(study, ChangeConfig):
        wrong += [*pins.changed(study), *checks.lineups(study.lineups, pins.spec), *_unfit(study, pins)]
        wrong += checks.formulas(study.objectives, pins.spec, study.lineups)
    body.refuse(wrong)
    assert isinstance(study, ChangeConfig)
    return study, {"game_version": pins.version, "template": pins.refers(study)["template"]}


def _unfit(study: ChangeConfig, pins: Pins) -> Iterator[tuple[str, str]]:
    """What is wrong with its numbers, its commander and its teams."""
    if why := commanders.problem(pins.version.project, study.under):
        yield "under", why
    spec, patch = version_spec(pins.version), pins.version.patch
    yield from ((f"change.{path}", text) for path, text in check_patch(spec, {**patch, **study.change})
                if path in study.change)  # fmt: skip
    for i, each in enumerate(study.replayed):
        if len(each.teams) != study.lineups.teams:
            yield f"replayed.{i}.teams", f"a lineup is {study.lineups.teams} teams here, not {len(each.teams)}"
        for t, team in enumerate(each.teams):
            try:
                team_row(pins.spec, team, f"replayed.{i}.teams.{t}.slots.")
            except ConfigError as error:
                yield from error.problems


def problems(error: ConfigError) -> dict[str, str]:
    """What is wrong with numbers that somebody typed, by their paths."""
    return {p.place.removeprefix("change."): p.message for p in error.problems}

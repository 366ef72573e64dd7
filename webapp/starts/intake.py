"""Easier starts that the API and the form start: what speaks against a study of them, all of it at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from django.conf import settings

from engine.catalog import built_in
from engine.config.agent_games import of_seat
from engine.config.starts import StartsConfig, StartTask
from engine.starting import value_problems
from webapp.lib.words import number, plural
from webapp.projects.models import Project
from webapp.starts import rows
from webapp.starts.rows import OFFERED
from webapp.studies import checks
from webapp.studies.intake import Table
from webapp.training import games, methods
from webapp.training.intake import AloneIntake

HERE = "here each training has a Redis of its own, or the one that the operator named: leave it empty"


class StartsIntake(AloneIntake):
    """How the site starts it: in a game whose settings say where an episode begins."""

    def workers(self) -> int:
        """Actors are the study's own setting."""
        return 0

    def title(self, game: str, asked: Table) -> str:
        """What it is called where the body says nothing."""
        return f"Easier starts: {game}"

    def unfit(self, data: Table, study: Any, project: Project) -> Iterator[tuple[str, str]]:
        """Also games without starts, settings that a game does not have, learners that cannot act in it, and a Redis of
        somebody else's."""
        yield from super().unfit(data, study, project)
        if isinstance(data.get("replay"), Mapping) and data["replay"].get("address"):
            yield "replay.address", HERE
        if not isinstance(study, StartsConfig):
            return
        yield from _too_many(study)
        known, own = built_in(study.game.name), games.starts_of(study.game.name, project)
        if not own and (known is None or not known.starts):
            yield "game.name", f"no setting says where its episodes begin; choose one of {', '.join(OFFERED)}"
            return
        offer = games.OFFERS.get(study.game.name)
        if known is not None and (why := methods.misfit(study.learner.kind, known.does, offer)):
            yield "learner.kind", why
        for i, task in enumerate(study.tasks):
            wrong = [*value_problems(own, task.settings)] if own else _unknown(study, task, project)
            yield from ((f"tasks.{i}.settings.{name}", why) for name, why in wrong)
        yield from _unlike(study)


def _too_many(study: StartsConfig) -> Iterator[tuple[str, str]]:
    """More players than this site has processors for."""
    most, starts = checks.most_workers(), len(study.groups)
    if study.samplers <= most:
        return
    here, each = f"this site has {plural(settings.CPUS, 'processor')}", most // starts
    if each:
        have = "start has so many players" if starts == 1 else "starts have so many players each"
        yield "actors", f"must be {each} or less: {number(starts)} {have}, and {here}"
    else:
        yield "tasks", f"there may be {most} at most: each has a player of its own, and {here}"


def _unlike(study: StartsConfig) -> Iterator[tuple[str, str]]:
    """Settings of a built-in game by which one start would be for another agent than the first one."""
    every = [of_seat(study.game.name, {**study.game.settings, **task.settings}) for task in study.tasks]
    first = study.tasks[0].name
    for i, (task, found) in enumerate(zip(study.tasks, every, strict=True)):
        for name in found:
            if found[name] != every[0][name]:
                has, had = rows.value_of(found[name]), rows.value_of(every[0][name])
                why = f"it is {had} in “{first}” and {has} in “{task.name}”, and one agent learns from all starts"
                yield f"tasks.{i}.settings.{name}", f"{why}: let it be the same in all of them"


def _unknown(study: StartsConfig, task: StartTask, project: Project) -> list[tuple[str, str]]:
    """(setting, sentence) of each that a built-in game does not have."""
    wrong = games.unfit(study.game.name, task.settings, project)
    return [(at.removeprefix("settings."), why) for at, why in wrong if at.startswith("settings.")]

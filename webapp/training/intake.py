"""Trainings, and searches for training settings, that the API starts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from django.conf import settings

from engine.catalog import STUDIES
from engine.config import EvolveConfig, Study, TaskConfig, TrainConfig
from engine.config.train import TrainGame
from webapp.games.called import asked_for
from webapp.projects.models import Project
from webapp.studies.intake import Body, Intake, Refers, Table, part
from webapp.studies.models import Job
from webapp.training import beginnings, entrants, games, goals, methods, trials
from webapp.training.games import OFFERS
from webapp.training.methods import PRESET_LIST


class TrainingIntake(Intake):
    """How the API starts trainings: in a game that may be played here, from a preset where one is named."""

    def again(self, body: Body, job: Job) -> tuple[Study, Refers]:
        """The preset of the other training, where the settings name none, or the kind knows none."""
        study, refers = self.study(body)
        return study, {**refers, "template": refers.get("template") or job.template}

    def study(self, body: Body) -> tuple[Study, Refers]:
        """The study itself."""
        within = STUDIES[body.kind].genes
        data = self.named(body, within)
        study, wrong = body.loaded(data, self.workers())
        task: Any = getattr(study, within) if study is not None and within else study
        wrong += _unfit(data, within, task, body.project)
        body.refuse([*wrong, *self.strange(study, body.project)])
        assert study is not None
        body.refuse(self.tried(study, body.project))
        return study, {"template": _preset(data, within)}

    def workers(self) -> int:
        """Samplers are a training's own setting."""
        return 0

    def title(self, game: str) -> str:
        """What it is called where the body says nothing."""
        return f"An agent for {game}"

    def strange(self, study: Any, project: Project) -> Iterator[tuple[str, str]]:
        """What else speaks against the study; None where the models have said so."""
        yield from ()

    def tried(self, study: Any, project: Project) -> list[tuple[str, str]]:
        """What an earlier trial of it has shown."""
        return trials.problems(trials.known(project, study))

    def named(self, body: Body, within: str) -> dict[str, Any]:
        """The body's table with the game's full name, and with a name of its own where it has none."""
        data = body.table(body.config)
        task = _task(data, within)
        game = task.get("game") if isinstance(task, dict) else None
        name = game.get("name") if isinstance(game, dict) else game
        if not isinstance(task, dict) or not isinstance(name, str):
            return data  # the models say what is wrong
        full = asked_for(games.full_name(name), body.project, body.user)
        task["game"] = {**game, "name": full} if isinstance(game, dict) else full
        return {"name": self.title(games.title_of(full, body.project))[:120], **data}


class SettingsIntake(TrainingIntake):
    """How the API starts searches for training settings."""

    def workers(self) -> int:
        """As many as the site has processors."""
        return int(settings.CPUS)

    def title(self, game: str) -> str:
        """What it is called where the body says nothing."""
        return f"Settings for {game}"

    def strange(self, study: Any, project: Project) -> Iterator[tuple[str, str]]:
        """Measures that the game is known not to tell."""
        if isinstance(study, EvolveConfig):
            yield from _unknown_measures(study, project)

    def tried(self, study: Any, project: Project) -> list[tuple[str, str]]:
        """A trial is of one training."""
        return []


def _task(data: Table, within: str) -> Any:
    """The part of a table that describes a training."""
    return data.get(within) if within else data


def _unfit(
    data: Table, within: str, trained: TaskConfig | TrainConfig | None, project: Project
) -> Iterator[tuple[str, str]]:
    """What speaks against the game, as far as it can be read, and against the learner in this game."""
    task, place = _task(data, within), f"{within}." if within else ""
    given = task.get("game") if isinstance(task, dict) else None
    game = part(TrainGame, {"name": given} if isinstance(given, str) else given)
    if game is None:
        return
    for field, why in games.unfit(game.name, game.settings, project):
        yield f"{place}game.{field}", why
    offer = OFFERS[games.named(game.name, project)[0]]
    if within and offer.sides:
        yield f"{place}game.name", "several agents learn in this game; a search trains one at a time"
    if isinstance(trained, TrainConfig):
        yield from _ill_seated(trained, offer)
        yield from entrants.foreign(trained.policies, game.name, project)
        yield from beginnings.foreign(trained, project)
    does = games.does(offer, game.name)
    if trained is not None and (reason := methods.misfit(trained.learner.kind, does)):
        yield f"{place}learner.kind", reason


def _ill_seated(trained: TrainConfig, offer: games.Offer) -> Iterator[tuple[str, str]]:
    """Seats that nobody plays, or that the game does not have; of a program only the engine can tell."""
    seats = max(1, len(offer.sides))
    if offer.key == games.SIMULATOR or trained.seats == seats:
        return
    if trained.policies:
        has = "one seat" if seats == 1 else f"{seats} seats"
        yield "policies", f"the game has {has}, and there are policies for {trained.seats}"
    else:
        named = " and ".join(f"{side} with seats [{seat}]" for seat, side in enumerate(offer.sides))
        yield "policies", f"the game has {seats} seats: name a policy for each of them, such as {named}"


def _unknown_measures(study: EvolveConfig, project: Project) -> Iterator[tuple[str, str]]:
    """Measures that the game is known not to tell."""
    aims = [aim.measure for aim in study.objectives]
    told = goals.signals_of(project, study.task.game.model_dump(mode="json"))
    places = {f"objectives.{i}.measure": name for i, name in enumerate(aims)}
    places |= {f"behaviour.{i}": name for i, name in enumerate(study.behaviour)}
    for place, name in places.items():
        if told and name not in told:
            yield place, f"the game does not tell {name!r}; it tells {', '.join(told)}"


def _preset(data: Table, within: str) -> str:
    """The preset that a training begins with, where the site knows it."""
    learner = _task(data, within).get("learner", "")
    name = learner.get("preset", "") if isinstance(learner, Mapping) else learner
    return name if name in PRESET_LIST else ""

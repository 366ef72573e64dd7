"""Trainings, and searches for training settings, that the API starts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from django.conf import settings

from engine.config import EvolveConfig, Study, TaskConfig, TrainConfig
from engine.config.style_reward import misread
from engine.config.train import TrainGame
from engine.formula import goal
from engine.studies import elsewhere
from webapp.games.called import asked_for
from webapp.projects.models import Project
from webapp.studies import estimates
from webapp.studies.intake import Body, Intake, Refers, Table, Wrong, part
from webapp.studies.models import Job
from webapp.training import beginnings, entrants, games, goals, methods, trials
from webapp.training.games import OFFERS
from webapp.training.methods import PRESET_LIST


class GameIntake(Intake):
    """How the API starts studies in a game for agents that may be played here. ``within``: the part of their settings
    that describes a training; empty: all of them."""

    within: ClassVar[str] = ""

    def study(self, body: Body) -> tuple[Study, Refers]:
        """The study itself."""
        data = self.named(body)
        study, wrong = self.looked_at(body, data)
        if study is not None and not [*unplayable(data, self.within, body.project)]:
            wrong = [*wrong, *_elsewhere(wrong, self.tried(study, body.project))]
        body.refuse(wrong)
        assert study is not None
        return study, {**self.refers(data), "notes": [*self.notes(study, body.project)]}

    def looked_at(self, body: Body, data: dict[str, Any]) -> tuple[Study | None, Wrong]:
        """The study of a table, if it is one, and what speaks against it."""
        study, wrong = body.loaded(data, self.workers())
        return study, [*wrong, *_elsewhere(wrong, self.unfit(data, study, body.project))]

    def workers(self) -> int:
        """As many as the site has processors."""
        return int(settings.CPUS)

    def title(self, game: str, asked: Table) -> str:
        """What it is called where the body says nothing."""
        return f"An agent for {game}"

    def unfit(self, data: Table, study: Any, project: Project) -> Iterator[tuple[str, str]]:
        """What speaks against it, beside what the models say; ``study``: None where these refuse it."""
        yield from unplayable(data, self.within, project)
        if study is not None:
            yield from _unpaid(study, self.within)

    def tried(self, study: Any, project: Project) -> list[tuple[str, str]]:
        """What an earlier trial of it has shown."""
        return []

    def refers(self, data: Table) -> Refers:
        """The rows that its job points at."""
        return {}

    def notes(self, study: Any, project: Project) -> Iterator[str]:
        """What its job is to say first: what only its first rounds tell."""
        yield from ()

    def named(self, body: Body) -> dict[str, Any]:
        """The body's table with the game's full name, and with a name of its own where it has none."""
        data = body.table(body.config)
        task = _task(data, self.within)
        game = task.get("game") if isinstance(task, dict) else None
        name = game.get("name") if isinstance(game, dict) else game
        if not isinstance(task, dict) or not isinstance(name, str):
            return data  # the models say what is wrong
        full = asked_for(games.full_name(name), body.project, body.user)
        task["game"] = {**game, "name": full} if isinstance(game, dict) else full
        return {"name": self.title(games.title_of(full, body.project), task)[:120], **data}


class AloneIntake(GameIntake):
    """How the API starts trainings of several agents, each of which plays for itself. ``actions``: how one acts in
    their games; empty: in any way."""

    actions: ClassVar[str] = ""

    def unfit(self, data: Table, study: Any, project: Project) -> Iterator[tuple[str, str]]:
        """Also games for several, games in which one acts in another way, and beginnings of other projects."""
        yield from super().unfit(data, study, project)
        if (game := _game(data, self.within)) is not None:
            offer = games.OFFERS[games.named(game.name, project)[0]]
            if offer.sides:
                yield "game.name", "several sides learn in this game, and here each agent plays one for itself"
            elif self.actions and games.does(offer, game.name) not in ("", self.actions):
                yield "game.name", "one chooses among actions in this game, and here every action is made of numbers"
        if study is not None:
            yield from beginnings.unfit(study, project)

    def tried(self, study: Any, project: Project) -> list[tuple[str, str]]:
        """What its first rounds have shown, where a form had them played."""
        return estimates.wrong(study, estimates.known(study, project))

    def notes(self, study: Any, project: Project) -> Iterator[str]:
        """Nothing where these are known."""
        if estimates.known(study, project) is None:
            yield from beginnings.seen_at_start(study, study.game.name)


class TrainingIntake(GameIntake):
    """How the API starts trainings: from a preset where one is named."""

    def again(self, body: Body, job: Job) -> tuple[Study, Refers]:
        """The preset of the other training, where the settings name none."""
        study, refers = self.study(body)
        return study, {**refers, "template": refers["template"] or job.template}

    def workers(self) -> int:
        """Samplers are a training's own setting."""
        return 0

    def unfit(self, data: Table, study: Any, project: Project) -> Iterator[tuple[str, str]]:
        """Also what speaks against the learner in this game, and what else is strange."""
        task: Any = getattr(study, self.within) if study is not None and self.within else study
        yield from _unfit(data, self.within, task, project)
        if study is not None:
            yield from _unpaid(study, self.within)
        yield from self.strange(study, project)

    def strange(self, study: Any, project: Project) -> Iterator[tuple[str, str]]:
        """What else speaks against the study; None where the models have said so."""
        yield from ()

    def tried(self, study: Any, project: Project) -> list[tuple[str, str]]:
        """What an earlier trial of it has shown."""
        return estimates.problems(trials.known(project, study))

    def notes(self, study: Any, project: Project) -> Iterator[str]:
        """Nothing where that is known."""
        if isinstance(study, TrainConfig) and trials.known(project, study) is None:
            yield from beginnings.seen_at_start(study, study.game.name)

    def refers(self, data: Table) -> Refers:
        """The preset that it begins with."""
        return {"template": _preset(data, self.within)}


class SettingsIntake(TrainingIntake):
    """How the API starts searches for training settings."""

    within = "task"

    def workers(self) -> int:
        """As many as the site has processors."""
        return int(settings.CPUS)

    def title(self, game: str, asked: Table) -> str:
        """What it is called where the body says nothing."""
        return f"Settings for {game}"

    def strange(self, study: Any, project: Project) -> Iterator[tuple[str, str]]:
        """Measures that the game is known not to tell."""
        if isinstance(study, EvolveConfig):
            yield from unknown_measures(study, project)

    def tried(self, study: Any, project: Project) -> list[tuple[str, str]]:
        """A trial is of one training."""
        return []


def _elsewhere(wrong: Wrong, more: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """As ``elsewhere``; a goal whose formula is wrong was read without it, and nothing is true of what is left."""
    return elsewhere([(place.removesuffix(".formula"), why) for place, why in wrong], more)


def _task(data: Table, within: str) -> Any:
    """The part of a table that describes a training."""
    return data.get(within) if within else data


def _game(data: Table, within: str) -> TrainGame | None:
    """The game of a table, as far as it can be read."""
    task = _task(data, within)
    given = task.get("game") if isinstance(task, Mapping) else None
    return part(TrainGame, {"name": given} if isinstance(given, str) else given)


def unplayable(data: Table, within: str, project: Project) -> Iterator[tuple[str, str]]:
    """What speaks against the game itself."""
    if (game := _game(data, within)) is not None:
        place = f"{within}.game" if within else "game"
        yield from ((f"{place}.{field}", why) for field, why in games.unfit(game.name, game.settings, project))


def _unfit(
    data: Table, within: str, trained: TaskConfig | TrainConfig | None, project: Project
) -> Iterator[tuple[str, str]]:
    """What speaks against the game, as far as it can be read, and against the learner in this game."""
    yield from unplayable(data, within, project)
    game, place = _game(data, within), f"{within}." if within else ""
    if game is None:
        return
    offer = OFFERS[games.named(game.name, project)[0]]
    if within and offer.sides:
        yield f"{place}game.name", "several agents learn in this game; a search trains one at a time"
    if isinstance(trained, TrainConfig):
        yield from _ill_seated(trained, offer)
        yield from entrants.foreign(trained.policies, game.name, project)
        yield from beginnings.unfit(trained, project)
    does = games.does(offer, game.name)
    if trained is not None and (reason := methods.misfit(trained.learner.kind, does, offer)):
        yield f"{place}learner.kind", reason


def _ill_seated(trained: TrainConfig, offer: games.Offer) -> Iterator[tuple[str, str]]:
    """Seats that nobody plays, or that the game does not have; of a program only the engine can tell."""
    seats = max(1, len(offer.sides) * offer.squad)
    one_team = not trained.policies and trained.learner.together and offer.squad == seats
    if offer.key == games.SIMULATOR or trained.seats == seats or one_team:
        return
    if trained.policies:
        has = "one seat" if seats == 1 else f"{seats} seats"
        yield "policies", f"the game has {has}, and there are policies for {trained.seats}"
    else:
        named = " and ".join(f"{side} with seats {policy['seats']}" for side, policy in offer.policies.items())
        yield "policies", f"the game has {seats} seats: name a policy for each of them, such as {named}"


def unknown_measures(study: EvolveConfig, project: Project, more: Sequence[str] = ()) -> Iterator[tuple[str, str]]:
    """Measures that the game is known not to tell, and formulas over such; ``more``: those that this kind of study adds
    to a game's."""
    game = study.task.game.model_dump(mode="json")
    signals = goals.signals_of(project, game) or goals.measures_of(game)
    if not signals:
        return
    known = (*signals, *more)
    places = {f"objectives.{i}.measure": aim.measure for i, aim in enumerate(study.objectives) if not aim.formula}
    places |= {f"behaviour.{i}": name for i, name in enumerate(study.behaviour)}
    for place, name in places.items():
        if name not in known:
            yield place, f"the game does not tell {name!r}; it tells {', '.join(known)}"
    for i, aim in enumerate(study.objectives):
        if aim.formula:
            yield from misread(aim.formula, known, f"objectives.{i}.formula", goal)


def _unpaid(study: Any, within: str) -> Iterator[tuple[str, str]]:
    """Weights of rewards that a built-in game does not pay, with any settings that it is played with."""
    task, place = (getattr(study, within), f"{within}.") if within else (study, "")
    lessons = [part for lesson in getattr(task, "lessons", ()) for part in (lesson, *lesson.matches)]
    played = [{}, *(part.settings for part in (*getattr(task, "tasks", ()), *lessons))]
    game = task.game.model_dump(mode="json")
    settings_played = ({"name": game["name"], "settings": {**game["settings"], **more}} for more in played)
    paid = list(dict.fromkeys(name for each in settings_played for name in goals.rewards_of(each)))
    learners = {f"roster.{name}.learner": each for name, each in getattr(task, "learners", {}).items()}
    for at, learner in {"learner": getattr(task, "learner", None), **learners}.items():
        for name in sorted(getattr(learner, "rewards", {}).keys() - set(paid)) if paid else ():
            yield f"{place}{at}.rewards.{name}", f"the game pays no such reward; it pays {', '.join(paid)}"


def _preset(data: Table, within: str) -> str:
    """The preset that a training begins with, where the site knows it."""
    learner = _task(data, within).get("learner", "")
    name = learner.get("preset", "") if isinstance(learner, Mapping) else learner
    return name if name in PRESET_LIST else ""

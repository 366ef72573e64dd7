"""Which game one agent learns from easier starts, and where episodes begin: the form, and what the API takes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from django import forms

from engine.catalog import LEARNERS, built_in
from engine.config.agent_games import of_seat
from engine.config.starts import StartsConfig, StartTask
from engine.starting import value_problems
from webapp.games.fields import NumberField
from webapp.lib.first import first
from webapp.lib.words import plural
from webapp.projects.models import Project
from webapp.starts import picture, rows
from webapp.starts.rows import OFFERED, ROWS
from webapp.studies.intake import Table
from webapp.studies.models import Job
from webapp.studies.study_form import CardsField, Represented
from webapp.training import beginnings, games, methods
from webapp.training.intake import AloneIntake
from webapp.training.learning_form import LearningForm

ITERATIONS = 100_000
HERE = "the site has a Redis of its own for this: leave it empty"
LEARNS = ("mpdqn", "pdqn", "paddpg")
ORDINARY = ("dqn", "td3", "sac")
"""Learners for games whose choices have no numbers, which only programs are."""
SCHEDULERS = {
    "exp3": ("Where it learns most", "It goes where its success changes, and comes back to what it forgets."),
    "uniform": ("All equally often", "The simplest, and hard to beat."),
    "drc": (
        "One after the other, and all before",
        "The next is added at 90\N{NO-BREAK SPACE}% success, or after an equal share of the steps.",
    ),
    "dbc": ("One after the other", "The next replaces the one before. It forgets: to compare with."),
    "db": ("The hard one alone", "No easier starts at all: to compare with."),
}
SIGNALS = {
    "progress": "Its success changes",
    "return": "Its success is high",
    "td": "Its forecasts are wrong",
}
WAITS = {
    "step": ("They wait for each other", "The same seed gives the same agent, bit for bit."),
    "never": ("Nobody waits", "Players and learner work at the same time, over a Redis of their own."),
}


class StartsIntake(AloneIntake):
    """How the site starts it: in a game whose settings say where an episode begins."""

    def workers(self) -> int:
        """Actors are the study's own setting."""
        return 0

    def title(self, game: str) -> str:
        """What it is called where the body says nothing."""
        return f"Easier starts: {game}"

    def unfit(self, data: Table, study: Any, project: Project) -> Iterator[tuple[str, str]]:
        """Also games without starts, settings that a game does not have, learners that cannot act in it, and a Redis of
        somebody else's."""
        yield from super().unfit(data, study, project)
        if not isinstance(study, StartsConfig):
            return
        if study.replay.address:
            yield "replay.address", HERE
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


class StartsForm(LearningForm):
    """Which game, where its episodes begin, which of these is to be learned, and how."""

    offered: ClassVar[Mapping[str, str]] = {name: game.label for name, game in OFFERED.items()}
    usual: ClassVar[Mapping[str, Any]] = {"game": "half-field", "learner": "mpdqn", "hard": str(ROWS)}
    groups: ClassVar[tuple[tuple[str, tuple[str, ...]], ...]] = (
        ("Which game, and how does it learn?", ("game", "learner")),
        ("Where do episodes begin?", ()),
        ("From which start does it learn next?", ("scheduler",)),
        ("Do players wait for the learner?", ("waits",)),
        ("How far?", ("start", "iterations", "minutes")),
    )
    drawn: ClassVar[Mapping[str, str]] = {"Where do episodes begin?": "starts/rows.html"}
    folded: ClassVar[tuple[str, ...]] = ("signal", "low", "high", "actors", "battles", "rate", "seed")
    places: ClassVar[Mapping[str, str]] = {
        **LearningForm.places, "learner.kind": "learner", "learner.rate": "rate", "scheduler.kind": "scheduler",
        "scheduler.signal": "signal", "scheduler.low": "low", "scheduler.high": "high", "environments": "battles",
        "sampling": "waits", "replay": "waits",
    }  # fmt: skip
    learner = forms.ChoiceField(label="Learns by", choices=[(key, LEARNERS[key].label) for key in LEARNS])
    hard = forms.ChoiceField(
        label="The hard one", choices=[(str(i), f"Start {i}") for i in range(1, ROWS + 1)], widget=forms.RadioSelect
    )
    scheduler = CardsField(SCHEDULERS, label="From which start it learns next", initial="exp3")
    waits = CardsField(WAITS, label="Whether players wait", initial="step")
    iterations: Any = NumberField(
        label="Learning steps", whole=True, low=1, high=10**12, required=False,
        help_text="In each it learns from some of the decisions that it remembers.",
    )  # fmt: skip
    signal = forms.ChoiceField(
        label="What draws it to a start", choices=list(SIGNALS.items()), required=False,
        help_text="Where it learns most.",
    )  # fmt: skip
    low: Any = NumberField(
        label="Least score of an episode", required=False, usual="as the game says",
        help_text="Of a game that does not tell who wins: success is the share of the way from here to the largest.",
    )  # fmt: skip
    high: Any = NumberField(
        label="Largest score of an episode", required=False, usual="as the game says", help_text="With the least."
    )
    actors: Any = NumberField(
        label="Players of each start", whole=True, low=1, high=1024, required=False, usual=1,
        help_text="Each on a processor of its own.",
    )  # fmt: skip
    battles: Any = NumberField(
        label="Episodes that each plays together", whole=True, low=1, high=100_000, required=False, usual=8,
    )  # fmt: skip
    rate: Any = NumberField(label="Learning rate", low=0, high=1, required=False, usual="as usual for the game")

    def prepare(self) -> None:
        super().prepare()
        own = rows.programs(self.project)
        self.columns = rows.columns(self.project)
        self.fields.update(rows.fields(self.columns))
        del self.fields["steps"]
        self.offer("game", [*self.offered.items(), *own.items()])
        if own:
            self.offer("learner", [(key, LEARNERS[key].label) for key in (*LEARNS, *ORDINARY)])
        self.fields["iterations"].widget.attrs["placeholder"] = f"{ITERATIONS:,}"
        self.fields["seed"].help_text = "Same seed, same result, where they wait for each other."
        self.rows: list[int] = []

    def clean(self) -> dict[str, Any]:
        """The hard one may stay as the game has it; every other start says where it begins. What stands in boxes of
        other games, which the page hides, is left alone."""
        if self._game:
            for column in self.columns:
                for i in range(1, ROWS + 1) if self._game not in column.games else ():
                    self.errors.pop(f"{column.key}{i}", None)
        cleaned = super().clean()
        if not self.errors:
            self.rows = [i for i, _ in rows.typed(cleaned, cleaned["game"], self.columns)]
        return cleaned

    def table(self) -> dict[str, Any]:
        """The study, as a body of the API would have it."""
        found = self.cleaned_data
        game = found["game"]
        sees = OFFERED[game].sees if game in OFFERED else games.NUMBERS
        preset = methods.presets_for(found["learner"], game, sees)[0]
        learner = beginnings.going_on(preset, self.begun).learner.model_dump()
        waits = found["waits"] == "step"
        return {
            **self.typed(name="title", seed="seed", minutes="minutes", environments="battles", actors="actors"),
            "game": game,
            "tasks": [task for _, task in rows.typed(found, game, self.columns)],
            "learner": learner if found["rate"] is None else {**learner, "rate": found["rate"]},
            "scheduler": {"kind": found["scheduler"], "signal": found["signal"] or "progress"}
            | self.typed(low="low", high="high"),
            "iterations": found["iterations"] or ITERATIONS,
            "sampling": "synchronous" if waits else "asynchronous",
            "replay": {"where": "memory" if waits else "redis"},
            **({} if self.begun is None else {"start": self.begun.policy}),
        }

    def point_at(self, place: str, why: str) -> None:
        """A place of a task is its row's."""
        parts = place.split(".")
        if parts[0] == "tasks" and self.rows:
            row = self.rows[min(int(parts[1]), len(self.rows) - 1)] if len(parts) > 1 else self.rows[0]
            keys = [c.key for c in self.columns if len(parts) > 3 and c.setting == parts[3] and self._game in c.games]
            setting = f"{keys[0]}{row}" if keys else ""
            field = setting if setting in self.fields else "hard" if parts[-1] == "hard" else f"name{row}"
            self.add_error(field, why[:1].upper() + why[1:] + ("" if why.endswith(".") else "."))
        else:
            super().point_at(place, why)

    @property
    def _game(self) -> str:
        return str(self.cleaned_data.get("game", ""))

    @classmethod
    def typed_of(cls, job: Job) -> dict[str, Any]:
        """Its starts, as far as the form has room for them."""
        config = job.config
        own = {
            "learner": config["learner"]["kind"],
            "waits": "step" if config["sampling"] == "synchronous" else "never",
        }
        found = {name: value for name, value in super().typed_of(job).items() if name in cls.base_fields}
        return {**found, **own, **rows.filled(config, found["game"], rows.columns(job.project))}

    @classmethod
    def represented(cls, job: Job) -> Represented:
        """The job with the starts that it has rows for; the hard one is always one of them."""
        kept = rows.kept(job.config, super().typed_of(job)["game"], rows.columns(job.project))
        begun = super().represented(job).job.config
        part = Job(project=job.project, kind=job.kind, config={**begun, "tasks": kept})
        gone = [task["name"] for task in job.config["tasks"] if task not in kept]
        said = (
            f"{plural(len(gone), 'start')} left out, for which this form has no row: {', '.join(gone)}." if gone else ""
        )
        return Represented(part, said, first=first(task["name"] for task in kept if task["hard"]))

    @property
    def heads(self) -> list[tuple[str, str]]:
        """(games, head) of each column of settings."""
        return [(" ".join(column.games), column.field.head) for column in self.columns]

    @property
    def lines(self) -> list[dict[str, Any]]:
        """A row for each start: its number, its name, and (games, setting, field) of each column."""
        return [
            {
                "number": i, "name": self[f"name{i}"], "hard": str(self["hard"].value()) == str(i),
                "cells": [(" ".join(c.games), c.setting, self[f"{c.key}{i}"]) for c in self.columns],
            }
            for i in range(1, ROWS + 1)
        ]  # fmt: skip

    @property
    def pictures(self) -> list[tuple[str, picture.Picture]]:
        """The picture of each game, which a script draws the starts on."""
        return [(name, drawn) for name, drawn in picture.PICTURES.items() if name in OFFERED]

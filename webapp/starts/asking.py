"""The form of easier starts: which game one agent learns, where episodes begin, and how it learns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

from django import forms

from engine.catalog import LEARNERS
from engine.config.starts import SCALED
from webapp.accounts.models import User
from webapp.balance.forms import sentence
from webapp.games.fields import NumberField
from webapp.lib.first import first
from webapp.lib.words import plural
from webapp.starts import picture, rows
from webapp.starts.rows import OFFERED, ROWS
from webapp.studies.models import Job
from webapp.studies.study_form import CardsField, Represented
from webapp.training import beginnings, games, methods
from webapp.training.learning_form import LearningForm

ITERATIONS = 100_000
ITERATIONS_IN = {"half-field": 400_000, "half-field-keeper": 1_000_000}
"""In games whose hard start takes longer."""
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
DRAWN_BY = {
    "return": ("Where its success is high", "It mostly stays with the start that pays first."),
    "td": ("Where its forecasts are wrong", "It also stays where chance decides, which nobody can forecast."),
}
"""What a signal other than the usual one makes of “where it learns most”."""
WAITS = {
    "step": ("They wait for each other", "The same seed gives the same agent, bit for bit."),
    "never": ("Nobody waits", "Players and learner work at the same time. No two trainings are quite the same."),
}


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
        label="Learning steps", whole=True, low=1, high=10**12, required=False, usual="as usual for the game",
        help_text="In each it learns from some of the decisions that it remembers. "
        f"Usually {ITERATIONS:,}, on the half field {ITERATIONS_IN['half-field']:,}, and with a keeper there "
        f"{ITERATIONS_IN['half-field-keeper']:,}.",
    )  # fmt: skip
    signal = forms.ChoiceField(
        label="What draws it to a start", choices=list(SIGNALS.items()), required=False,
        help_text="Only where it learns from the start where it learns most.",
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
        help_text="Each on a processor of its own. Where nobody waits, what they play goes through a Redis of its own.",
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
        self.fields["seed"].help_text = "Same seed, same result, where they wait for each other."
        self.rows: list[int] = []
        self.wrong: set[str] = set()

    def clean(self) -> dict[str, Any]:
        """The hard one may stay as the game has it; every other start says where it begins. What stands in boxes of
        other games, which the page hides, is left alone."""
        if self._game:
            for column in self.columns:
                for i in range(1, ROWS + 1) if self._game not in column.games else ():
                    self.errors.pop(f"{column.key}{i}", None)
        return super().clean()

    def find_more(self, user: User) -> None:
        """Wrong boxes go to the study as they were typed: with others in their place, right ones might seem wrong."""
        if not self.errors or self.errors.keys() & {"game", "learner", "scheduler", "waits"}:
            return
        self.wrong = {name for name in self.errors if name in self.fields}
        self.cleaned_data |= {name: self[name].value() for name in self.wrong}
        if "hard" in self.wrong:
            self.cleaned_data["hard"] = str(ROWS)
        self.described(user)

    def table(self) -> dict[str, Any]:
        """The study, as a body of the API would have it."""
        found = self.cleaned_data
        game, starts = found["game"], [*rows.typed(found, found["game"], self.columns)]
        self.rows = [row for row, _ in starts]
        sees = OFFERED[game].sees if game in OFFERED else games.NUMBERS
        preset = methods.presets_for(found["learner"], game, sees)[0]
        preset = replace(preset, learner=preset.learner.model_copy(update={SCALED: False}))
        learner = beginnings.going_on(preset, self.begun).learner.model_dump()
        waits = found["waits"] == "step"
        return {
            **self.typed(name="title", seed="seed", minutes="minutes", environments="battles", actors="actors"),
            "game": game,
            "tasks": [task for _, task in starts],
            "learner": learner if found["rate"] is None else {**learner, "rate": found["rate"]},
            "scheduler": {"kind": found["scheduler"], "signal": found["signal"] or "progress"}
            | self.typed(low="low", high="high"),
            "iterations": found["iterations"] or ITERATIONS_IN.get(game, ITERATIONS),
            "sampling": "synchronous" if waits else "asynchronous",
            "replay": {"where": "memory" if waits else "redis"},
            **({} if self.begun is None else {"start": self.begun.policy}),
        }

    def point_at(self, place: str, why: str) -> None:
        """A place of a task is its row's, and what is wrong with all of them stands below them."""
        parts = place.split(".")
        if parts == ["tasks"]:
            self.add_error("hard", sentence(why))
        elif parts[0] == "tasks":
            row = self.rows[min(int(parts[1]), len(self.rows) - 1)]
            keys = [c.key for c in self.columns if len(parts) > 3 and c.setting == parts[3] and self._game in c.games]
            setting = f"{keys[0]}{row}" if keys else ""
            whole = "hard" if parts[-1] == "hard" else f"name{row}"
            self.add_error(setting if setting in self.fields else whole, sentence(self._in_words(why)))
        else:
            super().point_at(place, why)

    def _in_words(self, why: str) -> str:
        """A sentence of the engine in words of the page: of starts, and with the heads of columns."""
        why = why.replace("another task", "another start")
        for column in self.columns:
            if self._game in column.games and column.setting in why.split():
                why = why.replace(column.setting, f"“{column.field.head}”")
        return why

    def add_error(self, field: Any, error: Any) -> None:
        """What was typed wrong is told already."""
        if field not in self.wrong:
            super().add_error(field, error)

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
        """A row for each start: its number, its name, and (games, head, field) of each column."""
        return [
            {
                "number": i, "name": self[f"name{i}"], "hard": str(self["hard"].value()) == str(i),
                "cells": [(" ".join(c.games), c.field.head, self[f"{c.key}{i}"]) for c in self.columns],
            }
            for i in range(1, ROWS + 1)
        ]  # fmt: skip

    @property
    def pictures(self) -> list[tuple[str, picture.Picture]]:
        """The picture of each game, which a script draws the starts on."""
        return [(name, drawn) for name, drawn in picture.PICTURES.items() if name in OFFERED]

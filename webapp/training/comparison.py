"""Trainings of one agent by different methods, side by side in one game: how well each plays on fresh episodes, after
so many decisions or so many minutes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from engine.config.aesrl import AESRLConfig
from webapp.lib.words import number, plural
from webapp.projects.models import Project
from webapp.studies import kinds
from webapp.studies.compare.trainings import Beside, Drawn, together
from webapp.studies.lines import Column, Lines, known, shown, with_ends
from webapp.studies.models import Job
from webapp.training import games
from webapp.training.curve import EVALUATED
from webapp.training.evaluated import HIGH, LOW, Evaluated, declared

TIME = "time"
_ALONG = {"": ("steps", "Decisions → later"), TIME: ("minutes", "Minutes → later")}
"""By the word of an address: the column that the chart goes along, and what that is."""


@dataclass(frozen=True, eq=False)
class EvaluatedSide:
    """A training; ``number``: its colour, from 1; ``name``: its line; ``method``: how it learns; ``columns``: its
    evaluations; ``last``: the last one, if there is any, and ``minutes`` until then."""

    job: Job
    number: int
    name: str
    method: str
    columns: Mapping[str, Column]

    @cached_property
    def _at(self) -> int | None:
        rows = [i for i, value in enumerate(self.columns.get(EVALUATED, ())) if known(value)]
        return rows[-1] if rows else None

    @property
    def last(self) -> Evaluated | None:
        """How well it played at last."""
        if self._at is None:
            return None
        mean, low, high, steps = (self._value(name) for name in (EVALUATED, LOW, HIGH, "steps"))
        ends = f"{shown(low)} to {shown(high)}" if known(low) and known(high) else ""
        return Evaluated(shown(mean), ends, declared(self.job.config), int(steps or 0), "return")

    @property
    def minutes(self) -> float:
        """After how many that was."""
        return 0.0 if self._at is None else self._value("minutes") or 0.0

    def _value(self, name: str) -> float | None:
        column = self.columns.get(name, ())
        return None if self._at is None or self._at >= len(column) else column[self._at]


class TrainingsComparison(Beside):
    """``along``: a word of ``_ALONG``."""

    def __init__(self, project: Project, asked: Sequence[int], along: str = "") -> None:
        super().__init__(project, asked)
        self._x, self.along = _ALONG[along]
        self.by_time = along == TIME

    @property
    def kinds(self) -> Sequence[str]:
        """Those that leave one agent and evaluate it."""
        return [kind for kind in kinds.begun() if kinds.parts_of(kind).one_agent]

    def fits(self, job: Job) -> bool:
        """Whether one agent learns in it."""
        return super().fits(job) and bool(self.method(job))

    def method(self, job: Job) -> str:
        """As its kind calls it."""
        return kinds.of(job).learns_by(job)

    def why_apart(self, job: Job, first: Job) -> str:
        """Why its returns say nothing beside those of the other."""
        mine, theirs = job.config["game"], first.config["game"]
        if _called(mine["name"]) != _called(theirs["name"]):
            return "it plays another game"
        if json.dumps({**mine, "name": ""}, sort_keys=True) != json.dumps({**theirs, "name": ""}, sort_keys=True):
            return "its game has other settings or limits"
        if _weights(job) != _weights(first):
            return "it weighs rewards differently, so its returns are others"
        mine, theirs = _cut_off(job), _cut_off(first)
        if mine != theirs:
            return f"episodes of {'it' if mine else 'the other'} are cut off after {plural(mine or theirs, 'decision')}"
        return ""

    def learned(self, job: Job) -> str:
        """ "PPO, 4,000 decisions"."""
        return f"{self.method(job)}, {plural(int(job.counters.get('steps', 0)), 'decision')}"

    @cached_property
    def sides(self) -> list[EvaluatedSide]:
        """Those that are compared."""
        return [
            EvaluatedSide(job, i, self.names[job.pk], self.method(job), _in_minutes(kinds.of(job).evaluations(job)))
            for i, job in enumerate(self.shown, 1)
        ]

    @cached_property
    def chart(self) -> Lines:
        """How well each plays on fresh episodes, with ranges where they are known."""
        drawn = [
            Drawn(f"start-{side.number}", side.name, side.columns, EVALUATED, side.job.config["episodes"])
            for side in self.sides
        ]
        words = None if self.by_time else _decisions
        return together(drawn, self._x, self.along, words=words, ranged=with_ends)

    @property
    def undeclared(self) -> bool:
        """Whether nobody says how far returns go in their game, on which the ranges rest then."""
        return bool(self.sides) and not declared(self.sides[0].job.config)


def _called(game: str) -> str:
    """The engine's name of a game, whichever of its names a study says."""
    return games.full_name(game.removeprefix("builtin:"))


def _cut_off(job: Job) -> int:
    """After how many decisions a study cuts episodes off that its game would let go on; 0: it does not."""
    longest, game = job.config.get("longest", 0), job.config["game"]
    usual = games.longest_of(game["name"], game["settings"]) or AESRLConfig.model_fields["longest"].default
    return longest if longest < usual else 0


def _decisions(value: float) -> str:
    return number(round(value))


def _in_minutes(columns: Mapping[str, Column]) -> Mapping[str, Column]:
    """With the clock in minutes."""
    clock = columns.get("seconds", ())
    return {**columns, "minutes": [None if value is None else value / 60 for value in clock]}


def _weights(job: Job) -> dict[str, Any]:
    """How much each reward counts; the game's own one counts as it is."""
    rewards: Mapping[str, Mapping[str, Any]] = job.config["learner"].get("rewards") or {}
    return {name: reward.get("weight", 1.0) for name, reward in rewards.items()}

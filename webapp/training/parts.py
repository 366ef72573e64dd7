"""The pages of trainings, and of searches for training settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from engine.catalog import LEARNERS
from engine.config import ObjectiveSetConfig, TrainConfig, parse
from engine.config.lineups import ObjectiveConfig
from webapp.accounts.models import User
from webapp.studies.comparing import Comparing
from webapp.studies.job_page import live
from webapp.studies.kinds import Parts, Rows
from webapp.studies.models import Job, Status
from webapp.studies.rounds import Columns
from webapp.training import curve, evolved, evolving, form_values, pages
from webapp.training.comparing import PlayersCompared
from webapp.training.evolving import NETWORKS
from webapp.training.games import title_on_menu
from webapp.training.goals import WAYS, title_of
from webapp.training.intake import SettingsIntake, TrainingIntake
from webapp.training.models import TrainDraft
from webapp.training.result_rows import players
from webapp.training.searching import PLAYERS
from webapp.training.starting import SettingsStart, TrainingStart

TRIAL_UPDATES = 3
"""Updates after which the trial of a training has shown its speed."""
ROUNDS = 400
"""Rounds that are drawn beside those of other trainings, at most about."""
_MEASURES = frozenset({"measure", "behaviour", "quality"})
"""Settings that name what is measured of players."""


class Trainings(Parts):
    """Trainings of an agent."""

    start = TrainingStart
    own_page = True
    intake = TrainingIntake()
    files: ClassVar[Mapping[str, str]] = {"policy.zip": "policy", "policy.onnx": "onnx", "members.zip": "members"}
    gives = "agent"
    trying = "Training a few seconds to see how fast this goes …"
    trial_words = "was a short trial: it measured how fast a game plays, for the form of a training"
    waits = 2  # days: nothing of a training is shortlisted
    draft = TrainDraft.Page.TRAIN
    clone = "training:clone"
    one_agent = True

    def page(self, request: HttpRequest, job: Job, context: dict[str, Any]) -> HttpResponse:
        """The curve as it grows."""
        own = {"page": live(job) | pages.page_data(job), **pages.context(job)}
        return render(request, "training/job.html", context | own)

    def work(self, job: Job) -> float:
        """The share of its decisions that it has learned from; its clock may end it earlier."""
        return 1.0 if job.status == Status.FINISHED else float(job.counters.get("steps", 0) / job.config["steps"])

    def tells_enough(self, job: Job, counters: Mapping[str, float]) -> bool:
        """Updates enough for its speed to be known."""
        return counters.get("steps", 0) >= TRIAL_UPDATES * parse(TrainConfig, job.config).update

    def typed(self, job: Job) -> dict[str, Any]:
        """As the Train-an-agent page has them."""
        return form_values.values_of(job, job.project)

    def rounds(self, job: Job, most: int) -> Columns:
        """Every number of rounds, evaluations among them."""
        return curve.columns(job, most)

    def learns_by(self, job: Job) -> str:
        """Its algorithm, where one agent learns."""
        return "" if job.config.get("policies") else LEARNERS[job.config["learner"]["kind"]].label

    def evaluations(self, job: Job) -> Columns:
        """As its curve has them."""
        return curve.columns(job, ROUNDS)

    def named(self, place: str, text: str) -> str:
        """A game by its title."""
        return title_on_menu(text) if place.endswith("game.name") else text


class SettingsSearches(Trainings):
    """Searches for training settings, whose candidates are players."""

    start: ClassVar[Any] = SettingsStart
    intake = SettingsIntake()
    results = ("front", "archive")
    files: ClassVar[Mapping[str, str]] = {"policy.zip": "policy"}
    gives = "best player"
    one_agent = False
    waits = Parts.waits
    decided = "decisions, measuring included"
    draft = TrainDraft.Page.EVOLVE
    comparing: ClassVar[Comparing | None] = PlayersCompared()
    menu = PLAYERS
    settings = NETWORKS
    directions = dict(WAYS)

    def page(self, request: HttpRequest, job: Job, context: dict[str, Any]) -> HttpResponse:
        """The edge and the players as they are bred."""
        own = {
            "page": live(job, "front", "around", "grid", "lineage") | evolved.page_data(job),
            **evolved.context(job),
        }
        return render(request, "training/evolve.html", context | own)

    def work(self, job: Job) -> float:
        """Its rounds."""
        return Parts.work(self, job)

    def typed(self, job: Job) -> dict[str, Any]:
        """As the Search-for-good-settings page has them."""
        return evolving.values_of(job, job.project)

    def edged(self, job: Job) -> bool:
        """With one goal nothing tells players apart in a plane."""
        return len(job.config["objectives"]) > 1

    def table(self, job: Job, of: str, user: User) -> Rows:
        """The players of the front, or all of the archive."""
        return players(job, of)

    def objectives(self, job: Job) -> ObjectiveSetConfig:
        """What makes a player good. What is measured of players needs no formula, and may be called what no formula
        may."""
        aims = [
            ObjectiveConfig.model_construct(
                name=aim["measure"], title=title_of(aim["measure"]), formula="", direction=aim["direction"],
                toward="better",
            )
            for aim in job.config["objectives"]
        ]  # fmt: skip
        return ObjectiveSetConfig.model_construct(objectives=tuple(aims))

    def way(self, name: str) -> dict[str, Any]:
        """What is measured of players."""
        return {"title": title_of(name), "unit": "", "toward": ""}

    def named(self, place: str, text: str) -> str:
        """Measures by their titles."""
        if place.rpartition(".")[2] in _MEASURES:
            return ", ".join(title_of(name) for name in text.split(", "))
        return super().named(place, text)

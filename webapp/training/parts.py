"""The pages of trainings, and of searches for training settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from engine.config import ObjectiveSetConfig
from engine.config.lineups import ObjectiveConfig
from webapp.accounts.models import User
from webapp.studies.job_page import live
from webapp.studies.kinds import Parts, Rows
from webapp.studies.models import Job
from webapp.studies.rounds import Columns
from webapp.training import curve, evolved, pages
from webapp.training.evolving import NETWORKS
from webapp.training.games import title_of as game_title
from webapp.training.goals import WAYS, title_of
from webapp.training.intake import SettingsIntake, TrainingIntake
from webapp.training.result_rows import players
from webapp.training.searching import PLAYERS
from webapp.training.starting import SettingsStart, TrainingStart

_MEASURES = frozenset({"measure", "behaviour", "quality"})
"""Settings that name what is measured of players."""


class Trainings(Parts):
    """Trainings of an agent."""

    start = TrainingStart
    intake = TrainingIntake()
    files: ClassVar[Mapping[str, str]] = {"policy.zip": "policy", "policy.onnx": "onnx"}
    gives = "agent"
    clone = "training:clone"

    def page(self, request: HttpRequest, job: Job, context: dict[str, Any]) -> HttpResponse:
        """The curve as it grows."""
        own = {"page": live(job) | pages.page_data(job), **pages.context(job)}
        return render(request, "training/job.html", context | own)

    def rounds(self, job: Job, most: int) -> Columns:
        """Every number of rounds, evaluations among them."""
        return curve.columns(job, most)

    def named(self, place: str, text: str) -> str:
        """A game by its title."""
        return game_title(text) if place.endswith("game.name") else text


class SettingsSearches(Trainings):
    """Searches for training settings, whose candidates are players."""

    start = SettingsStart
    intake = SettingsIntake()
    results = ("front", "archive")
    files: ClassVar[Mapping[str, str]] = {"policy.zip": "policy"}
    gives = "best player"
    compared = True
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

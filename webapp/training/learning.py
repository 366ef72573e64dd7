"""What the pages of all kinds have in which agents learn a game and a page asks for itself anew."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from webapp.lib.words import number, plural
from webapp.studies.job_page import closing
from webapp.studies.kinds import Parts
from webapp.studies.models import Job, Status
from webapp.studies.overview import minutes_of
from webapp.studies.rounds import Columns
from webapp.training import curve
from webapp.training.entrants import game_of
from webapp.training.games import title_of, title_on_menu


class Learning(Parts):
    """``template`` draws a job by what ``shown`` and ``specialist`` say of it. ``several``: one of what works side by
    side."""

    template: ClassVar[str] = ""
    several: ClassVar[str] = "worker"
    clone = "studies:again"
    trying = "Training a few seconds to see how fast this goes …"

    def page(self, request: HttpRequest, job: Job, context: dict[str, Any]) -> HttpResponse:
        """What there is so far."""
        own = {
            "game": title_of(game_of(job), job.project),
            "by_clock": _by_clock(job),
            "specialist": [*self.specialist(job), *closing(job)],
            **self.shown(job),
        }
        return render(request, self.template, context | own)

    def shown(self, job: Job) -> dict[str, Any]:
        """What its template draws."""
        return {}

    def specialist(self, job: Job) -> list[tuple[str, Any]]:
        """Every technical word, for the details."""
        return []

    def crowded(self, study: Any) -> str:
        """As those that work side by side are called here."""
        return crowded(self.side_by_side(study), self.several)

    def named(self, place: str, text: str) -> str:
        """A game by its title."""
        return title_on_menu(text) if place.endswith("game.name") else text


class OneAgent(Learning):
    """Of a kind that ends with one agent, and whose rounds tell how it learns."""

    results: ClassVar[tuple[str, ...]] = ("table",)
    files: ClassVar[Mapping[str, str]] = {"policy.zip": "policy", "policy.onnx": "onnx"}

    def rounds(self, job: Job, most: int) -> Columns:
        """Every number of rounds, evaluations among them."""
        return curve.columns(job, most)


def of_learner(learner: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What specialists ask of a learner first."""
    return [
        ("Learning rate", f"{learner['rate']:g}, {learner['schedule']}"),
        ("Discount", f"{learner['discount']:g}"),
        *of_network(learner["network"]),
    ]


def of_network(layers: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The units of each hidden layer."""
    return [(f"{which.title()} network", " ".join(map(str, layers[which]))) for which in ("policy", "critic")]


def _by_clock(job: Job) -> str:
    """That its clock ended a training, where it did."""
    minutes, steps = minutes_of(job), job.config.get("steps", 0)
    if job.status != Status.FINISHED or not minutes or job.counters.get("steps", 0) >= steps:
        return ""
    return f"It ended by the clock, after {number(minutes)} min: {number(steps)} decisions were asked for."


def crowded(many: int, noun: str) -> str:
    """What to tell where so many share this site's processors; empty where each has its own."""
    processors = int(settings.CPUS)
    if many <= processors:
        return ""
    return (
        f"{plural(many, noun)} share {plural(processors, 'processor')}: expect about {number(many / processors)} times "
        "as long as with a processor for each."
    )

"""First rounds of a training of several agents, played in one process before the start: they tell how long it takes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

from engine.config import Study
from webapp.studies.kinds import Parts
from webapp.studies.models import Job

CHANCE, ROUND, ENOUGH = 1000, 1000, 5
"""Decisions by chance at most, decisions in a round, and rounds that tell enough."""


class Rehearsed(Parts, ABC):
    """Of a kind whose first rounds are played for its form."""

    counted = "steps"
    on_top = "Evaluations come on top."

    def first_rounds(self, study: Any) -> Study | None:
        """Short rounds without a start, a clock and evaluations."""
        shared = {"name": f"speed of {study.game.name}"[:120], "minutes": 0.0, "start": "", "evaluate_every": 0,
                  "episodes": 2}  # fmt: skip
        first: Study = study.model_copy(update=shared | self.alone(study))
        return first

    @abstractmethod
    def alone(self, study: Any) -> dict[str, Any]:
        """What else is as it must be, so that they are played in one process until they have told enough."""

    def tells_enough(self, job: Job, counters: Mapping[str, float]) -> bool:
        """Rounds enough for its speed to be known."""
        return bool(counters.get("steps", 0) >= ENOUGH * job.config["checkpoint_every"])

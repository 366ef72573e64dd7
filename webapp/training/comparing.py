"""How searches for training settings are compared."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from webapp.studies.comparing import Comparing
from webapp.studies.models import Job


class PlayersCompared(Comparing):
    """What their players reach counts; nothing judges them."""

    searched = "training settings"
    all_aims = "all goals"
    other_game = "it was played in another game, or with other settings of it"
    other_aims = "it pushes other goals"
    words = {"many": "Players", "one": "player", "played": "episodes", "objectives": "goals"}
    work = (("Players", "evaluations"), ("Decisions", "steps"))

    def game(self, job: Job) -> tuple[Any, ...]:
        """With its settings, for those decide what an episode can bring."""
        played = job.config["task"]["game"]
        return played["name"], json.dumps(played["settings"], sort_keys=True)

    def cautions(self, jobs: Sequence[Job], better: str) -> list[str]:
        """A player that has learned longer is better whatever chose its settings."""
        learned = {(str(job.config["task"]["steps"]), job.config["networks"] != "fresh") for job in jobs}
        kinds = {job.config["task"]["learner"]["kind"] for job in jobs}
        found = ["Their players learn from different numbers of decisions, or begin differently."] * (len(learned) > 1)
        return found + ["Their players learn in different ways."] * (len(kinds) > 1)

    def effort(self, job: Job) -> str:
        """With what is searched, for lineups stand in the same list."""
        return f"{self.searched}, {super().effort(job)}"
